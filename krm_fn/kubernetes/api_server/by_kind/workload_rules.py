"""Rules of an API server about the pods of a workload that keeps them running: its selector, and its pod template.

Follows ValidatePodTemplateSpecForReplicaSet of `pkg/apis/apps/validation/validation.go`, and the functions for the same fields of the other
kinds there.
"""

from __future__ import annotations

import re

from krm_fn.kubernetes import values
from krm_fn.kubernetes.api_server import Rejection, label_selectors, rejections, selected_labels, template_rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from krm_fn.kubernetes.types import IntOrString

    Fields = Mapping[str, Any]


_PERCENT = re.compile(r"[0-9]+%")


def validate(spec: Fields, template: Fields) -> Iterator[Rejection]:
    """Yields the rejections of the selector and the pod template of a workload. Paths begin at its spec."""
    yield from _selector(spec.get("selector") or {}, template)
    for rejection in template_rules.validate(template):
        yield rejection.below("template")
    policy = (template.get("spec") or {}).get("restartPolicy")
    if policy not in (None, "", "Always"):
        yield rejections.unknown(policy, ("Always",), ("template", "spec", "restartPolicy"))


def _selector(selector: Fields, template: Fields) -> Iterator[Rejection]:
    """Checks a selector, which must select the pods of the template."""
    if not selector.get("matchLabels") and not selector.get("matchExpressions"):
        yield rejections.required(("selector", "matchLabels"), "a label of the pods")
    for rejection in label_selectors.validate(selector):
        yield rejection.below("selector")
    labels: Fields = (template.get("metadata") or {}).get("labels") or {}
    if not selected_labels.matches(selector, labels):
        message = "the selector does not select the pods of the template; write the same labels under template.metadata.labels"
        yield Rejection("DYN259", ("selector",), message)


def counts(spec: Fields, *fields: str) -> Iterator[Rejection]:
    """Yields the rejections of numbers that are below zero."""
    for field in fields:
        if (spec.get(field) or 0) < 0:
            yield rejections.out_of_range(spec[field], (field,))


def number(amount: IntOrString) -> int:
    """Returns the number, or the number before the percent sign (getIntOrPercentValue). Another text counts as 0."""
    if isinstance(amount, int):
        return amount
    return values.int64(amount[:-1]) or 0 if _PERCENT.fullmatch(amount) else 0


def amounts(rolling: Fields, *fields: str, limited: tuple[str, ...]) -> Iterator[Rejection]:
    """Yields the rejections of amounts of pods: numbers and percentages (ValidatePositiveIntOrPercent).

    Percentages of the `limited` fields are at most 100 (IsNotMoreThan100Percent).
    """
    for field in fields:
        amount = rolling.get(field)
        if amount is not None and not (amount >= 0 if isinstance(amount, int) else _PERCENT.fullmatch(amount)):
            yield rejections.malformed(str(amount), (field,), "a number of pods or a percentage")
        elif isinstance(amount, str) and field in limited and number(amount) > 100:
            yield rejections.out_of_range(amount, (field,), 0, 100)
