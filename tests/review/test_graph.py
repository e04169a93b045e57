"""`krm-fn graph`: the connections that are known, the formats, and the picture of a change."""

from __future__ import annotations

import copy
import html
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
import yaml

from krm_fn.render import dynamo_api
from krm_fn.render.config import Config
from krm_fn.review.diagram import COLOURS, WORDS, graph_diagram
from krm_fn.review.diff import rendered_state
from tests.cli import console
from tests.support import given, markdown, pictures
from tests.support.cases import cases
from tests.testbed import programs

INPUTS = pictures.inputs()
GOLDEN = [(name, style, ending) for name in INPUTS for style, ending in pictures.FORMATS.items()]


@pytest.mark.parametrize(("name", "style", "ending"), GOLDEN, ids=[f"{name}.{ending}" for name, _, ending in GOLDEN])
def test_the_picture_of_each_example_is_the_recorded_one(name, style, ending):
    done = console.run("graph", "--format", style, *INPUTS[name])
    assert (done.code, done.out) == (0, (pictures.FOLDER / f"{name}.{ending}").read_text())


def test_no_recorded_picture_belongs_to_no_example():
    assert {file.stem for file in pictures.FOLDER.iterdir()} == set(INPUTS)


@pytest.mark.slow
@pytest.mark.parametrize("seed", ["1", "2"])
def test_the_bytes_do_not_depend_on_the_order_of_hashes(seed, tmp_path):
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(programs.ROOT)}
    subprocess.run(
        [sys.executable, "-m", "tests.support.pictures", str(tmp_path)], env=environment, cwd=programs.ROOT, check=True, timeout=300
    )
    assert {file.name: file.read_text() for file in tmp_path.iterdir()} == {
        file.name: file.read_text() for file in pictures.FOLDER.iterdir()
    }


def test_graphviz_draws_the_picture_of_each_example(dot):
    """Without a complaint, and with every text of the recorded picture."""
    files = sorted(pictures.FOLDER.glob("*.dot"))
    done = subprocess.run([dot, "-Tsvg", *files], capture_output=True, text=True, check=True, timeout=120)
    assert (done.stderr, done.stdout.count("</svg>")) == ("", len(files))
    wanted = {
        html.escape(line, quote=False)
        for file in files
        for text in re.findall(r'label="([^"]*)"', file.read_text())
        for line in text.split("\\n")
    }
    drawn = set(re.findall(r"<text[^>]*>([^<]*)</text>", done.stdout))
    assert {each.replace("&#45;", "-").replace("&#160;", " ") for each in drawn} >= wanted


def labels(*resources: dict[str, Any], **settings: Any) -> set[tuple[str, str, str]]:
    """The edges between titles."""
    picture = graph_diagram.diagram(resources, Config(**settings))
    titles = {node.key: node.title for node in picture.nodes}
    return {(titles[edge.source], edge.label, titles[edge.target]) for edge in picture.edges}


AUTOSCALED: dict[str, Any] = {"scalingAdapter": {"enabled": True}}
INGRESS: dict[str, Any] = {"ingress": {"enabled": True, "host": "chat", "ingressControllerClassName": "nginx"}}
NATS: dict[str, Any] = {"envs": [{"name": "NATS_SERVER", "value": "nats://n:4222"}]}
SCALER = {"scaleTargetRef": {"kind": "DynamoGraphDeploymentScalingAdapter", "name": "chat-worker"}}
EDGES = [
    ("an ingress", [given.graph({"F": given.service("frontend", **INGRESS)})], {}, ("chat.local", "requests", "F")),
    ("NATS in a variable", [given.graph({"F": given.service("frontend", **NATS)})], {}, ("F", "messages", "NATS")),
    ("etcd of the configuration", [given.graph()], {"etcd_address": "http://e:2379"}, ("Worker", "stores keys", "etcd")),
    (
        "discovery",
        [given.graph({"F": given.service("frontend"), "W": given.service("worker")})],
        {},
        ("F", "discovery by kubernetes", "W"),
    ),
    (
        "prefill to decode",
        [given.graph({"P": given.service("prefill"), "D": given.service("decode")})],
        {},
        ("P", "key-value cache", "D"),
    ),
    (
        "prefill to decode as sub-types of workers",
        [given.graph({"P": given.service("worker", subComponentType="prefill"), "D": given.service("worker", subComponentType="decode")})],
        {},
        ("P", "key-value cache", "D"),
    ),
    (
        "a planner and its adapters",
        [given.graph({"Planner": given.service("planner"), "Worker": given.service("worker", **AUTOSCALED)})],
        {},
        ("Planner", "scales", "chat-worker"),
    ),
    ("an adapter", [given.graph({"Worker": given.service("worker", **AUTOSCALED)})], {}, ("chat-worker", "sets replicas", "Worker")),
    (
        "an autoscaler",
        [
            given.graph({"Worker": given.service("worker", **AUTOSCALED)}),
            given.item("HorizontalPodAutoscaler", "auto", api="autoscaling/v2", spec=SCALER),
        ],
        {},
        ("auto", "scales", "chat-worker"),
    ),
    (
        "a claim",
        [given.graph({"W": given.service("worker", volumeMounts=[{"name": "weights", "mountPoint": "/m"}])}, pvcs=[{"name": "weights"}])],
        {},
        ("W", "mounts /m", "weights"),
    ),
    ("a model", [given.graph({"W": given.service("worker", modelRef={"name": "acme/tiny"})})], {}, ("W", "serves", "acme/tiny")),
    (
        "a picker",
        [given.graph({"E": given.picker(), "F": given.service("frontend")})],
        {"behaviour": "v0.9"},
        ("chat-pool", "requests", "F"),
    ),
    ("a pool and its picker", [given.graph({"E": given.picker(), "F": given.service("frontend")})], {}, ("chat-pool", "asks", "E")),
    (
        "a route to a pool",
        [
            given.graph({"E": given.picker(), "F": given.service("frontend")}),
            given.item(
                "HTTPRoute",
                "r",
                api="gateway.networking.k8s.io/v1",
                spec={"rules": [{"backendRefs": [{"kind": "InferencePool", "name": "chat-pool"}]}]},
            ),
        ],
        {},
        ("r", "requests", "chat-pool"),
    ),
]


@cases(("reason", "resources", "settings", "edge"), EDGES)
def test_a_connection_is_drawn_where_it_is_known(reason, resources, settings, edge):
    assert edge in labels(*resources, **settings), reason


UNKNOWN: list[tuple[str, list[dict[str, Any]], dict[str, Any]]] = [
    ("no discovery between Dynamo namespaces", [given.graph({"F": given.service("frontend")}), given.graph(name="other")], {}),
    ("no planner without an adapter", [given.graph({"Planner": given.service("planner"), "Worker": given.service("worker")})], {}),
    (
        "no autoscaler of another object",
        [
            given.graph(),
            given.item("HorizontalPodAutoscaler", "auto", spec={"scaleTargetRef": {"kind": "Deployment", "name": "chat-worker"}}),
        ],
        {},
    ),
    ("no NATS without an address", [given.graph()], {}),
]


@cases(("reason", "resources", "settings"), UNKNOWN)
def test_no_connection_is_guessed(reason, resources, settings):
    assert labels(*resources, **settings) == set(), reason


OLDEST = Config(behaviour="v0.9")
"""In newer releases, a change of one worker restarts all workers, because they share a hash."""


def states(old: list[dict[str, Any]], new: list[dict[str, Any]], config: Config | None = None) -> dict[str, str]:
    picture = graph_diagram.change_diagram(*(rendered_state.render(state, config or OLDEST) for state in (old, new)))
    return {node.title: node.state for node in picture.nodes if node.state}


def test_a_change_names_what_comes_goes_and_restarts():
    old = given.graph({name: given.service("worker") for name in ("Same", "Gone", "Other", "More")})
    new = given.graph(
        {
            "Same": given.service("worker"),
            "New": given.service("worker"),
            "Other": given.service("worker", main={"args": ["--x"]}),
            "More": given.service("worker", replicas=3),
        }
    )
    assert states([old], [new]) == {"New": "new", "Gone": "removed", "Other": "restarts", "More": "changed"}


def test_more_groups_of_a_multinode_service_restart_none_of_the_present_groups():
    """Each replica is a LeaderWorkerSet of its own."""
    nodes: dict[str, Any] = {
        "multinode": {"nodeCount": 2},
        "resources": {"limits": {"gpu": "4"}},
        "main": {"args": ["python3 -m dynamo.sglang"]},
    }
    old, new = (given.graph({"Worker": given.service("worker", replicas=number, **nodes)}) for number in (1, 2))
    assert states([old], [new]) == {"Worker": "changed"}


def test_a_new_service_restarts_the_others_under_grove():
    """Grove refuses a new clique, so the set must be replaced."""
    old, new = given.graph({"B": given.service("worker")}), given.graph({"A": given.service("worker"), "B": given.service("worker")})
    assert states([old], [new], Config(orchestrator="grove")) == {"A": "new", "B": "restarts"}


@pytest.mark.parametrize(
    ("reason", "pod", "restarts"),
    [
        ("a default of the API server", {"pod": {"dnsPolicy": "ClusterFirst"}}, False),
        ("a quantity in another form", {"resources": {"limits": {"gpu": "1", "cpu": "1000m"}}}, False),
        ("a digest for the same tag", {"main": {"image": f"{given.IMAGE}@sha256:{'0' * 64}"}}, True),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_forecast_decides_what_restarts(reason, pod, restarts):
    """It compares the pods as an API server stores them."""
    plain = {"resources": {"limits": {"gpu": "1", "cpu": "1"}}}
    changes: list[dict[str, Any]] = [{}, pod]
    old, new = (given.graph({"Worker": given.service("worker", **{**plain, **fields})}) for fields in changes)
    assert states([old], [new]) == ({"Worker": "restarts"} if restarts else {}), reason


@pytest.mark.parametrize("fields", [{}, {"serviceName": "Other"}, {"multinode": {"nodeCount": 2}}], ids=["plain", "named", "multinode"])
@pytest.mark.parametrize("notes", [{}, {"nvidia.com/dynamo-operator-origin-version": "1.5.0"}], ids=["0.9", "1.5"])
def test_a_component_without_a_graph_restarts(fields, notes):
    own: dict[str, Any] = {
        "dynamoNamespace": "team-alone",
        "backendFramework": "sglang",
        "annotations": {"nvidia.com/dynamo-discovery-backend": "etcd"},
    }
    main = {"args": ["python3 -m dynamo.sglang"]}
    spec = given.service("worker", main=main, resources={"limits": {"gpu": "1"}}, **own, **fields)
    old = given.item(dynamo_api.COMPONENT, "alone", api=dynamo_api.V1ALPHA1, namespace="team", spec=spec)
    old["metadata"]["annotations"] = notes
    new = copy.deepcopy(old)
    new["spec"]["envs"] = [{"name": "A", "value": "1"}]
    assert [*states([old], [new]).values()] == ["restarts"]
    assert states([old], [old]) == {}


def test_a_graph_that_fails_in_one_state_is_not_drawn_as_removed():
    """Nobody knows what becomes of its services. The other graphs are drawn."""
    good, broken = given.graph(name="good"), given.graph({"W": {"componentType": 3}})
    assert states([given.graph(), good], [broken, good]) == {}
    assert states([broken], [given.graph(), good]) == {"Worker": "new"}


def write(folder: Path, resource: dict[str, Any]) -> Path:
    file = folder / "graph.yaml"
    folder.mkdir(exist_ok=True)
    file.write_text(yaml.safe_dump(resource, sort_keys=False))
    return file


def test_the_old_state_of_the_command_is_drawn_with_words_in_every_text_format(tmp_path):
    old = write(tmp_path / "old", given.graph({"A": given.service("worker"), "B": given.service("frontend")}))
    new = write(tmp_path / "new", given.graph({"A": given.service("worker", main={"args": ["run --x"]}), "C": given.service("worker")}))
    for style in pictures.FORMATS:
        done = console.run("graph", "--old", old, "--format", style, new)
        assert done.code == 0, done.err
        for state in ("new", "removed", "restarts"):
            assert WORDS[state] in done.out
            assert COLOURS[state][1] in done.out


def test_the_old_state_has_the_configuration_of_then(tmp_path):
    """A new address in the configuration restarts the services, although the graph is the same."""
    render = "apiVersion: dynamo.krm-fn.io/v1alpha1\nkind: DynamoRender\nmetadata: {name: r}\nspec: {natsAddress: 'nats://%s:4222'}\n"
    for folder in ("old", "new"):
        write(tmp_path / folder, given.graph())
        (tmp_path / folder / "render.yaml").write_text(render % folder)
    done = console.run("graph", "--old", tmp_path / "old", tmp_path / "new")
    assert (done.code, WORDS["restarts"] in done.out) == (0, True)


def test_an_error_in_the_old_state_is_a_warning_and_in_the_new_one_an_error(tmp_path):
    good, bad = write(tmp_path / "good", given.graph()), write(tmp_path / "bad", given.graph({"W": {"componentType": 3}}))
    done = console.run("graph", "--old", bad, good)
    assert (done.code, "warning DYN511" in done.err, "warning DYN510" in done.err) == (0, True, True)
    done = console.run("graph", "--old", good, bad)
    assert (done.code, "error DYN" in done.err, WORDS["removed"] in done.out) == (1, True, False)


def test_input_without_a_graph_is_a_warning(tmp_path):
    done = console.run("graph", write(tmp_path, given.item("ConfigMap", "own")))
    assert (done.code, "warning DYN550" in done.err, done.out) == (0, True, "flowchart LR\n")


def test_the_pictures_of_the_page_are_those_that_its_commands_print():
    """Another test runs the commands. GitHub draws the blocks in Mermaid."""
    page = (programs.ROOT / "docs" / "graph.md").read_text()
    printed = {command.output for block in markdown.consoles(page) for command in block}
    drawn = [block for _, block in markdown.fenced(page, "mermaid")]
    assert len(drawn) == 2
    assert printed > set(drawn)


@pytest.fixture
def dot() -> Path:
    return programs.path("dot")


def test_the_page_is_one_file_that_loads_nothing(tmp_path, dot):
    old, new = write(tmp_path / "old", given.graph()), write(tmp_path / "new", given.graph({"C": given.service("worker")}))
    done = console.run("graph", "--old", old, "--format", "html", new)
    assert (done.code, done.out.count("<svg"), WORDS["new"] in done.out) == (0, 1, True)
    assert re.findall(r"<script|<link|<img|@import|src=|<!DOCTYPE svg", done.out) == []
    svg = console.run("graph", "--format", "svg", new).out
    assert ET.fromstring(svg).tag == "{http://www.w3.org/2000/svg}svg"  # noqa: S314 - graphviz wrote it


@pytest.mark.parametrize("style", ["svg", "html"])
@pytest.mark.parametrize(("does", "says"), [("echo hello", "is not the dot of graphviz"), ("echo no font >&2; exit 3", "no font")])
def test_another_program_of_that_name_is_an_error(style, does, says, tmp_path, monkeypatch):
    (tmp_path / "dot").write_text(f"#!/bin/sh\n{does}\n")
    (tmp_path / "dot").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    done = console.run("graph", "--format", style, write(tmp_path, given.graph()))
    assert (done.code, done.out, says in done.err) == (1, "", True)


def test_an_address_is_drawn_without_its_password():
    server: dict[str, Any] = {"envs": [{"name": "NATS_SERVER", "value": "nats://me:secret@a:4222,nats://you:hidden@b:4222"}]}
    picture = graph_diagram.diagram([given.graph({"F": given.service("frontend", **server)})], Config())
    assert [node.lines for node in picture.nodes if node.kind == "nats"] == [("nats://a:4222,nats://b:4222",)]


@pytest.mark.parametrize("style", ["svg", "html"])
def test_without_graphviz_the_error_says_how_to_get_it(style, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    done = console.run("graph", "--format", style, write(tmp_path, given.graph()))
    assert (done.code, done.out, "apt-get install graphviz" in done.err) == (1, "", True)
