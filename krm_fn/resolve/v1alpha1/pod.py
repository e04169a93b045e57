"""Reads the user's fields for the pods of one component.

Follows the part of the reference's `internal/dynamo/graph.go` GenerateBasePodSpec that reads fields.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from krm_fn.kube import canonical, labels, merge, quantity
from krm_fn.kube.types import Container, EnvVar, Resources
from krm_fn.manifests import components
from krm_fn.plan import GPUs, Identity, Mount, PodFacts
from krm_fn.records import NamedTuple
from krm_fn.resolve import pathway, resources
from krm_fn.resolve.context import Shared
from krm_fn.resolve.deployment_config import Override
from krm_fn.results import Path


class Variables(NamedTuple):
    """The variables of a component, and the override of the user's fields in the variable DYN_DEPLOYMENT_CONFIG."""

    envs: tuple[EnvVar, ...]
    override: Override


def facts(shared: Shared, who: Identity, path: Path, written: dict[str, Any], variables: Variables) -> PodFacts:
    """The pod facts of one component. `path` is its path in the resource."""
    extra: Any = written.get("extraPodSpec") or {}
    metadata = written.get("extraPodMetadata") or {}
    main: Any = extra.get("mainContainer") or {}
    container = canonical.container(main)
    amounts = resources.overridden(written.get("resources") or {}, variables.override.resources or {})
    native = resources.native(amounts, shared.ref, path, shared.found)
    without_secrets = who.annotations.get(labels.NO_PULL_SECRETS) == "true"
    return PodFacts(
        spec=canonical.spec(merge.without(extra, "mainContainer")),
        container=container,
        enforced={} if who.standalone else pathway.enforced(shared, components.get(who.type)),
        labels=metadata.get("labels") or {},
        annotations=metadata.get("annotations") or {},
        envs=variables.envs,
        env_from_secret=written.get("envFromSecret") or "",
        liveness=written.get("livenessProbe"),
        readiness=written.get("readinessProbe"),
        resources=native,
        gpus=_gpus(amounts, container, native),
        mounts=tuple(_mounts(written)),
        shared_memory=_shared_memory(written.get("sharedMemory"), shared.behaviour.shared_memory),
        pull_secrets=() if without_secrets else shared.cluster.pull_secrets(shared.namespace, container.get("image") or ""),
        fallback_account=shared.cluster.fallback.get(shared.namespace, "default"),
    )


def _gpus(amounts: dict[str, Any], container: Container, native: Resources) -> GPUs:
    return GPUs(
        number=resources.gpus(amounts, merge.overlay(container.get("resources") or {}, native)),
        limit=(amounts.get("limits") or {}).get("gpu") or "",
        request=(amounts.get("requests") or {}).get("gpu") or "",
    )


def _mounts(written: dict[str, Any]) -> Iterator[Mount]:
    for mount in written.get("volumeMounts") or ():
        yield Mount(mount.get("name") or "", mount.get("mountPoint") or "", bool(mount.get("useAsCompilationCache")))


def _shared_memory(written: dict[str, Any] | None, default: str) -> str:
    """The size of /dev/shm; empty if the user disabled it."""
    if written is None:
        return default
    if written.get("disabled"):
        return ""
    return quantity.canonical(written["size"]) if quantity.value(written.get("size")) else default
