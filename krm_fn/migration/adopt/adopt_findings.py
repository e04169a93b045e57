"""Reports each difference between rendered and live pods with its fix, and objects that another tool applies."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from krm_fn.base import codes, results
from krm_fn.base.results import Path, Ref, Result
from krm_fn.kubernetes import identity
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import text
from krm_fn.migration.adopt import unfinished_updates
from krm_fn.migration.adopt.exported_objects import ExportedObjects
from krm_fn.migration.adopt.verification import ComparedField, ReplicaDifference, TemplateDifference, Verification
from krm_fn.render import dynamo_api, labels
from krm_fn.review.forecast import ObjectForecast

_MOST, _SHOWN, _CONTEXT = 5, 60, 20
"""The most fields that one finding shows, the most characters of a value, and the number of them before the first difference."""

_ROLLOUT = (
    "other pods of this graph have the value already, so the operator is still rolling it out: wait until it is done, and export again"
)
_QUOTING = re.compile(r"[\"'\\$(){}]")


_TOOLS = {
    "meta.helm.sh/release-name": "the Helm release",
    "argocd.argoproj.io/tracking-id": "the Argo CD application of",
    "argocd.argoproj.io/instance": "the Argo CD application",
    "kustomize.toolkit.fluxcd.io/name": "the Flux Kustomization",
    "helm.toolkit.fluxcd.io/name": "the Flux HelmRelease",
}
"""The labels and annotations by which tools know their objects, and the tools."""


def of(verification: Verification, exported: ExportedObjects, *, complete: bool) -> Iterator[Result]:
    """Reports each pod template and each number of pods that differs, and each object that the cluster rejects.

    A render that is not `complete` has errors of its own, which explain why pod templates are missing.
    """
    for difference in verification.differences:
        if difference.live is not None and difference.rendered is not None:
            yield _different(difference, unfinished_updates.in_progress(difference, exported))
        elif complete:
            yield _missing(difference)
    for replicas in verification.replicas:
        yield _replicas(replicas)
    workloads = {difference.key.workload for difference in verification.differences}
    for outcome in verification.outcomes:
        if outcome.effect == "restarts" and outcome.key not in workloads:
            yield _restarts(outcome)
        yield from results.errors_of(outcome.findings)


def foreign(rendered: Iterable[Resource], exported: ExportedObjects) -> Iterator[Result]:
    """Warns of graphs, and of live objects that a render makes, that another tool applies: it would undo the adoption."""
    keys = {identity.key(resource, exported.namespace) for resource in rendered}
    for resource in exported.exported:
        of_user = resource["kind"] in (dynamo_api.GRAPH, dynamo_api.COMPONENT, dynamo_api.MODEL)
        tool = _tool(resource) if of_user or identity.key(resource, exported.namespace) in keys else ""
        if tool:
            fix = (
                "suspend it until the steps of MIGRATION.md are done, then give it the new files"
                if of_user
                else "take the object out of its files first, or it changes the object back"
            )
            yield results.warning(codes.OBJECT_APPLIED_BY_OTHER_TOOL, f"{tool} applies this object; {fix}", results.ref(resource))


def _tool(resource: Resource) -> str:
    """The tool with the name that its label or annotation has; empty without one."""
    marks = {**labels.of(resource), **labels.annotations(resource)}
    return next((f"{tool} {text(marks[key])[:80]}" for key, tool in _TOOLS.items() if marks.get(key)), "")


def summary(verification: Verification) -> str:
    """Describes the outcome in one line: `9 of 9 pod templates the same, no restart`."""
    templates = f"{verification.same} of {verification.total} pod templates the same"
    return f"{templates}, no restart" if verification.keeps_all else templates


def _different(difference: TemplateDifference, rollout: Collection[ComparedField]) -> Result:
    """One finding for a template, because one restart is the price of all its fields. `rollout` are those that other pods have already."""
    fields = difference.fields
    differences = "; ".join(_describe_field(field) for field in fields[:_MOST])
    more = f"; and {len(fields) - _MOST} more" if len(fields) > _MOST else ""
    fixes = " ".join(dict.fromkeys(f"{_ROLLOUT if field in rollout else _fix(field)}." for field in fields[:_MOST])).removesuffix(".")
    return results.error(codes.PODS_WOULD_RESTART, f"these pods would restart, because {differences}{more}; {fixes}", _ref(difference))


def _missing(difference: TemplateDifference) -> Result:
    if difference.rendered is None:
        message = "these pods run, but no pod template is rendered for them; write their service into the graph, with the same replicas"
    else:
        message = (
            "this pod template is rendered, but does not run; wait until the operator has made it, or remove its service from the graph"
        )
    return results.error(codes.WORKLOAD_ON_ONE_SIDE_ONLY, message, _ref(difference))


def _replicas(difference: ReplicaDifference) -> Result:
    message = f"{difference.live} replicas run, and {difference.rendered} are rendered; write replicas: {difference.live} into the graph"
    ref = _address(difference.workload)
    return results.error(
        codes.REPLICAS_WOULD_CHANGE, message, ref._replace(name=f"{ref.name} {difference.part}".strip()), ("spec", "replicas")
    )


def _restarts(outcome: ObjectForecast) -> Result:
    """A workload whose pods restart although its pod templates are the same."""
    message = f"these pods would restart, because {_paths(outcome.causes)} differs; write the live value into the graph"
    return results.error(codes.PODS_WOULD_RESTART, message, _address(outcome.key), outcome.causes[0] if outcome.causes else ())


def _paths(paths: tuple[Path, ...]) -> str:
    return ", ".join(".".join(str(step) for step in path) for path in paths[:_MOST])


def _describe_field(field: ComparedField) -> str:
    if field.is_order:
        return f"{field.path} have another order"
    if not field.live:
        return f"{field.path} is {_short(field.rendered)} and does not run"
    if not field.rendered:
        return f"{field.path} is missing, and {_short(field.live)} runs"
    rendered, live = _around_difference(field.rendered, field.live)
    return f"{field.path} is {rendered}, and {live} runs"


def _fix(field: ComparedField) -> str:
    """The fix that makes the field the same: a setting, a field of the graph, or the end of an update."""
    setting = unfinished_updates.setting(field)
    if setting and not field.live:
        return f"{setting} in render.yaml is that of other pods: adopt the graph of these pods into a folder of its own"
    if setting:
        return f"set {setting} in render.yaml, or write the live value into the graph"
    if labels.RESTART_AT in field.path:
        return "wait until the operator has restarted all services, and export again"
    if labels.WORKER_HASH in field.path or "DYN_NAMESPACE_WORKER_SUFFIX" in field.path:
        return "set operatorVersion in render.yaml to the version of the operator that made the graph"
    if (".command[" in field.path or ".args[" in field.path) and plain_words(field.live) == plain_words(field.rendered):
        return (
            "the operator writes this command so that it loses quotes or variables, and krm-fn corrects it (docs/differences.md, Pods): "
            "accept one restart of these pods"
        )
    if field.path.startswith("metadata."):
        return "write the live value into the metadata of the service's pods in the graph"
    return "write the live value into the pods of the service in the graph, or accept one restart"


def plain_words(command: str) -> list[str]:
    """Returns the words of a command without quotes and signs of variables: equal for a command and its correction."""
    return sorted(_QUOTING.sub("", command).split())


def _around_difference(rendered: str, live: str) -> tuple[str, str]:
    """Two values that differ, each from shortly before the first difference on."""
    first = next((index for index, (one, other) in enumerate(zip(rendered, live, strict=False)) if one != other), 0)
    start = max(first - _CONTEXT, 0)
    return _short(rendered, start), _short(live, start)


def _ref(difference: TemplateDifference) -> Ref:
    key, template = difference.key
    return Ref("", key.kind, f"{key.name} {template}".strip(), key.namespace)


def _address(key: ObjectKey) -> Ref:
    return Ref("", key.kind, key.name, key.namespace)


def _short(value: str, start: int = 0) -> str:
    """At most `_SHOWN` characters of a value. An ellipsis replaces those that are left out."""
    end = start + _SHOWN
    return f"{'…' * (start > 0)}{value[start:end]}{'…' * (len(value) > end)}"
