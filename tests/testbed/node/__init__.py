"""A node that really runs pods: kubelet, scheduler, kube-proxy and DNS of a cluster of one node, for the test bed's API server.

Each pod has namespaces and an address of its own; each container is a process with a root of its own; see `launch`, `sandbox` and
`network`. An image is a folder of programs: see `Image`. Statuses, conditions, probes, restarts and the end of a pod follow the kubelet of
Kubernetes 1.36; each module names the source of its rules. Nothing leaves the machine, and nothing outlives the tests, also if they are
killed: all namespaces, mounts and processes hang on the process of the tests.

The node does not limit CPU and memory, drops no capability, and counts GPUs without having any. It does not know every field of a pod: one
that it cannot run has a `problem`, which `Node.eventually` raises.

It needs root, or a user namespace in which the whole test run is root (`unshare --user --map-root-user --net --mount --pid --fork`).
"""

from __future__ import annotations

import contextlib
import os
import shutil
import threading
from typing import TYPE_CHECKING

from tests.testbed import background
from tests.testbed.node import network
from tests.testbed.node.image import Image
from tests.testbed.node.machine import Node, Response
from tests.testbed.node.scheduler import GPU
from tests.testbed.node.services import Endpoint
from tests.testbed.node.work import Work

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.testbed.control_plane import ControlPlane

__all__ = ["Endpoint", "Image", "Node", "Response", "running", "unable"]

_PROGRAMS = ("unshare", "nsenter", "ip", "mount")


def unable() -> str:
    """Why this machine cannot run pods; empty if it can."""
    if os.geteuid():
        return "running pods needs root: run the tests as root, or in `unshare --user --map-root-user --net --mount --pid --fork`"
    missing = [name for name in _PROGRAMS if not shutil.which(name)]
    return f"running pods needs {', '.join(missing)}: install util-linux and iproute2" if missing else ""


@contextlib.contextmanager
def running(
    plane: ControlPlane,
    folder: Path,
    images: dict[str, Image],
    *,
    gpus: int = 0,
    name: str = "node-1",
    labels: dict[str, str] | None = None,
    backoff: float = 10.0,
) -> Iterator[Node]:
    """Run all pods of a control plane on one node, with files in an empty `folder`.

    `images` are the images that containers may name, by their whole reference. `backoff` is the first wait of a container that ends again
    and again, and of a pull, in seconds.
    """
    amounts = {"cpu": "64", "memory": "256Gi", "ephemeral-storage": "1Ti", "pods": "500", **({GPU: str(gpus)} if gpus else {})}
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", **(labels or {})}},
        "status": {
            "capacity": amounts,
            "allocatable": amounts,
            "addresses": [{"type": "InternalIP", "address": network.GATEWAY}, {"type": "Hostname", "address": name}],
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "the test bed's node runs pods"}],
        },
    }
    begun, problems = threading.Event(), []

    def tell(problem: BaseException | None) -> None:
        if problem and not begun.is_set():
            problems.append(problem)
        begun.set()

    work = Work(plane, folder, images, node, backoff)
    with background.running(work.run(tell), "node"):
        if not begun.wait(60):
            problems.append(TimeoutError("the node did not start within 60 s"))
        if problems:
            raise problems[0]
        try:
            yield Node(work)
        finally:
            work.close()
