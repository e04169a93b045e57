"""Named tuples of krm_fn.records behave as those of typing."""

from __future__ import annotations

import typing

import pytest

from krm_fn import records


class Fast(records.NamedTuple):
    """A pair."""

    first: int
    second: str = "x"

    @property
    def both(self) -> str:
        """Both parts."""
        return f"{self.first}{self.second}"

    def swapped(self) -> tuple[str, int]:
        """The parts in the other order."""
        return self.second, self.first


class Slow(typing.NamedTuple):
    """A pair."""

    first: int
    second: str = "x"


def test_fields_defaults_and_methods():
    pair = Fast(1)
    assert (pair.first, pair.second, pair.both, pair.swapped()) == (1, "x", "1x", ("x", 1))
    assert tuple(pair) == tuple(Slow(1)) == (1, "x")
    assert pair._replace(first=2) == Fast(2, second="x")
    assert isinstance(pair, tuple)


@pytest.mark.parametrize("attribute", ["_fields", "_field_defaults", "__doc__", "__module__", "__slots__"])
def test_what_others_read_of_the_class(attribute):
    assert getattr(Fast, attribute) == getattr(Slow, attribute)
    assert Fast.__annotations__.keys() == Slow.__annotations__.keys()
    assert repr(Fast(1)) == "Fast(first=1, second='x')"


def test_a_field_that_is_missing_is_an_error():
    with pytest.raises(TypeError, match="first"):
        Fast()  # type: ignore[call-arg]
