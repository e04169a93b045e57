"""Findings about the YAML file that `--extra-engine-args` of TensorRT-LLM names, if it is a key of a ConfigMap of the input.

They are misspelt fields, sizes that do not fit the GPUs, and a worker without a transfer. The fields are those of `LlmArgs`
(`engine_fields`), and they win over the flags (`dynamo/trtllm/workers/llm_worker.py`). Files in flow style are not read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod
from typing import Any

from krm_fn.base import codes, edits, report, results
from krm_fn.base.results import Path, Result
from krm_fn.base.yaml import block_style
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import mapping
from krm_fn.render.plan import ComponentPlan
from krm_fn.review.arguments import engine_fields, size_rules, worker_modes
from krm_fn.review.arguments.judged_commands import JudgedCommand
from krm_fn.review.arguments.value_ranges import ValueRange

PROGRAM, FLAG = "dynamo.trtllm", "--extra-engine-args"
_TRANSFER = "cache_transceiver_config"
"""The field without which TensorRT-LLM refuses requests of disaggregated serving (`tensorrt_llm/_torch/pyexecutor/py_executor.py`)."""
_CACHE, _SHARE = "kv_cache_config", "free_gpu_memory_fraction"
_RANGE = ValueRange(above=0, most=1)
_OTHER = {worker_modes.PREFILL: worker_modes.DECODE, worker_modes.DECODE: worker_modes.PREFILL}
_SIZES = ("tensor_parallel_size", "pipeline_parallel_size", "context_parallel_size")


def check(judged: JudgedCommand, config_map: Resource, key: str) -> Iterator[Result]:
    """Yields the findings about the file of a worker. `key` is that of the ConfigMap with the file."""
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
    yield from _check_share(mapping(value, _CACHE), config_map, key)
    yield from _of_other_mode(judged, config_map, key)
    mode = worker_modes.mode(judged)
    if mode in (worker_modes.PREFILL, worker_modes.DECODE) and _TRANSFER not in value and not judged.has("--override-engine-args"):
        message = (
            f"the {mode} worker {judged.plan.identity.service} reads {key}, which has no {_TRANSFER}, so it fails at its first request"
        )
        fix = f"add {_TRANSFER}: with backend: DEFAULT below it"
        yield results.warning(codes.TRTLLM_FILE_WITHOUT_TRANSFER, f"{message}; {fix}", results.ref(config_map), path)


def _check_share(cache: Mapping[str, Any], config_map: Resource, key: str) -> Iterator[Result]:
    """Finds a percentage in place of the share of the memory for the cache (`tensorrt_llm/llmapi/llm_args.py`, `KvCacheConfig`)."""
    share = cache.get(_SHARE)
    if isinstance(share, int | float) and not isinstance(share, bool) and not _RANGE.accepts(f"{share}"):
        right = _RANGE.fix(f"{share}")
        fix = f"; write {right}" if right else "; write a share"
        message = f"{_SHARE} in {_CACHE} of {key} needs {_RANGE.name}, not {share:g}{fix}"
        within = block_style.position(mapping(config_map, "data")[key], _SHARE)
        edit = edits.Edit(edits.Word(within, f"{share}", right)) if right else None
        yield results.Result(
            "warning", codes.NUMBER_REFUSED_BY_ENGINE, message, results.ref(config_map), ("data", key), within=within, edit=edit
        )


def _of_other_mode(judged: JudgedCommand, config_map: Resource, key: str) -> Iterator[Result]:
    """Finds the file of the other mode, beside one of the worker's own mode with the same name otherwise."""
    mode, use = worker_modes.mode(judged), judged.parsed.last(judged.table, FLAG)
    other = _OTHER.get(f"{mode}", "")
    right = key.replace(other, f"{mode}") if other else key
    if use and other in key and right != key and right in mapping(config_map, "data"):
        path = judged.container.at(use.values[0].field, use.values[0].item)
        written = use.text or ""
        proposed = f"{written.removesuffix(key)}{right}"
        message = f"the {mode} worker {judged.plan.identity.service} reads {key}, and {right} is beside it; write {proposed}"
        yield results.warning(codes.ENGINE_FILE_OF_OTHER_MODE, message, judged.plan.ref, path, current=written, proposed=proposed)


def _check_sizes(judged: JudgedCommand, value: Mapping[str, Any], config_map: Resource, key: str) -> Iterator[Result]:
    plan: ComponentPlan = judged.plan
    gpus, nodes = plan.pod.gpus.number, plan.placement.nodes
    written = {name: value[name] for name in _SIZES if isinstance(value.get(name), int) and not isinstance(value.get(name), bool)}
    sizes = [written.get(name) or judged.number(f"--{name.replace('_', '-')}") for name in _SIZES]
    if not written or gpus < 0 or not all(sizes) or value.get("gpus_per_node") or judged.plan.features.has_role_templates:
        return
    needed = prod(size for size in sizes if size)
    if not gpus:
        if fix := size_rules.request_of_gpus(judged, needed):
            largest = max(written, key=lambda name: written[name])
            message = f"{key} needs {report.pluralize(needed, 'GPU')}, and the pod of {plan.identity.service} requests none; {fix}"
            within = block_style.position(mapping(config_map, "data")[key], largest)
            yield results.Result("error", codes.TOO_FEW_GPUS, message, results.ref(config_map), ("data", key), within=within)
    elif needed > nodes * gpus:
        largest = max(written, key=lambda name: written[name])
        has = f"the pod of {plan.identity.service} has" if nodes == 1 else f"the {nodes} nodes of {plan.identity.service} have"
        message = f"{key} needs {report.pluralize(needed, 'GPU')}, and {has} {nodes * gpus}"
        fit = nodes * gpus * written[largest] // needed
        fix = f"write {largest}: {fit}" if fit * needed == nodes * gpus * written[largest] and fit else "lower the sizes"
        within = block_style.position(mapping(config_map, "data")[key], largest)
        yield results.Result("error", codes.TOO_FEW_GPUS, f"{message}; {fix}", results.ref(config_map), ("data", key), within=within)
