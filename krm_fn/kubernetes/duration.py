"""Durations as Go prints them: `15m` is `15m0s`."""

from __future__ import annotations

import re
from decimal import Decimal

_UNITS = {
    "h": Decimal(3600),
    "m": Decimal(60),
    "s": Decimal(1),
    "ms": Decimal("1e-3"),
    "us": Decimal("1e-6"),
    "µs": Decimal("1e-6"),
    "ns": Decimal("1e-9"),
}
_PART = re.compile(r"(?<![0-9.])([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h)")
_WHOLE = re.compile(rf"[+-]?(?:0|(?:{_PART.pattern})+)")


def seconds(written: str) -> Decimal:
    """Returns a duration in seconds. Raises ValueError for a text that Go cannot parse."""
    if not _WHOLE.fullmatch(written):
        raise ValueError(f"{written!r} is not a duration; write for example 15m or 1h30m")
    total = sum((Decimal(number) * _UNITS[unit] for number, unit in _PART.findall(written)), Decimal(0))
    return -total if written.startswith("-") else total


def text(written: str) -> str:
    """Returns a duration in hours, minutes and seconds, or, below a second, in ms, µs or ns. Empty if it is zero or negative.

    >>> text("15m"), text("4h"), text("90s"), text("0.5s"), text("0")
    ('15m0s', '4h0m0s', '1m30s', '500ms', '')

    Rule grove.termination-delay: Grove's termination delay is written in hours, minutes and seconds, as Go prints it. (krm-fn)
    """
    left = seconds(written) // _UNITS["ns"] * _UNITS["ns"]
    if left <= 0:
        return ""
    if left < 1:
        unit = next(unit for unit in ("ms", "µs", "ns") if left >= _UNITS[unit])
        return f"{(left / _UNITS[unit]).normalize():f}{unit}"
    hours, left = divmod(left, 3600)
    minutes, left = divmod(left, 60)
    tail = f"{left.normalize():f}s"
    if hours:
        return f"{hours:f}h{minutes:f}m{tail}"
    return f"{minutes:f}m{tail}" if minutes else tail
