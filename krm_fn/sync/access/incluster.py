"""The cluster of the pod that krm-fn runs in, as its service account sees it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from krm_fn.sync.access.cluster_access import Cluster, ClusterError, Content, StaticCredentials, Trust

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = Path("/var/run/secrets/kubernetes.io/serviceaccount")


def available(environment: Mapping[str, str] = os.environ) -> bool:
    """True inside a pod."""
    return bool(environment.get("KUBERNETES_SERVICE_HOST") and environment.get("KUBERNETES_SERVICE_PORT"))


def load(folder: Path = FOLDER, environment: Mapping[str, str] = os.environ) -> Cluster:
    """The cluster of the pod. Raises ClusterError if the pod has no token.

    Kubelet replaces the token at 80 % of its life; each request looks for a new one.
    """
    host, port = environment.get("KUBERNETES_SERVICE_HOST", ""), environment.get("KUBERNETES_SERVICE_PORT", "")
    if not (host and port):
        raise ClusterError("the environment has no KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT; outside a pod pass --kubeconfig")
    token = folder / "token"
    if not token.exists():
        raise ClusterError(f"{token} does not exist; mount a service account token into the pod")
    namespace = folder / "namespace"
    return Cluster(
        f"https://{f'[{host}]' if ':' in host else host}:{port}",
        Trust(Content(path=folder / "ca.crt")),
        StaticCredentials(Content(path=token)),
        namespace=namespace.read_text().strip() if namespace.exists() else "default",
        in_cluster=True,
    )
