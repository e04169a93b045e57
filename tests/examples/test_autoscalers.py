"""The autoscalers of the examples scale an adapter that the render of their graph makes."""

from __future__ import annotations

import pytest
import yaml

from tests.support import golden

HORIZONTAL = [golden.EXAMPLES / name / "autoscaler.yaml" for name in ("scaling-hpa", "scaling-hpa-decode")]
KEDA = golden.EXAMPLES / "scaling-keda" / "scaled-object.yaml"
AUTOSCALERS = [*HORIZONTAL, KEDA]


def identity(resource, name):
    return resource["apiVersion"], resource["kind"], name


@pytest.mark.parametrize("file", AUTOSCALERS, ids=lambda file: file.parent.name)
def test_an_autoscaler_names_an_adapter_of_its_graph(file):
    scaler = yaml.safe_load(file.read_text())
    target = scaler["spec"]["scaleTargetRef"]
    rendered = list(yaml.safe_load_all(file.with_name("expected.yaml").read_text()))
    (adapter,) = [each for each in rendered if identity(each, each["metadata"]["name"]) == identity(target, target["name"])]
    assert adapter["metadata"]["namespace"] == scaler["metadata"]["namespace"]


@pytest.mark.parametrize("file", AUTOSCALERS, ids=lambda file: file.parent.name)
def test_git_has_no_number_for_the_workload_of_an_autoscaler(file):
    name = yaml.safe_load(file.read_text())["spec"]["scaleTargetRef"]["name"]
    rendered = list(yaml.safe_load_all(file.with_name("expected.yaml").read_text()))
    (deployment,) = [each for each in rendered if identity(each, each["metadata"]["name"]) == ("apps/v1", "Deployment", name)]
    assert "replicas" not in deployment["spec"]


@pytest.mark.parametrize("file", HORIZONTAL, ids=lambda file: file.parent.name)
def test_the_api_server_accepts_the_autoscaler_of_kubernetes(file, control_plane):
    scaler = yaml.safe_load(file.read_text())
    scaler["metadata"]["namespace"] = control_plane.namespace(file.parent.name)
    assert control_plane.judge(scaler).ok


def test_the_query_asks_for_the_dynamo_namespace_of_the_graph():
    """Dynamo labels its metrics with the namespace that the render writes into the pods."""
    folder = KEDA.parent
    (trigger,) = yaml.safe_load(KEDA.read_text())["spec"]["triggers"]
    rendered = list(yaml.safe_load_all((folder / "expected.yaml").read_text()))
    (frontend,) = [each for each in rendered if identity(each, each["metadata"]["name"]) == ("apps/v1", "Deployment", "chat-frontend")]
    marks = frontend["spec"]["template"]["metadata"]["labels"]
    assert f'dynamo_namespace="{marks["nvidia.com/dynamo-namespace"]}"' in trigger["metadata"]["query"]
