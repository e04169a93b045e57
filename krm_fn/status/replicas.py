"""The counts of one service in a status, and why it is not ready in one word.

Follows the reference's `internal/dynamo/grove.go` and `internal/controller/dynamographdeployment_controller.go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.kube import values
from krm_fn.status import fields

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from krm_fn.status.children import Children
    from krm_fn.status.forms import Form
    from krm_fn.status.observe import Observation
    from krm_fn.status.verdicts import Verdict

NOT_READY = "some_resources_are_not_ready"
_NO_ROOM, _UPDATING, _STARTING, _SEVERAL = "insufficient_capacity", "updating", "pods_not_ready", "mixed_not_ready_reasons"
_GROVE = "grove.io"
_RUNTIME = "runtimeNamespace"


def written(verdicts: Sequence[Verdict], children: Children, form: Form, stored: dict[str, Any]) -> dict[str, Any] | None:
    """The entry of one service in a status; None if no workload of it exists. `stored` is the entry as it is stored now.

    The numbers of several workloads are added, and the first gives the kind (reference: one LeaderWorkerSet for each replica).
    """
    living = [each for each in verdicts if each.own and each.own.counts]
    same = [each for each in living if each.entry.kind == living[0].entry.kind]
    numbers = [each.own.counts for each in same if each.own and each.own.counts]
    if not numbers:
        return None
    names = [each.entry.name for each in same]
    found = {
        "componentKind": living[0].entry.kind,
        **({"componentNames": names} if form.lists else {"componentName": names[0]}),
        "replicas": _sum(each.replicas for each in numbers),
        "updatedReplicas": _sum(each.updated for each in numbers),
    }
    if numbers[0].ready is not None:
        found["readyReplicas"] = _sum(each.ready for each in numbers)
    if numbers[0].available is not None:
        found["availableReplicas"] = _sum(each.available for each in numbers)
    if not form.lists:
        return found
    if numbers[0].scheduled is not None:
        found["scheduledReplicas"] = _sum(each.scheduled for each in numbers)
    if runtime := _runtime([each.own for each in same if each.own], living[0].entry.service, children, values.text(stored.get(_RUNTIME))):
        found[_RUNTIME] = runtime
    return found


def reason(verdicts: Iterable[Verdict], form: Form) -> str:
    """The reason of a graph that is not ready. Only v1beta1 has reasons of its own for Grove."""
    found = {_grove(each) for each in verdicts if each.why}
    if not form.lists or "" in found:
        return NOT_READY
    return found.pop() if len(found) == 1 else _SEVERAL


def _grove(verdict: Verdict) -> str:
    """Why a workload of Grove is not ready, in the order of the reference; empty for other workloads and for one that does not exist."""
    own = verdict.own
    if own is None or own.counts is None or own.key.group != _GROVE:
        return ""
    if own.counts.scheduled is not None and own.counts.scheduled < own.desired:
        return _NO_ROOM
    return _UPDATING if own.updating else _STARTING


def _runtime(living: Sequence[Observation], service: str, children: Children, stored: str) -> str:
    """The Dynamo namespace of the pods that run: that of their template, and while the template is new, the one that is stored."""
    if any(own.updating for own in living):
        return stored
    holders = (children.holder(own) for own in living)
    found = {each.runtime for holder in holders if holder for each in holder.templates if each.serves(service)}
    return found.pop() if len(found) == 1 else ""


def _sum(numbers: Iterable[int | None]) -> int:
    return min(sum(each or 0 for each in numbers), fields.LIMIT)
