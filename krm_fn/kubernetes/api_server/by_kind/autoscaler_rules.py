"""Rules of an API server about HorizontalPodAutoscalers.

Follows `pkg/apis/autoscaling/validation/validation.go`.
"""

from __future__ import annotations

from krm_fn.kubernetes import quantity
from krm_fn.kubernetes.api_server import object_meta, pod_rules, rejections

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from krm_fn.kubernetes.api_server.rejections import Rejection
    from krm_fn.kubernetes.types import Resource

    Fields = Mapping[str, Any]

_SOURCES = {
    "Object": "object",
    "External": "external",
    "Pods": "pods",
    "Resource": "resource",
    "ContainerResource": "containerResource",
}
_TARGETS = ("Utilization", "Value", "AverageValue")
_WINDOW, _PERIOD = 3600, 1800  # seconds


def validate(autoscaler: Resource) -> Iterator[Rejection]:
    """Yields the rejections of a HorizontalPodAutoscaler (ValidateHorizontalPodAutoscaler)."""
    for rejection in _spec(autoscaler.get("spec") or {}):
        yield rejection.below("spec")


def _spec(spec: Fields) -> Iterator[Rejection]:
    """Checks the spec. A feature gate that is off by default allows minReplicas: 0."""
    low, high = spec.get("minReplicas", 1), spec.get("maxReplicas") or 0
    if low < 1:
        yield rejections.out_of_range(low, ("minReplicas",), 1)
    if high < 1:
        yield rejections.out_of_range(high, ("maxReplicas",), 1)
    elif high < low:
        yield rejections.conflict(("maxReplicas",), f"maxReplicas {high} is less than minReplicas {low}", "write a larger number")
    target = spec.get("scaleTargetRef") or {}
    for rejection in _reference(target, grouped=target.get("kind") != "ReplicationController"):
        yield rejection.below("scaleTargetRef")
    for index, metric in enumerate(spec.get("metrics") or ()):
        for rejection in _metric(metric):
            yield rejection.below("metrics", index)
    for direction, rules in (spec.get("behavior") or {}).items():
        for rejection in _scaling(rules):
            yield rejection.below("behavior", direction)


def _reference(reference: Fields, *, grouped: bool) -> Iterator[Rejection]:
    """Checks a reference to an object (ValidateCrossVersionObjectReference)."""
    for field in ("kind", "name"):
        text = reference.get(field) or ""
        if not text:
            yield rejections.required_field((field,), f"the {field} of the object")
        elif not object_meta.is_path_segment(text):
            yield rejections.bad_name(text, (field,), "a text without / and %")
    version = reference.get("apiVersion") or ""
    if version.count("/") > 1 or (grouped and version.rpartition("/")[0] == ""):
        yield rejections.malformed_text(version, ("apiVersion",), "an apiVersion with its group, such as apps/v1")


def _metric(metric: Fields) -> Iterator[Rejection]:
    """Checks one metric (validateMetricSpec). The server checks the first source only."""
    kind = metric.get("type") or ""
    present = [field for field in _SOURCES.values() if metric.get(field) is not None]
    if kind not in _SOURCES:
        yield rejections.unknown(kind, _SOURCES, ("type",))
    elif _SOURCES[kind] not in present:
        yield rejections.required_field((_SOURCES[kind],), f"{_SOURCES[kind]}, beside type: {kind},")
    for field in present:
        if len(present) > 1 and field != _SOURCES.get(kind):
            yield rejections.conflict((field,), "a metric has one source", "remove this one")
    if present:
        for rejection in _source(present[0], metric[present[0]]):
            yield rejection.below(present[0])


def _source(kind: str, source: Fields) -> Iterator[Rejection]:
    """Checks one source (validateObjectSource, validateExternalSource, validatePodsSource, validateResourceSource)."""
    target, resource = source.get("target") or {}, kind in ("resource", "containerResource")
    if kind == "object":
        for rejection in _reference(source.get("describedObject") or {}, grouped=False):
            yield rejection.below("describedObject")
    if resource:
        yield from _resource(kind, source)
    else:
        name = (source.get("metric") or {}).get("name") or ""
        if not name or not object_meta.is_path_segment(name):
            yield rejections.bad_name(name, ("metric", "name"), "the name of a metric, without / and %")
    for rejection in _target(kind, target):
        yield rejection.below("target")


def _resource(kind: str, source: Fields) -> Iterator[Rejection]:
    name, container = source.get("name") or "", source.get("container") or ""
    if not name:
        yield rejections.required_field(("name",), "the name of the resource")
    elif kind == "containerResource" and not pod_rules.is_resource(name):
        yield rejections.bad_name(name, ("name",), "cpu, memory, ephemeral-storage, or domain/name")
    if kind == "containerResource" and not object_meta.is_label(container):
        yield rejections.bad_name(container, ("container",), "the name of a container")


def _target(kind: str, target: Fields) -> Iterator[Rejection]:
    """Checks the value that a metric should have (validateMetricTarget)."""
    if target.get("type") not in _TARGETS:
        yield rejections.unknown(target.get("type") or "", _TARGETS, ("type",))
    value, average, utilization = (target.get(field) for field in ("value", "averageValue", "averageUtilization"))
    for field, amount in (("value", value), ("averageValue", average)):
        if amount is not None and quantity.value(amount) <= 0:
            yield rejections.out_of_range(amount, (field,), 1)
    if utilization is not None and utilization < 1:
        yield rejections.out_of_range(utilization, ("averageUtilization",), 1)
    other, field = {"pods": (None, ""), "object": (value, "value"), "external": (value, "value")}.get(
        kind, (utilization, "averageUtilization")
    )
    if average is None and other is None:
        yield rejections.required_field(("averageValue",), f"{' or '.join(filter(None, ('averageValue', field)))}")
    if average is not None and other is not None and kind != "object":
        yield rejections.conflict((field,), f"averageValue and {field} exclude each other", "keep one of them")


def _scaling(rules: Fields | None) -> Iterator[Rejection]:
    """Checks the pace of scaling (validateScalingRules). Missing fields get defaults."""
    if rules is None:
        return
    window, policies = rules.get("stabilizationWindowSeconds") or 0, rules.get("policies")
    if not 0 <= window <= _WINDOW:
        yield rejections.out_of_range(window, ("stabilizationWindowSeconds",), 0, _WINDOW)
    if rules.get("selectPolicy") is not None and rules["selectPolicy"] not in ("Max", "Min", "Disabled"):
        yield rejections.unknown(rules["selectPolicy"], ("Max", "Min", "Disabled"), ("selectPolicy",))
    if policies is not None and not policies:
        yield rejections.required_field(("policies",), "a policy")
    for rejection in _policies(policies or ()):
        yield rejection.below("policies")
    if rules.get("tolerance") is not None and quantity.value(rules["tolerance"]) < 0:
        yield rejections.out_of_range(rules["tolerance"], ("tolerance",))


def _policies(policies: Sequence[Fields]) -> Iterator[Rejection]:
    """Checks policies (validateScalingPolicy)."""
    for index, policy in enumerate(policies):
        if policy.get("type") not in ("Pods", "Percent"):
            yield rejections.unknown(policy.get("type") or "", ("Pods", "Percent"), (index, "type"))
        if (policy.get("value") or 0) < 1:
            yield rejections.out_of_range(policy.get("value") or 0, (index, "value"), 1)
        if not 0 < (policy.get("periodSeconds") or 0) <= _PERIOD:
            yield rejections.out_of_range(policy.get("periodSeconds") or 0, (index, "periodSeconds"), 1, _PERIOD)
