"""Ranges of numbers in flags: what a program refuses, or cannot work with, after its parser has accepted the number.

The tables have the ranges of each release. `tools/engines/measured_ranges.py` measures them, and `tools/engines/ranges.yaml` names the
sources of the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from krm_fn.base.records import NamedTuple
from krm_fn.review.arguments import value_types

_LIKELY_SHARE = 0.9
_PERCENT = 100
_WITHOUT_LIMIT, _LEAST_LIMIT = -1, 100
"""The number that stands for no limit, and the least limit whose sign can be a slip."""
_LEAST_PERCENT = 10
"""The least number that is a percentage in place of a share: 1.5 can also be a slip of 0.5."""


class ValueRange(NamedTuple):
    """The numbers that are right for a flag; a bound of None has no effect. `above` and `below` are not in the range.

    `is_advice` is true if the program does not compare the number itself, and fails later or does something else than its author meant. The
    same holds for a number that is not a multiple of `multiple`.
    """

    least: float | None = None
    above: float | None = None
    most: float | None = None
    below: float | None = None
    is_advice: bool = False
    multiple: int = 0

    def accepts(self, text: str) -> bool:
        """Returns true for a number in the range, and for a text that is no plain number, such as `auto` and `32k`."""
        value = value_types.number(text)
        return value is None or self._has(value)

    def suits(self, text: str) -> bool:
        """Returns true for a multiple of `multiple`, and for a text that is no plain number."""
        value = value_types.number(text)
        return value is None or not self.multiple or value % self.multiple == 0

    def _has(self, value: float) -> bool:
        """True for a number in the range. NaN is in none."""
        return (
            (self.least is None or value >= self.least)
            and (self.above is None or value > self.above)
            and (self.most is None or value <= self.most)
            and (self.below is None or value < self.below)
        )

    @property
    def name(self) -> str:
        """The range in words.

        >>> ValueRange(above=0, most=1).name, ValueRange(least=1).name, ValueRange(least=1, most=65535).name, ValueRange(multiple=16).name
        ('a number above 0 and up to 1', 'a number from 1 on', 'a number from 1 to 65535', 'a multiple of 16')
        """
        if self.multiple:
            return f"a multiple of {self.multiple}"
        upper = f"up to {self.most:g}" if self.most is not None else f"below {self.below:g}" if self.below is not None else ""
        if self.above is not None:
            return f"a number above {self.above:g}{f' and {upper}' if upper else ''}"
        if self.least is None:
            return f"a number {upper}"
        if self.most is not None:
            return f"a number from {self.least:g} to {_show_number(self.most)}"
        return f"a number from {self.least:g} on{f' and {upper}' if upper else ''}"

    @property
    def is_share(self) -> bool:
        """True for the range of a share of a whole, 0 to 1."""
        return 1 in (self.most, self.below) and 0 in (self.least, self.above)

    def fix(self, text: str) -> str:
        """Returns the number to write in place of one that is not in the range; empty without a likely one.

        >>> share, size = ValueRange(above=0, most=1), ValueRange(least=1)
        >>> share.fix("90"), share.fix("85%"), share.fix("1.5"), size.fix("-4"), size.fix("0"), ValueRange(most=65535).fix("80000")
        ('0.9', '0.85', '0.9', '4', '1', '8000')
        >>> ValueRange(multiple=16).fix("17"), ValueRange(above=0, multiple=16).fix("0"), ValueRange(least=-1).fix("-5")
        ('16', '16', '-1')
        """
        value = value_types.number(text.removesuffix("%") if self.is_share else text)
        if value is None:
            return ""
        meant = [-value, *((self.least,) if self.least is not None else ())]
        if self.is_share and (value >= _LEAST_PERCENT or text.endswith("%")):
            meant = [value / _PERCENT]
        elif self.is_share:
            meant = [-value, _LIKELY_SHARE]
        elif self.multiple:
            meant = [max(round(value / self.multiple), 1) * self.multiple]
        elif self.least == _WITHOUT_LIMIT and value > -_LEAST_LIMIT:
            meant = [_WITHOUT_LIMIT]
        elif value > 0:
            meant = [value / 10] if value % 10 == 0 else []
        right = next((number for number in meant if self._has(number)), None)
        return "" if right is None else _show_number(right)


def parse(bounds: Mapping[str, Any]) -> ValueRange:
    """Returns the range of an entry of a table."""
    return ValueRange(**bounds)


def _show_number(number: float) -> str:
    """A number without needless digits.

    >>> _show_number(65535), _show_number(0.30), _show_number(5.0)
    ('65535', '0.3', '5')
    """
    return f"{number:.10g}"
