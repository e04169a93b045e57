"""Endpoint pickers and the workers and frontends of their graph."""

from __future__ import annotations

from typing import Any

from krm_fn.render.config import Config
from krm_fn.render.expand import PlannedResource, expand
from krm_fn.review.arguments import argument_findings
from tests.support import beta
from tests.support.cases import cases

REGISTRY = "nvcr.io/nvidia/ai-dynamo"
CODES = ("DYN691", "DYN698", "DYN699")


def part(name: str, kind: str, module: str, *args: str, image: str = "sglang-runtime", env: Any = None, **more: Any) -> Any:
    variables = [{"name": key, "value": value} for key, value in (env or {}).items()]
    main = {"image": f"{REGISTRY}/{image}:1.6.1", "command": ["python3", "-m", module], "args": [*args], "env": variables}
    return beta.component(name, kind, main=main, **more)


def picker(**env: str) -> Any:
    variables = [{"name": key, "value": value} for key, value in env.items()]
    return beta.component("Epp", "epp", main={"image": f"{REGISTRY}/dynamo-frontend:1.6.1", "env": variables})


def worker(*args: str, name: str = "Worker", **more: Any) -> Any:
    return part(name, "worker", "dynamo.sglang", "--model-path", "acme/tiny", *args, **more)


def found(*components: Any) -> list[tuple[str, str]]:
    """The code and the remedy of the findings. Each of them is a warning."""
    planned: list[PlannedResource] = []
    expand([beta.graph(*components)], Config(), planned.append)
    findings = [finding for finding in argument_findings.check(planned) if finding.code in CODES]
    assert {finding.severity for finding in findings} <= {"warning"}
    return [(finding.code, finding.message.partition("; ")[2]) for finding in findings]


SIZE = {"DYN_KV_CACHE_BLOCK_SIZE": "64"}
PICKERS = [
    ("another block size", [picker(**SIZE), worker("--page-size", "16")], "write 16"),
    ("the block size", [picker(**SIZE), worker("--page-size", "64")], ""),
    ("the default of the engine", [picker(**SIZE), worker()], ""),
    ("two block sizes", [picker(**SIZE), worker("--page-size", "16"), worker("--page-size", "32", name="Other")], ""),
    ("another model", [picker(DYN_MODEL_NAME="acme/small"), worker()], "write acme/tiny"),
    ("the model", [picker(DYN_MODEL_NAME="acme/tiny"), worker()], ""),
    ("the served name", [picker(DYN_MODEL_NAME="chat"), worker("--served-model-name", "chat")], ""),
    ("another served name", [picker(DYN_MODEL_NAME="chats"), worker("--served-model-name", "chat")], "write chat"),
    ("more flags in a variable", [picker(DYN_MODEL_NAME="acme/small"), worker("$(FLAGS)")], ""),
    ("no worker", [picker(**SIZE)], ""),
]


@cases(("components", "remedy"), PICKERS)
def test_a_picker_agrees_with_the_workers(components, remedy):
    assert found(*components) == [("DYN699", remedy)] * bool(remedy)


def beside(*args: str) -> Any:
    sidecar = {"name": "front", "image": f"{REGISTRY}/sglang-runtime:1.6.1", "args": ["-m", "dynamo.frontend", *args]}
    return worker(beside=[sidecar], frontendSidecar="front")


SIDECARS = [
    ("kv", [picker(), beside("--router-mode", "kv")], "write direct"),
    ("direct", [picker(), beside("--router-mode", "direct")], ""),
    ("no mode", [picker(), beside()], ""),
    ("no picker", [beside("--router-mode", "kv")], ""),
]


@cases(("components", "remedy"), SIDECARS)
def test_a_frontend_beside_a_worker_does_not_choose(components, remedy):
    assert found(*components) == [("DYN699", remedy)] * bool(remedy)


FRONTEND = part("Frontend", "frontend", "dynamo.frontend")
TYPES = [
    ("a frontend", [part("F", "worker", "dynamo.frontend"), worker()], "write type: frontend"),
    ("a planner", [FRONTEND, part("P", "worker", "dynamo.planner", image="dynamo-planner"), worker()], "write type: planner"),
    ("a second frontend", [FRONTEND, part("F", "worker", "dynamo.frontend")], ""),
    ("a frontend of its type", [FRONTEND, worker()], ""),
    ("a router", [FRONTEND, part("R", "worker", "dynamo.router", "--endpoint", "a.b.c")], ""),
]


@cases(("components", "remedy"), TYPES)
def test_a_component_has_the_type_of_its_program(components, remedy):
    assert found(*components) == [("DYN698", remedy)] * bool(remedy)


SIZES = [
    ("data parallel attention", ["--tp-size", "8", "--dp-size", "3", "--enable-dp-attention"], "write 2"),
    ("experts", ["--tp-size", "8", "--ep-size", "16"], "write 8"),
    ("experts with a backend that sets the size", ["--tp-size", "8", "--ep-size", "16", "--moe-a2a-backend", "deepep"], ""),
    ("sizes that divide", ["--tp-size", "8", "--dp-size", "4", "--enable-dp-attention", "--ep-size", "8"], ""),
    ("whole replicas", ["--tp-size", "2", "--dp-size", "3"], ""),
    ("an unknown size", ["--tp-size", "$(TP)", "--ep-size", "3"], ""),
]


@cases(("flags", "remedy"), SIZES)
def test_sizes_of_sglang_divide_the_tensor_parallel_size(flags, remedy):
    assert found(FRONTEND, worker(*flags)) == [("DYN691", remedy)] * bool(remedy)
