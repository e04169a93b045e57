"""The type `main`, which is `frontend` to the operators of Dynamo 0.4 and older, and a type without defaults to later ones."""

from __future__ import annotations

from typing import Any

import pytest

from krm_fn.render import dynamo_api, labels
from tests.support import given
from tests.support.cases import cases

VLLM = "nvcr.io/nvidia/ai-dynamo/vllm-runtime"


def _graph(tag: str, kind: str = "main") -> Any:
    return given.graph({"Web": given.service(kind, main={"image": f"{VLLM}:{tag}"})})


CASES = [
    ("an image of 0.4", "0.4.1", {"behaviour": ""}, True),
    ("a configuration that names a later operator", "0.4.1", {"behaviour": "v0.9"}, False),
    ("an image of 0.5", "0.5.0", {"behaviour": ""}, False),
    ("a later release", "1.6.1", {"behaviour": ""}, False),
    ("no version", "latest", {"behaviour": ""}, False),
]


@cases(("tag", "settings", "is_frontend"), CASES)
def test_the_operator_of_the_images_decides_what_main_is(tag: str, settings: dict[str, Any], is_frontend: bool) -> None:
    """Only the pods that the operator of an image made are right for it. The warning always names the field and today's name."""
    expansion = given.expanded(_graph(tag), **settings)
    (finding,) = [result for result in expansion.results if result.code == "DYN104"]
    assert (finding.severity, finding.path, finding.proposed) == ("warning", ("spec", "services", "Web", "componentType"), "frontend")
    assert ("gets no port" in finding.message) is not is_frontend
    objects = {resource["kind"]: resource for resource in expansion.resources}
    assert [port["port"] for port in objects["Service"]["spec"]["ports"]] == [8000 if is_frontend else 9090]
    assert objects["DynamoGraphDeployment"]["spec"]["services"]["Web"]["componentType"] == ("frontend" if is_frontend else "main")


def test_an_image_of_0_4_has_the_pods_of_a_frontend() -> None:
    """The pods are those of today's name."""
    former, current = (given.by_address(given.expanded(_graph("0.4.0", kind), behaviour="").resources) for kind in ("main", "frontend"))
    assert former["Deployment/chat-web"] == current["Deployment/chat-web"]
    assert former["Deployment/chat-web"]["spec"]["template"]["metadata"]["labels"][labels.COMPONENT_TYPE] == "frontend"


def test_a_standalone_component() -> None:
    """A component without a graph has the type at another path."""
    spec = {**given.service("main", main={"image": f"{VLLM}:0.4.0"}, pod={"serviceAccountName": "mine"}), "dynamoNamespace": "a"}
    component = given.item(dynamo_api.COMPONENT, "web", api=dynamo_api.V1ALPHA1, spec=spec)
    findings = given.expanded(component, behaviour="").results
    assert [result.path for result in findings if result.code == "DYN104"] == [("spec", "componentType")]


@pytest.mark.parametrize("tag", ["0.4.0", "1.3.0"])
def test_a_worker_of_the_type_main_is_no_frontend(tag: str) -> None:
    """Probes of a frontend would stop an engine, so the pods stay, and the warning says `worker`."""
    main = {"image": f"{VLLM}:{tag}", "command": ["sh", "-c"], "args": ["python3 -m dynamo.vllm --model acme/tiny"]}
    expansion = given.expanded(given.graph({"Worker": given.service("main", main=main)}), behaviour="")
    assert [result.proposed for result in expansion.results if result.code == "DYN104"] == ["worker"]
    deployment = given.by_address(expansion.resources)["Deployment/chat-worker"]
    assert "livenessProbe" not in deployment["spec"]["template"]["spec"]["containers"][0]


@pytest.mark.parametrize("kind", ["", "worker", "Main", "router"])
def test_other_types_are_no_former_names(kind: str) -> None:
    """Types are case-sensitive, and other words never were a type."""
    assert "DYN104" not in {result.code for result in given.expanded(_graph("0.4.0", kind), behaviour="").results}
