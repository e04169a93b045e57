"""One cluster for all fleets: a control plane with the controllers of Kubernetes and of LeaderWorkerSets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.running import leader_worker_sets
from tests.support import definitions
from tests.upgrades.live_pods import LivePods

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.testbed.control_plane import ControlPlane
    from tests.testbed.server import Server


@pytest.fixture(scope="session")
def live_pods(control_plane: ControlPlane, controllers: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LivePods]:
    """The cluster without any workload."""
    definitions.serve(control_plane, [entry for entry in definitions.every() if entry["spec"]["group"] == "grove.io"])
    with leader_worker_sets.running(control_plane, tmp_path_factory.mktemp("leader-worker-sets")):
        yield LivePods(control_plane)
