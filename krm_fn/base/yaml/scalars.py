"""Unquoted YAML scalars: the value that kubectl and the API server see, and the strings that may stay unquoted.

The rules are those of go-yaml v2 `resolve()` and of the conversion to JSON in `sigs.k8s.io/yaml` and the API server's decoder: all
booleans of YAML 1.1 (`y` and `n` too), integers with a base and underscores, no dates, no base 60.
"""

from __future__ import annotations

import re

Scalar = str | int | float | bool | None

_WORDS: dict[str, Scalar] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "true", "True", "TRUE"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "off", "Off", "OFF", "false", "False", "FALSE"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
}
_NOT_IN_JSON = {sign + word for sign in ("", "+", "-") for word in (".inf", ".Inf", ".INF")} | {".nan", ".NaN", ".NAN"}
_NUMERIC_START = frozenset("+-.0123456789")
# Compiled where they are used: most inputs have no numbers but plain digits.
_DECIMAL = r"[-+]?(?:0|[1-9][0-9]*)"
_BASED = r"([-+]?)0(?:[xX]([0-9a-fA-F]+)|[bB]([01]+)|[oO]?([0-7]+))"
_SIGNED_BINARY = r"0b([-+][01]+)"  # Go cuts off `0b` and reads the rest as a number with a sign of its own
_FLOAT = r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
_BETWEEN_DIGITS = r"(?<=[0-9])_(?=[0-9])"
_INT64 = range(-(2**63), 2**63)
_UINT64 = range(2**64)

_SPECIAL_WORDS = frozenset(word.lower() for word in _WORDS)
_UNQUOTED = re.compile(
    r"(?:[A-Za-z_/$]|--?[A-Za-z])"  # no reader takes these for a number, a mark or a tag
    r"(?:[!-9;-~]|:(?=[!-~])|\x20+(?=[!\"$-~]))*"  # a colon before a space and a hash after one have a meaning
    r"|[0-9][0-9.]*(?:[KMGTP]i?|[hkms])"  # quantities and durations
)


def resolve(text: str) -> Scalar:
    """Returns the value of an unquoted scalar. Integers beyond 64 bits become floats, as in the API server's decoder.

    Raises ValueError for infinities and NaN, which JSON does not have.

    >>> [resolve(text) for text in ("y", "0777", "1_000", "08", "1e3", "22:22", "2001-12-14", "~")]
    [True, 511, 1000, 8, 1000, '22:22', '2001-12-14', None]
    """
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMERIC_START:
        return text
    if text in _NOT_IN_JSON:
        raise ValueError(text)
    return _number(text)


def integer(digits: str) -> int | float:
    """Returns the value of a decimal integer as a JSON decoder in Go holds it: 64 bits, else a float.

    Raises ValueError if even a float cannot hold it.
    """
    if len(digits) <= 20 and (value := int(digits)) in _INT64:
        return value
    return decimal(digits)


def decimal(digits: str) -> int | float:
    """Returns the value of a number with a fraction or an exponent. A whole number becomes an integer, as in Go's JSON encoder.

    Raises ValueError if a float cannot hold it.
    """
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise ValueError(digits)
    return int(value) if value.is_integer() and -(2.0**63) < value < 2.0**63 else value


def plain(text: str) -> bool:
    """True if a string may be written without quotes: every parser of YAML 1.1 and 1.2 then reads this string.

    >>> [plain(text) for text in ("nvcr.io/x:1", "--model", "80Gi", "n", "1e3", "a: b", "2")]
    [True, True, True, False, False, False, False]
    """
    return _UNQUOTED.fullmatch(text) is not None and text.lower() not in _SPECIAL_WORDS


def _number(text: str) -> Scalar:
    if len(text) < 16 and text.isascii() and text.isdecimal() and (text[0] != "0" or text == "0"):
        return int(text)
    digits = re.sub(_BETWEEN_DIGITS, "", text) if text[0] == "." else text.replace("_", "")
    try:
        if re.fullmatch(_DECIMAL, digits):
            return integer(digits)
        if (based := re.fullmatch(_BASED, digits)) and (value := _parse_based_integer(*based.groups(""))) is not None:
            return value
        if signed := re.fullmatch(_SIGNED_BINARY, digits):
            value = int(signed[1], 2)
            return value if value in _INT64 else text
        return decimal(digits) if re.fullmatch(_FLOAT, digits) else text
    except ValueError:
        return text


def _parse_based_integer(sign: str, hexadecimal: str, binary: str, octal: str) -> int | float | None:
    """Returns an integer that is not decimal, or None beyond 64 bits, where Go goes on to the other forms."""
    value = int(sign + (hexadecimal or binary or octal), 16 if hexadecimal else 2 if binary else 8)
    if value in _INT64:
        return value
    return float(value) if not sign and value in _UINT64 else None
