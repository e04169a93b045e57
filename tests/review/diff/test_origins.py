"""The lines of plain files that make a change: parts of the files are reverted, and the rest is rendered again."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from krm_fn.base import results
from krm_fn.render import dynamo_api, expand, function_config
from krm_fn.review.diff import comparison, recorded_origins, rendered_state
from tests.cli import console
from tests.review.forecast.native_objects import json_copy
from tests.support import given
from tests.support.cases import cases

GRAPH = """\
apiVersion: nvidia.com/v1beta1
kind: DynamoGraphDeployment
metadata: {name: chat, namespace: team}
spec:
  env:
  - {name: LEVEL, value: low}
  components:
  - name: Frontend
    type: frontend
    podTemplate: {spec: {containers: [{name: main, image: "registry.example/front:1.6.1"}]}}
  - name: Worker
    type: worker
    replicas: 1
    podTemplate:
      spec:
        containers:
        - name: main
          image: &engine registry.example/engine:1.6.1
          env:
          - {name: A, value: a}
          - {name: B, value: b}
          resources:
            limits: {nvidia.com/gpu: "1", memory: 4Gi}
"""
SIDECAR = GRAPH + "        - name: sidecar\n          image: *engine\n"
SETTINGS = """\
apiVersion: dynamo.krm-fn.io/v1alpha1
kind: DynamoRender
metadata: {name: render}
spec:
  natsAddress: nats://a:4222
  workerHash: names
"""
PULL = """\
apiVersion: v1
kind: Secret
metadata: {name: pull, namespace: team}
type: kubernetes.io/dockerconfigjson
stringData:
  .dockerconfigjson: '{"auths": {"registry.example": {}}}'
"""
CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: data, namespace: team}\ndata:\n  a: b\n  c: d\n"
DECODE = """\
  - name: Decode
    type: decode
    podTemplate: {spec: {containers: [{name: main, image: "registry.example/engine:1.6.1"}]}}
"""
FRONTEND = "".join(GRAPH.splitlines(keepends=True)[7:10])
WORKER = "".join(GRAPH.splitlines(keepends=True)[10:])


def replaced(text: str, *pairs: tuple[str, str]) -> str:
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return text


ROWS = [
    # reason, the old files, the new files, and a part of each line that is named: + of the new state, - of the old state
    ("a number", {"graph.yaml": GRAPH}, {"graph.yaml": replaced(GRAPH, ("replicas: 1", "replicas: 2"))}, {"+replicas: 2"}),
    ("one of two values of a flow mapping", {"graph.yaml": GRAPH}, {"graph.yaml": replaced(GRAPH, ("4Gi", "8Gi"))}, {"+memory: 8Gi"}),
    ("a removed variable", {"graph.yaml": GRAPH}, {"graph.yaml": replaced(GRAPH, ("          - {name: A, value: a}\n", ""))}, {"-name: A"}),
    (
        "an added variable",
        {"graph.yaml": GRAPH},
        {"graph.yaml": replaced(GRAPH, ("value: b}\n", "value: b}\n          - {name: C, value: c}\n"))},
        {"+name: C"},
    ),
    (
        "lines below each other",
        {"graph.yaml": GRAPH},
        {"graph.yaml": replaced(GRAPH, ("name: A, value: a", "name: A, value: first"), ("name: B, value: b", "name: B, value: second"))},
        {"+value: first", "+value: second"},
    ),
    (
        "a comment beside a number",
        {"graph.yaml": GRAPH},
        {
            "graph.yaml": replaced(
                GRAPH, ("type: worker", "type: worker # GPUs"), ("  env:\n  - {", "  # all\n  env:\n  - {"), ("replicas: 1", "replicas: 2")
            )
        },
        {"+replicas: 2"},
    ),
    (
        "an anchor",
        {"graph.yaml": SIDECAR},
        {"graph.yaml": replaced(SIDECAR, ("engine:1.6.1", "engine:1.6.0"))},
        {"+&engine registry.example/engine:1.6.0"},
    ),
    ("a component", {"graph.yaml": GRAPH}, {"graph.yaml": GRAPH + DECODE}, {"+- name: Decode"}),
    ("a removed component", {"graph.yaml": GRAPH + DECODE}, {"graph.yaml": GRAPH}, {"-- name: Decode"}),
    (
        "a component and a number in another",
        {"graph.yaml": GRAPH},
        {"graph.yaml": replaced(GRAPH, ("replicas: 1", "replicas: 2")) + DECODE},
        {"+replicas: 2", "+- name: Decode"},
    ),
    (
        "a moved component with a number",
        {"graph.yaml": GRAPH},
        {"graph.yaml": replaced(GRAPH, (FRONTEND, "")).replace("replicas: 1", "replicas: 2") + FRONTEND},
        {"+replicas: 2"},
    ),
    ("another name", {"graph.yaml": GRAPH}, {"graph.yaml": replaced(GRAPH, ("name: chat", "name: talk"))}, {"+name: talk", "-name: chat"}),
    (
        "a second document",
        {"graph.yaml": f"{CONFIG_MAP}---\n{GRAPH}"},
        {"graph.yaml": f"{CONFIG_MAP}---\n{GRAPH}---\n{GRAPH.replace('chat', 'next')}"},
        {"+name: next"},
    ),
    (
        "two documents",
        {"graph.yaml": f"{CONFIG_MAP}---\n{GRAPH}"},
        {"graph.yaml": f"{replaced(CONFIG_MAP, ('a: b', 'a: e'))}---\n{replaced(GRAPH, ('replicas: 1', 'replicas: 2'))}"},
        {"+replicas: 2", "+a: e"},
    ),
    (
        "a setting",
        {"graph.yaml": GRAPH, "render.yaml": SETTINGS},
        {"graph.yaml": GRAPH, "render.yaml": replaced(SETTINGS, ("nats://a", "nats://b"))},
        {"+nats://b"},
    ),
    (
        "a setting and a number",
        {"graph.yaml": GRAPH, "render.yaml": SETTINGS},
        {"graph.yaml": replaced(GRAPH, ("replicas: 1", "replicas: 2")), "render.yaml": replaced(SETTINGS, ("nats://a", "nats://b"))},
        {"+nats://b", "+replicas: 2"},
    ),
    ("a Secret beside the graph", {"graph.yaml": GRAPH}, {"graph.yaml": GRAPH, "pull.yaml": PULL}, {"+name: pull"}),
    ("an object that a user wrote", {"data.yaml": CONFIG_MAP}, {"data.yaml": replaced(CONFIG_MAP, ("c: d", "c: e"))}, {"+c: e"}),
    ("JSON", {"graph.json": "JSON 1"}, {"graph.json": "JSON 2"}, {'+"replicas": 2'}),
    ("another file", {"graph.yaml": GRAPH}, {"chat.yaml": replaced(GRAPH, ("replicas: 1", "replicas: 2"))}, {"+replicas: 2"}),
    ("a variable of all services", {"graph.yaml": GRAPH}, {"graph.yaml": replaced(GRAPH, ("value: low", "value: high"))}, {"+value: high"}),
]


def written(folder: Path, files: dict[str, str]) -> Path:
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(as_json(int(text[-1])) if text.startswith("JSON") else text)
    return folder


def as_json(replicas: int) -> str:
    services = {"Worker": given.service("worker", replicas=replicas)}
    return json.dumps(given.graph(services), indent=2) + "\n"


def named(folder: Path, states: dict[str, Path]) -> set[str]:
    """The lines that the comparison of two folders names: the state and the text."""
    document = json.loads(console.run("diff", "--old", states["old"], "--format", "json", states["new"]).out)
    origins = [
        origin
        for entry in document["objects"]
        for origins in (entry["madeBy"], *(field["madeBy"] for field in entry["fields"]))
        for origin in origins
    ]
    assert all(origin["file"].startswith(str(folder)) for origin in origins)
    return {
        ("+" if origin["state"] == "new" else "-") + Path(origin["file"]).read_text().splitlines()[origin["line"] - 1] for origin in origins
    }


@cases(("old", "new", "expected"), ROWS)
def test_the_lines_that_make_a_change(old, new, expected, tmp_path):
    """Each named line differs between both states, and has what a person would point at."""
    states = {"old": written(tmp_path / "old", old), "new": written(tmp_path / "new", new)}
    lines = named(tmp_path, states)
    assert len(lines) == len(expected), lines
    for text in expected:
        assert any(line[0] == text[0] and text[1:] in line for line in lines), (text, lines)


def test_changes_that_several_lines_make_together_name_each(tmp_path):
    """The hash of the workers is made of both variables; the name of each worker ends with it."""
    old = {"graph.yaml": GRAPH, "render.yaml": SETTINGS}
    new = {
        **old,
        "graph.yaml": replaced(GRAPH, ("name: A, value: a", "name: A, value: first"), ("name: B, value: b", "name: B, value: second")),
    }
    out = console.run("diff", "--old", written(tmp_path / "old", old), written(tmp_path / "new", new)).out
    created = re.findall(r"Deployment team/chat-worker\S+: created +\((.*)\)", out)
    assert [re.findall(r"graph.yaml:(\d+)", text) for text in created] == [["20", "21"]]


def test_a_line_without_an_effect_makes_no_change(tmp_path):
    """Both lines have the variable, and the container's own decides."""
    old = GRAPH.replace("name: LEVEL", "name: A")
    new = replaced(old, ("value: low", "value: high"), ("name: A, value: a", "name: A, value: first"))
    out = console.run("diff", "--old", written(tmp_path / "old", {"graph.yaml": old}), written(tmp_path / "new", {"graph.yaml": new})).out
    (worker,) = re.findall(r'env\[A\].value: "a" -> "first"  \((.*)\)', out)
    assert re.findall(r"graph.yaml:(\d+)", worker) == ["20"]


def side(*inputs: Any, settings: Any = None) -> Any:
    return rendered_state.render(inputs, function_config.read(settings)[0], settings)


WORKER_PATH = "spec.services.Worker"


@pytest.mark.parametrize(
    ("path", "value", "field"),
    [
        (("spec", "services", "Worker", "replicas"), 3, f"{WORKER_PATH}.replicas"),
        (
            ("spec", "services", "Worker", "extraPodSpec", "mainContainer", "image"),
            "registry.example/next:1.5.1",
            f"{WORKER_PATH}.extraPodSpec.mainContainer.image",
        ),
        (("spec", "services", "Worker", "annotations"), {"nvidia.com/deployment-strategy": "Recreate"}, WORKER_PATH),
    ],
)
def test_live_objects_lead_to_the_field_or_the_component(path, value, field):
    """No commit made the change, so no line can be reverted. The hash of the workers leads to their component."""
    services = {"Front": given.service("frontend"), "Worker": given.service("worker", replicas=1)}
    graph = given.graph(services, backendFramework="vllm")
    changed = json_copy(graph)
    holder = changed
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = value
    old, new = side(graph), side(changed)
    changes = comparison.compare_objects(old, new)
    fields = {results.field(path) for _, path in recorded_origins.find(new, changes).values()}
    assert field in fields
    assert fields <= {field, WORKER_PATH}


def test_a_graph_that_fails_in_one_state_is_left_out_of_both():
    """The other graph has its forecast, and the one that fails looks neither new nor removed."""
    other, broken = given.graph(name="other"), given.graph({"Worker": given.service("worker", replicas=-1)})
    changed = given.graph({"Worker": given.service("worker", replicas=2)}, name="other")
    for old, new in ((side(broken, other), side(given.graph(), changed)), (side(given.graph(), other), side(broken, changed))):
        diff = comparison.compare(old, new)
        assert {change.key.name for _, change in diff.differing} == {"other-worker"}
        assert [result.code for result in diff.findings] == ["DYN510"]


def test_the_lines_of_a_finished_build_are_those_of_its_objects(tmp_path):
    """A later layer changed the image of a committed render: nothing renders it again, and no line of its graph makes the change."""
    rendered = console.run("render", written(tmp_path / "sources", {"graph.yaml": GRAPH})).out
    states = {
        "old": written(tmp_path / "old", {"objects.yaml": rendered}),
        "new": written(
            tmp_path / "new", {"objects.yaml": rendered.replace("image: registry.example/front:1.6.1", "image: registry.example/later:1")}
        ),
    }
    lines = named(tmp_path, states)
    assert {line.strip("+- ") for line in lines} <= {"image: registry.example/later:1", "image: registry.example/later:1}"}
    assert lines


DROP = {"apiVersion": function_config.API_VERSION, "kind": function_config.KIND, "metadata": {"name": "render"}, "spec": {"source": "drop"}}
KEEP = {**DROP, "spec": {"source": "keep"}}
SOURCES = [
    # reason, old state, new state, effects on graphs
    (
        "a graph with another name",
        side(given.graph()),
        side({**given.graph(), "metadata": {"name": "other"}}),
        {("created", "other"), ("deleted", "chat")},
    ),
    ("a graph that is not kept", side(given.graph(), settings=KEEP), side(given.graph(), settings=DROP), {("deleted", "chat")}),
    ("a graph that is kept", side(given.graph(), settings=DROP), side(given.graph(), settings=KEEP), {("created", "chat")}),
    ("a graph that is the same", side(given.graph()), side(given.graph()), set()),
    ("a graph with an error", side(given.graph()), side(given.graph({"Worker": given.service("worker", replica=7)})), set()),
    ("a graph that never reaches the cluster", side(given.graph(), settings=DROP), side(settings=DROP), set()),
]


@cases(("old", "new", "expected"), SOURCES)
def test_graphs_that_a_change_adds_or_removes_are_objects_too(old, new, expected):
    """A GitOps tool creates and prunes them as it does their objects."""
    diff = comparison.compare(old, new)
    graphs = {
        (diff.forecast.outcomes[number].effect, change.key.name) for number, change in diff.differing if change.key.kind == dynamo_api.GRAPH
    }
    assert graphs == expected
    assert expand.expand(old.inputs, old.config).resources


def test_an_object_with_several_services_beside_a_removed_one_is_noted_once(tmp_path):
    """Under Grove, one object has the pods of all services."""
    settings = SETTINGS.replace("natsAddress: nats://a:4222\n  workerHash: names", "orchestrator: grove")
    states = {name: {"graph.yaml": GRAPH + DECODE, "render.yaml": settings} for name in ("old", "new")}
    states["new"]["render.yaml"] = replaced(settings, ("orchestrator: grove", "orchestrator: deployment"))
    out = console.run("diff", "--old", written(tmp_path / "old", states["new"]), written(tmp_path / "new", states["old"])).out
    notes = [line for line in out.splitlines() if "DYN537" in line]
    assert len(notes) == 1
    assert "chat-frontend, chat-worker, chat-decode" in notes[0]
