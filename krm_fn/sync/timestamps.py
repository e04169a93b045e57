"""Times as Kubernetes writes them. All times are UTC."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> str:
    """The time of now in whole seconds, as in conditions: `2026-02-03T10:00:00Z`."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def now_micro() -> str:
    """The time of now as Leases and Events carry it (`MicroTime`)."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def read(text: object) -> float | None:
    """Seconds since 1970 of a time in a resource; None for anything else."""
    try:
        return datetime.fromisoformat(text).timestamp() if isinstance(text, str) else None
    except ValueError:
        return None
