"""vLLM with a GPU memory service in another pod, from which it takes its weights (reference: backend_vllm.go UpdateContainer)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.render import engines
from krm_fn.render.plan import RolePlan
from krm_fn.render.plan.features import FailoverPlan, Features, GPUMemory
from tests.support import given
from tests.support.cases import cases

if TYPE_CHECKING:
    from krm_fn.kubernetes.native_types import Container

BETWEEN, WITHIN = GPUMemory(True, "gpu.nvidia.com"), GPUMemory(False, "gpu.nvidia.com")
PYTHON = ["python3", "-m", "dynamo.vllm"]
FEATURES = [
    ("no service", Features(), [], False),
    ("a service in the pod of the engine", Features(gpu_memory=WITHIN), [], False),
    ("a service in another pod", Features(gpu_memory=BETWEEN), ["--load-format", "gms"], False),
    ("a second engine in another pod", Features(gpu_memory=BETWEEN, failover=FailoverPlan(True, 1)), ["--load-format", "gms"], True),
]


def changed(features, args, command=PYTHON):
    """The main container of an engine with these features."""
    plan = given.component(given.service("worker", main={"command": command, "args": args}), config={"behaviour": "v1.5"})
    container: Container = {"name": "main", "command": command, "args": args, "env": []}
    return engines.get("vllm").container(container, RolePlan(plan._replace(features=features), "chat-worker"))


@cases(("features", "flags", "shadow"), FEATURES)
def test_the_engine_takes_its_weights_from_the_service(features, flags, shadow):
    """Only a second engine waits in the shadow."""
    main = changed(features, ["--model", "m"])
    assert main["args"] == ["--model", "m", *flags]
    assert given.variables(main) == ({"DYN_VLLM_GMS_SHADOW_MODE": "true"} if shadow else {})


WRITTEN = [
    ("two words", PYTHON, ["--load-format", "gms"]),
    ("one word", PYTHON, ["--load-format=gms"]),
    ("a line for a shell", ["sh", "-c"], ["python3 -m dynamo.vllm --load-format gms"]),
]


@cases(("command", "args"), WRITTEN)
def test_a_flag_of_the_user_is_not_repeated(command, args):
    assert changed(Features(gpu_memory=BETWEEN), args, command)["args"] == args
