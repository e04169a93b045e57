"""Times in the form of the Kubernetes API (RFC 3339, UTC)."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> str:
    """Returns the current time in whole seconds, as in conditions (`metav1.Time`): `2026-02-03T10:00:00Z`."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def now_micro() -> str:
    """Returns the current time in microseconds, as in Leases and Events (`metav1.MicroTime`): `2026-02-03T10:00:00.123456Z`."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def millis(seconds: float) -> str:
    """Writes a time in seconds since 1970 in milliseconds, as in logs.

    >>> millis(0)
    '1970-01-01T00:00:00.000Z'
    """
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse(text: object) -> float | None:
    """Parses a time to seconds since 1970; None for any other value.

    >>> parse("1970-01-01T00:01:00Z"), parse("yesterday"), parse(None)
    (60.0, None, None)
    """
    try:
        return datetime.fromisoformat(text).timestamp() if isinstance(text, str) else None
    except ValueError:
        return None
