"""Graphs with one vLLM worker whose engines share GPUs, and the pods that are rendered of them."""

from __future__ import annotations

from typing import Any

from krm_fn.kubernetes.types import Resource
from krm_fn.render import labels
from tests.support import beta, given

VLLM = {"command": ["python3"], "args": ["-m", "dynamo.vllm"]}
GPUS = {"resources": {"limits": {"nvidia.com/gpu": "2"}}}
DISCOVERED = {labels.DISCOVERY_MODE: "container"}


def graph(mode: str, *, failover: bool = False, main: Any = None, memory: Any = None, **fields: Any) -> Resource:
    """A graph with the GPU memory service in this mode, and if wanted with failover in the same mode."""
    shared = {"gpuMemoryService": {"mode": mode, **(memory or {})}, **({"failover": {"mode": mode}} if failover else {})}
    worker = beta.component("Worker", main={**VLLM, **GPUS, **(main or {})}, experimental=shared, **fields)
    return beta.graph(worker, backendFramework="vllm", annotations=DISCOVERED)


def pod(**written: Any) -> Resource:
    """The pod of a worker with the service beside the engine."""
    found: Resource = given.rendered(graph("IntraPod", **written))["Deployment/chat-worker"]["spec"]["template"]["spec"]
    return found


def template(**written: Any) -> Resource:
    """The template of the PodCliqueSet of a worker with the service in pods of its own."""
    found: Resource = given.rendered(graph("InterPod", **written), orchestrator="grove")["PodCliqueSet/chat"]["spec"]["template"]
    return found


def cliques(**written: Any) -> Resource:
    """The cliques of that template by name."""
    return {clique["name"]: clique for clique in template(**written)["cliques"]}
