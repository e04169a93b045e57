"""Graphs that differ in their names only: the origins for one of them hold for all, and nothing is rendered twice."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from krm_fn.base.yaml import emitter
from krm_fn.origins.ablation import Ablation
from krm_fn.render import dynamo_api, expand, function_config
from krm_fn.render.expand import KnownItems
from krm_fn.repository.files import reading, sources
from krm_fn.review.changed_lines import document_hunks
from krm_fn.review.changed_lines.document_hunks import LocatedRender
from krm_fn.review.diff import comparison, rendered_state
from tests.support import given
from tests.support.cases import cases

NAMES = ("fleet-a", "fleet-b", "fleet-c")
SECRET = given.item("Secret", "pull", type="kubernetes.io/dockerconfigjson")
SECRET["stringData"] = {".dockerconfigjson": '{"auths": {"registry.example": {}}}'}


def graph(name: str, tag: str, namespace: str = given.NAMESPACE, **worker: Any) -> dict[str, Any]:
    """A graph of two services whose images have one tag."""
    services = {
        "Front": given.service("frontend", main={"image": f"registry.example/a:{tag}"}),
        "Worker": given.service("worker", main={"image": f"registry.example/a:{tag}"}, **worker),
    }
    return given.graph(services, name=name, namespace=namespace, backendFramework="vllm")


def render(*inputs: Any, known: KnownItems | None = None) -> Any:
    return rendered_state.render(inputs, function_config.read(None)[0], known=known)


def load(*inputs: Any) -> LocatedRender:
    """A state of plain files: each resource in a file with its name."""
    files = [reading.parse(emitter.text(resource).encode(), f"{resource['metadata']['name']}.yaml") for resource in inputs]
    loaded = sources.from_files(files)
    return LocatedRender("", rendered_state.render(loaded.values, loaded.config), loaded, [])


def origins(old: LocatedRender, new: LocatedRender) -> dict[Any, Any]:
    """The lines that make each field of each object."""
    diff = comparison.compare(old.rendered, new.rendered, find_origins=lambda changes: document_hunks.find(old, new, changes))
    lines = {}
    for (number, index), made_by in diff.origins.items():
        change = diff.changes[number]
        lines[change.key, change.fields[index].path if index is not None else ()] = {*made_by}
    return lines


@pytest.fixture
def rendered(monkeypatch):
    """The names of the graphs that a search for origins renders."""
    names: Counter[str] = Counter()
    objects = Ablation.objects

    def counting(ablation: Any) -> Any:
        names.update(resource["metadata"]["name"] for resource in ablation.resources if dynamo_api.is_dynamo(resource))
        return objects(ablation)

    monkeypatch.setattr(Ablation, "objects", counting)
    return names


def changed(name: str, **fields: Any) -> tuple[Any, Any]:
    """Both states of a graph whose images change. `fields` are those of its worker, and its namespace."""
    return graph(name, "1.5.1", **fields), graph(name, "1.5.2", **fields)


ROWS = [
    # reason, both states of each graph, further resources, the graphs that are rendered again
    ("alike", [changed(name) for name in NAMES], [], {"fleet-a"}),
    ("a name of another length", [changed(name) for name in (*NAMES, "fleet-ab")], [], {"fleet-a", "fleet-ab"}),
    ("another field", [changed("fleet-a"), changed("fleet-b", envs=[{"name": "A", "value": "b"}])], [], {"fleet-a", "fleet-b"}),
    ("a name in another field", [changed(name, envs=[{"name": "A", "value": "fleet-b"}]) for name in NAMES], [], {"fleet-a", "fleet-b"}),
    ("a name in another resource", [changed(name) for name in NAMES], [given.item("ConfigMap", "fleet-b")], {"fleet-a", "fleet-b"}),
    ("another namespace", [changed("fleet-a"), changed("fleet-b", namespace="other")], [], {"fleet-a", "fleet-b"}),
    ("another change", [changed("fleet-a"), (graph("fleet-b", "1.5.1"), graph("fleet-b", "1.5.3"))], [], {"fleet-a", "fleet-b"}),
]  # fmt: skip


@cases(("states", "others", "expected"), ROWS)
def test_one_of_several_graphs_is_rendered_with_reverted_fields(rendered, states, others, expected):
    """Graphs that differ in nothing but names of one length have the origins that each of them has alone."""
    old, new = [before for before, _ in states], [after for _, after in states]
    together = origins(load(*old, *others), load(*new, *others))
    assert {*rendered} == expected
    alone = [origins(load(before, *others), load(after, *others)) for before, after in states]
    assert together == {key: value for single in alone for key, value in single.items()}
    assert any(len(lines) == 1 and "Worker" in str(lines) for (key, _), lines in together.items() if key.kind == "Deployment")


def test_a_change_of_another_resource_is_an_origin_of_all_alike_graphs(rendered):
    """Only one line differs, so nothing is rendered again."""
    graphs = [graph(name, "1.5.1") for name in NAMES]
    made_by = origins(load(*graphs), load(*graphs, SECRET))
    assert not rendered
    pull_secrets = [lines for (key, path), lines in made_by.items() if key.kind == "Deployment" and "imagePullSecrets" in path]
    assert [{(line.state, line.file) for line in lines} for lines in pull_secrets] == [{("new", "pull.yaml")}] * len(NAMES) * 2


@pytest.fixture
def expanded(monkeypatch):
    """The names of the Dynamo resources that renders expand."""
    names: Counter[str] = Counter()
    expand_item = expand._expand_item

    def counting(resource: Any, context: Any) -> Any:
        names.update([resource["metadata"]["name"]] if dynamo_api.is_dynamo(resource) else [])
        return expand_item(resource, context)

    monkeypatch.setattr(expand, "_expand_item", counting)
    return names


KNOWN = [
    # reason, the inputs of both states, the graphs that the second state expands
    ("nothing", [graph("fleet-a", "1.5.1")], [graph("fleet-a", "1.5.1")], {}),
    ("one graph", [graph(name, "1.5.1") for name in NAMES], [*(graph(name, "1.5.1") for name in NAMES[:2]), graph(NAMES[2], "1.5.2")],
     {"fleet-c": 1}),
    ("a number in place of a boolean", [graph("fleet-a", "1.5.1", replicas=1)], [graph("fleet-a", "1.5.1", replicas=True)], {"fleet-a": 1}),
    ("a Secret that all graphs read", [graph(name, "1.5.1") for name in NAMES], [*(graph(name, "1.5.1") for name in NAMES), SECRET],
     dict.fromkeys(NAMES, 1)),
    ("a native object that no graph reads", [graph("fleet-a", "1.5.1")], [graph("fleet-a", "1.5.1"), given.item("Service", "mine")], {}),
]  # fmt: skip


@cases(("old", "new", "expected"), KNOWN)
def test_an_item_with_equal_inputs_is_expanded_once(expanded, old, new, expected):
    """A render of a second state expands only the items whose text, configuration or facts about other items differ."""
    known = KnownItems()
    render(*old, known=known)
    expanded.clear()
    again = render(*new, known=known)
    assert dict(expanded) == expected
    assert again == render(*new)
