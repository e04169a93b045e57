"""The lines that make a change: of the graph, of the configuration, or of another resource."""

from __future__ import annotations

from typing import Any

import pytest

from krm_fn import expand, function_config, results
from krm_fn.kube import identity, labels
from krm_fn.review.diff import change_origins, comparison, rendered_state
from tests.review.forecast.native_objects import json_copy
from tests.support import beta, given

NATS = {"natsAddress": "nats://a:4222"}
SETTINGS = {"apiVersion": function_config.API_VERSION, "kind": function_config.KIND, "metadata": {"name": "render"}, "spec": NATS}
PULL = given.item("Secret", "pull", type="kubernetes.io/dockerconfigjson")
PULL["stringData"] = {".dockerconfigjson": '{"auths": {"registry.example": {}}}'}
REPLICAS = ("spec", "services", "Worker", "replicas")
ENVS = ("spec", "services", "Worker", "envs")


def graph(**worker: Any) -> dict[str, Any]:
    services = {"Front": given.service("frontend"), "Worker": given.service("worker", **worker)}
    return given.graph(services, backendFramework="vllm")


def env(**values: str) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in values.items()]


def side(*inputs: Any, settings: Any = None) -> Any:
    return rendered_state.render(inputs, function_config.read(settings)[0], settings)


def made_by(old: Any, new: Any) -> set[tuple[Any, ...]]:
    """For each change: the object with its field, the state and the field that make it, and the kind of its resource."""
    found = comparison.compare(old, new)
    made: set[tuple[Any, ...]] = set()
    for number, change in found.differing:
        for index in range(len(change.fields)) if change.fields else (None,):
            name = change.fields[index].names[-1] if index is not None else ""
            for origin in found.origins.get((number, index), ()):
                inputs = (old if origin.state == "old" else new).inputs
                kind = function_config.KIND if origin.number is None else results.ref(inputs[origin.number]).kind
                made.add((f"{change.key.kind} {name}".strip(), origin.state, results.field(origin.path), kind))
    return made


GRAPH = identity.GRAPH
WORKER = "spec.services.Worker"
IMAGE = f"{WORKER}.extraPodSpec.mainContainer.image"
ONE = given.graph({"Worker": given.service("worker")})
TWO = given.graph({"Worker": given.service("worker"), "Next": given.service("worker")})
ROWS = [
    ("a field", graph(replicas=1), graph(replicas=2), {("Deployment replicas", "new", f"{WORKER}.replicas", GRAPH)}),
    ("a removed variable", graph(envs=env(A="a")), graph(), {("Deployment A", "old", f"{WORKER}.envs", GRAPH)}),
    ("one of two removed variables", graph(envs=env(A="a", B="b")), graph(envs=env(B="b")),
     {("Deployment A", "old", f"{WORKER}.envs[0]", GRAPH)}),
    ("the origin of one of two changes", graph(envs=env(A="a"), replicas=1), graph(envs=env(A="b"), replicas=2),
     {("Deployment value", "new", f"{WORKER}.envs[0].value", GRAPH), ("Deployment replicas", "new", f"{WORKER}.replicas", GRAPH)}),
    ("a service", ONE, TWO,
     {("Deployment", "new", "spec.services.Next", GRAPH), ("Service", "new", "spec.services.Next", GRAPH)}),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "expected"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_the_field_of_the_graph_that_makes_a_change(old, new, expected):
    assert expected <= made_by(side(old), side(new))


def test_a_field_of_a_component_in_v1beta1():
    old, new = beta.graph(), beta.graph()
    new["spec"]["components"][0]["replicas"] = 3
    assert ("Deployment replicas", "new", "spec.components[0].replicas", GRAPH) in made_by(side(old), side(new))


def test_a_key_of_the_configuration():
    then = {**SETTINGS, "spec": {"natsAddress": "nats://b:4222"}}
    found = made_by(side(graph(), settings=then), side(graph(), settings=SETTINGS))
    assert {origin[1:] for origin in found} == {("new", "spec.natsAddress", function_config.KIND)}


def test_a_configuration_that_is_new():
    found = made_by(side(graph()), side(graph(), settings=SETTINGS))
    assert {origin[1:] for origin in found} == {("new", "", function_config.KIND)}


def test_a_secret_beside_the_graph():
    found = made_by(side(graph()), side(graph(), PULL))
    assert ("Deployment imagePullSecrets", "new", "", "Secret") in found
    assert ("Secret", "new", "", "Secret") in found


def test_an_object_that_a_user_wrote():
    before, after = (given.item("ConfigMap", "data", data={"a": value}) for value in "bc")
    assert made_by(side(before), side(after)) == {("ConfigMap a", "new", "data.a", "ConfigMap")}


def test_a_line_without_an_effect_makes_no_change():
    """Both lines have the variable, and one of them decides."""
    old = graph(envs=env(A="a"), extraPodSpec={"mainContainer": {"image": given.IMAGE, "env": env(A="a")}})
    new = graph(envs=env(A="b"), extraPodSpec={"mainContainer": {"image": given.IMAGE, "env": env(A="b")}})
    found = {origin[2] for origin in made_by(side(old), side(new)) if origin[0] == "Deployment value"}
    assert found == {f"{WORKER}.extraPodSpec.mainContainer.env[0].value"}


def test_a_change_that_only_two_lines_together_make():
    """The names of workers end with a hash of all of them. With one half of the renaming set back, the hash is a third one."""
    settings = {**SETTINGS, "spec": {"workerHash": "names"}}
    workers = (beta.component("a", "prefill"), beta.component("b", "decode"))
    old, new = (side(beta.graph(*workers, env=env(**{name: "a"})), settings=settings) for name in ("BEFORE", "AFTER"))
    found = {origin for origin in made_by(old, new) if origin[0] == "Deployment"}
    assert found == {("Deployment", state, "spec.env[0]", GRAPH) for state in ("old", "new")}


def test_a_graph_that_is_in_another_version_of_the_api():
    """All fields have other paths, so the origin is the component. The images of the old one are of another release."""
    main = {"image": "registry.example/dynamo:0.9.0", "env": env(DYN_STORE_KV="mem")}
    old, new = given.graph({"Worker": given.service("worker", main=main)}), beta.graph()
    new["metadata"] = old["metadata"]
    found = made_by(side(old), side(new))
    assert found
    assert all(origin[1:3] != ("", "") for origin in found)


@pytest.mark.parametrize(("path", "value", "field"), [
    (REPLICAS, 3, f"{WORKER}.replicas"),
    (("spec", "services", "Worker", "extraPodSpec", "mainContainer", "image"), "registry.example/next:1.5.1", IMAGE),
    (("spec", "services", "Worker", "annotations"), {"nvidia.com/deployment-strategy": "Recreate"}, WORKER),
])  # fmt: skip
def test_live_objects_lead_to_the_field_or_the_component(path, value, field):
    """No render made the old objects, so no field can be set back. The hash of the workers leads to their component."""
    old = side(graph(replicas=1))
    old = old._replace(built=frozenset(map(identity.key, old.inputs)))
    changed = json_copy(graph(replicas=1))
    holder = changed
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = value
    found = made_by(old, side(changed))
    hashes = {origin for origin in found if labels.WORKER_HASH in origin[0] or origin[0] == "Deployment value"}
    assert {origin[2] for origin in found - hashes} == {field}
    assert {origin[2] for origin in hashes} <= {WORKER}


def test_many_changes_lead_to_their_services(monkeypatch):
    monkeypatch.setattr(change_origins, "_MOST", 0)
    old, new = graph(envs=env(A="a", B="a", C="a", D="a")), graph(envs=env(A="b", B="b", C="b", D="b"))
    found = made_by(side(old), side(new))
    assert {origin[2] for origin in found} == {WORKER}


def test_a_graph_that_fails_in_one_state_is_left_out_of_both():
    """The other graph has its forecast, and the one that fails looks neither new nor removed."""
    other, broken = given.graph(name="other"), given.graph({"Worker": given.service("worker", replicas=-1)})
    changed = given.graph({"Worker": given.service("worker", replicas=2)}, name="other")
    for old, new in ((side(broken, other), side(given.graph(), changed)), (side(given.graph(), other), side(broken, changed))):
        found = comparison.compare(old, new)
        assert {change.key.name for _, change in found.differing} == {"other-worker"}
        assert [result.code for result in found.findings] == ["DYN510"]


def test_a_finished_build_is_compared_as_it_is():
    """A later layer changed the image, and the configuration of the build is not known."""
    settings = {**SETTINGS, "spec": {"orchestrator": "grove"}}
    old, new = (expand.expand([graph(replicas=count)], function_config.read(settings)[0]).resources for count in (1, 2))
    (clique_set,) = (each for each in new if each["kind"] == "PodCliqueSet")
    index, container = next(
        (index, each["spec"]["podSpec"]["containers"][0]) for index, each in enumerate(clique_set["spec"]["template"]["cliques"])
    )
    container["image"] = "registry.example/later:1"
    found = comparison.compare(side(*old), side(*new))
    ((_, change),) = found.differing
    assert {field.path[3:] for field in change.fields} == {(index, "spec", "podSpec", "containers", 0, "image"), (1, "spec", "replicas")}
    assert {origin.path[:3] for every in found.origins.values() for origin in every} == {
        ("spec", "services", "Front"),
        ("spec", "services", "Worker"),
    }


DROP = {**SETTINGS, "spec": {**NATS, "source": "drop"}}
SOURCES = [
    # reason, old state, new state, effects on graphs with the fields that make them
    (
        "a graph with another name",
        side(graph()),
        side({**graph(), "metadata": {**graph()["metadata"], "name": "other"}}),
        {("created", "other", "new", None), ("deleted", "chat", "old", None)},
    ),
    (
        "a graph that is not kept",
        side(graph(), settings=SETTINGS),
        side(graph(), settings=DROP),
        {("deleted", "chat", "new", "spec.source")},
    ),
    ("a graph that is kept", side(graph(), settings=DROP), side(graph(), settings=SETTINGS), {("created", "chat", "old", "spec.source")}),
    ("a graph that is the same", side(graph()), side(graph()), set()),
    ("a graph that is changed", side(graph()), side(graph(replicas=7)), set()),
    ("a graph with an error", side(graph()), side(graph(replica=7)), set()),
    ("a graph that never reaches the cluster", side(graph(), settings=DROP), side(settings=DROP), set()),
]


@pytest.mark.parametrize(("old", "new", "expected"), [row[1:] for row in SOURCES], ids=[row[0] for row in SOURCES])
def test_graphs_that_a_change_adds_or_removes_are_objects_too(old, new, expected):
    """A GitOps tool creates and prunes them as it does their objects."""
    found = comparison.compare(old, new)
    shown = set()
    for number, change in found.differing:
        if change.key.kind == identity.GRAPH:
            (origin,) = found.origins[number, None]
            path = results.field(origin.path) if origin.number is None else None
            shown.add((found.forecast.outcomes[number].effect, change.key.name, origin.state, path))
    assert shown == expected
