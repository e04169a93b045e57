"""Each unclear version in a graph has one finding, which names the field. Versions that are clear have none."""

from __future__ import annotations

import copy
from typing import Any

from krm_fn.base import results
from krm_fn.render import labels
from tests.support import beta, given
from tests.support.cases import cases

REPOSITORY = "nvcr.io/nvidia/ai-dynamo/vllm-runtime"
DIGEST = f"@sha256:{'a' * 64}"
OVERRIDE = "spec.components[0].runtimeVersionOverride"
IMAGE = "spec.components[0].podTemplate.spec.containers[0].image"
ORIGIN = f"metadata.annotations[{labels.ORIGIN_VERSION!r}]"
VLLM = {"command": ["python3", "-m", "dynamo.vllm"], "args": ["--model", "m"]}


def newer(image: str, **fields: Any) -> Any:
    return beta.graph(beta.component("Worker", main={"image": image}, **fields))


def older(image: str) -> Any:
    return given.graph({"Worker": given.service("worker", main={"image": image})})


def from_operator(version: str) -> Any:
    graph = newer(f"{REPOSITORY}:1.6.1")
    return {**graph, "metadata": {**graph["metadata"], "annotations": {labels.ORIGIN_VERSION: version}}}


def role(name: str, tag: str, *, template: bool = True) -> dict[str, Any]:
    container = {"name": "main", "image": f"{REPOSITORY}:{tag}", **VLLM}
    return {"name": name, "replicas": 1, **({"podTemplate": {"spec": {"containers": [container]}}} if template else {})}


def several_nodes(*roles: dict[str, Any], whole: bool = False) -> Any:
    component = copy.deepcopy(beta.component("Worker", main={"image": f"{REPOSITORY}:1.6.1", **VLLM}, multinode={"nodeCount": 2}))
    if not whole:
        del component["podTemplate"]
    return beta.graph({**component, "roles": list(roles)})


MISTAKES = [
    ("two numbers", newer(f"{REPOSITORY}:1.6"), [("DYN451", IMAGE)]),
    ("a word", newer(f"{REPOSITORY}:latest"), [("DYN451", IMAGE)]),
    ("no tag", newer(REPOSITORY), [("DYN451", IMAGE)]),
    ("a digest alone", newer(f"{REPOSITORY}{DIGEST}"), [("DYN451", IMAGE)]),
    ("a port is no tag", newer("localhost:5000/vllm-runtime"), [("DYN451", IMAGE)]),
    ("v1alpha1: two numbers", older(f"{REPOSITORY}:1.6"), [("DYN491", "spec.services.Worker.extraPodSpec.mainContainer.image")]),
    ("v1alpha1: a digest alone", older(f"{REPOSITORY}{DIGEST}"), [("DYN491", "spec.services.Worker.extraPodSpec.mainContainer.image")]),
    ("an override with two numbers", newer(f"{REPOSITORY}:latest", runtimeVersionOverride="1.6"), [("DYN027", OVERRIDE)]),
    ("an override that is a word", newer(f"{REPOSITORY}:1.6.1", runtimeVersionOverride="abc"), [("DYN027", OVERRIDE)]),
    ("an origin in the future", from_operator("1.9.0"), [("DYN492", ORIGIN)]),
    ("an origin that is a word", from_operator("main"), [("DYN456", ORIGIN)]),
    (
        "runtime as a plain container",
        newer(f"{REPOSITORY}:1.6.1", beside=[{"name": "runtime", "image": f"{REPOSITORY}:1.6.1"}]),
        [("DYN497", "spec.components[0].podTemplate.spec.containers")],
    ),
    ("one role alone", several_nodes(role("leader", "1.6.1")), [("DYN498", "spec.components[0].roles")]),
    (
        "both modes of pod templates",
        several_nodes(role("leader", "1.6.1"), role("worker", "1.6.1"), whole=True),
        [("DYN499", "spec.components[0].podTemplate")],
    ),
    (
        "a template for one role",
        several_nodes(role("leader", "1.6.1"), role("worker", "1.6.1", template=False)),
        [("DYN499", "spec.components[0].roles[1]")],
    ),
    (
        "a field of 1.6 with images of 1.5",
        several_nodes(role("leader", "1.5.1"), role("worker", "1.5.1")),
        [("DYN499", "spec.components[0].roles")],
    ),
]
CLEAR = [
    ("a version", newer(f"{REPOSITORY}:1.6.1")),
    ("a pre-release", newer(f"{REPOSITORY}:1.6.0-rc1")),
    ("a version with a v", newer(f"{REPOSITORY}:v1.6.1")),
    ("a version and a digest", newer(f"{REPOSITORY}:1.6.1{DIGEST}")),
    ("a registry with a port", newer("localhost:5000/vllm-runtime:1.6.1")),
    ("an override", newer(f"{REPOSITORY}:latest", runtimeVersionOverride="1.6.1")),
    ("v1alpha1: a version", older(f"{REPOSITORY}:1.6.1")),
    ("roles with templates", several_nodes(role("leader", "1.6.1"), role("worker", "1.6.1"))),
]


@cases(("graph", "found"), MISTAKES)
def test_a_mistake_has_one_finding(graph, found):
    expansion = given.expanded(graph, behaviour="")
    assert [(result.code, results.field(result.path)) for result in expansion.results] == found
    assert ";" in expansion.results[0].message, "a message says what to do"


@cases("graph", CLEAR)
def test_a_clear_version_has_no_finding(graph):
    assert given.expanded(graph, behaviour="").results == []
