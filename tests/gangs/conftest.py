"""One cluster of Kubernetes 1.37 with gang scheduling: an API server, controllers, a scheduler, and the controller of LeaderWorkerSets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.gangs.scheduled_pods import ScheduledPods
from tests.running import leader_worker_sets
from tests.testbed import control_plane as planes
from tests.testbed import programs, server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.testbed.control_plane import ControlPlane, Programs

_GATE = "--feature-gates=GenericWorkload=true"
_SERVED = "--runtime-config=scheduling.k8s.io/v1beta1=true"


@pytest.fixture(scope="session")
def next_programs() -> Programs:
    """The programs of a control plane of Kubernetes 1.37."""
    return planes.Programs(programs.path("etcd"), programs.path("kube-apiserver-next"), programs.path("kubectl"))


@pytest.fixture(scope="session")
def next_plane(next_programs: Programs, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """The control plane with the feature gate of gang scheduling."""
    with planes.running(tmp_path_factory.mktemp("control-plane"), next_programs, _GATE, _SERVED) as plane:
        yield plane


@pytest.fixture(scope="session")
def scheduled_pods(next_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ScheduledPods]:
    """The cluster with its controllers and its scheduler, and without a node."""
    scheduler: list[str] = [
        str(programs.path("kube-scheduler-next")),
        f"--kubeconfig={next_plane.kubeconfig}",
        "--leader-elect=false",
        "--secure-port=0",
        _GATE,
    ]
    protection = "--controllers=podgroup-protection-controller"
    with (
        planes.controllers(next_plane, programs.path("kube-controller-manager-next"), protection, _GATE),
        server.running(scheduler, next_plane.folder / "kube-scheduler.log", planes.GO_VARIABLES),
        leader_worker_sets.running(next_plane, tmp_path_factory.mktemp("leader-worker-sets")),
    ):
        yield ScheduledPods(next_plane)
