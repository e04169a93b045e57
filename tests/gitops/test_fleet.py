"""50 graphs in five clusters, deployed from one repository by Flux and by Argo CD."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.gitops import cluster, fleets
from tests.testbed import server

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.testbed.control_plane import ControlPlane

NAMES = ("canary", "eu", "us", "asia", "lab")
CHANGED = {f"Deployment/chat-{number}-frontend" for number in range(fleets.GRAPHS)}
"""What a setting of all pods of a cluster changes."""


def versions(plane: ControlPlane, namespaces: Sequence[str]) -> dict[str, dict[str, tuple[str, str]]]:
    """The versions of the objects of each cluster."""
    return {name: cluster.versions(plane, name) for name in namespaces}


def graphs(objects: dict[str, dict[str, tuple[str, str]]]) -> list[str]:
    """The graphs of all clusters."""
    return [name for found in objects.values() for name in found if name.startswith("DynamoGraphDeployment/")]


def moved(before: dict[str, dict[str, tuple[str, str]]], after: dict[str, dict[str, tuple[str, str]]]) -> dict[str, set[str]]:
    """The objects of each cluster that changed."""
    return {name: cluster.changed(before[name], after[name]) for name in before}


@pytest.fixture
def kustomizations(controller, tmp_path):
    """A fleet that Flux has not applied yet."""
    fleet = fleets.Kustomizations(controller, tmp_path, tuple(controller.plane.namespace(f"flux-fleet-{name}") for name in NAMES))
    yield fleet
    for name in fleet.namespaces:
        fleet.remove(name)


@pytest.fixture
def application_set(argo, tmp_path):
    """A fleet that Argo CD has not applied yet."""
    with fleets.application_set(argo, tmp_path / "fleet", tuple(f"argocd-fleet-{name}" for name in NAMES)) as fleet:
        yield fleet


def test_flux_deploys_all_clusters(kustomizations):
    check_all_clusters(kustomizations)


def test_argocd_deploys_all_clusters(application_set):
    check_all_clusters(application_set)


def check_all_clusters(fleet):
    """All graphs become ready. A setting of one cluster changes only this cluster, and removing one deletes only its objects."""
    for name in fleet.namespaces:
        fleets.write(fleet.folder / "clusters" / name, name)
    fleet.deploy()
    before = versions(fleet.plane, fleet.namespaces)
    assert len(graphs(before)) == len(NAMES) * fleets.GRAPHS

    first, second, *_ = fleet.namespaces
    fleets.write(fleet.folder / "clusters" / first, first, natsAddress="nats://nats.first:4222")
    fleet.release()
    after = versions(fleet.plane, fleet.namespaces)
    assert moved(before, after) == {name: CHANGED if name == first else set() for name in fleet.namespaces}

    fleet.remove(second)
    server.eventually(lambda: not cluster.objects(fleet.plane, second), 120)
    assert versions(fleet.plane, fleet.namespaces) == {**after, second: {}}


def renders(fleet):
    """The number of clusters that Argo CD renders for a release."""
    before = len(fleet.argo.renders())
    fleet.release()
    return len(fleet.argo.renders()) - before


@pytest.fixture
def small_set(argo, tmp_path, request):
    """Three clusters with one graph each, deployed by Argo CD."""
    prefix = request.node.name.removeprefix("test_").replace("_", "-")[:30]
    with fleets.application_set(argo, tmp_path / "fleet", tuple(f"{prefix}-{name}" for name in NAMES[:3])) as fleet:
        for name in fleet.namespaces:
            fleets.write(fleet.folder / "clusters" / name, name, graphs=1)
        fleet.deploy()
        yield fleet


def test_argocd_renders_only_clusters_whose_folders_change(small_set):
    first, *_ = small_set.namespaces
    fleets.write(small_set.folder / "clusters" / first, first, graphs=1, natsAddress="nats://nats.first:4222")
    assert renders(small_set) == 1
    (small_set.folder / "apps").mkdir()
    (small_set.folder / "apps" / "graph.yaml").touch()
    assert renders(small_set) == len(small_set.namespaces)


def test_objects_that_outlive_their_application(small_set):
    """The objects of a cluster that was removed from Argo CD, and all objects under a policy that preserves them."""
    fleet, (first, second, third) = small_set, small_set.namespaces
    before = versions(fleet.plane, fleet.namespaces)
    fleet.argo.remove_cluster(second)
    fleet.push()
    fleet.argo.wait(
        f"fleet-{second}", lambda status: "InvalidSpecError" in {condition["type"] for condition in status.get("conditions", [])}
    )
    fleet.remove(second)
    server.eventually(lambda: fleet.applications().keys() == {first, third})

    cluster.patch(fleet.plane, fleet.resource(), {"spec": {"syncPolicy": {"preserveResourcesOnDeletion": True}}})
    server.eventually(lambda: not fleet.applications()[third]["metadata"].get("finalizers"))
    fleet.remove(third)
    server.eventually(lambda: fleet.applications().keys() == {first})
    assert versions(fleet.plane, fleet.namespaces) == before
