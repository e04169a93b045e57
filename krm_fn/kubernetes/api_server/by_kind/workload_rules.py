"""Rules of an API server about workloads that keep their pods running: Deployments, ReplicaSets, DaemonSets and StatefulSets.

Follows `pkg/apis/apps/validation/validation.go`.
"""

from __future__ import annotations

import re

from krm_fn.base import codes
from krm_fn.kubernetes import values
from krm_fn.kubernetes.api_server import label_selectors, object_meta, pod_rules, rejections
from krm_fn.kubernetes.api_server.by_kind import claim_rules
from krm_fn.kubernetes.api_server.rejections import Rejection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from krm_fn.kubernetes.types import IntOrString, Resource

    Fields = Mapping[str, Any]


_PERCENT = re.compile(r"[0-9]+%")


def _pods(spec: Fields, template: Fields) -> Iterator[Rejection]:
    """Yields the rejections of the selector and the pod template of a workload. Paths begin at its spec."""
    yield from _selector(spec.get("selector") or {}, template)
    for rejection in pod_rules.validate_template(template):
        yield rejection.below("template")
    policy = (template.get("spec") or {}).get("restartPolicy")
    if policy not in (None, "", "Always"):
        yield rejections.unknown(policy, ("Always",), ("template", "spec", "restartPolicy"))


def _selector(selector: Fields, template: Fields) -> Iterator[Rejection]:
    """Checks a selector, which must select the pods of the template."""
    if not selector.get("matchLabels") and not selector.get("matchExpressions"):
        yield rejections.required_field(("selector", "matchLabels"), "a label of the pods")
    for rejection in label_selectors.validate(selector):
        yield rejection.below("selector")
    labels: Fields = (template.get("metadata") or {}).get("labels") or {}
    if not label_selectors.matches(selector, labels):
        message = "the selector does not select the pods of the template; write the same labels under template.metadata.labels"
        yield Rejection(codes.SELECTOR_MISSES_OWN_PODS, ("selector",), message)


def _counts(spec: Fields, *fields: str) -> Iterator[Rejection]:
    """Yields the rejections of numbers that are below zero."""
    for field in fields:
        if (spec.get(field) or 0) < 0:
            yield rejections.out_of_range(spec[field], (field,))


def _number(amount: IntOrString) -> int:
    """Returns the number, or the number before the percent sign (getIntOrPercentValue). Another text counts as 0."""
    if isinstance(amount, int):
        return amount
    return values.int64(amount[:-1]) or 0 if _PERCENT.fullmatch(amount) else 0


def _amounts(rolling: Fields, *fields: str, limited: tuple[str, ...]) -> Iterator[Rejection]:
    """Yields the rejections of amounts of pods: numbers and percentages (ValidatePositiveIntOrPercent).

    Percentages of the `limited` fields are at most 100 (IsNotMoreThan100Percent).
    """
    for field in fields:
        amount = rolling.get(field)
        if amount is not None and not (amount >= 0 if isinstance(amount, int) else _PERCENT.fullmatch(amount)):
            yield rejections.malformed_text(str(amount), (field,), "a number of pods or a percentage")
        elif isinstance(amount, str) and field in limited and _number(amount) > 100:
            yield rejections.out_of_range(amount, (field,), 0, 100)


_QUARTER = "25%"
_DEADLINE = 600  # seconds


def validate_deployment(workload: Resource) -> Iterator[Rejection]:
    """Yields the rejections of a Deployment or a ReplicaSet (ValidateDeployment, ValidateReplicaSet)."""
    spec = workload.get("spec") or {}
    for rejection in _counts(spec, "replicas", "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"):
        yield rejection.below("spec")
    for rejection in _pods(spec, spec.get("template") or {}):
        yield rejection.below("spec")
    if workload["kind"] == "Deployment":
        yield from _deployment(spec)


def _deployment(spec: Fields) -> Iterator[Rejection]:
    if spec.get("progressDeadlineSeconds", _DEADLINE) <= (spec.get("minReadySeconds") or 0):
        problem = "progressDeadlineSeconds is not more than minReadySeconds"
        yield rejections.conflict(("spec", "progressDeadlineSeconds"), problem, "write a larger number")
    for rejection in _deployment_strategy(spec.get("strategy") or {}):
        yield rejection.below("spec", "strategy")


def _deployment_strategy(strategy: Fields) -> Iterator[Rejection]:
    """Checks how pods are replaced (ValidateDeploymentStrategy)."""
    rolling = strategy.get("rollingUpdate")
    if strategy.get("type") == "Recreate":
        if rolling is not None:
            yield rejections.conflict(("rollingUpdate",), "the type Recreate has no rollingUpdate", "remove one of the two")
        return
    for rejection in _amounts(rolling or {}, "maxUnavailable", "maxSurge", limited=("maxUnavailable",)):
        yield rejection.below("rollingUpdate")
    unavailable, surge = ((rolling or {}).get(field, _QUARTER) for field in ("maxUnavailable", "maxSurge"))
    if _number(unavailable) == 0 and _number(surge) == 0:
        problem = "maxUnavailable and maxSurge are both 0, so no pod could be replaced"
        yield rejections.conflict(("rollingUpdate", "maxUnavailable"), problem, "raise one of them")


def validate_daemon_set(workload: Resource) -> Iterator[Rejection]:
    """Yields the rejections of a DaemonSet (ValidateDaemonSet)."""
    spec = workload.get("spec") or {}
    for rejection in _counts(spec, "minReadySeconds", "revisionHistoryLimit"):
        yield rejection.below("spec")
    for rejection in _pods(spec, spec.get("template") or {}):
        yield rejection.below("spec")
    strategy = spec.get("updateStrategy") or {}
    if strategy.get("type") != "OnDelete":
        for rejection in _rolling(strategy.get("rollingUpdate") or {}):
            yield rejection.below("spec", "updateStrategy", "rollingUpdate")


def _rolling(rolling: Mapping[str, Any]) -> Iterator[Rejection]:
    """Checks how pods are replaced (ValidateRollingUpdateDaemonSet)."""
    yield from _amounts(rolling, "maxUnavailable", "maxSurge", limited=("maxUnavailable", "maxSurge"))
    unavailable, surge = (_number(rolling.get(field, default)) for field, default in (("maxUnavailable", 1), ("maxSurge", 0)))
    if unavailable and surge:
        yield rejections.conflict(
            ("maxSurge",), "maxSurge and maxUnavailable exclude each other", "write maxUnavailable: 0, or remove maxSurge"
        )
    elif not unavailable and not surge:
        problem = "maxUnavailable and maxSurge are both 0, so no pod could be replaced"
        yield rejections.conflict(("maxUnavailable",), problem, "raise one of them")


_KEPT = ("Retain", "Delete")
_OF_PODS = ("hostname", "subdomain")
"""Fields of the template that the controller replaces, so that the server does not check them."""


def validate_stateful_set(workload: Resource) -> Iterator[Rejection]:
    """Yields the rejections of a StatefulSet (ValidateStatefulSet)."""
    for rejection in _stateful_set(workload.get("spec") or {}):
        yield rejection.below("spec")


def _stateful_set(spec: Fields) -> Iterator[Rejection]:
    name = spec.get("serviceName") or ""
    if name and not object_meta.is_label(name):
        yield rejections.bad_name(name, ("serviceName",), "lower-case letters, digits and dashes")
    yield from _counts(spec, "replicas", "minReadySeconds")
    for rejection in _counts(spec.get("ordinals") or {}, "start"):
        yield rejection.below("ordinals")
    for field, policy in (spec.get("persistentVolumeClaimRetentionPolicy") or {}).items():
        if (policy or _KEPT[0]) not in _KEPT:
            yield rejections.unknown(policy, _KEPT, ("persistentVolumeClaimRetentionPolicy", field))
    for rejection in _stateful_set_strategy(spec.get("updateStrategy") or {}):
        yield rejection.below("updateStrategy")
    claims = spec.get("volumeClaimTemplates") or ()
    for index, claim in enumerate(claims):
        for rejection in claim_rules.validate_spec(claim.get("spec") or {}, drops=False):
            yield rejection.below("volumeClaimTemplates", index, "spec")
    yield from _pods(spec, _with_claims(spec.get("template") or {}, [(claim.get("metadata") or {}).get("name") or "" for claim in claims]))


def _with_claims(template: Fields, names: list[str]) -> Fields:
    """Returns the template that the server checks: with a volume for each claim, after its own volumes so that their indexes stay."""
    pod = {field: value for field, value in (template.get("spec") or {}).items() if field not in _OF_PODS}
    if names:
        volumes = [volume for volume in pod.get("volumes") or () if volume.get("name") not in names]
        pod["volumes"] = [*volumes, *({"name": name, "persistentVolumeClaim": {"claimName": name}} for name in dict.fromkeys(names))]
    return {**template, "spec": pod}


def _stateful_set_strategy(strategy: Fields) -> Iterator[Rejection]:
    """Checks how pods are replaced (validateRollingUpdateStatefulSet). A feature gate that is off by default allows maxUnavailable."""
    rolling = strategy.get("rollingUpdate")
    if rolling is not None and strategy.get("type") == "OnDelete":
        yield rejections.conflict(("rollingUpdate",), "the type OnDelete has no rollingUpdate", "remove one of the two")
    elif rolling is not None:
        for rejection in _counts(rolling, "partition"):
            yield rejection.below("rollingUpdate")
