"""`krm-fn explain PATH…`: the origins of fields, in all formats, and what a line reaches."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import explain_coverage
import jsonschema
import pytest
import yaml

from krm_fn import review
from krm_fn.base import report, results
from krm_fn.cli import explain_output
from krm_fn.kubernetes import paths
from krm_fn.origins import ablation, affected_fields, explain, trace
from krm_fn.render import expand, labels
from krm_fn.render.config import Config
from krm_fn.review.inputs.explained_roots import RootSections, Section
from tests.cli import console
from tests.support import given
from tests.support.cases import cases

EXAMPLES = dict(explain_coverage.examples())
SCHEMA = json.loads((Path(review.__file__).parent / "schemas" / "explain.json").read_text())
UNUSED = console.GRAPH.replace("frontend\n", "frontend\n      ingress: {hostSuffix: example.com}\n")
SETTINGS = "apiVersion: dynamo.krm-fn.io/v1alpha1\nkind: DynamoRender\nmetadata: {name: render}\nspec:\n  natsAddress: nats://nats:4222\n"
REPLICAS = ("--object", "Deployment/chat-worker", "--field", "spec.replicas")


@pytest.fixture
def graph(tmp_path):
    file = tmp_path / "graph.yaml"
    file.write_text(console.GRAPH)
    return file


def said(*arguments):
    done = console.run("explain", *arguments)
    assert (done.code, done.err) == (0, "")
    return done.out


def test_a_field_of_the_user_has_file_line_and_path(graph):
    line = console.GRAPH.splitlines().index("      replicas: 2") + 1
    assert f"    user      {graph}:{line} spec.services.Worker.replicas\n" in said(*REPLICAS, graph)


def test_a_composed_value_has_several_origins(graph):
    out = said("--object", "deployment/CHAT-WORKER", "--field", "metadata.name", graph)
    assert [line.split()[0] for line in out.splitlines()[2:5]] == ["user", "user", "rule"]


def test_a_setting_has_its_line_and_a_default_says_so(graph, tmp_path):
    settings = tmp_path / "render.yaml"
    settings.write_text(SETTINGS)
    assert f"config    {settings}:5 natsAddress\n" in said("--config", settings, graph)
    planner = tmp_path / "planner.yaml"
    planner.write_text(console.GRAPH.replace("componentType: worker", "componentType: planner"))
    assert "config    rbac.plannerRole (default)\n" in said(planner)


def test_a_field_names_what_it_won_over(graph):
    graph.write_text(console.GRAPH.replace('dynamo:1.5.0"}', 'dynamo:1.5.0", command: [python3, -m, dynamo.vllm]}'))
    assert 'overrides ["/bin/sh", "-c"]: rule' in said("--object", "Deployment/chat-worker", graph)


PORTS = [
    ("frontend", {"service.port-http", "ports.http", "service.port"}),
    ("worker", {"service.port", "ports.system"}),
    ("epp", {"service.port-grpc", "ports.epp", "service.port", "service.app-protocol"}),
]


@cases(("component_type", "names"), PORTS)
def test_the_port_of_a_service_has_the_rules_of_its_component_type(component_type, names):
    component = given.picker() if component_type == "epp" else given.service(component_type)
    graph = given.graph({"A": component, "Worker": given.service("worker")})
    objects = explain.explain([graph], Config(behaviour="v1.5")).objects
    (service,) = (item for item in objects if (item.key.kind, item.key.name) == ("Service", "chat-a"))
    origins = [origin for field in service.fields if field.path[:2] == ("spec", "ports") for origin in field.origins]
    assert {origin.rule.name if origin.kind == "rule" else origin.kind for origin in origins} == names


def test_json_follows_its_schema(graph):
    found = json.loads(said("--format", "json", graph))
    jsonschema.Draft202012Validator(SCHEMA).validate(found)
    assert all(each["kind"] != "unknown" for item in found["objects"] for field in item["fields"] for each in field["origins"])


def test_yaml_is_the_render_with_comments(graph):
    out = said("--format", "yaml", graph)
    rendered = [each for each in yaml.safe_load_all(console.run("render", graph).out) if each["kind"] != "DynamoGraphDeployment"]
    assert sorted(yaml.safe_load_all(out), key=json.dumps) == sorted(rendered, key=json.dumps)
    assert "spec.services.Worker.replicas" in next(line for line in out.splitlines() if "  replicas: 2  # user " in line)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_yaml_of_an_example_is_its_render(name):
    loaded = EXAMPLES[name]
    found = explain.explain(loaded.values, loaded.config).objects
    written = "".join(explain_output.write("yaml", [RootSections("", [Section("", found)], loaded)]))
    assert list(yaml.safe_load_all(written)) == [each.resource for each in found]
    assert written.count("  # ") >= sum(len(each.fields) for each in found)


def test_a_line_reaches_values_and_decides_others(graph):
    at = {line.strip(): number for number, line in enumerate(console.GRAPH.splitlines(), 1)}
    assert said("--from", f"{graph}:{at['replicas: 2']}", graph).count("spec.replicas: 2\n") == 1
    reaches, decides = said("--from", f"{graph}:{at['componentType: frontend']}", graph).split("decides:\n")
    assert '"frontend"' in reaches
    assert "containerPort: 8000" in decides


def test_a_line_of_the_configuration_reaches_values_and_decides_others(graph, tmp_path):
    settings = tmp_path / "render.yaml"
    settings.write_text(f"{SETTINGS}  discoveryBackend: etcd\n")
    reaches, decides = said("--config", settings, "--from", f"{settings}:5", graph).split("decides:")
    assert reaches.count('.value: "nats://nats:4222"\n') == 2
    assert [line.rpartition("]")[2] for line in decides.splitlines() if "[" in line] == ['.name: "NATS_SERVER"'] * 2
    reaches, decides = said("--config", settings, "--from", f"{settings}:6", graph).split("decides:")
    assert reaches == "reaches: nothing\n\n"
    assert "Deployment/chat-worker" in decides


def test_a_variable_decides_nothing_about_those_after_it(graph):
    graph.write_text(
        console.GRAPH.replace("frontend\n", "frontend\n      envs:\n      - {name: A, value: a}\n      - {name: B, value: b}\n")
    )
    at = graph.read_text().splitlines().index("      - {name: A, value: a}") + 1
    reaches, decides = said("--from", f"{graph}:{at}", graph).split("decides:")
    assert [line.rpartition(".")[2] for line in reaches.splitlines() if "spec.template" in line] == ['name: "A"', 'value: "a"']
    assert decides == " nothing\n"


def test_an_object_that_a_line_does_not_reach_is_not_unknown(graph):
    at = console.GRAPH.splitlines().index("      replicas: 2") + 1
    assert said("--from", f"{graph}:{at}", "--object", "Deployment/chat-frontend", graph) == "reaches: nothing\n\ndecides: nothing\n"


def test_a_value_of_many_origins_shows_its_rule():
    newer = Path(__file__).parent.parent.parent / "examples" / "v1beta1-disagg-sglang" / "graph.yaml"
    out = said("--object", "Deployment/writer-decode", "--field", "metadata.labels", newer)
    shown = out.partition("dynamo-worker-hash']")[2].splitlines()[1:8]
    assert [line.split()[0] for line in shown] == [*["user"] * 5, "rule", "and"]
    assert "rule      worker-hash.runtime-version: " in shown[5]


@pytest.mark.parametrize("name", ["agg-vllm", "v1beta1-multinode-vllm"])
def test_each_origin_of_the_worker_hash_changes_it(name):
    """The hash does not read fields that may change without new pods, such as the number of replicas."""
    loaded = EXAMPLES[name]
    objects = explain.explain(loaded.values, loaded.config).objects
    fields = [field for explained in objects for field in explained.fields if field.path[-1] == labels.WORKER_HASH]
    indexes = {results.ref(value): index for index, value in enumerate(loaded.values)}
    origins = {(indexes[origin.ref], origin.path) for field in fields for origin in field.origins if origin.ref}
    assert len(origins) > 10
    for index, path in origins:
        others = affected_fields.other_values(paths.at(loaded.values[index], path))
        variants = [ablation.with_value(loaded.values[index], path, other) for other in others]
        renders = [expand.expand([*loaded.values[:index], variant, *loaded.values[index + 1 :]], loaded.config) for variant in variants]
        hashes = [_worker_hashes(render.resources) for render in renders if not results.has_errors(render.results)]
        assert any(new != {field.value for field in fields} for new in hashes) or len(hashes) < len(renders), path


def _worker_hashes(objects):
    return {value for each in objects if (value := labels.of(each).get(labels.WORKER_HASH))}


def test_unused_fields_are_warnings(graph):
    graph.write_text(UNUSED)
    out = said("--unused", graph)
    assert out.count("warning DYN500") == 1
    assert "warning DYN500 spec.services.Frontend.ingress.hostSuffix" in out


def test_labels_of_the_graph_itself_are_not_unused(graph):
    metadata = "  name: chat\n  labels: {team: blue}\n  annotations: {team: blue, nvidia.com/deployment-strategy: Recreate}\n"
    graph.write_text(console.GRAPH.replace("  name: chat\n", metadata))
    assert [line.split()[3] for line in said("--unused", graph).splitlines() if "DYN500" in line] == [
        "metadata.annotations['nvidia.com/deployment-strategy']:"
    ]


def test_unused_fields_are_findings_for_programs(graph):
    graph.write_text(UNUSED)
    (found,) = json.loads(said("--unused", "--format", "json", graph))["findings"]
    assert (found["severity"], found["code"], found["field"], found["line"]) == (
        "warning",
        "DYN500",
        "spec.services.Frontend.ingress.hostSuffix",
        10,
    )


def test_objects_of_an_earlier_render_are_made_again(graph):
    (graph.parent / "rendered.yaml").write_text(
        "---\n".join(each for each in console.run("render", graph).out.split("---\n") if "kind: DynamoGraph" not in each)
    )
    assert said(graph.parent) == said(graph)


def test_files_can_be_excluded_and_named_with_an_option(graph):
    (graph.parent / "draft.yaml").write_text(console.MISSPELT.replace("name: chat", "name: draft"))
    assert said("-f", graph.parent, "--exclude", "draft.yaml") == said(graph)


def test_the_file_of_a_line_is_found_in_another_form(graph, monkeypatch):
    monkeypatch.chdir(graph.parent)
    assert said("--from", "./graph.yaml:15", "graph.yaml") == said("--from", "graph.yaml:15", "graph.yaml")


@pytest.mark.slow
@pytest.mark.parametrize("style", ["text", "json", "yaml"])
def test_the_hash_seed_of_python_changes_nothing(style):
    """The planner example has values with many origins, whose marks are sets."""
    example = Path(__file__).parent.parent.parent / "examples" / "older-planner" / "graph.yaml"
    command = [sys.executable, "-m", "krm_fn", "explain", "--format", style, str(example)]
    made = [
        subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": seed}, check=True, capture_output=True).stdout for seed in ("1", "2")
    ]
    assert made[0] == made[1] != b""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--unused", "--field", "spec"), "use it without"),
        (("--object", "Deployment/chat-workr"), "did you mean 'Deployment/chat-worker'?"),
        (("--field", "spec.replica"), "did you mean 'spec.replicas'?"),
        (
            ("--from", "graph.yaml:999"),
            "or of the configuration; the nearest is graph.yaml:16",
        ),
        (("--from", "graph.yaml"), "is not a line with a field of a Dynamo resource or of the configuration; write FILE:LINE"),
        (("--from", "other.yaml:2"), "is not a line with a field of a Dynamo resource or of the configuration; write FILE:LINE"),
    ],
)
def test_unknown_names_are_wrong_usage_and_name_the_nearest(arguments, words, graph, monkeypatch):
    monkeypatch.chdir(graph.parent)
    done = console.run("explain", *arguments, "graph.yaml")
    assert (done.code, done.out) == (2, "")
    assert words in " ".join(done.err.split())


def test_a_graph_with_an_error_has_no_origins(tmp_path):
    file = tmp_path / "graph.yaml"
    file.write_text(console.MISSPELT)
    done = console.run("explain", file)
    assert (done.code, done.out) == (1, "")
    assert "error DYN" in done.err


def test_control_characters_are_made_visible(tmp_path):
    file = tmp_path / "graph.yaml"
    file.write_text(console.GRAPH.replace("replicas: 2", 'envs: [{name: A, value: "\\e[31m"}]'))
    assert "\x1b" not in said(file)


def test_a_field_with_another_value_in_the_trace_is_unknown(monkeypatch):
    def render(*_):
        return trace.Trace([], {})

    monkeypatch.setattr(trace, "render", render)
    found = explain.explain([given.graph({"A": given.service("frontend")})], Config())
    assert {field.origins for each in found.objects for field in each.fields} == {()}


def test_long_values_are_cut():
    assert len(report.value("x" * 1000)) == report.LONGEST + 1


def test_an_error_in_one_graph_leaves_the_others_explained(graph, tmp_path):
    """The exit code is 1. An object or a line of the wrong graph is not reported as unknown, because the error says why."""
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text(console.MISSPELT.replace("name: chat", "name: other"))
    alone = said(graph)
    done = console.run("explain", graph, wrong)
    assert (done.code, done.out) == (1, alone)
    assert f"{wrong}:14:7: error DYN023" in done.err
    for arguments in (["--object", "Deployment/other-worker"], ["--from", f"{wrong}:14"]):
        done = console.run("explain", *arguments, graph, wrong)
        assert (done.code, done.out) == (1, "")
        assert "no generated object" not in done.err
    assert console.run("explain", "--unused", graph, wrong).code == 1


def test_an_error_in_the_configuration_leaves_nothing_explained(graph, tmp_path):
    settings = tmp_path / "render.yaml"
    settings.write_text(SETTINGS.replace("natsAddress", "natsAdress"))
    done = console.run("explain", "--config", settings, graph)
    assert (done.code, done.out) == (1, "")


def test_an_object_of_many_graphs_names_all_of_them(monkeypatch, tmp_path):
    """They are traced in several parts, and the result is that of one part."""
    services = {"A": given.service("planner"), "B": given.service("worker", main={"image": "a/b:1.5.1"})}
    file = tmp_path / "graphs.yaml"
    file.write_text("---\n".join(yaml.safe_dump(given.graph(services, name=f"graph-{number}")) for number in range(5)))
    whole = said(file)
    monkeypatch.setattr(explain, "_OWNERS", 2)
    assert said(file) == whole
