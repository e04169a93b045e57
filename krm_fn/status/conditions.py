"""Conditions of a status, in the form of Kubernetes' `metav1.Condition`."""

from __future__ import annotations

from typing import Any

from krm_fn.kube import values
from krm_fn.records import NamedTuple
from krm_fn.status import fields

READY, AVAILABLE, VALID = "Ready", "Available", "Valid"
RECONCILING, STALLED = "Reconciling", "Stalled"
"""Types that kstatus, and with it Flux, reads as `in progress` and `failed`. A condition that does not hold is removed."""
MESSAGE_LIMIT = 32768


class Condition(NamedTuple):
    """One condition that holds, or does not."""

    type: str
    status: bool
    reason: str
    message: str


def merge(live: Any, wanted: list[Condition], owned: tuple[str, ...], generation: int, now: str) -> list[dict[str, Any]]:
    """The conditions to write: `wanted`, and those in `live` that somebody else owns, in the order of `live`.

    `owned` are the types that the caller writes; those that are not wanted are removed. `lastTransitionTime` moves only if the status of a
    condition changes (Kubernetes' SetStatusCondition). `now` is an RFC 3339 time.
    """
    before = {each["type"]: each for each in reversed(values.objects(live)) if isinstance(each.get("type"), str)}
    made = {each.type: _written(each, before.get(each.type, {}), generation, now) for each in wanted}
    kept = [made.pop(name, before[name]) for name in reversed(before) if name in made or name not in owned]
    return [*kept, *made.values()]


def _written(wanted: Condition, before: dict[str, Any], generation: int, now: str) -> dict[str, Any]:
    status = "True" if wanted.status else "False"
    since = fields.since(before) if before.get("status") == status else ""
    return {
        "type": wanted.type,
        "status": status,
        "reason": wanted.reason,
        "message": _short(wanted.message),
        "lastTransitionTime": since or now,
        **({"observedGeneration": generation} if generation else {}),
    }


def _short(message: str) -> str:
    """The message within the limit of Kubernetes."""
    return message if len(message) <= MESSAGE_LIMIT else f"{message[: MESSAGE_LIMIT - 1]}…"
