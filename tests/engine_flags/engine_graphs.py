"""Graphs with engines of each kind and size, for each way to write a command and each release of the runtime."""

from __future__ import annotations

import itertools
import json
import shlex
from typing import TYPE_CHECKING, Any, NamedTuple

from krm_fn.kubernetes.types import Resource
from krm_fn.render import labels
from krm_fn.render.config import Config
from tests.support import beta, given

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

OPERATORS = {"0.9.0": "v0.9", "1.0.2": "v1.5", "1.3.1": "v1.5", "1.5.1": "v1.5", "1.6.1": "v1.6"}
"""The operator release that a render for each release of the runtime follows."""
ORCHESTRATORS = ("deployment", "grove")
NODES = (1, 3)
MODEL = "Qwen/Qwen3-32B"
_DISAGGREGATION_MODE_OF_VLLM = "1.4.0"
"""From this release on, `dynamo.vllm` reads `--disaggregation-mode`; earlier ones read a flag for each mode."""
_ELASTIC = "1.5.0"
_NEEDS_COMMAND = "elastic"
_TRANSFER = json.dumps({"kv_connector": "NixlConnector", "kv_role": "kv_both"})
_EVENTS = json.dumps({"publisher": "zmq", "topic": "kv-events", "endpoint": "tcp://*:20080"})
_MEMORY = json.dumps({"kv_cache_config": {"free_gpu_memory_fraction": 0.7}})


class Engine(NamedTuple):
    """Command-line arguments of an engine, without its model, and the GPUs of each of its nodes."""

    name: str
    arguments: tuple[str, ...] = ()
    gpus: int = 8


class Render(NamedTuple):
    """A graph, the release of its images, and the settings of its render."""

    name: str
    release: str
    graph: Resource
    settings: Mapping[str, Any]

    def config(self) -> Config:
        """The configuration of the render."""
        return given.settings_of(self.graph, **self.settings)


def version(release: str) -> tuple[int, ...]:
    """A release as numbers; those of a post-release do not count.

    >>> version("1.2.0.post1")
    (1, 2, 0)
    """
    return tuple(int(number) for number in release.split(".")[:3])


def engines(framework: str, nodes: int, release: str) -> Iterator[Engine]:
    """The engines of a framework that span this number of nodes, in a form that the release reads."""
    yield from {"vllm": _vllm, "sglang": _sglang, "trtllm": _trtllm}[framework](nodes, release)


def _vllm(nodes: int, release: str) -> Iterator[Engine]:
    gpus = str(8 * nodes)
    if nodes == 1:
        yield Engine("small", ("--max-model-len", "8192", "--gpu-memory-utilization=0.85", "--no-enable-prefix-caching"), 1)
        yield Engine("prefill", (*_mode_of_vllm("prefill", release), "--kv-transfer-config", _TRANSFER))
        yield Engine("decode", (*_mode_of_vllm("decode", release), "-tp", "8", "--kv-transfer-config", _TRANSFER))
        yield Engine("events", ("--tensor-parallel-size", "8", "--kv-events-config", _EVENTS))
    else:
        yield Engine("tensor", ("--tensor-parallel-size", "8", "--pipeline-parallel-size", str(nodes)))
        yield Engine("data", ("--data-parallel-size", gpus, "--enable-expert-parallel", "--max-model-len", "16384"))
    if version(release) >= version(_ELASTIC):
        yield Engine(_NEEDS_COMMAND, ("--data-parallel-size", gpus, "--data-parallel-backend", "ray", "--enable-elastic-ep"))


def _mode_of_vllm(mode: str, release: str) -> tuple[str, ...]:
    if version(release) >= version(_DISAGGREGATION_MODE_OF_VLLM):
        return "--disaggregation-mode", mode
    return (f"--is-{mode}-worker",)


def _sglang(nodes: int, release: str) -> Iterator[Engine]:
    gpus = str(8 * nodes)
    if nodes == 1:
        yield Engine("small", ("--page-size", "16", "--trust-remote-code", "--mem-fraction-static=0.82"), 1)
        for mode in ("prefill", "decode"):
            yield Engine(mode, ("--tp", "8", "--disaggregation-mode", mode, "--disaggregation-transfer-backend", "nixl"))
    else:
        yield Engine("tensor", ("--tp-size", gpus, "--skip-tokenizer-init"))
        yield Engine("data", ("--tp-size", gpus, "--dp-size", gpus, "--enable-dp-attention", "--ep-size", gpus))


def _trtllm(nodes: int, release: str) -> Iterator[Engine]:
    gpus = str(8 * nodes)
    if nodes == 1:
        yield Engine("small", ("--extra-engine-args", "/workspace/engine.yaml", "--max-num-tokens", "8192"), 1)
        for mode in ("prefill", "decode"):
            yield Engine(mode, ("--tensor-parallel-size", "8", "--disaggregation-mode", mode, "--override-engine-args", _MEMORY))
    else:
        yield Engine("tensor", ("--tensor-parallel-size", gpus, "--override-engine-args", _MEMORY))
        yield Engine("experts", ("--tensor-parallel-size", gpus, "--expert-parallel-size", gpus, "--publish-events-and-metrics"))


def commands(framework: str, engine: Engine) -> Iterator[Resource]:
    """The ways to write a command in a container: words, a line for each shell, and a line without a command."""
    arguments = engine.arguments
    model = "--model" if framework == "vllm" else "--model-path"
    module = ("python3", "-m", f"dynamo.{framework}")
    variable = [{"name": "MODEL", "value": MODEL}]
    yield {"command": [*module], "args": [model, "$(MODEL)", "--served-model-name", "chat", *arguments], "env": variable}
    line = f'exec {shlex.join(module)} {model} "$MODEL" {shlex.join(arguments)}'
    yield {"command": ["/bin/sh", "-c"], "args": [line], "env": variable}
    yield {"command": ["/bin/bash", "-c"], "args": [f"ulimit -c 0 && {shlex.join([*module, model, MODEL, *arguments])}"]}
    if engine.name != _NEEDS_COMMAND:
        yield {"args": [shlex.join([*module, model, MODEL, *arguments])]}


def renders(framework: str) -> Iterator[Render]:
    """Every combination: releases, orchestrators, API versions, numbers of nodes, engines, and ways to write a command."""
    for release, nodes, older in itertools.product(OPERATORS, NODES, (True, False)):
        for engine in engines(framework, nodes, release):
            for index, main in enumerate(commands(framework, engine)):
                written = {"image": _image(release), **main}
                graph = (_v1alpha1 if older else _v1beta1)(framework, engine, written, nodes)
                for orchestrator in ORCHESTRATORS:
                    name = f"{graph['apiVersion']}, {engine.name}, {nodes} nodes, {orchestrator}, command {index}"
                    yield Render(name, release, graph, {"orchestrator": orchestrator, "behaviour": OPERATORS[release]})
    if framework == "vllm":
        yield from _sharing_gpus()


def _image(release: str) -> str:
    return f"registry.example/dynamo:{release}"


def _v1alpha1(framework: str, engine: Engine, main: Resource, nodes: int) -> Resource:
    spans: Resource = {"multinode": {"nodeCount": nodes}} if nodes > 1 else {}
    worker = given.service("worker", main=main, resources={"limits": {"gpu": str(engine.gpus)}}, replicas=1, **spans)
    frontend = given.service("frontend", main={"image": main["image"]}, replicas=1)
    return given.graph({"Frontend": frontend, "Worker": worker}, backendFramework=framework)


def _v1beta1(framework: str, engine: Engine, main: Resource, nodes: int) -> Resource:
    spans: Resource = {"multinode": {"nodeCount": nodes}} if nodes > 1 else {}
    limited = {**main, "resources": {"limits": {"nvidia.com/gpu": str(engine.gpus)}}}
    frontend = beta.component("Frontend", "frontend", main={"image": main["image"]})
    return beta.graph(frontend, beta.component("Worker", main=limited, **spans), backendFramework=framework)


def _sharing_gpus() -> Iterator[Render]:
    """A vLLM engine that shares its GPUs with its substitute: beside it in the pod, and in a pod of its own."""
    for release in ("1.5.1", "1.6.1"):
        for mode, orchestrator in (("IntraPod", "deployment"), ("InterPod", "grove")):
            main = {"image": _image(release), "command": ["python3", "-m", "dynamo.vllm"], "args": ["--model", MODEL]}
            limited = {**main, "resources": {"limits": {"nvidia.com/gpu": "2"}}}
            shared = {"gpuMemoryService": {"mode": mode}, "failover": {"mode": mode}}
            worker = beta.component("Worker", main=limited, experimental=shared)
            discovery = {labels.DISCOVERY_MODE: "container"}
            graph = beta.graph(worker, backendFramework="vllm", annotations=discovery)
            yield Render(f"failover, {mode}", release, graph, {"orchestrator": orchestrator, "behaviour": OPERATORS[release]})
