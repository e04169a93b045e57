"""The Dynamo operators of a cluster: which of them act on a namespace, and what they need of the definitions of their kinds."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Any

from krm_fn.base import codes, results
from krm_fn.base.results import Result
from krm_fn.cluster import timestamps
from krm_fn.kubernetes import version
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import mapping, text
from krm_fn.migration.adopt import declared_settings
from krm_fn.render import dynamo_api, labels
from krm_fn.repository.files import kubectl

_WEBHOOK_SELECTOR = f"{labels.APP_NAME}={declared_settings.SELECTOR[labels.APP_NAME]}"
_WEBHOOKS = "validatingwebhookconfigurations,mutatingwebhookconfigurations"
_CONVERTS_SINCE = (1, 2, 0)
_HOLDER = f"{labels.MANAGER} "
"""The begin of the holder in a namespace Lease of the syncer (`krm_fn.syncer.namespace_leases`)."""


def watching(namespace: str) -> list[Resource]:
    """Returns the Deployments of the operators that watch a namespace; without one, those of all operators. Raises KubectlError."""
    selector = ",".join(f"{name}={value}" for name, value in declared_settings.SELECTOR.items())
    operators = kubectl.get("deployments", "--all-namespaces", f"--selector={selector}")
    return [operator for operator in operators if not namespace or declared_settings.watches(operator, namespace)]


def acting(namespaces: Iterable[str]) -> Iterator[Result]:
    """Reports the operators that act on one of these namespaces, and their webhooks. Raises KubectlError.

    An operator does not act on a namespace whose Lease the syncer holds (operator: `internal/namespace_scope/lease_watcher.go`). Its
    webhooks then answer, and accept all objects of this namespace.
    """
    running = {namespace: [*filter(_is_running, watching(namespace))] for namespace in sorted({*namespaces})}
    for namespace, deployments in running.items():
        for operator in () if deployments and is_held(namespace) else deployments:
            fix = "scale it to 0 replicas, or hold the namespace with `krm-fn sync --hold-namespaces`"
            yield results.error(
                codes.OPERATOR_ACTS, f"the operator runs, and acts on {_name_namespace(namespace)}; {fix}", results.ref(operator)
            )
    for webhooks in () if any(running.values()) else kubectl.get(_WEBHOOKS, f"--selector={_WEBHOOK_SELECTOR}"):
        message = "this webhook of the operator is still there, and nothing answers it, so the API server rejects changes of graphs"
        yield results.error(codes.WEBHOOK_OF_STOPPED_OPERATOR, f"{message}; delete it", results.ref(webhooks))


def _is_running(operator: Resource) -> bool:
    return bool(mapping(operator.get("status")).get("replicas"))


def _name_namespace(namespace: str) -> str:
    return f"the namespace {namespace}" if namespace else "all namespaces"


def is_held(namespace: str) -> bool:
    """Returns true if the Lease of a namespace is valid, and its holder is the syncer. Raises KubectlError."""
    if not namespace:
        return False
    where = (f"--namespace={namespace}", "--ignore-not-found")
    specs = [mapping(lease.get("spec")) for lease in kubectl.get("leases.coordination.k8s.io", dynamo_api.NAMESPACE_LEASE, *where)]
    return any(text(spec.get("holderIdentity")).startswith(_HOLDER) and _is_valid(spec) for spec in specs)


def _is_valid(spec: dict[str, Any]) -> bool:
    renewed, seconds = timestamps.parse(spec.get("renewTime")), spec.get("leaseDurationSeconds")
    return renewed is not None and isinstance(seconds, int) and time.time() <= renewed + seconds


def converts(operator: Resource) -> bool:
    """Returns true if an operator converts between two API versions: by its flag or image, else by its configuration file."""
    flags = declared_settings.flags(operator)
    image = text(declared_settings.container(operator).get("image")).partition("@")[0].rpartition(":")[2]
    versions = filter(None, map(version.core, (flags.get("operator-version", ""), image)))
    return next((number >= _CONVERTS_SINCE for number in versions), "config" in flags)
