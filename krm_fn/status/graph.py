"""The status of a DynamoGraphDeployment.

Follows the reference's `internal/controller/dynamographdeployment_controller.go`. `docs/status.md` names the differences.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.kube import labels, names, values
from krm_fn.status import conditions, replicas, restart, verdicts
from krm_fn.status.conditions import RECONCILING, STALLED, Condition
from krm_fn.status.replicas import NOT_READY
from krm_fn.status.verdicts import Scope, Verdict
from krm_fn.workload_list import Entry

if TYPE_CHECKING:
    from krm_fn.status.children import Children
    from krm_fn.status.features import Features
    from krm_fn.status.forms import Form
    from krm_fn.status.subject import Subject

SUCCESSFUL, PENDING, FAILED = "successful", "pending", "failed"
ALL_READY = "all_resources_are_ready"
OWNED = (conditions.READY, RECONCILING, STALLED)


def status(subject: Subject, children: Children, now: str, features: Features) -> dict[str, Any]:
    """The whole `.status` of a graph. `now` is an RFC 3339 time.

    A graph without the annotation `workloads` keeps its status, because another program may write it. A graph that cannot be judged keeps
    services and restart.
    """
    if subject.wrong:
        return _written(subject, FAILED, wrong(subject, conditions.READY), now)
    if subject.entries is None:
        return subject.status
    found = judge(subject, children, now, features)
    progress = restart.progress(subject, children)
    notes = [*_shared(subject, children), *_unstamped(progress, subject, features)]
    written = _written(subject, _state(found), _conditions(found, notes, subject.form), now)
    return present({**written, subject.form.parts: _services(subject, found, children), "restart": progress})


def recheck(subject: Subject, children: Children, now: str, features: Features) -> float | None:
    """Seconds until the status changes although no object changes, because the time of a pod ends; None if it does not."""
    scope = Scope(subject.key.namespace, subject.key.name, children, features, now)
    return verdicts.recheck(judge(subject, children, now, features), scope)


def judge(subject: Subject, children: Children, now: str, features: Features) -> list[Verdict]:
    """The verdicts about the workloads of a graph, and about its services without a workload."""
    entries = subject.entries or ()
    scope = Scope(subject.key.namespace, subject.key.name, children, features, now)
    listed = {entry.service for entry in entries} | set(subject.idle)
    missing = (_unlisted(subject, service) for service in subject.services if service not in listed)
    return [*verdicts.judge(entries, scope), *missing]


def present(status: dict[str, Any]) -> dict[str, Any]:
    """The fields of a status that have a value."""
    return {key: value for key, value in status.items() if value is not None}


def conditions_of_progress(found: list[Verdict]) -> list[Condition]:
    """The conditions that tell kstatus whether waiting helps."""
    failed = verdicts.failed(found)
    if failed and failed.failure:
        return [Condition(STALLED, True, failed.failure.reason, f"{failed.part or failed.resource}: {failed.failure.message}")]
    ready = sum(1 for each in found if not each.why)
    return [] if ready == len(found) else [Condition(RECONCILING, True, NOT_READY, f"{ready} of {len(found)} workloads are ready")]


def wrong(subject: Subject, type_: str) -> list[Condition]:
    """The conditions of a resource that cannot be judged. `type_` is the one that tells readiness."""
    return [Condition(type_, False, subject.reason, subject.wrong), Condition(STALLED, True, subject.reason, subject.wrong)]


def _unlisted(subject: Subject, service: str) -> Verdict:
    """A service that the annotation leaves out."""
    why = f"service {service} is not in the annotation {labels.WORKLOADS}, render the graph again"
    return Verdict(Entry(service, "", "", ""), names.component(subject.key.name, service), "", why=why)


def _state(found: list[Verdict]) -> str:
    if verdicts.failed(found):
        return FAILED
    return PENDING if any(each.why for each in found) else SUCCESSFUL


def _conditions(found: list[Verdict], notes: list[str], form: Form) -> list[Condition]:
    unready = verdicts.reasons(found)
    said = f"Resources not ready: {unready}" if unready else "All resources are ready"
    ready = Condition(conditions.READY, not unready, replicas.reason(found, form) if unready else ALL_READY, "; ".join([said, *notes]))
    return [ready, *conditions_of_progress(found)]


def _written(subject: Subject, state: str, wanted: list[Condition], now: str) -> dict[str, Any]:
    merged = conditions.merge(subject.status.get("conditions"), wanted, OWNED, subject.generation, now)
    return present({**subject.status, "observedGeneration": subject.generation or None, "state": state, "conditions": merged})


def _services(subject: Subject, found: list[Verdict], children: Children) -> dict[str, Any] | None:
    """The counts of each service that has a workload. Services that the graph does not have are left out."""
    by_service: dict[str, list[Verdict]] = {}
    for each in found:
        by_service.setdefault(each.entry.service, []).append(each)
    stored, form = values.mapping(subject.status, subject.form.parts), subject.form
    known = {service: of for service, of in by_service.items() if service in subject.services}
    return present({name: replicas.written(of, children, form, values.mapping(stored, name)) for name, of in known.items()}) or None


def _shared(subject: Subject, children: Children) -> list[str]:
    """Says which workloads another graph lists, too. Nobody can know which of the two is right."""
    found = []
    for key in subject.workloads:
        others = sorted(f"{other.kind} {other.name}" for other in children.listed_by(key) if other != subject.key)
        if others:
            found.append(f"{key.kind} {key.name} is also a workload of {', '.join(others)}; remove or rename one of them")
    return found


def _unstamped(progress: dict[str, Any] | None, subject: Subject, features: Features) -> list[str]:
    """Says that a restart waits for a feature that is off."""
    if not progress or progress.get("phase") != restart.RESTARTING or not subject.restart_by_syncer or features.restarts:
        return []
    return [f"restart {progress.get('observedID')} waits, because krm-fn sync runs without --restarts"]
