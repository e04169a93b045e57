"""A cluster with Dynamo's kinds and those of the orchestrators, and the controllers of Flux and Argo CD in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.gitops import argocd, cluster, flux
from tests.testbed import programs

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
