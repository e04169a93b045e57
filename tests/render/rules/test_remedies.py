"""The fix in a message works when somebody applies it as it is written."""

from __future__ import annotations

from typing import Any

import pytest

from krm_fn.base.results import Result
from krm_fn.kubernetes.types import Resource
from tests.support import beta, given
from tests.support.cases import cases

AT = "spec.components[0].podTemplate.spec"
PROBE = {"httpGet": {"path": "/health", "port": "metrics"}}


def port(name: str, number: int = 9090) -> Resource:
    return {"ports": [{"name": name, "containerPort": number}]}


def worker(**main: Any) -> Resource:
    return beta.graph(beta.component("Worker", main=main))


def in_probe(**fields: Any) -> Resource:
    """A worker with these fields in the handler of a probe."""
    return worker(startupProbe={"httpGet": {"path": "/live", "port": "system", **fields}})


def problems(graph: Resource) -> list[Result]:
    return [finding for finding in given.expanded(graph).results if finding.severity in ("warning", "error")]


SERVICE = given.graph({"Worker": given.service("worker", pod={"resources": {"limits": {"gpu": "1"}}})})
ROWS = [
    ("the port has another name", worker(**port("health")), worker(**port("system")), "DYN127", "; rename the port health to system"),
    (
        "a frontend's port has another name",
        beta.graph(beta.component("F", "frontend", main=port("web", 8000))),
        beta.graph(beta.component("F", "frontend", main=port("http", 8000))),
        "DYN127",
        "; rename the port web to http",
    ),
    (
        "a list of ports would replace the default one",
        worker(readinessProbe=PROBE),
        worker(readinessProbe={"httpGet": {**PROBE["httpGet"], "port": "system"}}),
        "DYN127",
        "; use system",
    ),
    ("volumes in a container", worker(volumes=[]), worker(), "DYN029", f"; it belongs in {AT}.volumes, or"),
    (
        "a field of a probe in its handler",
        in_probe(failureThreshold=9),
        worker(startupProbe={"httpGet": {"path": "/live", "port": "system"}, "failureThreshold": 9}),
        "DYN029",
        f"; it belongs in {AT}.containers[0].startupProbe.failureThreshold, or",
    ),
    (
        "a field of a handler in its probe",
        worker(startupProbe={"httpGet": {"port": "system"}, "path": "/live"}),
        in_probe(),
        "DYN029",
        f"; it belongs in {AT}.containers[0].startupProbe.httpGet.path, or",
    ),
    (
        "GPUs of a pod",
        SERVICE,
        given.graph({"Worker": given.service("worker", resources={"limits": {"gpu": "1"}})}),
        "DYN229",
        "gpu is not a resource of a whole pod; move it to resources of the service",
    ),
]


@cases(("wrong", "right", "code", "words"), ROWS)
def test_the_fix_of_a_message_works(wrong: Resource, right: Resource, code: str, words: str) -> None:
    """The wrong graph has one problem with the fix, and the graph with this fix has none."""
    assert [(finding.code, words in finding.message) for finding in problems(wrong)] == [(code, True)]
    assert not problems(right)


@pytest.mark.parametrize("key", ["name", "spec", "metadata"])
def test_names_that_most_objects_have_are_proposed_at_no_other_level(key: str) -> None:
    (finding,) = problems(in_probe(**{key: "a"}))
    assert "it belongs in" not in finding.message


@cases(
    ("version", "right"),
    [
        ("a group that Dynamo does not have", "dynamo.nvidia.com/v1beta1", "nvidia.com/v1beta1"),
        ("a slip", "nvida.com/v1alpha1", "nvidia.com/v1alpha1"),
        ("no group", "v1beta1", "nvidia.com/v1beta1"),
        ("a version that no kind has", "ai.nvidia.com/v1", "nvidia.com/v1alpha1"),
    ],
)
def test_a_kind_of_dynamo_in_another_group(version: str, right: str) -> None:
    """Without the error, the resource would pass as one of another program, and nothing would run."""
    (finding,) = problems({**worker(), "apiVersion": version})
    assert (finding.code, finding.path, finding.proposed) == ("DYN020", ("apiVersion",), right)
    assert finding.message.endswith(f"; write {right}")
    assert not problems({**worker(), "apiVersion": "graphs.example.com/v1"})
