"""Placeholders that nobody substituted have one finding a file, in place of the errors that they cause; other `$` and `{{` have none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from krm_fn.base import results
from krm_fn.kubernetes import paths
from krm_fn.render import expand
from krm_fn.render.config import Config
from krm_fn.render.rules import placeholders
from krm_fn.review import resource_findings
from tests.cli import console
from tests.support import beta, given
from tests.support.cases import cases
from tests.support.growth import is_linear

IMAGE = "nvcr.io/nvidia/ai-dynamo/vllm-runtime"
SHELL = {"command": ["/bin/sh", "-c"], "args": ["exec python3 -m dynamo.vllm --model ${MODEL} --tensor-parallel-size ${TP:-1}"]}
GPU = {"resources": {"limits": {"nvidia.com/gpu": "1"}}}


def graph(**fields: Any) -> Any:
    """A v1beta1 graph with a worker whose main container has these fields."""
    return beta.graph(beta.component("Worker", main={"image": f"{IMAGE}:1.6.1", **SHELL, **GPU, **fields}))


def changed(*path: str | int, to: Any) -> Any:
    return paths.replace_at(graph(), path, to)


def older(tag: str = "1.6.1", **fields: Any) -> Any:
    return given.graph({"Worker": given.service("worker", main={"image": f"{IMAGE}:{tag}"}, **fields)})


CANNOT_RENDER = [
    ("a name", changed("metadata", "name", to="${DGD_NAME}"), "${DGD_NAME}"),
    ("a part of a name", changed("metadata", "name", to="chat-$STAGE"), "$STAGE"),
    ("a namespace", changed("metadata", "namespace", to="<your-namespace>"), "<your-namespace>"),
    ("a number", changed("spec", "components", 0, "replicas", to="${REPLICAS}"), "${REPLICAS}"),
    ("a number of Helm", changed("spec", "components", 0, "replicas", to="{{ .Values.replicas }}"), "{{ .Values.replicas }}"),
    ("a quantity", older(resources={"limits": {"gpu": "${GPUS}"}}), "${GPUS}"),
    ("the version of an image", graph(image=f"{IMAGE}:${{RELEASE_VERSION}}"), "${RELEASE_VERSION}"),
    ("the version of an image in v1alpha1", older("${RELEASE_VERSION}"), "${RELEASE_VERSION}"),
    ("a whole image", graph(image="<your-image>"), "<your-image>"),
    ("words of a guide in an image", graph(image="my-registry/vllm-runtime:my-tag"), "my-registry"),
    ("a version of a guide", graph(image=f"{IMAGE}:x.y.z"), "x.y.z"),
    ("an image of Helm", graph(image="{{ .Values.image }}"), "{{ .Values.image }}"),
    ("a name of a Secret", older(envFromSecret="REPLACE_ME"), "REPLACE_ME"),
    ("a default value, which may be secret", older(envFromSecret="${SECRET:-hunter2}"), "${SECRET}"),
    ("a label", changed("metadata", "labels", to={"team": "YOUR_TEAM!"}), "YOUR_TEAM"),
    (
        "a model",
        given.item(
            "DynamoModel", "${NAME}", api="nvidia.com/v1alpha1", spec={"modelName": "m", "baseModelName": "b", "modelType": "${TYPE}"}
        ),
        "${NAME}",
    ),
]


@cases(("resource", "text"), CANNOT_RENDER)
def test_a_placeholder_that_cannot_be_rendered_is_one_error(resource, text):
    expansion = expand.expand([resource], Config())
    (error,) = results.errors_of(expansion.results)
    assert error.code == "DYN086"
    assert f"`{text}`" in error.message
    assert expansion.resources == [resource]
    checked = [*resource_findings.check([resource], Config(), is_configured=False)]
    assert {finding.code for finding in results.errors_of(checked)} == {"DYN086"}


NOT_SEARCHED = [
    ("variables of a shell", graph()),
    ("a value of the environment", graph(env=[{"name": "FORMAT", "value": "${time} <message> {{ level }}"}])),
    ("a reference of Kubernetes", graph(env=[{"name": "A", "value": "b"}], workingDir="/models/$(A)")),
    ("a template for chats", graph(command=["python3", "-m", "dynamo.vllm"], args=["--model", "m", "--chat-template", "{{ messages }}"])),
    ("a registry whose name begins with my", graph(image="mycompany.example/my-registry-tools/vllm-runtime:1.6.1")),
    ("a folder in small letters", graph(image="registry.example/todo/vllm-runtime:1.6.1")),
    ("an annotation", changed("metadata", "annotations", to={"note": "TODO: ask <team> for ${BUDGET}"})),
    ("a path of a driver", changed("spec", "components", 0, "podTemplate", "metadata", to={"labels": {"a": "to-do"}})),
]


@cases("resource", NOT_SEARCHED)
def test_what_a_shell_or_a_program_reads_is_no_placeholder(resource):
    findings = resource_findings.check([resource], Config(), is_configured=False)
    assert {finding.code for finding in findings} & {"DYN086", "DYN087"} == set()


def test_other_mistakes_stay():
    """The message has the placeholder, not the text that replaces it for the second expansion."""
    resource = paths.replace_at(changed("metadata", "name", to="${GRAPH}"), ("spec", "component"), [])
    resource = paths.replace_at(resource, ("spec", "components", 0, "name"), "w" * 60)
    errors = results.errors_of(expand.expand([resource], Config()).results)
    assert errors[0].code == "DYN086"
    assert {error.code for error in errors} >= {"DYN023"}
    assert not [error for error in errors if "placeholder0" in error.message]


def test_an_error_of_another_cause_stays_as_it_is():
    resource = paths.replace_at(graph(image="${REGISTRY}/vllm-runtime:1.6.1"), ("spec", "component"), [])
    assert [error.code for error in results.errors_of(expand.expand([resource], Config()).results)] == ["DYN023"]


def test_objects_keep_what_flux_may_substitute():
    """The render goes on, and `check` warns; an annotation ignores the warning."""
    resource = graph(image="${REGISTRY}/vllm-runtime:1.6.1")
    expansion = expand.expand([resource], Config())
    assert not results.has_errors(expansion.results)
    assert "${REGISTRY}/vllm-runtime:1.6.1" in str([item for item in expansion.resources if item["kind"] == "Deployment"])
    (finding,) = (entry for entry in resource_findings.check([resource], Config(), is_configured=False) if entry.code == "DYN087")
    assert (finding.severity, finding.path[-1]) == ("warning", "image")
    assert finding.ref == results.ref(resource)


def test_a_pinned_release_needs_no_version():
    """With `behaviour`, v1alpha1 renders images without a version, so a placeholder in the tag can be substituted later."""
    assert not results.has_errors(expand.expand([older("${TAG}")], Config(behaviour="v0.9")).results)


def test_check_has_one_finding_for_each_file(tmp_path: Path):
    model = given.item(
        "DynamoModel", "m", api="nvidia.com/v1alpha1", spec={"modelName": "${MODEL}", "baseModelName": "b", "modelType": "${T}"}
    )
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "<your-secret>", "namespace": "team"}}
    kept = paths.replace_at(graph(image="${REGISTRY}/vllm-runtime:1.6.1"), ("metadata", "name"), "kept")
    documents = [
        kept,
        changed("metadata", "name", to="${GRAPH}"),
        paths.replace_at(older(), ("metadata", "name"), "${OLDER}"),
        model,
        secret,
    ]
    (tmp_path / "all.yaml").write_text(yaml.safe_dump_all(documents))
    found = console.run("check", str(tmp_path / "all.yaml"), "--ignore", "DYN175")
    assert found.out.count(" error ") == 1
    assert all(f"`{name}`" in found.out for name in ("${GRAPH}", "${OLDER}", "${T}", "${REGISTRY}")), found.out
    assert found.code == 1


def test_render_and_convert_have_one_finding_for_each_file(tmp_path: Path):
    documents = [paths.replace_at(older(), ("spec", "services", "Worker", "replicas"), "${N}")]
    documents += [paths.replace_at(documents[0], ("metadata", "name"), name) for name in ("second", "third")]
    (tmp_path / "all.yaml").write_text(yaml.safe_dump_all(documents))
    for command in ("render", "convert"):
        found = console.run(command, str(tmp_path / "all.yaml"))
        assert found.code == 1
        assert (found.out + found.err).count("error DYN086") == 1
        assert "DYN021" not in found.out + found.err


def test_a_template_of_helm_is_no_yaml(tmp_path: Path):
    (tmp_path / "graph.yaml").write_text("kind: DynamoGraphDeployment\nmetadata:\n  name: {{ .Release.Name }}-llm\n{{- if .Values.a }}\n")
    found = console.run("check", str(tmp_path / "graph.yaml"))
    assert "graph.yaml:3:9: error DYN086 `{{ .Release.Name }}` and `{{- if .Values.a }}` are placeholders" in found.out
    assert "DYN004" not in found.out
    assert "helm template" in found.out


def test_other_broken_yaml_keeps_its_finding(tmp_path: Path):
    (tmp_path / "graph.yaml").write_text("kind: DynamoGraphDeployment\nmetadata: {name: {{ name }}\n")
    assert "DYN086" not in console.run("check", str(tmp_path / "graph.yaml")).out


@pytest.mark.parametrize("text", ["$", "${a", "${a:-", "{{", "<a", "{{ .Values", "REPLACE_WITH_", "{{ a ", ".Values "])
def test_the_search_is_linear(text):
    assert is_linear(lambda size: placeholders.find({"a": text * size}), 4000)
    assert is_linear(lambda size: placeholders.of_text("{{ " + text * size, ""), 4000)
