"""A cluster with Dynamo's kinds and those of the orchestrators, and the controllers of Flux and Argo CD in it."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import pytest

from tests.gitops import argocd, cluster, flux
from tests.testbed import control_plane as planes
from tests.testbed import kubelet, programs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.testbed.control_plane import ControlPlane
    from tests.testbed.server import Server


@pytest.fixture(scope="session")
def dynamo(control_plane: ControlPlane, controllers: Server) -> ControlPlane:
    """The control plane with its controllers and with every kind that we render."""
    for file in sorted((programs.ROOT / "platform" / "crds").glob("dynamo*.yaml")):
        cluster.put(control_plane, *cluster.read(file))
    for name in ("leaderworkerset", "podcliqueset", "podgroup"):
        cluster.put(control_plane, *cluster.read(programs.ROOT / "tests" / "crds" / f"{name}.yaml"))
    return control_plane


@pytest.fixture(scope="module")
def newer_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A cluster that serves v1beta1. Its pods are ready a moment after they start, so that a rolling update takes several steps."""
    needed = planes.Programs(programs.path("etcd"), programs.path("kube-apiserver"), programs.path("kubectl"))
    with contextlib.ExitStack() as stack:
        running = stack.enter_context(planes.running(tmp_path_factory.mktemp("v1beta1"), needed))
        stack.enter_context(planes.controllers(running, programs.path("kube-controller-manager")))
        stack.enter_context(kubelet.running(running, 0.3))
        for file in sorted((programs.ROOT / "platform" / "crds-v1beta1").glob("dynamo*.yaml")):
            cluster.put(running, *cluster.read(file))
        cluster.put(running, *cluster.read(programs.ROOT / "tests" / "crds" / "leaderworkerset.yaml"))
        yield running


@pytest.fixture(scope="session")
def controller(dynamo: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[flux.Flux]:
    """A running Flux."""
    with flux.running(dynamo, tmp_path_factory.mktemp("flux")) as running:
        yield running


@pytest.fixture(scope="session")
def argo(dynamo: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[argocd.Argo]:
    """A running Argo CD."""
    with argocd.running(dynamo, tmp_path_factory.mktemp("argo")) as running:
        yield running
