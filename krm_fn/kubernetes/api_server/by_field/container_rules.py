"""Rules of an API server about fields of a container: restarts, hooks, and variables from files and resources."""

from __future__ import annotations

from krm_fn.base import codes
from krm_fn.kubernetes import quantity
from krm_fn.kubernetes.api_server import field_rules, name_formats, pod_rules
from krm_fn.kubernetes.api_server.rejections import Rejection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from krm_fn.kubernetes.api_server.by_field import Context

    Fields = Mapping[str, Any]


_POLICIES = ("Always", "Never", "OnFailure")
_MOST_RULES, _MOST_CODES = 20, 255


def validate_restart(container: Fields, context: Context) -> Iterator[Rejection]:
    """Yields the rejections of the fields about restarts."""
    yield from _policy(container)
    yield from _resize_policy(container.get("resizePolicy") or (), container, context)


def _policy(container: Fields) -> Iterator[Rejection]:
    """Checks the policy and its rules (validateContainerRestartPolicy, validateInitContainerRestartPolicy)."""
    policy, rules = container.get("restartPolicy"), container.get("restartPolicyRules") or ()
    if policy is None and rules:
        yield Rejection(
            codes.EMPTY_REQUIRED_FIELD,
            ("restartPolicy",),
            "restartPolicy is required beside restartPolicyRules; write it, or remove the rules",
        )
    elif policy is not None and policy not in _POLICIES:
        message = f"{policy!r} is not a policy of a container; write {', '.join(_POLICIES[:-1])} or {_POLICIES[-1]}"
        yield Rejection(codes.VALUE_NOT_ALLOWED, ("restartPolicy",), message)
    if policy is None:
        return
    if len(rules) > _MOST_RULES:
        message = f"{len(rules)} rules are listed, but at most {_MOST_RULES} are allowed; remove the others"
        yield Rejection(codes.TOO_MANY_ENTRIES, ("restartPolicyRules",), message)
    for index, rule in enumerate(rules):
        for rejection in _rule(rule):
            yield rejection.below("restartPolicyRules", index)


def _rule(rule: Fields) -> Iterator[Rejection]:
    if rule.get("action") not in ("Restart", "RestartAllContainers"):
        yield Rejection(
            codes.VALUE_NOT_ALLOWED, ("action",), f"{rule.get('action')!r} is not an action; write Restart or RestartAllContainers"
        )
    exit_codes = rule.get("exitCodes")
    if exit_codes is None:
        yield Rejection(codes.EMPTY_REQUIRED_FIELD, ("exitCodes",), "exitCodes are required; write to which codes the rule applies")
        return
    if exit_codes.get("operator") not in ("In", "NotIn"):
        yield Rejection(
            codes.VALUE_NOT_ALLOWED, ("exitCodes", "operator"), f"{exit_codes.get('operator')!r} is not an operator here; write In or NotIn"
        )
    if len(exit_codes.get("values") or ()) > _MOST_CODES:
        yield Rejection(codes.TOO_MANY_ENTRIES, ("exitCodes", "values"), f"more than {_MOST_CODES} exit codes are listed; remove some")


def _resize_policy(policies: Sequence[Fields], container: Fields, context: Context) -> Iterator[Rejection]:
    """Checks the restarts after a change of resources (validateResizePolicy, validateInitContainers)."""
    resources = set()
    is_sidecar = container.get("restartPolicy") == "Always"
    for index, policy in enumerate(policies):
        resource, restart, path = policy.get("resourceName"), policy.get("restartPolicy"), ("resizePolicy", index)
        if resource in resources:
            yield Rejection(
                codes.DUPLICATE_ENTRY_IN_POD, (*path, "resourceName"), f"the resource {resource} is listed twice; keep one entry"
            )
        resources.add(resource)
        if resource not in ("cpu", "memory"):
            yield Rejection(codes.VALUE_NOT_ALLOWED, (*path, "resourceName"), f"{resource!r} cannot be resized; write cpu or memory")
        if restart not in ("NotRequired", "RestartContainer"):
            yield Rejection(
                codes.VALUE_NOT_ALLOWED,
                (*path, "restartPolicy"),
                f"{restart!r} is not a policy here; write NotRequired or RestartContainer",
            )
        elif restart == "RestartContainer" and context.spec.get("restartPolicy") == "Never":
            message = "the containers of a pod with restartPolicy: Never cannot restart; write NotRequired"
            yield Rejection(codes.FIELDS_NOT_ALLOWED_TOGETHER, (*path, "restartPolicy"), message)
        elif restart == "RestartContainer" and context.is_init and not is_sidecar:
            message = "an init container cannot restart for a change of its resources; write NotRequired"
            yield Rejection(codes.FIELDS_NOT_ALLOWED_TOGETHER, (*path, "restartPolicy"), message)


_ACTIONS = ("exec", "httpGet", "tcpSocket", "sleep")
_GRACE_PERIOD = 30
"""The default of terminationGracePeriodSeconds."""


def validate_lifecycle(container: Fields, context: Context) -> Iterator[Rejection]:
    """Yields the rejections of `lifecycle` (validateLifecycle). A feature gate decides about `stopSignal`, so it is not checked."""
    lifecycle = container["lifecycle"]
    if lifecycle is None or set(lifecycle) == {"stopSignal"}:
        return
    if context.is_init and container.get("restartPolicy") != "Always":
        yield Rejection(codes.FIELDS_NOT_ALLOWED_TOGETHER, ("lifecycle",), pod_rules.ONLY_SIDECARS.format("lifecycle"))
        return
    grace_period = context.spec.get("terminationGracePeriodSeconds")
    for name in ("postStart", "preStop"):
        hook = lifecycle.get(name)
        if hook is not None:
            for rejection in _hook(hook, _GRACE_PERIOD if grace_period is None else grace_period):
                yield rejection.below("lifecycle", name)


def _hook(hook: Fields, grace_period: int) -> Iterator[Rejection]:
    """Checks a hook (validateHandler, validateSleepAction)."""
    actions = [action for action in _ACTIONS if hook.get(action) is not None]
    if len(actions) != 1:
        yield Rejection(codes.NOT_EXACTLY_ONE_FIELD, (), "the hook must have exactly one of exec, httpGet, tcpSocket and sleep; keep one")
    yield from field_rules.validate_handler(hook)
    sleep = hook.get("sleep")
    if sleep is not None and not 0 <= (sleep.get("seconds") or 0) <= grace_period:
        message = f"the hook sleeps {sleep.get('seconds')} seconds, and the pod ends after terminationGracePeriodSeconds: {grace_period}"
        yield Rejection(
            codes.NUMBER_NOT_ALLOWED,
            ("sleep", "seconds"),
            f"{message}; write a number from 0 to {max(grace_period, 0)}, or a longer grace period",
        )


_CPU_DIVISORS = ("1m", "1")
_DIVISORS = ("1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei")


def validate_env_source(source: Fields, context: Context) -> Iterator[Rejection]:
    """Yields the rejections of the source of a variable (validateEnvVarValueFrom)."""
    for rejection in validate_divisor(source.get("resourceFieldRef") or {}):
        yield rejection.below("resourceFieldRef")
    if source.get("fileKeyRef") is not None:
        for rejection in _file(source["fileKeyRef"], context.spec):
            yield rejection.below("fileKeyRef")


def validate_divisor(reference: Fields) -> Iterator[Rejection]:
    """Yields the rejection of the divisor of a resource (validateContainerResourceDivisor). 0 is the default."""
    resource, divisor = reference.get("resource") or "", reference.get("divisor")
    allowed = _CPU_DIVISORS if resource.endswith(".cpu") else _DIVISORS
    if field_rules.is_resource(resource) and quantity.value(divisor) and quantity.canonical(divisor or "") not in allowed:
        message = f"the divisor {divisor} is not allowed for {resource}; write one of {', '.join(allowed)}"
        yield Rejection(codes.INVALID_FIELD_REF, ("divisor",), message)


def _file(reference: Fields, spec: Fields) -> Iterator[Rejection]:
    """Checks a variable in a file of a volume (validateFileKeySelector, validateFileKeyRefVolumes)."""
    key, name, path = (reference.get(field) or "" for field in ("key", "volumeName", "path"))
    for field, value in (("key", key), ("volumeName", name), ("path", path)):
        if not value:
            yield Rejection(codes.EMPTY_REQUIRED_FIELD, (field,), "the field is required; set it")
    if key and not name_formats.is_env_name(key):
        yield Rejection(
            codes.INVALID_VARIABLE_NAME,
            ("key",),
            f"the name {key!r} of the variable is not valid; use printable ASCII characters other than =",
        )
    if ".." in path.split("/"):
        yield Rejection(codes.PATH_OUT_OF_VOLUME, ("path",), "the path contains ..; write the path without it")
    volume = next((volume for volume in spec.get("volumes") or () if volume.get("name") == name), None)
    if name and volume is None:
        yield Rejection(codes.VOLUME_NOT_FOUND, ("volumeName",), f"the pod has no volume {name}; add it to the volumes of the pod")
    elif volume and volume.keys() - {"name", "emptyDir"}:
        yield Rejection(codes.FIELDS_NOT_ALLOWED_TOGETHER, ("volumeName",), f"the volume {name} is not an emptyDir; use an emptyDir")
