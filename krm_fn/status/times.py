"""Times as Kubernetes writes them, for computing with a time that the caller gives."""

from __future__ import annotations

import re

_TIME = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.\d+)?Z")


def seconds(text: str) -> int | None:
    """Seconds since 1970 of an RFC 3339 time in UTC; None for any other text.

    >>> seconds("1970-01-02T00:00:01Z"), seconds("2026-02-03T10:00:00Z"), seconds("yesterday")
    (86401, 1770112800, None)
    """
    found = _TIME.fullmatch(text)
    if not found:
        return None
    year, month, day, hour, minute, second = (int(each) for each in found.groups())
    years = year - (month < 3)  # a year that begins in March ends with the leap day
    days = 365 * years + years // 4 - years // 100 + years // 400 + (153 * ((month - 3) % 12) + 2) // 5 + day - 1 - 719468
    return ((days * 24 + hour) * 60 + minute) * 60 + second
