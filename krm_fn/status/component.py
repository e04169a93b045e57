"""The status of a DynamoComponentDeployment.

Follows the reference's `internal/controller/dynamocomponentdeployment_controller.go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.kube import values
from krm_fn.status import conditions, graph, observe, replicas, verdicts
from krm_fn.status.conditions import AVAILABLE, RECONCILING, STALLED, VALID, Condition
from krm_fn.status.features import DEFAULT, Features
from krm_fn.status.subject import REFUSED
from krm_fn.status.verdicts import Scope

if TYPE_CHECKING:
    from krm_fn.status.children import Children
    from krm_fn.status.subject import Subject
    from krm_fn.status.verdicts import Verdict

OWNED = (VALID, AVAILABLE, RECONCILING, STALLED)
_SETS = "LeaderWorkerSet"


def status(subject: Subject, children: Children, now: str, owner: Subject | None, features: Features = DEFAULT) -> dict[str, Any]:
    """The whole `.status` of a component. `owner` is its graph, None if it has none. `now` is an RFC 3339 time.

    The annotation `workloads` is that of the graph, or that of a component alone. Without an annotation the component keeps its status.
    """
    source = owner or subject
    if source.wrong:
        return _written(subject, graph.wrong(source, VALID if source.reason == REFUSED else AVAILABLE), {}, now)
    if source.entries is None:
        return subject.status
    found = judge(subject, children, now, owner, features)
    wanted = [_valid(), _available(found), *graph.conditions_of_progress(found)]
    stored = values.mapping(subject.status, subject.form.part)
    return _written(subject, wanted, {subject.form.part: replicas.written(found, children, subject.form, stored)}, now)


def judge(subject: Subject, children: Children, now: str, owner: Subject | None, features: Features = DEFAULT) -> list[Verdict]:
    """The verdicts about the workloads of a component."""
    scope = Scope(subject.key.namespace, owner.key.name if owner else "", children, features, now)
    entries = (owner or subject).entries or ()
    return verdicts.judge([entry for entry in entries if owner is None or entry.service == subject.service], scope)


def _valid() -> Condition:
    """A render writes the annotation only for a valid spec."""
    return Condition(VALID, True, "ValidationPassed", "DynamoComponentDeployment spec is valid")


def _available(found: list[Verdict]) -> Condition:
    """Available, with the reference's reasons. Only a service with LeaderWorkerSets may have no workload: with 0 replicas."""
    unready = verdicts.reasons(found)
    kind = found[0].entry.kind if found else _SETS
    known = kind.lower() in observe.names()
    reason, message = observe.get(kind).available(ready=not unready) if known else ("WorkloadsNotReady", "Workloads are not ready")
    return Condition(AVAILABLE, not unready, reason, f"{message}: {unready}" if unready else message)


def _written(subject: Subject, wanted: list[Condition], fields: dict[str, Any], now: str) -> dict[str, Any]:
    merged = conditions.merge(subject.status.get("conditions"), wanted, OWNED, subject.generation, now)
    return graph.present({**subject.status, "observedGeneration": subject.generation or None, "conditions": merged, **fields})
