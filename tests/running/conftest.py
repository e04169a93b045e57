"""A control plane whose pods really run: it is separate from that of the other tests, whose pods a fake kubelet runs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.testbed import control_plane as planes
from tests.testbed import node, programs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.testbed.control_plane import ControlPlane
    from tests.testbed.node import Node


class Running(NamedTuple):
    """A control plane and its node."""

    plane: ControlPlane
    node: Node


@pytest.fixture(scope="session")
def can_run() -> None:
    """Skip the test on a machine that cannot run pods. In CI it fails."""
    reason = node.unable()
    if reason and os.environ.get("CI") == "true":
        pytest.fail(reason, pytrace=False)
    if reason:
        pytest.skip(reason)


@pytest.fixture(scope="session")
def running(can_run: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A control plane of its own with the real controllers, and a node with 8 GPUs and no images. The first back-off takes a second."""
    started = planes.Programs(*(programs.path(name) for name in ("etcd", "kube-apiserver", "kubectl")))
    with (
        planes.running(tmp_path_factory.mktemp("control-plane"), started) as plane,
        planes.controllers(plane, programs.path("kube-controller-manager")),
        node.running(plane, tmp_path_factory.mktemp("node"), {}, gpus=8, backoff=1.0) as machine,
    ):
        yield Running(plane, machine)
