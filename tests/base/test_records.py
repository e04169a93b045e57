"""Named tuples of krm_fn.base.records behave as those of typing."""

from __future__ import annotations

import copy
import pickle
import typing
from pathlib import Path

import pytest

import krm_fn
from krm_fn.base import records


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


@pytest.mark.parametrize("kind", [Fast, Slow])
def test_a_record_is_copied_compared_and_matched_as_a_tuple(kind):
    pair = kind(1, "y")
    assert pickle.loads(pickle.dumps(pair)) == copy.deepcopy(pair) == kind._make([1, "y"]) == (1, "y")  # noqa: S301
    assert type(copy.copy(pair)) is type(pair._replace(second="z")) is kind
    assert pair._asdict() == {"first": 1, "second": "y"}
    match pair:
        case kind(first, "y"):
            assert first == 1
        case _:
            pytest.fail("the pattern does not match")


@pytest.mark.parametrize("kind", [Fast, Slow])
@pytest.mark.parametrize(
    ("given", "named", "words"),
    [((), {}, "missing 1 required"), ((1, "x", 2), {}, "takes from 2 to 3"), ((1,), {"third": 1}, "third"), ((1,), {"first": 1}, "first")],
)
def test_wrong_arguments_are_errors_that_name_the_class(kind, given, named, words):
    with pytest.raises(TypeError, match=rf"{kind.__name__}\.__new__\(\) .*{words}"):
        kind(*given, **named)


@pytest.mark.parametrize("kind", [Fast, Slow])
def test_an_unknown_field_cannot_be_replaced(kind):
    with pytest.raises((TypeError, ValueError), match="third"):
        kind(1)._replace(third=3)
    with pytest.raises(TypeError, match="xpected 2 arguments, got 1"):
        kind._make([1])


@pytest.mark.parametrize("attribute", ["_fields", "_field_defaults", "__doc__", "__module__", "__slots__"])
def test_what_others_read_of_the_class(attribute):
    assert getattr(Fast, attribute) == getattr(Slow, attribute)
    assert Fast.__annotations__.keys() == Slow.__annotations__.keys()
    assert repr(Fast(1)) == "Fast(first=1, second='x')"


def test_modules_with_named_tuples_import_annotations():
    """Without the import, a class of Python 3.14 has no `__annotations__` while its body is read, so its tuples would have no fields."""
    texts = {str(path): path.read_text("utf-8") for path in Path(krm_fn.__file__).parent.rglob("*.py")}
    modules = [path for path, text in texts.items() if "from krm_fn.base.records import NamedTuple" in text]
    assert len(modules) > 50
    assert [path for path in modules if "from __future__ import annotations" not in texts[path]] == []
