"""Rules of an API server about Deployments.

Follows ValidateDeploymentSpec of `pkg/apis/apps/validation/validation.go`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from krm_fn.kube.admission import Rejection, label_selectors, rejections, selected_labels, template_rules

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from krm_fn.kube.types import IntOrString, Resource

    Fields = Mapping[str, Any]

_PERCENT = re.compile(r"[0-9]+%")
_QUARTER = "25%"
_DEADLINE = 600  # seconds
_COUNTS = ("replicas", "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds")


def validate(deployment: Resource) -> Iterator[Rejection]:
    """Yields the rejections of a Deployment (ValidateDeployment)."""
    for rejection in _spec(deployment.get("spec") or {}):
        yield rejection.below("spec")


def _spec(spec: Fields) -> Iterator[Rejection]:
    template = spec.get("template") or {}
    for field in _COUNTS:
        if (spec.get(field) or 0) < 0:
            yield rejections.out_of_range(spec[field], (field,))
    if spec.get("progressDeadlineSeconds", _DEADLINE) <= (spec.get("minReadySeconds") or 0):
        problem = "progressDeadlineSeconds is not more than minReadySeconds"
        yield rejections.conflict(("progressDeadlineSeconds",), problem, "write a larger number")
    yield from selector(spec.get("selector") or {}, template)
    for rejection in template_rules.validate(template):
        yield rejection.below("template")
    if (template.get("spec") or {}).get("restartPolicy") not in (None, "", "Always"):
        path = ("template", "spec", "restartPolicy")
        yield rejections.unknown(template["spec"]["restartPolicy"], ("Always",), path)
    for rejection in _strategy(spec.get("strategy") or {}):
        yield rejection.below("strategy")


def selector(written: Fields, template: Fields) -> Iterator[Rejection]:
    """Yields the rejections of a selector that must select the pods of a template."""
    if not written.get("matchLabels") and not written.get("matchExpressions"):
        yield rejections.required(("selector", "matchLabels"), "a label of the pods")
    for rejection in label_selectors.validate(written):
        yield rejection.below("selector")
    labels: Fields = (template.get("metadata") or {}).get("labels") or {}
    if not selected_labels.matches(written, labels):
        message = "the selector does not select the pods of the template; write the same labels under template.metadata.labels"
        yield Rejection("DYN259", ("selector",), message)


def _strategy(strategy: Fields) -> Iterator[Rejection]:
    """Checks how pods are replaced (ValidateDeploymentStrategy)."""
    rolling = strategy.get("rollingUpdate")
    if strategy.get("type") == "Recreate":
        if rolling is not None:
            yield rejections.conflict(("rollingUpdate",), "the type Recreate has no rollingUpdate", "remove one of the two")
        return
    unavailable, surge = ((rolling or {}).get(field, _QUARTER) for field in ("maxUnavailable", "maxSurge"))
    for field, amount in (("maxUnavailable", unavailable), ("maxSurge", surge)):
        if not is_amount(amount):
            yield rejections.malformed(str(amount), ("rollingUpdate", field), "a number of pods or a percentage")
    if _number(unavailable) == 0 and _number(surge) == 0:
        problem = "maxUnavailable and maxSurge are both 0, so no pod could be replaced"
        yield rejections.conflict(("rollingUpdate", "maxUnavailable"), problem, "raise one of them")
    if isinstance(unavailable, str) and is_amount(unavailable) and _number(unavailable) > 100:
        yield rejections.out_of_range(unavailable, ("rollingUpdate", "maxUnavailable"), 0, 100)


def is_amount(amount: IntOrString) -> bool:
    """Returns true for a number of at least 0 or a percentage (ValidatePositiveIntOrPercent)."""
    return amount >= 0 if isinstance(amount, int) else _PERCENT.fullmatch(amount) is not None


def _number(amount: IntOrString) -> int:
    """The number, or the number before the percent sign (getIntOrPercentValue)."""
    if isinstance(amount, int):
        return amount
    return int(amount[:-1]) if _PERCENT.fullmatch(amount) else 0
