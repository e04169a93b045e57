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


WEB = {"name": "web", "image": "registry.example/dynamo:1.5.0", "command": ["python3", "-m", "dynamo.frontend"]}
LOGS = {"name": "logs", "image": "logs:1"}


def started(name: str, *beside: Resource) -> Resource:
    """A worker whose container with Dynamo has a name."""
    container = {"name": name, "image": "registry.example/dynamo:1.5.0", "command": ["python3", "-m", "dynamo.vllm"]}
    pod = {"spec": {"containers": [container, *beside]}}
    return beta.graph({"name": "Worker", "type": "worker", "podTemplate": pod})


def sidecar(name: str | None, *beside: Resource) -> Resource:
    fields = {"frontendSidecar": name} if name else {}
    return beta.graph(beta.component("Worker", main={"command": ["python3", "-m", "dynamo.vllm"]}, beside=[*beside], **fields))


def framework(engine: str, of_graph: str) -> Resource:
    return beta.graph(beta.component("Worker", main={"command": ["python3", "-m", f"dynamo.{engine}"]}), backendFramework=of_graph)


def two(first: str, second: str) -> Resource:
    """A graph of vLLM, without NVIDIA's images, with the engines of two components."""
    components = [
        beta.component(name, main={"command": ["python3", "-m", f"dynamo.{engine}"]}) for name, engine in (("A", first), ("B", second))
    ]
    return beta.graph(*components, backendFramework="vllm")


def typed(word: str) -> Resource:
    return given.graph({"Worker": given.service("worker", subComponentType=word)})


def opened(host: str, suffix: str | None) -> Resource:
    ingress = {"enabled": True, "ingressControllerClassName": "nginx", "host": host, **({} if suffix is None else {"hostSuffix": suffix})}
    return given.graph({"Frontend": given.service("frontend", ingress=ingress)})


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
        "; write httpGet.path, or",
    ),
    (
        "GPUs of a pod",
        SERVICE,
        given.graph({"Worker": given.service("worker", resources={"limits": {"gpu": "1"}})}),
        "DYN229",
        "gpu is not a resource of a whole pod; move it to resources of the service",
    ),
]
ROWS += [
    ("the only container has another name", started("vllm"), started("main"), "DYN450", "; rename the container vllm to main"),
    (
        "one of two containers runs Dynamo",
        started("engine", {"name": "logs", "image": "logs:1"}),
        started("main", {"name": "logs", "image": "logs:1"}),
        "DYN450",
        "; rename the container engine to main",
    ),
    ("no container of a sidecar", sidecar("web"), sidecar(None), "DYN460", "; add the container, or remove frontendSidecar"),
    ("a misspelt sidecar", sidecar("wbe", WEB), sidecar("web", WEB), "DYN460", "; write web, or add the container"),
    ("the only frontend", sidecar("frontend", WEB, LOGS), sidecar("web", WEB, LOGS), "DYN460", "; write web, or add the container"),
    ("main as a sidecar", sidecar("main"), sidecar(None), "DYN139", "; remove frontendSidecar, or add a container"),
    ("main in place of the frontend", sidecar("main", WEB), sidecar("web", WEB), "DYN139", "; write web"),
    ("an engine in the graph", framework("vllm", "sglang"), framework("vllm", "vllm"), "DYN121", "; write backendFramework: vllm"),
    ("an engine in one command", two("sglang", "vllm"), two("vllm", "vllm"), "DYN121", "; write dynamo.vllm"),
    ("a misspelt subtype", typed("prefil"), typed("prefill"), "DYN713", "; write prefill"),
    *(
        (f"the host {host}", opened(host, suffix), opened(*right), "DYN157", words)
        for host, suffix, right, words in (
            ("https://llm", "example.com", ("llm", "example.com"), "; write host: llm, without https://"),
            ("llm:8080/v1", "example.com", ("llm", "example.com"), "; write host: llm, without :8080 and /v1"),
            ("LLM", "example.com", ("llm", "example.com"), "; write host: llm"),
            ("https://llm.example.com", None, ("llm", "example.com"), "; write host: llm and hostSuffix: example.com, without https://"),
            ("llm", ".Example.com", ("llm", "example.com"), "; write hostSuffix: example.com"),
            ("llm", "", ("llm", None), "; write a domain such as example.com, or remove hostSuffix"),
        )
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
        ("a slip, and the fields of the other version", "nvida.com/v1alpha1", "nvidia.com/v1beta1"),
        ("no group", "v1beta1", "nvidia.com/v1beta1"),
        ("a version that no kind has", "ai.nvidia.com/v1", "nvidia.com/v1beta1"),
    ],
)
def test_a_kind_of_dynamo_in_another_group(version: str, right: str) -> None:
    """Without the error, the resource would pass as one of another program, and nothing would run."""
    (finding,) = problems({**worker(), "apiVersion": version})
    assert (finding.code, finding.path, finding.proposed) == ("DYN020", ("apiVersion",), right)
    assert finding.message.endswith(f"; write {right}")
    assert not problems({**worker(), "apiVersion": "graphs.example.com/v1"})


def claiming(name: str) -> Resource:
    """A worker whose container asks for a claim, beside the only claim of its pod."""
    pod = {"resourceClaims": [{"name": "compute-domain-channel", "resourceClaimTemplateName": "channel"}]}
    return given.graph({"Worker": given.service("worker", resources={"claims": [{"name": name}]}, pod=pod)})


def lora(base: str, *served: str) -> list[Resource]:
    """A DynamoModel, and a graph that serves base models."""
    spec = {"modelName": "a", "baseModelName": base}
    graph = beta.graph(*(beta.component(f"Worker{index}", modelRef={"name": name}) for index, name in enumerate(served)))
    return [given.item("DynamoModel", "a", api="nvidia.com/v1alpha1", spec=spec), graph]


OF_NAMES = [
    ("a part of the only claim", [claiming("compute-domain")], "DYN213", "; write compute-domain-channel"),
    ("another claim", [claiming("gpu")], "DYN213", "; add it under extraPodSpec.resourceClaims"),
    ("the only base model", lora("Qwen/Qwen3-14B", "Qwen/Qwen3-8B"), "DYN175", "; write Qwen/Qwen3-8B, the only base model"),
    ("one of two base models", lora("Qwen/Qwen3-14B", "Qwen/Qwen3-8B", "Qwen/Qwen3-4B"), "DYN175", "; write this name as the base"),
]


@cases(("resources", "code", "fix"), OF_NAMES)
def test_the_only_name_that_can_be_meant_is_the_fix(resources: list[Resource], code: str, fix: str) -> None:
    (finding,) = (finding for finding in given.expanded(*resources).results if finding.code == code)
    assert fix in finding.message
