"""Rules of an API server about the restarts of a single container."""

from __future__ import annotations

from krm_fn.kubernetes.api_server import Rejection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from krm_fn.kubernetes.api_server.by_field import Context

    Fields = Mapping[str, Any]


_POLICIES = ("Always", "Never", "OnFailure")
_MOST_RULES, _MOST_CODES = 20, 255


def validate(container: Fields, context: Context) -> Iterator[Rejection]:
    """Yields the rejections of the fields about restarts."""
    yield from _policy(container)
    yield from _resize_policy(container.get("resizePolicy") or (), container, context)


def _policy(container: Fields) -> Iterator[Rejection]:
    """Checks the policy and its rules (validateContainerRestartPolicy, validateInitContainerRestartPolicy)."""
    policy, rules = container.get("restartPolicy"), container.get("restartPolicyRules") or ()
    if policy is None and rules:
        yield Rejection("DYN225", ("restartPolicy",), "restartPolicy is required beside restartPolicyRules; write it, or remove the rules")
    elif policy is not None and policy not in _POLICIES:
        message = f"{policy!r} is not a policy of a container; write {', '.join(_POLICIES[:-1])} or {_POLICIES[-1]}"
        yield Rejection("DYN233", ("restartPolicy",), message)
    if policy is None:
        return
    if len(rules) > _MOST_RULES:
        message = f"{len(rules)} rules are listed, but at most {_MOST_RULES} are allowed; remove the others"
        yield Rejection("DYN235", ("restartPolicyRules",), message)
    for index, rule in enumerate(rules):
        for rejection in _rule(rule):
            yield rejection.below("restartPolicyRules", index)


def _rule(rule: Fields) -> Iterator[Rejection]:
    if rule.get("action") not in ("Restart", "RestartAllContainers"):
        yield Rejection("DYN233", ("action",), f"{rule.get('action')!r} is not an action; write Restart or RestartAllContainers")
    codes = rule.get("exitCodes")
    if codes is None:
        yield Rejection("DYN225", ("exitCodes",), "exitCodes are required; write to which codes the rule applies")
        return
    if codes.get("operator") not in ("In", "NotIn"):
        yield Rejection("DYN233", ("exitCodes", "operator"), f"{codes.get('operator')!r} is not an operator here; write In or NotIn")
    if len(codes.get("values") or ()) > _MOST_CODES:
        yield Rejection("DYN235", ("exitCodes", "values"), f"more than {_MOST_CODES} exit codes are listed; remove some")


def _resize_policy(policies: Sequence[Fields], container: Fields, context: Context) -> Iterator[Rejection]:
    """Checks the restarts after a change of resources (validateResizePolicy, validateInitContainers)."""
    resources = set()
    is_sidecar = container.get("restartPolicy") == "Always"
    for index, policy in enumerate(policies):
        resource, restart, path = policy.get("resourceName"), policy.get("restartPolicy"), ("resizePolicy", index)
        if resource in resources:
            yield Rejection("DYN237", (*path, "resourceName"), f"the resource {resource} is listed twice; keep one entry")
        resources.add(resource)
        if resource not in ("cpu", "memory"):
            yield Rejection("DYN233", (*path, "resourceName"), f"{resource!r} cannot be resized; write cpu or memory")
        if restart not in ("NotRequired", "RestartContainer"):
            yield Rejection("DYN233", (*path, "restartPolicy"), f"{restart!r} is not a policy here; write NotRequired or RestartContainer")
        elif restart == "RestartContainer" and context.spec.get("restartPolicy") == "Never":
            message = "the containers of a pod with restartPolicy: Never cannot restart; write NotRequired"
            yield Rejection("DYN232", (*path, "restartPolicy"), message)
        elif restart == "RestartContainer" and context.is_init and not is_sidecar:
            message = "an init container cannot restart for a change of its resources; write NotRequired"
            yield Rejection("DYN232", (*path, "restartPolicy"), message)
