"""A control plane whose pods really run: it is separate from that of the other tests, whose pods a fake kubelet runs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.running import bed as beds
from tests.running.bed import Bed, Running
from tests.testbed import node

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.testbed.server import Server
    from tests.testbed.syncer import Syncer


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
    """The cluster of all tests but those that need another version of Dynamo's kinds."""
    with beds.started(tmp_path_factory) as started:
        yield started


@pytest.fixture(scope="session")
def bed(running: Running) -> Bed:
    """The cluster with Dynamo's definitions, the roles of the platform, and the images of the runtime."""
    return beds.furnish(running.plane, running.node)


@pytest.fixture(scope="session")
def sync(bed: Bed, kustomize: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Syncer]:
    """The syncer of `bed`."""
    with beds.syncing(bed, kustomize, tmp_path_factory) as started:
        yield started


@pytest.fixture(scope="module")
def newer(can_run: None, kustomize: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bed]:
    """A cluster that serves Dynamo's kinds as v1beta1, with a syncer. A control plane serves one version of a kind only."""
    with beds.started(tmp_path_factory) as started:
        bed = beds.furnish(started.plane, started.node, "v1beta1")
        with beds.syncing(bed, kustomize, tmp_path_factory):
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
