"""Compares the parallel sizes in command lines with the GPUs of a pod and with the nodes of a component.

The flags are facts of the engines (`krm_fn.render.engines`). There is no finding where another flag, a file or a variable can decide the
sizes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any

from krm_fn.base import codes, report
from krm_fn.base.records import NamedTuple
from krm_fn.render.engines import ParallelFlags
from krm_fn.render.kinds import dynamo_images, runtime_tags
from krm_fn.review.arguments.argument_rules import ArgumentFinding
from krm_fn.review.arguments.judged_commands import InjectedFlags, JudgedCommand
from krm_fn.review.arguments.shell_words import Word

_SGLANG = "dynamo.sglang"
_ON_CPUS = ("VLLM_CPU", "VLLM_TARGET_DEVICE")
_WHOLE_NODE = 8
"""The GPUs of a whole node, beside which a pod cannot request more."""
_DECIDING = frozenset(("context_parallel_size", "gpus_per_node"))
"""Fields of a document that decide the GPUs beside the sizes."""
_ON_SOME_GPUS = ("CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES")


class GpuNeed(NamedTuple):
    """The GPUs of an engine by its parallel sizes, and the word that says so.

    `of_copy` are the GPUs of one copy of the model, and `within` is the flag with which all copies share them; empty without one.
    """

    gpus: int
    word: Word
    of_copy: int
    within: str = ""


def gpu_need(judged: JudgedCommand) -> GpuNeed | None:
    """Returns the GPUs that an engine needs; None if the command line does not say it, or has a mistake that another rule reports."""
    sizes = judged.engine.parallel_flags if judged.engine else None
    if sizes is None or not judged.parsed.is_complete or judged.plan.type.is_frontend:
        return None
    document = _document(judged, sizes)
    multiplied = (*sizes.parallel, *(() if judged.has(*sizes.within) else sizes.copies))
    numbers = [_number(judged, document, names) for names in multiplied] if document is not None else [None]
    if not all(numbers):
        return None
    local = judged.number("--data-parallel-size-local", default=0) if judged.plan.placement.nodes == 1 else 0
    if local:
        numbers = [*numbers[: len(sizes.parallel)], local]
    of_copy = prod(number or 1 for number in numbers[: len(sizes.parallel)])
    gpus = prod(number for number in numbers if number)
    return GpuNeed(gpus, _word(judged, sizes, document or {}), of_copy, "".join(sizes.within[:1]))


def check(judged: JudgedCommand, injected: InjectedFlags | None) -> Iterator[ArgumentFinding]:
    """Yields the findings about the sizes of a main container. `injected` is None on one node."""
    yield from _check_divisors(judged)
    sizes, plan = judged.engine.parallel_flags if judged.engine else None, judged.plan
    gpus, nodes = plan.pod.gpus.number, plan.placement.nodes
    known = gpu_need(judged) if sizes and gpus >= 0 and not _is_elsewhere(judged, sizes) else None
    if known is None:
        return
    needed, word = known.gpus, known.word
    gpus_of_engine = report.pluralize(needed, "GPU")
    if not gpus:
        if fix := request_of_gpus(judged, needed):
            message = f"the engine needs {gpus_of_engine}, and the pod requests none; {fix}"
            yield ArgumentFinding(codes.TOO_FEW_GPUS, "error" if _is_published(judged) and needed > 1 else "warning", word, message)
    elif needed > nodes * gpus:
        shares = known.within and known.of_copy == nodes * gpus
        within = f"add {known.within}, with which the data parallel ranks share these GPUs, or " if shares else ""
        more = needed // gpus if nodes == 1 and needed % gpus == 0 and gpus >= _WHOLE_NODE else 0
        spread = f"set multinode.nodeCount: {more}, or " if more > 1 and not shares else ""
        fix = f"{within}{spread}lower the parallel sizes, or request more GPUs"
        message = f"the engine needs {gpus_of_engine}, and {_of_pods(nodes, gpus)}; {fix}"
        yield ArgumentFinding(codes.TOO_FEW_GPUS, "error", word, message)
    elif injected is not None and not injected.changes and needed <= gpus:
        message = (
            f"the engine needs {gpus_of_engine}, which one of the {nodes} nodes has, so each node runs an engine of its own; "
            "remove multinode and set replicas, or raise the parallel sizes"
        )
        yield ArgumentFinding(codes.ENGINE_ON_EACH_NODE, "warning", word, message)
    elif injected is not None and not injected.changes:
        message = (
            f"krm-fn adds no flags for {nodes} nodes, because it reads the sizes only from --tensor-parallel-size N, "
            "--pipeline-parallel-size N and --data-parallel-size N; write the sizes in this form, as separate words"
        )
        yield ArgumentFinding(codes.UNREAD_PARALLEL_SIZES, "warning", word, message)
    elif needed < nodes * gpus:
        message = f"the engine uses {gpus_of_engine}, and {_of_pods(nodes, gpus)}; raise the parallel sizes, or request fewer GPUs"
        yield ArgumentFinding(codes.TOO_MANY_GPUS, "warning", word, message)


def _check_divisors(judged: JudgedCommand) -> Iterator[ArgumentFinding]:
    """Reports sizes of SGLang that do not divide the tensor parallel size, as `ServerArgs` asserts (`sglang/srt/server_args.py`).

    A backend of MoE communication sets the expert parallel size itself.
    """
    if judged.command.program != _SGLANG or not judged.parsed.is_complete:
        return
    whole = judged.number("--tp-size")
    for option in ("--dp-size", "--ep-size"):
        use, size = judged.parsed.last(judged.table, option), judged.number(option)
        is_split = judged.has("--enable-dp-attention") if option == "--dp-size" else not judged.has("--moe-a2a-backend")
        if use and use.values and is_split and whole and size and whole % size:
            right = max(number for number in range(1, min(whole, size) + 1) if whole % number == 0)
            message = f"{use.option} {size} does not divide --tp-size {whole}, so the worker ends at its start; write {right}"
            yield ArgumentFinding(codes.SGLANG_SIZES_DO_NOT_DIVIDE, "warning", use.values[0], message, old=use.text or "")


def _is_elsewhere(judged: JudgedCommand, sizes: ParallelFlags) -> bool:
    """True if something else than the sizes decides the GPUs of the engine."""
    plan, container = judged.plan, judged.container.fields
    variables = {entry.get("name") for entry in container.get("env") or ()}
    claims = plan.pod.spec.get("resourceClaims") or (container.get("resources") or {}).get("claims")
    lines = (item for field in ("command", "args") for item in container.get(field) or ())
    shared = plan.features.gpu_memory or plan.features.failover or plan.features.has_role_templates
    hidden = any(name in variables for name in _ON_SOME_GPUS) or any(name in line for line in lines for name in _ON_SOME_GPUS)
    return bool(claims or shared or hidden or judged.has(*sizes.silent))


def request_of_gpus(judged: JudgedCommand, needed: int) -> str:
    """Returns the fix of a pod without GPUs; empty if its engine may run without them."""
    is_needed = not _may_run_without_gpus(judged) and (needed > 1 or _is_published(judged))
    return _request(judged, needed) if is_needed else ""


def _may_run_without_gpus(judged: JudgedCommand) -> bool:
    """True if a pod may have devices under another name or by its runtime class, or if the engine runs on CPUs."""
    container, spec = judged.container.fields, judged.plan.pod.spec
    resources = container.get("resources") or {}
    has_devices = any("/" in name for side in ("limits", "requests") for name in resources.get(side) or ())
    is_for_cpus = any(f"{entry.get('name')}".startswith(_ON_CPUS) for entry in container.get("env") or ())
    return bool(has_devices or is_for_cpus or spec.get("runtimeClassName") or judged.has("--device"))


def _request(judged: JudgedCommand, gpus: int) -> str:
    """Returns the fix of a pod without GPUs, in the author's API version: v1alpha1 has a field of its own for them."""
    is_older = judged.plan.word("componentType") == "componentType"
    return f'add {"gpu" if is_older else "nvidia.com/gpu"}: "{gpus}" to resources.limits of {"the component" if is_older else "main"}'


def _is_published(judged: JudgedCommand) -> bool:
    """True for an image of NVIDIA, which runs on GPUs only."""
    return dynamo_images.parts(f"{judged.container.fields.get('image')}").name in runtime_tags.PUBLISHED


def _document(judged: JudgedCommand, sizes: ParallelFlags) -> Mapping[str, Any] | None:
    """Returns the object whose fields win over the flags: empty without one, and None if it is not known or decides the GPUs by itself."""
    use = judged.parsed.last(judged.table, sizes.document) if sizes.document else None
    if use is None:
        return {}
    document = use.document
    return None if document is None or _DECIDING.intersection(document) else document


def _number(judged: JudgedCommand, document: Mapping[str, Any], names: Sequence[str]) -> int | None:
    """Returns a size, by its field in the document or by its flag; None if it is not known."""
    value = document.get(_field(names))
    return judged.number(*names) if value is None else value if isinstance(value, int) and value > 0 else None


def _field(names: Sequence[str]) -> str:
    return names[0].lstrip("-").replace("-", "_")


def _word(judged: JudgedCommand, sizes: ParallelFlags, document: Mapping[str, Any]) -> Word:
    """The flag with the largest size, or the start of the command without any. A size in the document stands at the document."""
    if any(_field(names) in document for names in (*sizes.parallel, *sizes.copies)):
        use = judged.parsed.last(judged.table, sizes.document)
        return use.word if use else judged.command.start
    names = [option for group in (*sizes.parallel, *sizes.copies) for option in group]
    uses = [use for use in (judged.parsed.last(judged.table, name) for name in names) if use]
    return max(uses, key=lambda use: int(use.text or 0)).word if uses else judged.command.start


def _of_pods(nodes: int, gpus: int) -> str:
    return f"the pod has {report.pluralize(gpus, 'GPU')}" if nodes == 1 else f"its {nodes} nodes have {report.pluralize(gpus, 'GPU')} each"
