"""Rules of an API server about Jobs, and about their policies: failures, success and replacement of pods.

Follows `pkg/apis/batch/validation/validation.go`.
"""

from __future__ import annotations

from krm_fn.base import codes
from krm_fn.kubernetes import values
from krm_fn.kubernetes.api_server import label_selectors, name_formats, object_meta, pod_rules, rejections

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from krm_fn.kubernetes.api_server.rejections import Rejection
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
_DEADLINE = codes.ACTIVE_DEADLINE_NOT_ALLOWED
"""The code of a deadline, which the pods of a Job may have."""


def validate(job: Resource) -> Iterator[Rejection]:
    """Yields the rejections of a Job (ValidateJob)."""
    spec, name = job.get("spec") or {}, (job.get("metadata") or {}).get("name") or ""
    if name and not name_formats.is_label_value(name):
        yield rejections.bad_name(name, ("metadata", "name"), "at most 63 characters, because the name becomes a label of the pods")
    completions = _completions(spec)
    if _is_indexed(spec) and (completions or 0) > 0 and not object_meta.is_label(f"{name}-{completions - 1}"):
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
        yield rejections.required_field(("backoffLimitPerIndex",), "backoffLimitPerIndex, beside maxFailedIndexes,")
    yield from _check_indexed(spec) if _is_indexed(spec) else _not_indexed(spec)
    yield from _policies(spec, _completions(spec))
    yield from _selector(spec, name, (template.get("metadata") or {}).get("labels") or {})
    for rejection in pod_rules.validate_template(template):
        if rejection.code != _DEADLINE:
            yield rejection.below("template")
    yield from _restart_policy(spec, (template.get("spec") or {}).get("restartPolicy") or "Always")


def _manager(manager: str | None) -> Iterator[Rejection]:
    if manager is not None and (not object_meta.is_domain_path(manager) or len(manager) > _LONGEST_MANAGER):
        yield rejections.bad_name(manager, ("managedBy",), f"domain/path with at most {_LONGEST_MANAGER} characters")


def _check_indexed(spec: Fields) -> Iterator[Rejection]:
    """Checks a Job whose pods have indexes."""
    completions, failed, parallel = _completions(spec), spec.get("maxFailedIndexes"), spec.get("parallelism") or 0
    if completions is None:
        yield rejections.required_field(("completions",), "completions, beside completionMode: Indexed,")
    if parallel > _MOST:
        yield rejections.out_of_range(parallel, ("parallelism",), 0, _MOST)
    if failed is not None and failed > min(_MOST, _MOST if completions is None else completions):
        yield rejections.out_of_range(failed, ("maxFailedIndexes",), 0, min(_MOST, completions or 0))
    if (completions or 0) > _MOST and spec.get("backoffLimitPerIndex") is not None:
        if failed is None:
            yield rejections.required_field(("maxFailedIndexes",), "maxFailedIndexes, beside so many completions,")
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
            yield rejections.required_field(("selector",), "a selector, beside manualSelector,")
        elif not label_selectors.matches(selector, labels):
            yield rejections.conflict(("selector",), "the selector does not select the pods of the template", "write the same labels")
        return
    for label in (*_NAMES, *_IDS):
        if label in labels and (label in _IDS or labels[label] != name):
            path = ("template", "metadata", "labels", label)
            yield rejections.conflict(path, "the server writes this label itself", "remove it")
    if selector and not label_selectors.matches(selector, dict.fromkeys(_NAMES, name)):
        yield rejections.conflict(
            ("selector",), "the server writes the selector of a Job itself", "remove it, or write manualSelector: true"
        )


def _restart_policy(spec: Fields, policy: str) -> Iterator[Rejection]:
    path = ("template", "spec", "restartPolicy")
    if policy == "Always":
        yield rejections.required_field(path, "restartPolicy: Never or restartPolicy: OnFailure")
    elif spec.get("podFailurePolicy") is not None and policy != "Never":
        yield rejections.conflict(path, "podFailurePolicy needs restartPolicy: Never", "write it, or remove the policy")


_MOST_RULES, _MOST_CODES, _LONGEST_INDEXES = 20, 255, 64 * 1024
_STATUSES = ("True", "False", "Unknown")
_REPLACEMENTS = ("TerminatingOrFailed", "Failed")


def _policies(spec: Fields, completions: int | None) -> Iterator[Rejection]:
    """Yields the rejections of the policies of a Job. Paths begin at its spec."""
    failure, success, replacement = (spec.get(f"{name}Policy") for name in ("podFailure", "success", "podReplacement"))
    if failure is not None:
        for rejection in _failure(failure.get("rules") or (), spec):
            yield rejection.below("podFailurePolicy", "rules")
    if success is not None and spec.get("completionMode") == "Indexed":
        for rejection in _success(success.get("rules") or (), completions):
            yield rejection.below("successPolicy", "rules")
    if replacement is not None and replacement not in (_REPLACEMENTS[1:] if failure is not None else _REPLACEMENTS):
        yield rejections.unknown(replacement, _REPLACEMENTS[1:] if failure is not None else _REPLACEMENTS, ("podReplacementPolicy",))


def _failure(rules: Sequence[Fields], spec: Fields) -> Iterator[Rejection]:
    """Checks a policy about failed pods (validatePodFailurePolicy). Paths begin at the rules."""
    if len(rules) > _MOST_RULES:
        yield rejections.out_of_range(f"the number of rules, {len(rules)},", (), 0, _MOST_RULES)
    pod = (spec.get("template") or {}).get("spec") or {}
    names = {container.get("name") for kind in ("containers", "initContainers") for container in pod.get(kind) or ()}
    for index, rule in enumerate(rules):
        for rejection in _failure_rule(rule, spec, names):
            yield rejection.below(index)


def _failure_rule(rule: Fields, spec: Fields, names: set[Any]) -> Iterator[Rejection]:
    """Checks one rule (validatePodFailurePolicyRule)."""
    exit_codes, conditions = rule.get("onExitCodes"), rule.get("onPodConditions") or ()
    if not rule.get("action"):
        yield rejections.required_field(("action",), "the action")
    elif rule["action"] == "FailIndex" and spec.get("backoffLimitPerIndex") is None:
        yield rejections.conflict(("action",), "FailIndex needs backoffLimitPerIndex", "write it, or another action")
    if exit_codes is not None:
        for rejection in _exit_codes(exit_codes, names):
            yield rejection.below("onExitCodes")
    for rejection in _conditions(conditions):
        yield rejection.below("onPodConditions")
    if exit_codes is not None and conditions:
        yield rejections.conflict((), "a rule has either onExitCodes or onPodConditions", "write two rules")
    if exit_codes is None and not conditions:
        yield rejections.required_field(("onExitCodes",), "one of onExitCodes and onPodConditions")


def _exit_codes(exit_codes: Fields, names: set[Any]) -> Iterator[Rejection]:
    """Checks exit codes, which must be sorted (validatePodFailurePolicyRuleOnExitCodes)."""
    operator, container, values = exit_codes.get("operator"), exit_codes.get("containerName"), exit_codes.get("values") or []
    if not operator:
        yield rejections.required_field(("operator",), "the operator")
    if container is not None and container not in names:
        yield rejections.unknown(container, sorted(name for name in names if name) or ("the name of a container",), ("containerName",))
    if not values:
        yield rejections.required_field(("values",), "an exit code")
    if len(values) > _MOST_CODES:
        yield rejections.out_of_range(f"the number of exit codes, {len(values)},", ("values",), 1, _MOST_CODES)
    for index, code in enumerate(values):
        if operator == "In" and code == 0:
            yield rejections.out_of_range(code, ("values", index), 1)
        if code in values[:index]:
            yield rejections.twice(f"the exit code {code}", ("values", index))
    if values != sorted(values):
        yield rejections.conflict(("values",), "the exit codes are not in order", "write them from the lowest to the highest")


def _conditions(conditions: Sequence[Fields]) -> Iterator[Rejection]:
    """Checks conditions of pods (validatePodFailurePolicyRuleOnPodConditions). A condition without a status has the status True."""
    if len(conditions) > _MOST_RULES:
        yield rejections.out_of_range(f"the number of conditions, {len(conditions)},", (), 0, _MOST_RULES)
    for index, condition in enumerate(conditions):
        if not name_formats.is_qualified(condition.get("type") or ""):
            yield rejections.bad_name(condition.get("type") or "", (index, "type"), "the name of a condition, or domain/name")
        if (condition.get("status") or "True") not in _STATUSES:
            yield rejections.unknown(condition["status"], _STATUSES, (index, "status"))


def _success(rules: Sequence[Fields], completions: int | None) -> Iterator[Rejection]:
    """Checks a policy about success (validateSuccessPolicy). Paths begin at the rules."""
    if not rules:
        yield rejections.required_field((), "a rule")
    if len(rules) > _MOST_RULES:
        yield rejections.out_of_range(f"the number of rules, {len(rules)},", (), 1, _MOST_RULES)
    for index, rule in enumerate(rules):
        for rejection in _success_rule(rule, completions or 0):
            yield rejection.below(index)


def _success_rule(rule: Fields, completions: int) -> Iterator[Rejection]:
    """Checks one rule (validateSuccessPolicyRule)."""
    count, indexes = rule.get("succeededCount"), rule.get("succeededIndexes")
    if count is None and indexes is None:
        yield rejections.required_field(("succeededCount",), "one of succeededCount and succeededIndexes")
    total = 0 if indexes is None else _total(indexes, completions)
    if indexes is not None and (total is None or len(indexes) > _LONGEST_INDEXES):
        what = f"a list of indexes below {completions} in order, such as 0,2-4"
        yield rejections.malformed_text(indexes[:60], ("succeededIndexes",), what)
    high = completions if indexes is None else min(completions, total or 0)
    if count is not None and not 0 <= count <= high:
        yield rejections.out_of_range(count, ("succeededCount",), 0, high)


def _total(text: str, completions: int) -> int | None:
    """Returns the number of indexes in a list of indexes and ranges (validateIndexesFormat); None if the list is not valid."""
    total, last = 0, None
    for interval in text.split(",") if text else ():
        limits = interval.split("-")
        low, high = values.int64(limits[0]), values.int64(limits[-1])
        if len(limits) > 2 or low is None or high is None:
            return None
        if high >= completions or low >= completions or (len(limits) > 1 and low >= high) or (last is not None and last >= low):
            return None
        total, last = total + high - low + 1, high
    return total
