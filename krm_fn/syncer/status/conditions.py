"""Merges conditions (`metav1.Condition`), and computes the patch from the stored to the desired status."""

from __future__ import annotations

from typing import Any

from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import values
from krm_fn.syncer.status import live_fields

READY, AVAILABLE, VALID = "Ready", "Available", "Valid"
RECONCILING, STALLED = "Reconciling", "Stalled"
"""Types that kstatus, and with it Flux, reads as `in progress` and `failed`. A condition that does not hold is removed."""
DRIFTED = "Drifted"
"""The type of the condition about differences from the render, which is also removed if it does not hold."""
MESSAGE_LIMIT = 32768
_TEXTS = {True: "True", False: "False", None: "Unknown"}


class StatusCondition(NamedTuple):
    """A condition to write. The status None is `Unknown`."""

    type: str
    status: bool | None
    reason: str
    message: str


class ObservedCondition(NamedTuple):
    """A condition in a live or stored status. Fields that are missing or invalid are empty. `since` is its `lastTransitionTime`."""

    status: str = ""
    reason: str = ""
    message: str = ""
    since: str = ""
    observed_generation: int | None = None

    @property
    def is_true(self) -> bool:
        """True if the status is True, not False or Unknown."""
        return self.status == "True"


_MISSING = ObservedCondition()


def find(status: dict[str, Any], type_: str) -> ObservedCondition:
    """Finds the condition of a type (apimachinery: FindStatusCondition). All fields are empty if the status does not have it."""
    fields = next((entry for entry in values.objects(status.get("conditions")) if entry.get("type") == type_), None)
    if fields is None:
        return _MISSING
    status_, reason, message, since = (values.text(fields.get(field)) for field in ("status", "reason", "message", "lastTransitionTime"))
    return ObservedCondition(status_, reason, message, since, live_fields.whole_number(fields.get("observedGeneration")))


def merge(stored: Any, desired: list[StatusCondition], owned: tuple[str, ...], generation: int, now: str) -> list[dict[str, Any]]:
    """Merges the desired conditions with those in `stored` that another program owns, in the order of `stored`.

    `owned` are the types that the caller writes; those that are not desired are removed. `lastTransitionTime` moves only if the status of a
    condition changes (Kubernetes' SetStatusCondition). `now` is an RFC 3339 time.
    """
    before = {entry["type"]: entry for entry in reversed(values.objects(stored)) if isinstance(entry.get("type"), str)}
    new = {condition.type: _entry(condition, before.get(condition.type, {}), generation, now) for condition in desired}
    entries = [new.pop(type_, before[type_]) for type_ in reversed(before) if type_ in new or type_ not in owned]
    return [*entries, *new.values()]


def patch(stored: dict[str, Any], desired: dict[str, Any]) -> dict[str, Any] | None:
    """Computes the JSON merge patch (RFC 7386) from the stored to the desired status; None if they are equal.

    A CRD without the field `status.observedGeneration` drops it from each write. If nothing else differs and the stored condition Ready has
    the same generation, the two count as equal, so that the field is not written again and again.
    """
    changes = _difference(stored, desired)
    is_dropped = changes.keys() == {"observedGeneration"} and "observedGeneration" not in stored
    if is_dropped and find(stored, READY).observed_generation == desired["observedGeneration"]:
        return None
    return changes or None


def _entry(condition: StatusCondition, before: dict[str, Any], generation: int, now: str) -> dict[str, Any]:
    status = _TEXTS[condition.status]
    since = values.text(before.get("lastTransitionTime")) if before.get("status") == status else ""
    return {
        "type": condition.type,
        "status": status,
        "reason": condition.reason,
        "message": _short(condition.message),
        "lastTransitionTime": since or now,
        **({"observedGeneration": generation} if generation else {}),
    }


def _short(message: str) -> str:
    """Cuts a message at the limit of Kubernetes."""
    return message if len(message) <= MESSAGE_LIMIT else f"{message[: MESSAGE_LIMIT - 1]}…"


def _difference(stored: dict[str, Any], desired: dict[str, Any]) -> dict[str, Any]:
    changes: dict[str, Any] = {field: None for field in stored if field not in desired}
    for field, value in desired.items():
        before = stored.get(field)
        if isinstance(value, dict) and isinstance(before, dict):
            if inner := _difference(before, value):
                changes[field] = inner
        elif field not in stored or before != value:
            changes[field] = value
    return changes
