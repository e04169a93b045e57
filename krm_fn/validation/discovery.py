"""Rules about the discovery of the Dynamo runtime in an image."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from krm_fn import results

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.kube.types import Container
    from krm_fn.manifests.assemblies import Pods
    from krm_fn.results import Result

_BEFORE_1 = re.compile(r"v?0\.[0-9]+([.+_a-z-].*)?")
_STORES = ("ETCD_ENDPOINTS", "DYN_STORE_KV")


def check_store(made: Pods) -> Iterator[Result]:
    """Warns of a runtime before 1.0 that exits at its start, because it cannot connect to etcd, although discovery is Kubernetes.

    Observed with 0.8.1, 0.9.0 and 0.9.1: without DYN_STORE_KV, their key-value store is etcd. 1.0.0 and 1.5.1 need no store.
    """
    plan, container = made.plan, made.main
    if plan.placement.discovery == "etcd" or not _BEFORE_1.fullmatch(_tag(container.get("image") or "")) or _knows_store(container):
        return
    message = (
        "a Dynamo runtime before 1.0 connects to etcd when it starts, also with Kubernetes discovery, and neither ETCD_ENDPOINTS nor "
        "DYN_STORE_KV is set; use an image of version 1.0 or later, or set etcdAddress in the configuration, or set natsAddress there and "
        "the environment variable DYN_STORE_KV to mem"
    )
    yield results.warning("DYN173", message, plan.ref, plan.at("main", "image"))


def _tag(image: str) -> str:
    """The tag of an image reference, without a digest.

    >>> _tag("registry.example:5000/dynamo:0.8.0@sha256:00"), _tag("registry.example:5000/dynamo")
    ('0.8.0', '')
    """
    return image.partition("@")[0].rpartition("/")[2].partition(":")[2]


def _knows_store(container: Container) -> bool:
    """True if a variable or a flag sets the store or the address of etcd, or a ConfigMap may contain such variables."""
    words = [*(container.get("command") or ()), *(container.get("args") or ())]
    return (
        any(entry.get("name") in _STORES and (entry.get("value") or "valueFrom" in entry) for entry in container.get("env") or ())
        or any("configMapRef" in entry for entry in container.get("envFrom") or ())
        or any("--store-kv" in word for word in words)
    )
