"""Frontends that start a worker, and planners that are configured for another engine than that of their graph."""

from __future__ import annotations

import json
from typing import Any

from krm_fn.render.config import Config
from krm_fn.render.expand import PlannedResource, expand
from krm_fn.review.arguments import argument_findings
from tests.support import beta, given
from tests.support.cases import cases

IMAGE = "nvcr.io/nvidia/ai-dynamo/vllm-runtime"
CODES = ("DYN645", "DYN714", "DYN733", "DYN769", "DYN757")


def part(name: str, kind: str, command: list[str], *args: str, version: str = "1.6.1", **more: Any) -> Any:
    return beta.component(name, kind, main={"image": f"{IMAGE}:{version}", "command": command, "args": [*args]}, **more)


def started(name: str, kind: str, module: str, *args: str, version: str = "1.6.1") -> Any:
    return part(name, kind, ["python3", "-m", module], *args, version=version)


def found(*components: Any) -> list[tuple[str, str]]:
    """The code and the fix of the findings of this page. Each of them is a warning."""
    planned: list[PlannedResource] = []
    expand([beta.graph(*components)], Config(), planned.append)
    findings = [finding for finding in argument_findings.check(planned) if finding.code in CODES]
    assert {finding.severity for finding in findings} <= {"warning"}
    return [(finding.code, finding.message.partition("; ")[2]) for finding in findings]


ENTRY = started("Entry", "frontend", "dynamo.frontend")
AS_WORKER, AS_FRONTEND = "write type: worker, or start dynamo.frontend", "start dynamo.frontend, or write type: worker"
SHELL = ["/bin/sh", "-c"]
FRONTENDS = [
    ("with flags of a frontend", [started("F", "frontend", "dynamo.vllm", "--router-mode", "kv")], AS_FRONTEND),
    ("with flags of a worker", [started("F", "frontend", "dynamo.vllm", "--model", "m")], AS_WORKER),
    ("beside a frontend", [started("F", "frontend", "dynamo.sglang"), ENTRY], AS_WORKER),
    ("a mocker", [started("F", "frontend", "dynamo.mocker", "--model-path", "m")], AS_FRONTEND),
    ("in a shell", [part("F", "frontend", SHELL, "exec python3 -m dynamo.vllm --model m")], AS_WORKER),
]


@cases(("components", "fix"), FRONTENDS)
def test_a_frontend_that_starts_a_worker_is_found(components, fix):
    assert found(*components) == [("DYN645", fix)]


def test_the_field_is_that_of_the_version():
    main = {"image": f"{IMAGE}:1.6.1", "command": ["python3", "-m", "dynamo.vllm"], "args": ["--model", "m"]}
    planned: list[PlannedResource] = []
    expand([given.graph({"F": given.service("frontend", main=main)})], Config(), planned.append)
    assert ["write componentType: worker" in finding.message for finding in argument_findings.check(planned)] == [True]


OTHER_FRONTENDS = [
    ("a frontend", [ENTRY]),
    ("the server of vLLM", [part("F", "frontend", ["vllm", "serve", "m"])]),
    ("the server of vLLM as a module", [started("F", "frontend", "vllm.entrypoints.openai.api_server", "--model", "m")]),
    ("a frontend and a worker", [part("F", "frontend", SHELL, "python3 -m dynamo.frontend & exec python3 -m dynamo.vllm --model m")]),
    ("another server beside a worker", [part("F", "frontend", SHELL, "serve-http & exec python3 -m dynamo.vllm --model m")]),
    ("a worker", [started("W", "worker", "dynamo.vllm", "--model", "m")]),
]


@cases("components", OTHER_FRONTENDS)
def test_other_components_have_no_finding(components):
    assert found(*components) == []


def planner(**config: Any) -> Any:
    return started("Planner", "planner", "dynamo.planner", "--config", json.dumps({"mode": "agg", **config}))


VLLM, SGLANG = started("A", "worker", "dynamo.vllm", "--model", "m"), started("B", "worker", "dynamo.sglang", "--model-path", "m")
OLDER = started("Planner", "planner", "dynamo.planner.planner_sla", "--backend", "sglang", version="0.9.1")
PLANNERS = [
    ("another engine", [planner(backend="sglang"), VLLM, ENTRY], ['write "backend": "vllm"']),
    ("the other way", [planner(backend="trtllm"), SGLANG, ENTRY], ['write "backend": "sglang"']),
    ("a flag of 0.9", [OLDER, started("A", "worker", "dynamo.vllm", "--model", "m", version="0.9.1")], ["write --backend vllm"]),
    ("the engine of the workers", [planner(backend="vllm"), VLLM, ENTRY], []),
    ("two engines", [planner(backend="sglang"), VLLM, SGLANG, ENTRY], []),
    ("a worker that is not known", [planner(backend="sglang"), VLLM, beta.component("C", "worker")], []),
    ("mockers", [planner(backend="mocker"), VLLM], []),
    ("the default", [planner(), SGLANG], ['write "backend": "sglang"']),
    ("the default for its engine", [planner(), VLLM], []),
    ("a file", [started("Planner", "planner", "dynamo.planner", "--config", "/etc/planner.yaml"), VLLM], []),
    ("no workers", [planner(backend="sglang"), ENTRY], []),
]


@cases(("components", "fixes"), PLANNERS)
def test_a_planner_plans_for_the_engine_of_the_workers(components, fixes):
    assert found(*components) == [("DYN714", fix) for fix in fixes]


PREFILL = started("P", "worker", "dynamo.vllm", "--model", "m", "--disaggregation-mode", "prefill")
DECODE = started("D", "worker", "dynamo.vllm", "--model", "m", "--disaggregation-mode", "decode")
TYPED = started("P", "prefill", "dynamo.vllm", "--model", "m", "--disaggregation-mode", "prefill")
UNKNOWN = started("U", "worker", "dynamo.vllm", "--model", "m", "$(FLAGS)")
NO_MODE = started("Planner", "planner", "dynamo.planner", "--config", '{"backend": "vllm"}')
MODES = [
    ("agg for two modes", [planner(), PREFILL, DECODE], 'write "mode": "disagg"'),
    ("disagg for whole requests", [planner(mode="disagg"), VLLM], 'write "mode": "agg"'),
    ("the default for whole requests", [NO_MODE, VLLM], 'add "mode": "agg"'),
    ("decode for prefill workers", [planner(mode="decode"), PREFILL], 'write "mode": "prefill"'),
    ("disagg", [planner(mode="disagg"), TYPED, DECODE], ""),
    ("one of two modes", [planner(mode="decode"), PREFILL, DECODE], ""),
    ("agg", [planner(), VLLM], ""),
    ("a worker of an unknown mode", [planner(), PREFILL, UNKNOWN], ""),
    ("another mode", [planner(mode="own"), VLLM], ""),
]


@cases(("components", "fix"), MODES)
def test_a_planner_scales_the_workers_of_the_graph(components, fix):
    assert found(*components, ENTRY) == [("DYN733", fix)] * bool(fix)


def prefill(name: str, engine: str = "vllm", version: str = "1.6.1") -> list[Any]:
    """A planner for prefill and decode, and a prefill worker of this name whose type is worker."""
    model = "--model" if engine == "vllm" else "--model-path"
    words = (model, "m", "--disaggregation-mode")
    config = json.dumps({"mode": "disagg", "backend": engine})
    return [
        started("Planner", "planner", "dynamo.planner", "--config", config, version=version),
        started(name, "worker", f"dynamo.{engine}", *words, "prefill", version=version),
        started("D", "decode", f"dynamo.{engine}", *words, "decode", version=version),
    ]


ROLES = [
    ("a name of its own", prefill("P"), True),
    ("the default name of a later release", prefill("prefill", version="1.4.2"), True),
    ("the default name", prefill("prefill"), False),
    ("the default name of an older release", prefill("VllmPrefillWorker", version="1.4.2"), False),
    ("the default name of SGLang", prefill("prefill", "sglang", "1.4.2"), False),
    ("the type", [planner(mode="disagg"), TYPED, DECODE], False),
    ("another mode", [planner(mode="decode"), PREFILL, DECODE], False),
    ("no planner", [PREFILL, DECODE], False),
]


@cases(("components", "is_found"), ROLES)
def test_a_planner_finds_the_prefill_worker_by_its_type(components, is_found):
    assert found(*components, ENTRY) == [("DYN769", "write type: prefill")] * is_found


API = "vllm.entrypoints.openai.api_server"
WRITE, START = "write dynamo.vllm", "start python3 -m dynamo.vllm with --model"
SERVERS = [
    ("a module", part("W", "worker", ["python3", "-m", API], "--model", "m"), WRITE),
    ("the module of SGLang", part("W", "decode", ["python3"], "-m", "sglang.launch_server"), "write dynamo.sglang"),
    ("a program", part("W", "worker", ["vllm", "serve", "acme/tiny"]), START),
    ("a program with its folder", part("W", "prefill", ["/usr/bin/trtllm-serve", "m"]), ""),
    ("a program of TensorRT-LLM", part("W", "prefill", ["trtllm-serve", "m"]), "start python3 -m dynamo.trtllm with --model"),
    ("another command of the program", part("W", "worker", ["vllm", "bench"]), ""),
    ("a worker of Dynamo", part("W", "worker", ["python3", "-m", "dynamo.vllm"], "--model", "m"), ""),
    ("an own image", beta.component("W", main={"image": "a/b:1", "command": ["vllm", "serve", "m"]}), ""),
    ("a frontend", part("F", "frontend", ["vllm", "serve", "m"]), ""),
]


@cases(("component", "fix"), SERVERS)
def test_the_server_of_an_engine_registers_no_worker(component, fix):
    assert found(ENTRY, component) == [("DYN757", fix)] * bool(fix)
