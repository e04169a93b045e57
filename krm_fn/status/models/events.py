"""The events about a model: what its conditions begin to say. An unchanged reason is no event."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.kube import values
from krm_fn.records import NamedTuple
from krm_fn.status import fields
from krm_fn.status.conditions import READY, VALID
from krm_fn.status.models import SERVES, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.status.models import Model


class Event(NamedTuple):
    """One event. `warning` is false for good news."""

    reason: str
    note: str
    warning: bool = True


def events(model: Model, desired: dict[str, Any]) -> list[Event]:
    """What happened between the stored status of a model and the desired one, in the words of the reference."""
    valid, serves = (fields.condition(desired, each) for each in (VALID, SERVES))
    found: list[Event] = []
    if valid.get("reason") == serving.INVALID and valid.get("message") != fields.condition(model.status, VALID).get("message"):
        found.append(Event(serving.INVALID, values.text(valid.get("message")).removeprefix("Validation failed: ")))
    if serves.get("reason") != fields.condition(model.status, SERVES).get("reason"):
        found += _served(model, desired, values.text(serves.get("reason")), values.text(serves.get("message")))
    return found


def _served(model: Model, desired: dict[str, Any], reason: str, message: str) -> Iterator[Event]:
    ready, total = desired["readyEndpoints"], desired["totalEndpoints"]
    if reason == serving.ALL_READY:
        yield Event("EndpointsReady", f"All {total} endpoints ready for base model {model.base}", warning=False)
    elif reason == serving.DISCOVERED:
        yield Event(reason, f"Discovered {total} endpoints for base model {model.base}", warning=False)
    elif reason == serving.NO_ENDPOINTS:
        yield Event("NoEndpointsFound", message)
    elif reason == serving.NOT_READY:
        why = values.text(fields.condition(desired, READY).get("message")).partition("; ")[2]
        yield Event("PartialEndpointFailure", f"Some endpoints failed to load LoRA: {total - ready} task(s) failed; {why}")
        yield Event(reason, f"Only {ready} of {total} endpoints ready for base model {model.base}")
    elif reason in {serving.ALIKE, serving.CONFLICT, serving.OFF}:
        yield Event(reason, message)
