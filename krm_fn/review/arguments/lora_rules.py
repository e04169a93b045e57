"""Findings about workers that cannot load the LoRA adapters of their base model.

A worker loads an adapter if its engine has LoRA on and if `DYN_LORA_ENABLED` is set; without the variable it answers "LoRAManager not
initialized". Sources: `dynamo/vllm/handlers.py`, `dynamo/sglang/init_llm.py` and `request_handlers/handler_base.py` in the wheels of Dynamo
0.9.0 to 1.6.1. `dynamo.trtllm` has no such endpoint in any of them, and `dynamo.sglang` has it since 1.1.0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from krm_fn.base import codes
from krm_fn.base.results import Result, Severity
from krm_fn.kubernetes.types import Resource
from krm_fn.render import dynamo_api
from krm_fn.render.config import Config
from krm_fn.render.expand import PlannedResource
from krm_fn.render.plan import GraphPlan
from krm_fn.render.resolve import cluster
from krm_fn.review.arguments import argument_findings, judged_commands
from krm_fn.review.arguments.argument_rules import ArgumentFinding
from krm_fn.review.arguments.judged_commands import JudgedCommand

_VARIABLE = "DYN_LORA_ENABLED"
_TRUE = ("true", "1", "yes", "on")


def check(planned: Iterable[PlannedResource], resources: Iterable[Resource], config: Config) -> Iterator[Result]:
    """Yields a finding for each component that serves the base model of an adapter among the resources, and cannot load it."""
    adapters = _adapters(resources, config)
    for resource in planned if adapters else ():
        if isinstance(resource.plan, GraphPlan):
            for pods in resource.pods:
                adapter = adapters.get((pods.plan.identity.namespace, pods.plan.exposure.model))
                for container in judged_commands.containers(pods) if adapter else ():
                    commands = judged_commands.of_container(container).commands
                    if container.is_main and len(commands) == 1:
                        yield from (
                            argument_findings.result(container, resource.plan.ref, finding) for finding in _check(commands[0], str(adapter))
                        )


def _adapters(resources: Iterable[Resource], config: Config) -> dict[tuple[str, str], str]:
    """Returns the name of the first adapter of each base model, by the namespace and the name of the model."""
    adapters: dict[tuple[str, str], str] = {}
    for resource in resources:
        spec = resource.get("spec")
        if resource.get("kind") == dynamo_api.MODEL and isinstance(spec, dict) and spec.get("modelType") == "lora":
            key = cluster.namespace(resource, config), f"{spec.get('baseModelName')}"
            adapters.setdefault(key, f"{spec.get('modelName')}")
    return adapters


def _check(judged: JudgedCommand, adapter: str) -> Iterator[ArgumentFinding]:
    program, known = judged.command.program, judged.container.version
    engine = judged.engine
    if engine is None:
        return
    if not engine.lora_flags or (known and known < engine.loads_loras_since):
        message = f"{program} of this image cannot load the LoRA adapter {adapter}; use an engine that can, such as dynamo.vllm"
        yield ArgumentFinding(codes.WORKER_CANNOT_LOAD_LORA, "warning", judged.command.start, message)
    elif judged.parsed.is_complete and (missing := [*_missing(judged, engine.lora_flags)]):
        message = f"the worker cannot load the LoRA adapter {adapter}, because it lacks {' and '.join(missing)}; add {_it(missing)}"
        severity: Severity = "error" if judged.table.is_exact else "warning"
        added = (engine.lora_flags[0],) if missing == [_flag(engine.lora_flags)] else ()
        yield ArgumentFinding(codes.WORKER_CANNOT_LOAD_LORA, severity, judged.command.start, message, added=added)


def _missing(judged: JudgedCommand, flags: Sequence[str]) -> Iterator[str]:
    """Yields the flag and the variable that a worker lacks, unless a file or a ConfigMap can have them."""
    if not judged.has(*flags, "--config"):
        yield _flag(flags)
    container = judged.container.fields
    values = [entry for entry in container.get("env") or () if entry.get("name") == _VARIABLE]
    from_maps = any("configMapRef" in entry for entry in container.get("envFrom") or ())
    is_set = any("valueFrom" in entry or f"{entry.get('value')}".lower() in _TRUE for entry in values[-1:])
    if not is_set and not from_maps:
        yield f'the variable {_VARIABLE}: "true"'


def _flag(flags: Sequence[str]) -> str:
    return f"the flag `{flags[0]}`"


def _it(missing: list[str]) -> str:
    return "them" if len(missing) > 1 else "it"
