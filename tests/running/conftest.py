"""A control plane whose pods really run: it is separate from that of the other tests, whose pods a fake kubelet runs."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.running import bed as beds
from tests.running.bed import Bed
from tests.testbed import audit, node, programs, syncer
from tests.testbed import control_plane as planes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.testbed.control_plane import ControlPlane
    from tests.testbed.node import Node
    from tests.testbed.server import Server
    from tests.testbed.syncer import Syncer


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


@contextlib.contextmanager
def cluster(make: pytest.TempPathFactory) -> Iterator[Running]:
    """A control plane of its own with the real controllers, and a node with 8 GPUs and no images. The first back-off takes a second."""
    started = planes.Programs(*(programs.path(name) for name in ("etcd", "kube-apiserver", "kubectl")))
    folder = make.mktemp("control-plane")
    with (
        planes.running(folder, started, *audit.flags(folder)) as plane,
        planes.controllers(plane, programs.path("kube-controller-manager")),
        node.running(plane, make.mktemp("node"), {}, gpus=8, backoff=1.0) as machine,
    ):
        yield Running(plane, machine)


@pytest.fixture(scope="session")
def running(can_run: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """The cluster of all tests but those that need another version of Dynamo's kinds."""
    with cluster(tmp_path_factory) as started:
        yield started


@pytest.fixture(scope="session")
def bed(running: Running) -> Bed:
    """The cluster with Dynamo's definitions, the roles of the platform, and the images of the runtime."""
    return beds.furnish(running.plane, running.node)


@contextlib.contextmanager
def syncing(bed: Bed, kustomize: Path, make: pytest.TempPathFactory) -> Iterator[Syncer]:
    """A syncer with the account and the rights of platform/syncer. It shows the last lines of containers that failed."""
    folder = make.mktemp("syncer")
    account = syncer.installed(bed.plane, kustomize, folder, "pods", "restarts", "planner")
    with syncer.running(account, folder, "--pods", "--pod-messages", "--restarts", "--graph-replicas") as started:
        yield started


@pytest.fixture(scope="session")
def sync(bed: Bed, kustomize: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Syncer]:
    """The syncer of `bed`."""
    with syncing(bed, kustomize, tmp_path_factory) as started:
        yield started


@pytest.fixture(scope="module")
def newer(can_run: None, kustomize: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bed]:
    """A cluster that serves Dynamo's kinds as v1beta1, with a syncer. A control plane serves one version of a kind only."""
    with cluster(tmp_path_factory) as started:
        bed = beds.furnish(started.plane, started.node, "v1beta1")
        with syncing(bed, kustomize, tmp_path_factory):
            yield bed


@pytest.fixture(scope="session")
def nats(bed: Bed, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """NATS for all graphs. A test that stops it starts it again."""
    with bed.nats(tmp_path_factory.mktemp("nats")) as started:
        yield started


@pytest.fixture(scope="session")
def etcd(bed: Bed, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """An etcd for graphs."""
    with bed.etcd(tmp_path_factory.mktemp("etcd")) as started:
        yield started
