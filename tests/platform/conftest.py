"""A cluster with Dynamo's kinds and the admission policies, and a cluster for moving graphs from the operator."""

from __future__ import annotations

import contextlib
import json
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.platform import admission, installation, journey, runs
from tests.support import markdown
from tests.testbed import programs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.testbed import api
    from tests.testbed.control_plane import ControlPlane

TEAM, SYSTEM = "admission-team", "dynamo-system"
ACCOUNTS = {
    "tenant": (TEAM, "tenant"),
    "gitops": ("flux-system", "kustomize-controller"),
    "autoscaler": ("kube-system", "horizontal-pod-autoscaler"),
    "operator": (SYSTEM, "dynamo-platform-dynamo-operator-controller-manager"),
    "operator of a release called dynamo-operator": (SYSTEM, "dynamo-operator-controller-manager"),
    "planner": (TEAM, "planner-serviceaccount"),
    "planner of another team": ("admission-other-team", "planner-serviceaccount"),
    "syncer": (SYSTEM, "krm-fn-sync"),
}


@pytest.fixture(scope="session")
def dynamo(control_plane: ControlPlane, kustomize: Path) -> ControlPlane:
    """The control plane with Dynamo's kinds."""
    admission.serve(control_plane, admission.build(kustomize, admission.PLATFORM / "crds"))
    return control_plane


@pytest.fixture(scope="session")
def users(dynamo: ControlPlane) -> Iterator[dict[str, api.Client]]:
    """Clients by name: the administrator in system:masters, and service accounts with their own tokens."""
    with contextlib.ExitStack() as stack:
        accounts = {name: stack.enter_context(admission.account(dynamo, *where)) for name, where in ACCOUNTS.items()}
        yield {"administrator": dynamo.client, **accounts}


@pytest.fixture(scope="session")
def team(dynamo: ControlPlane) -> str:
    """A namespace that the bindings select."""
    return admission.namespace(dynamo, TEAM, admission.ENFORCED)


@pytest.fixture(scope="session")
def installed(dynamo: ControlPlane, team: str, kustomize: Path) -> Iterator[ControlPlane]:
    """The control plane with platform/admission."""
    with admission.policies(dynamo, admission.build(kustomize, admission.PLATFORM / "admission")):
        yield dynamo


@pytest.fixture(scope="session")
def strict(dynamo: ControlPlane, kustomize: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A namespace with the policies of the page: other names, both components, another label.

    It has a graph, `strict`, with an adapter.
    """
    folder = tmp_path_factory.mktemp("strict")
    shutil.copytree(admission.PLATFORM, folder / "platform")
    for name, text in markdown.files(admission.PAGE.read_text()).items():
        (folder / name).write_text(text)
    with admission.policies(dynamo, admission.build(kustomize, folder)):
        namespace = admission.namespace(dynamo, "admission-strict", admission.STRICT)
        admission.keep(dynamo.client, admission.graph("strict", namespace, 2))
        yield namespace


@pytest.fixture(scope="session")
def migration(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A separate cluster with Dynamo's kinds and the workload kinds of other projects."""
    with installation.cluster(tmp_path_factory.mktemp("migration")) as plane:
        for kind in ("leaderworkerset", "podgroup", "podcliqueset", "inferencepool"):
            installation.apply(plane, (programs.ROOT / "tests" / "crds" / f"{kind}.yaml").read_text())
        for kind in ("PodClique", "PodCliqueScalingGroup"):
            installation.apply(plane, json.dumps(journey.made_by_grove(kind)))
        for part in ("namespace", "crds", "roles"):
            installation.apply(plane, installation.build(admission.PLATFORM / part))
        plane.kubectl("wait", "--for=condition=Established", "crd", "--all")
        new_to_it = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "spec": {"minMember": 1}}
        journey.collected(plane, new_to_it, "default")  # the garbage collector ignores owners of kinds that it has not discovered yet
        yield plane


@pytest.fixture(scope="session")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A separate cluster for whole syncers: see `tests.platform.runs`."""
    with runs.cluster(tmp_path_factory.mktemp("audited")) as plane:
        yield plane
