"""Kubernetes quantities: `1500m`, `2Gi`, `1e3`, printed the way an API server prints them.

Not its business: which fields hold quantities. Follows apimachinery `pkg/api/resource`, ParseQuantity and CanonicalizeBytes.
"""

from __future__ import annotations

import re
from decimal import ROUND_UP, Decimal, localcontext
from typing import NamedTuple

_SHAPE = re.compile(r"([+-]?)0*([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)")
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_NAMES = {exponent: name for name, exponent in _DECIMAL.items()}
_BINARY_NAMES = {exponent: name for name, exponent in _BINARY.items()}
_DIGITS = 18  # what the reference's 64-bit fast path holds
_LARGEST = Decimal(2**63 - 1)


class Quantity(NamedTuple):
    """A parsed quantity: its value and its canonical text."""

    value: Decimal
    text: str


def parse(written: str | float) -> Quantity:
    """A quantity as written in YAML, where numbers are allowed too.

    Raises ValueError for anything that is not a quantity.

    >>> parse("1000m").text, parse("0.5").text, parse("1024Mi").text, parse(2).text
    ('1', '500m', '1Gi', '2')
    """
    source = written if isinstance(written, str) else f"{written}"
    match = _SHAPE.fullmatch(source.strip())
    digits = re.match(r"[+-]?\.?[0-9]", source.strip())
    if not match or not digits:
        raise ValueError(f"{source!r} is not a quantity")
    sign, whole, fraction, suffix = match[1], match[2] or "0", match[3] or "", match[4]
    base, exponent, scientific = _suffix(suffix, source)
    value = _value(whole, fraction, base, exponent)
    if _is_canonical(whole, fraction, base, exponent):
        text = source.strip()
    else:
        text = _text(-value if sign == "-" else value, binary=base == 2, scientific=scientific)
    return Quantity(-value if sign == "-" else value, text)


def canonical(written: str | float) -> str:
    """The text an API server would print for a quantity. Raises ValueError as `parse`."""
    return parse(written).text


def _suffix(suffix: str, source: str) -> tuple[int, int, bool]:
    """Base, exponent, and whether it was written in scientific notation."""
    if suffix in _DECIMAL:
        return 10, _DECIMAL[suffix], False
    if suffix in _BINARY:
        return 2, _BINARY[suffix], False
    if len(suffix) > 1 and suffix[0] in "eE" and re.fullmatch(r"[-+]?[0-9]+", suffix[1:]) and abs(int(suffix[1:])) < 1000:
        return 10, int(suffix[1:]), True
    raise ValueError(f"{source!r} has no suffix that Kubernetes knows")


def _value(whole: str, fraction: str, base: int, exponent: int) -> Decimal:
    """The exact value, rounded up to a whole number of billionths as the reference does."""
    with localcontext() as context:
        context.prec = 2000
        number = Decimal(whole + fraction).scaleb(-len(fraction))
        number = number * 2**exponent if base == 2 else number.scaleb(exponent)
        rounded = number.quantize(Decimal("1e-9"), rounding=ROUND_UP)
    return min(rounded, _LARGEST) if base == 2 else rounded


def _is_canonical(whole: str, fraction: str, base: int, exponent: int) -> bool:
    """Whether the reference's fast path keeps the text, odd spellings like `01` included (ParseQuantity)."""
    digits = whole + fraction
    if base == 2:
        fits = not fraction and 15 - len(whole) - exponent * 3 // 10 - 1 >= 0
        return fits and bool(int(digits) & 0x07)
    scale = exponent - len(fraction)
    return len(digits) <= _DIGITS and scale >= -9 and scale % 3 == 0 and not digits.endswith("000") and digits[0] != "0"


def _text(value: Decimal, *, binary: bool, scientific: bool) -> str:
    if not value:
        return "0"
    if binary and abs(value) >= 1024 and value == value.to_integral_value():
        number, exponent = int(value), 0
        while number % 1024 == 0 and exponent < 60:
            number, exponent = number // 1024, exponent + 10
        return f"{number}{_BINARY_NAMES.get(exponent, '')}"
    return _decimal(value, scientific=scientific)


def _decimal(value: Decimal, *, scientific: bool) -> str:
    """The shortest whole number whose exponent is a multiple of three."""
    number, exponent = int(value.scaleb(9)), -9
    while number % 10 == 0:
        number, exponent = number // 10, exponent + 1
    shift = exponent % 3
    number, exponent = number * 10**shift, exponent - shift
    if scientific or exponent not in _DECIMAL_NAMES:
        return f"{number}e{exponent}" if exponent else f"{number}"
    return f"{number}{_DECIMAL_NAMES[exponent]}"
