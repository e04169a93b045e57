"""Rules of an API server about the policies of a Job: failures, success and replacement of its pods.

Follows `pkg/apis/batch/validation/validation.go`.
"""

from __future__ import annotations

from krm_fn.kubernetes import values
from krm_fn.kubernetes.api_server import name_formats, rejections

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from krm_fn.kubernetes.api_server import Rejection

    Fields = Mapping[str, Any]

_MOST_RULES, _MOST_CODES, _LONGEST_INDEXES = 20, 255, 64 * 1024
_STATUSES = ("True", "False", "Unknown")
_REPLACEMENTS = ("TerminatingOrFailed", "Failed")


def validate(spec: Fields, completions: int | None) -> Iterator[Rejection]:
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
    codes, conditions = rule.get("onExitCodes"), rule.get("onPodConditions") or ()
    if not rule.get("action"):
        yield rejections.required(("action",), "the action")
    elif rule["action"] == "FailIndex" and spec.get("backoffLimitPerIndex") is None:
        yield rejections.conflict(("action",), "FailIndex needs backoffLimitPerIndex", "write it, or another action")
    if codes is not None:
        for rejection in _exit_codes(codes, names):
            yield rejection.below("onExitCodes")
    for rejection in _conditions(conditions):
        yield rejection.below("onPodConditions")
    if codes is not None and conditions:
        yield rejections.conflict((), "a rule has either onExitCodes or onPodConditions", "write two rules")
    if codes is None and not conditions:
        yield rejections.required(("onExitCodes",), "one of onExitCodes and onPodConditions")


def _exit_codes(codes: Fields, names: set[Any]) -> Iterator[Rejection]:
    """Checks exit codes, which must be sorted (validatePodFailurePolicyRuleOnExitCodes)."""
    operator, container, values = codes.get("operator"), codes.get("containerName"), codes.get("values") or []
    if not operator:
        yield rejections.required(("operator",), "the operator")
    if container is not None and container not in names:
        yield rejections.unknown(container, sorted(name for name in names if name) or ("the name of a container",), ("containerName",))
    if not values:
        yield rejections.required(("values",), "an exit code")
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
        yield rejections.required((), "a rule")
    if len(rules) > _MOST_RULES:
        yield rejections.out_of_range(f"the number of rules, {len(rules)},", (), 1, _MOST_RULES)
    for index, rule in enumerate(rules):
        for rejection in _success_rule(rule, completions or 0):
            yield rejection.below(index)


def _success_rule(rule: Fields, completions: int) -> Iterator[Rejection]:
    """Checks one rule (validateSuccessPolicyRule)."""
    count, indexes = rule.get("succeededCount"), rule.get("succeededIndexes")
    if count is None and indexes is None:
        yield rejections.required(("succeededCount",), "one of succeededCount and succeededIndexes")
    total = 0 if indexes is None else _total(indexes, completions)
    if indexes is not None and (total is None or len(indexes) > _LONGEST_INDEXES):
        what = f"a list of indexes below {completions} in order, such as 0,2-4"
        yield rejections.malformed(indexes[:60], ("succeededIndexes",), what)
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
