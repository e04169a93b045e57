"""Findings about the YAML files of engines that are keys of a ConfigMap of the input: misspelt fields, and sizes beyond the GPUs.

`--extra-engine-args` names such a file of TensorRT-LLM, and `sglang_files` judges those of SGLang. Its fields are those of `LlmArgs`
(`engine_fields`), and they win over the flags (`dynamo/trtllm/workers/llm_worker.py`). Files in flow style are not read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod
from typing import Any

from krm_fn.base import edits, report, results
from krm_fn.base.results import Path, Result
from krm_fn.base.yaml import block_style
from krm_fn.kubernetes import identity
from krm_fn.kubernetes.references import name_fields
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import mapping, name_of, objects, text
from krm_fn.render.config import Config
from krm_fn.render.expand import PlannedResource
from krm_fn.render.plan import ComponentPlan, GraphPlan
from krm_fn.render.resolve import cluster
from krm_fn.review.arguments import engine_fields, judged_commands, sglang_files, worker_modes
from krm_fn.review.arguments.judged_commands import JudgedCommand

_FLAGS = {"dynamo.trtllm": "--extra-engine-args", sglang_files.PROGRAM: sglang_files.FLAG}
"""The flags with the files of engines, by program."""
_TRANSFER = "cache_transceiver_config"
"""The field without which TensorRT-LLM refuses requests of disaggregated serving (`tensorrt_llm/_torch/pyexecutor/py_executor.py`)."""
_SIZES = ("tensor_parallel_size", "pipeline_parallel_size", "context_parallel_size")


def check(planned: Iterable[PlannedResource], resources: Sequence[Resource], config: Config) -> Iterator[Result]:
    """Yields the findings, at the ConfigMaps. A file that several workers read is reported once."""
    default = cluster.default_namespace(config)
    maps = {identity.key(resource, default): resource for resource in resources if resource.get("kind") == name_fields.CONFIG_MAP[1]}
    reported: set[tuple[Any, str]] = set()
    for resource in planned if maps else ():
        for pods in resource.pods if isinstance(resource.plan, GraphPlan) else ():
            for container in judged_commands.containers(pods):
                commands = judged_commands.of_container(container).commands if container.is_main else []
                for judged in commands:
                    for config_map, key in _file(judged, maps):
                        for result in (sglang_files.check if judged.command.program == sglang_files.PROGRAM else _check)(
                            judged, config_map, key
                        ):
                            if (entry := (result.ref, result.message)) not in reported:
                                reported.add(entry)
                                yield result


def _file(judged: JudgedCommand, maps: Mapping[identity.ObjectKey, Resource]) -> Iterator[tuple[Resource, str]]:
    """Yields the ConfigMap and the key of the file that a worker reads, if it is known."""
    flag = _FLAGS.get(judged.command.program, "")
    path = judged.text(flag) or "" if flag else ""
    folder, _, key = path.rpartition("/")
    for mount in objects(judged.container.fields.get("volumeMounts")) if folder else ():
        for volume in objects(judged.plan.pod.spec.get("volumes")):
            source = mapping(volume, "configMap")
            if text(mount.get("mountPath")).rstrip("/") == folder and name_of(volume) == name_of(mount) and not source.get("items"):
                config_map = maps.get(identity.ObjectKey(*name_fields.CONFIG_MAP, judged.plan.identity.namespace, text(source.get("name"))))
                if config_map is not None and not mount.get("subPath") and isinstance(mapping(config_map, "data").get(key), str):
                    yield config_map, key


def _check(judged: JudgedCommand, config_map: Resource, key: str) -> Iterator[Result]:
    block = block_style.read(f"{config_map['data'][key].rstrip()}\n")
    if block is None:
        return
    value = block.value
    path: Path = ("data", key)
    for field in engine_fields.misspelt(value):
        within = block_style.position(config_map["data"][key], field.name)
        message = field.message(key)
        right = edits.word(message.rpartition("; ")[2])
        edit = edits.Edit(edits.Word(within, field.name, right)) if right else None
        yield results.Result("warning", engine_fields.CODE, message, results.ref(config_map), path, within=within, edit=edit)
    yield from _check_sizes(judged, value, config_map, key)
    mode = worker_modes.mode(judged)
    if mode in (worker_modes.PREFILL, worker_modes.DECODE) and _TRANSFER not in value and not judged.has("--override-engine-args"):
        message = (
            f"the {mode} worker {judged.plan.identity.service} reads {key}, which has no {_TRANSFER}, so it fails at its first request"
        )
        fix = f"add {_TRANSFER}: with backend: DEFAULT below it"
        yield results.warning("DYN690", f"{message}; {fix}", results.ref(config_map), path)


def _check_sizes(judged: JudgedCommand, value: Mapping[str, Any], config_map: Resource, key: str) -> Iterator[Result]:
    plan: ComponentPlan = judged.plan
    gpus, nodes = plan.pod.gpus.number, plan.placement.nodes
    written = {name: value[name] for name in _SIZES if isinstance(value.get(name), int) and not isinstance(value.get(name), bool)}
    sizes = [written.get(name) or judged.number(f"--{name.replace('_', '-')}") for name in _SIZES]
    if not written or gpus <= 0 or not all(sizes) or value.get("gpus_per_node") or judged.plan.features.has_role_templates:
        return
    needed = prod(size for size in sizes if size)
    if needed > nodes * gpus:
        largest = max(written, key=lambda name: written[name])
        has = f"the pod of {plan.identity.service} has" if nodes == 1 else f"the {nodes} nodes of {plan.identity.service} have"
        message = f"{key} needs {report.counted(needed, 'GPU')}, and {has} {nodes * gpus}"
        fit = nodes * gpus * written[largest] // needed
        fix = f"write {largest}: {fit}" if fit * needed == nodes * gpus * written[largest] and fit else "lower the sizes"
        within = block_style.position(mapping(config_map, "data")[key], largest)
        yield results.Result("error", "DYN612", f"{message}; {fix}", results.ref(config_map), ("data", key), within=within)
