"""Rules of an API server about Jobs.

Follows ValidateJob of `pkg/apis/batch/validation/validation.go`.
"""

from __future__ import annotations

from krm_fn.kubernetes.api_server import (
    job_policies,
    label_selectors,
    name_formats,
    object_names,
    rejections,
    selected_labels,
    template_rules,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from krm_fn.kubernetes.api_server import Rejection
    from krm_fn.kubernetes.types import Resource

    Fields = Mapping[str, Any]

_COUNTS = (
    *("parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished"),
    *("backoffLimitPerIndex", "maxFailedIndexes"),
)
_NAMES = ("job-name", "batch.kubernetes.io/job-name")
_IDS = ("controller-uid", "batch.kubernetes.io/controller-uid")
_MOST, _MOST_OF_MANY = 100_000, 10_000
_LONGEST_MANAGER = 63
_DEADLINE = "DYN201"
"""The code of a deadline, which the pods of a Job may have."""


def validate(job: Resource) -> Iterator[Rejection]:
    """Yields the rejections of a Job (ValidateJob)."""
    spec, name = job.get("spec") or {}, (job.get("metadata") or {}).get("name") or ""
    if name and not name_formats.is_label_value(name):
        yield rejections.bad_name(name, ("metadata", "name"), "at most 63 characters, because the name becomes a label of the pods")
    completions = _completions(spec)
    if _is_indexed(spec) and (completions or 0) > 0 and not object_names.is_label(f"{name}-{completions - 1}"):
        form = "lower-case letters, digits and dashes, and so few that the index of a pod fits behind them into 63"
        yield rejections.bad_name(name, ("metadata", "name"), form)
    for rejection in _spec(spec, name):
        yield rejection.below("spec")


def _is_indexed(spec: Fields) -> bool:
    return bool(spec.get("completionMode") == "Indexed")


def _completions(spec: Fields) -> Any:
    """Returns the number of completions after defaults (SetDefaults_Job); None for a work queue."""
    return spec.get("completions", None if spec.get("parallelism") is not None else 1)


def _spec(spec: Fields, name: str) -> Iterator[Rejection]:
    template = spec.get("template") or {}
    for field in _COUNTS:
        if (spec.get(field) or 0) < 0:
            yield rejections.out_of_range(spec[field], (field,))
    yield from _manager(spec.get("managedBy"))
    if spec.get("maxFailedIndexes") is not None and spec.get("backoffLimitPerIndex") is None:
        yield rejections.required(("backoffLimitPerIndex",), "backoffLimitPerIndex, beside maxFailedIndexes,")
    yield from _indexed(spec) if _is_indexed(spec) else _not_indexed(spec)
    yield from job_policies.validate(spec, _completions(spec))
    yield from _selector(spec, name, (template.get("metadata") or {}).get("labels") or {})
    for rejection in template_rules.validate(template):
        if rejection.code != _DEADLINE:
            yield rejection.below("template")
    yield from _restart_policy(spec, (template.get("spec") or {}).get("restartPolicy") or "Always")


def _manager(manager: str | None) -> Iterator[Rejection]:
    if manager is not None and (not object_names.is_domain_path(manager) or len(manager) > _LONGEST_MANAGER):
        yield rejections.bad_name(manager, ("managedBy",), f"domain/path with at most {_LONGEST_MANAGER} characters")


def _indexed(spec: Fields) -> Iterator[Rejection]:
    """Checks a Job whose pods have indexes."""
    completions, failed, parallel = _completions(spec), spec.get("maxFailedIndexes"), spec.get("parallelism") or 0
    if completions is None:
        yield rejections.required(("completions",), "completions, beside completionMode: Indexed,")
    if parallel > _MOST:
        yield rejections.out_of_range(parallel, ("parallelism",), 0, _MOST)
    if failed is not None and failed > min(_MOST, _MOST if completions is None else completions):
        yield rejections.out_of_range(failed, ("maxFailedIndexes",), 0, min(_MOST, completions or 0))
    if (completions or 0) > _MOST and spec.get("backoffLimitPerIndex") is not None:
        if failed is None:
            yield rejections.required(("maxFailedIndexes",), "maxFailedIndexes, beside so many completions,")
        for field, number in (("parallelism", parallel), ("maxFailedIndexes", failed or 0)):
            if number > _MOST_OF_MANY:
                yield rejections.out_of_range(number, (field,), 0, _MOST_OF_MANY)


def _not_indexed(spec: Fields) -> Iterator[Rejection]:
    if spec.get("completionMode") == "":
        yield rejections.unknown("", ("NonIndexed", "Indexed"), ("completionMode",))
    for field in ("backoffLimitPerIndex", "maxFailedIndexes", "successPolicy"):
        if spec.get(field) is not None and (field == "successPolicy" or spec.get("completionMode") != ""):
            yield rejections.conflict((field,), f"{field} needs completionMode: Indexed", "write it, or remove the field")


def _selector(spec: Fields, name: str, labels: Fields) -> Iterator[Rejection]:
    """Checks labels and selector (validateGeneratedSelector). The server writes both, unless the author selects pods by hand."""
    selector = spec.get("selector")
    for rejection in label_selectors.validate(selector):
        yield rejection.below("selector")
    if spec.get("manualSelector"):
        if selector is None:
            yield rejections.required(("selector",), "a selector, beside manualSelector,")
        elif not selected_labels.matches(selector, labels):
            yield rejections.conflict(("selector",), "the selector does not select the pods of the template", "write the same labels")
        return
    for label in (*_NAMES, *_IDS):
        if label in labels and (label in _IDS or labels[label] != name):
            path = ("template", "metadata", "labels", label)
            yield rejections.conflict(path, "the server writes this label itself", "remove it")
    if selector and not selected_labels.matches(selector, dict.fromkeys(_NAMES, name)):
        yield rejections.conflict(
            ("selector",), "the server writes the selector of a Job itself", "remove it, or write manualSelector: true"
        )


def _restart_policy(spec: Fields, policy: str) -> Iterator[Rejection]:
    path = ("template", "spec", "restartPolicy")
    if policy == "Always":
        yield rejections.required(path, "restartPolicy: Never or restartPolicy: OnFailure")
    elif spec.get("podFailurePolicy") is not None and policy != "Never":
        yield rejections.conflict(path, "podFailurePolicy needs restartPolicy: Never", "write it, or remove the policy")
