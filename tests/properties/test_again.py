"""Rendering again, for every workload kind: a second run changes nothing, and only objects that the graph no longer needs are removed."""

from __future__ import annotations

import shutil

import pytest
import yaml

from krm_fn.base import results
from krm_fn.kubernetes import identity
from krm_fn.render import config, expand, function_config
from tests.support import build_checks, builds, given, golden, nodes
from tests.support.cases import cases

EXAMPLES = [folder for folder in golden.folders() if (folder / "graph.yaml").exists() and not folder.name.startswith("layout-")]
CARRIERS = {
    "Deployments": ({}, config.Config(behaviour="v0.9")),
    "LeaderWorkerSets": ({"multinode": {"nodeCount": 2}}, config.Config(behaviour="v0.9")),
    "Grove": ({}, config.Config(behaviour="v0.9", orchestrator="grove")),
    "Grove, several nodes": ({"multinode": {"nodeCount": 2}}, config.Config(behaviour="v0.9", orchestrator="grove")),
    "the inventory beside Deployments": ({}, config.Config(behaviour="v0.9", components=True)),
    "Deployments of the release of the images": ({}, config.Config()),
    "Grove of the release of the images": ({}, config.Config(orchestrator="grove")),
}
EACH = pytest.mark.parametrize(("fields", "settings"), CARRIERS.values(), ids=CARRIERS)


def package(folder, target):
    """A kpt package that renders an example in place."""
    target.mkdir()
    shutil.copy(folder / "graph.yaml", target)
    local = {"config.kubernetes.io/local-config": "true"}
    written = yaml.safe_load((folder / "config.yaml").read_text()) if (folder / "config.yaml").exists() else {"spec": {}}
    render = {
        "apiVersion": function_config.API_VERSION,
        "kind": function_config.KIND,
        "metadata": {"name": "render", "annotations": local},
        "spec": written["spec"],
    }
    kptfile = {
        "apiVersion": "kpt.dev/v1",
        "kind": "Kptfile",
        "metadata": {"name": folder.name, "annotations": local},
        "pipeline": {"mutators": [{"exec": "krm-fn", "configPath": "render.yaml"}]},
    }
    (target / "render.yaml").write_text(yaml.safe_dump(render))
    (target / "Kptfile").write_text(yaml.safe_dump(kptfile))
    return target


@pytest.mark.parametrize("folder", EXAMPLES, ids=lambda folder: folder.name)
def test_kpt_renders_an_example_once_and_for_all(folder, tmp_path, kpt):
    rendered = package(folder, tmp_path / "package")
    golden.render(rendered)
    made = {(each["kind"], each["metadata"]["name"]) for file in rendered.glob("*.yaml") for each in build_checks.read(file.read_text())}
    recorded = {(each["kind"], each["metadata"]["name"]) for each in build_checks.read((folder / "expected.yaml").read_text())}
    assert recorded <= made
    first = shutil.copytree(rendered, tmp_path / "first")
    golden.render(rendered)
    assert builds.same_files(rendered, first)


def graph(*names, replicas=1, fields):
    """A graph with a frontend and the named workers."""
    worker = nodes.worker(args=["python3 -m dynamo.sglang"], replicas=replicas, multinode=None, modelRef={"name": "acme/tiny"})
    worker = {key: value for key, value in worker.items() if value is not None}
    services = {"Frontend": given.service("frontend"), **{name: {**worker, **fields} for name in names}}
    return given.graph(
        services, pvcs=[{"name": "w", "create": True, "size": "1Gi", "storageClass": "a", "volumeAccessMode": "ReadWriteOnce"}]
    )


def again(before, changed, settings):
    """The expansion of an earlier output in which the graph has changed."""
    items = [changed if each["kind"] == "DynamoGraphDeployment" else each for each in before]
    found = expand.expand(items, settings)
    assert not results.has_errors(found.results)
    return found.resources


INVENTORY = "DynamoComponentDeployment"


def names(resources):
    return {(each["kind"], each["metadata"]["name"]) for each in resources}


@EACH
def test_twice_gives_the_same_objects(fields, settings):
    once = expand.expand([graph("A", "B", fields=fields)], settings).resources
    twice = expand.expand(once, settings).resources
    assert all(one is other for one, other in zip(once, twice, strict=True))


@EACH
def test_a_service_that_goes_takes_its_objects_along_and_no_others(fields, settings):
    before = expand.expand([graph("A", "B", fields=fields)], settings).resources
    changed = graph("A", fields=fields)
    after = again(before, changed, settings)
    gone = names(before) - names(after)
    of_service = {name for name in names(before) if name[1] in ("chat-b", "chat-b-0")}
    assert gone == {name for name in of_service if name[0] != INVENTORY}  # Dynamo resources are never removed
    assert ("Service", "chat-b") in gone
    left = [each for each in after if (each["kind"], each["metadata"]["name"]) not in of_service]
    assert sorted(left, key=identity.key) == sorted(expand.expand([changed], settings).resources, key=identity.key)


@EACH
def test_a_service_that_comes_brings_its_objects_and_no_others(fields, settings):
    before = expand.expand([graph("A", fields=fields)], settings).resources
    after = again(before, graph("A", "B", fields=fields), settings)
    assert names(before) <= names(after)
    assert {name for _, name in names(after) - names(before)} <= {"chat-b", "chat-b-0"}


def test_a_replica_that_goes_takes_its_set_and_its_pod_group_along():
    fields, settings = CARRIERS["LeaderWorkerSets"]
    before = expand.expand([graph("A", replicas=3, fields=fields)], settings).resources
    after = again(before, graph("A", replicas=2, fields=fields), settings)
    assert names(before) - names(after) == {("LeaderWorkerSet", "chat-a-2"), ("PodGroup", "chat-a-2")}
    assert names(after) <= names(before)


CHANGES = [
    ("from one node to several", "Deployments", "LeaderWorkerSets", {"Deployment"}, {"LeaderWorkerSet", "PodGroup"}),
    ("from several nodes to one", "LeaderWorkerSets", "Deployments", {"LeaderWorkerSet", "PodGroup"}, {"Deployment"}),
    ("to Grove", "Deployments", "Grove", {"Deployment"}, {"PodCliqueSet"}),
    ("away from Grove", "Grove, several nodes", "LeaderWorkerSets", {"PodCliqueSet"}, {"Deployment", "LeaderWorkerSet", "PodGroup"}),
    ("without the inventory, which stays", "the inventory beside Deployments", "Deployments", set(), set()),
]


@cases(("before", "after", "gone", "come"), CHANGES)
def test_what_carried_the_pods_before_goes(before, after, gone, come):
    """The reference does not delete the old workloads."""
    old = expand.expand([graph("A", fields=CARRIERS[before][0])], CARRIERS[before][1]).resources
    changed = graph("A", fields=CARRIERS[after][0])
    new = again(old, changed, CARRIERS[after][1])
    assert {kind for kind, _ in names(old) - names(new)} == gone
    assert {kind for kind, _ in names(new) - names(old)} == come
    left = [each for each in new if each["kind"] != INVENTORY]
    assert sorted(left, key=identity.key) == sorted(expand.expand([changed], CARRIERS[after][1]).resources, key=identity.key)


@EACH
def test_a_graph_that_goes_leaves_its_objects_for_people_to_remove(fields, settings):
    """The graph may only be missing from the input, so each object stays, with a warning."""
    before = expand.expand([graph("A", fields=fields)], settings).resources
    orphans = [each for each in before if each["kind"] != "DynamoGraphDeployment"]
    found = expand.expand(orphans, settings)
    assert found.resources == orphans
    assert [result.code for result in found.results] == ["DYN053"] * len(orphans)
