"""Rules of an API server about the hooks of a container."""

from __future__ import annotations

from krm_fn.kubernetes.api_server import Rejection, field_rules, pod_rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from krm_fn.kubernetes.api_server.by_field import Context

    Fields = Mapping[str, Any]

_ACTIONS = ("exec", "httpGet", "tcpSocket", "sleep")
_GRACE_PERIOD = 30
"""The default of terminationGracePeriodSeconds."""


def validate(container: Fields, context: Context) -> Iterator[Rejection]:
    """Yields the rejections of `lifecycle` (validateLifecycle). A feature gate decides about `stopSignal`, so it is not checked."""
    lifecycle = container["lifecycle"]
    if lifecycle is None or set(lifecycle) == {"stopSignal"}:
        return
    if context.is_init and container.get("restartPolicy") != "Always":
        yield Rejection("DYN232", ("lifecycle",), pod_rules.ONLY_SIDECARS.format("lifecycle"))
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
        yield Rejection("DYN224", (), "the hook must have exactly one of exec, httpGet, tcpSocket and sleep; keep one")
    yield from field_rules.validate_handler(hook)
    sleep = hook.get("sleep")
    if sleep is not None and not 0 <= (sleep.get("seconds") or 0) <= grace_period:
        message = f"the hook sleeps {sleep.get('seconds')} seconds, and the pod ends after terminationGracePeriodSeconds: {grace_period}"
        yield Rejection(
            "DYN226", ("sleep", "seconds"), f"{message}; write a number from 0 to {max(grace_period, 0)}, or a longer grace period"
        )
