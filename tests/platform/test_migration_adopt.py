"""`krm-fn adopt` and the steps that it writes, command by command, on a real API server with Kubernetes' own controllers."""

from __future__ import annotations

import pytest
import yaml

from krm_fn.base.yaml import reader as yaml_reader
from krm_fn.render import labels
from krm_fn.review.live.server_fields import comparable
from tests.platform import admission, journey, pages, reference

pytestmark = pytest.mark.xdist_group("platform")

SPACE = "adoption"
ADOPT = "Adopt"
TOKEN = "aHVudGVyMg=="  # noqa: S105 - not a real password
SERVICES = {"Frontend": journey.FRONTEND, "Planner": journey.PLANNER, "Worker": journey.WORKER, "Big": journey.BIG}


@pytest.fixture
def reader(migration, tmp_path):
    """A graph that the operator runs, with Deployments and LeaderWorkerSets. An autoscaler has scaled the workers from two to three."""
    reader = journey.depart(migration, tmp_path, SPACE, SERVICES, yaml.safe_load(journey.SETTINGS), pvcs=[journey.VOLUME])
    journey.autoscale(reader, "Worker", 3)
    admission.keep(
        migration.client, {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": SPACE}, "data": {"t": TOKEN}}
    )
    admission.keep(migration.client, journey.DEPLOYMENT)
    return reader


def running(reader):
    """UIDs of all that runs, and of each workload also its generation: what changes a spec counts it up."""
    workloads = reader.objects("deployments", "leaderworkersets")
    return {**reader.identities(), **{name: (each["metadata"]["uid"], each["metadata"]["generation"]) for name, each in workloads.items()}}


def test_the_steps_that_adopt_writes_keep_all_pods_to_the_end(reader):
    start = reader.identities()
    assert sum(name.startswith("Pod/") for name in start) == 5
    assert reader.take(ADOPT).splitlines()[-1] == "7 of 7 pod templates the same, no restart"
    folder = reader.folder / "adopted"
    assert TOKEN not in "".join(path.read_text() for path in folder.iterdir())
    assert yaml.safe_load((folder / "dynamographdeployment_chat.yaml").read_text())["spec"]["services"]["Worker"]["replicas"] == 3

    steps = pages.steps((folder / "MIGRATION.md").read_text())
    journey.without_roles_of_the_release(reader)
    said = {heading: [run(reader, script) for script in scripts] for heading, scripts in steps.items()}
    (git,) = [scripts[0] for heading, scripts in steps.items() if "Git" in heading]
    assert ["the same pods" in text for heading, (text, *_) in said.items() if "Verify" in heading] == [True]
    reader.collected()
    assert reader.identities() == start
    assert journey.owned(reader.everything()) == []
    assert reference.MANAGER not in journey.managers(reader.objects("deployments")["Deployment/chat-worker"])

    before = running(reader)
    run(reader, git)
    assert running(reader) == before
    assert reader.objects("deployments")["Deployment/chat-worker"]["spec"]["replicas"] == 3
    check_comparable(reader)


def run(reader, script):
    """A script of the steps, in the folder that adopt wrote."""
    return reader.run(f"export KRM_FN={reader.folder}; cd adopted; {script}")


def check_comparable(reader):
    """What an API server adds to applied objects is no difference, whether or not an export shows who manages the fields."""
    build = "kustomize build --enable-alpha-plugins --enable-exec adopted"
    files = {f"{each.value['kind']}/{each.value['metadata']['name']}": each.value for each in yaml_reader.read(reader.run(build))[0]}
    live = reader.everything()
    owned = [name for name, each in files.items() if labels.OWNER in labels.annotations(each)]
    assert len(owned) > 15
    for name in owned:
        assert comparable(live[name], files[name]) == files[name], name
        del live[name]["metadata"]["managedFields"]
        assert comparable(live[name], files[name]) == files[name], name
