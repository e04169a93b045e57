"""Compares the command lines of the prefill worker and the decode worker of a graph: they exchange key-value caches of one model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from krm_fn.base import codes
from krm_fn.base.records import NamedTuple
from krm_fn.review.arguments import connector_flags, message_parts, transfer_connectors, worker_modes
from krm_fn.review.arguments.argument_rules import ArgumentFinding
from krm_fn.review.arguments.judged_commands import JudgedCommand
from krm_fn.review.arguments.worker_modes import WorkerFinding

_MODEL = ("--model", "--model-path")
_SERVED = ("--served-model-name",)
_BLOCKS = ("--block-size", "--page-size", "--kv-block-size")
_TRANSFER = ("--disaggregation-transfer-backend", "--connector")
_CONNECTOR = ("--kv-transfer-config",)
_TYPE = ("--kv-cache-dtype",)
_OF_MODEL = ("auto", "float16", "bfloat16", "bf16")
"""Types of the key-value cache that can be the type of the model: only the engine knows if two of them are equal."""
_SGLANG, _BACKEND = "dynamo.sglang", "mooncake"
"""The default of SGLang's `--disaggregation-transfer-backend` (`sglang/srt/server_args.py`, 0.5.8 to 0.5.21)."""


class _Setting(NamedTuple):
    """A setting that both workers need alike, and the code of the finding. `default` is that of the engine; empty if it is not known."""

    code: str
    options: tuple[str, ...]
    must: str
    default: str = ""


def check(commands: Sequence[JudgedCommand]) -> Iterator[WorkerFinding]:
    """Yields the disagreements of the prefill worker and the decode worker of a graph. Of several workers of one kind, none is compared."""
    by_mode: dict[str, list[JudgedCommand]] = {"prefill": [], "decode": []}
    for judged in commands:
        identity = judged.plan.identity
        typed = identity.type if identity.type in by_mode else identity.sub_type
        mode = worker_modes.mode(judged)
        mode = mode if mode in by_mode else typed
        if mode in by_mode:
            by_mode[mode].append(judged)
    if [len(listed) for listed in by_mode.values()] != [1, 1]:
        return
    prefill, decode = by_mode["prefill"][0], by_mode["decode"][0]
    if prefill.command.program == decode.command.program and prefill.parsed.is_complete and decode.parsed.is_complete:
        yield from _check_pair(prefill, decode)


def _check_pair(prefill: JudgedCommand, decode: JudgedCommand) -> Iterator[WorkerFinding]:
    served = _SERVED if prefill.has(*_SERVED) and decode.has(*_SERVED) else _MODEL
    backend = _BACKEND if prefill.command.program == _SGLANG else ""
    settings = [
        _Setting(codes.WORKERS_WITH_DIFFERENT_MODELS, served, "serve one model"),
        _Setting(codes.WORKERS_WITH_DIFFERENT_BLOCK_SIZES, _BLOCKS, "exchange blocks of one size"),
    ]
    if not connector_flags.refuses_connectors(prefill.table):
        settings.append(
            _Setting(codes.WORKERS_WITH_DIFFERENT_TRANSFERS, _TRANSFER, "transfer the key-value cache in the same way", backend)
        )
    if not {judged.text(*_TYPE) or _OF_MODEL[0] for judged in (prefill, decode)} <= {*_OF_MODEL}:
        settings.append(_Setting(codes.WORKERS_WITH_DIFFERENT_CACHE_TYPES, _TYPE, "hold the key-value cache in one type", _OF_MODEL[0]))
    is_served_alike = served == _SERVED and prefill.text(*_SERVED) == decode.text(*_SERVED)
    if is_served_alike and _are_two_models(prefill.text(*_MODEL), decode.text(*_MODEL)):
        settings.append(_Setting(codes.WORKERS_WITH_DIFFERENT_MODELS, _MODEL, "run one model"))
    for setting in settings:
        yield from _compare(setting, prefill, decode)
    yield from _check_connectors(prefill, decode)


def _are_two_models(model: str | None, other: str | None) -> bool:
    """True for two names of the Hugging Face Hub that begin differently.

    A path has any name, and `Qwen3-8B-FP8` is Qwen3-8B with other weights.
    """
    names = [(text or "").rpartition("/") for text in (model, other)]
    if not all(owner and "/" not in owner and not owner.startswith((".", "~")) for owner, _, _ in names):
        return False
    shorter, longer = sorted((name.lower() for _, _, name in names), key=len)
    return not longer.startswith(shorter)


def _compare(setting: _Setting, prefill: JudgedCommand, decode: JudgedCommand) -> Iterator[WorkerFinding]:
    """Reports two values of one setting, at the flag of the prefill worker, or of the decode worker if only this one has the flag.

    vLLM's NixlConnector compares the model and the type of the cache (`vllm/distributed/kv_transfer/kv_connector/v1/nixl`,
    compute_nixl_compatibility_hash), and SGLang the size of pages and the type (`sglang/srt/disaggregation/common/conn.py`).
    """
    ours, theirs = ((judged, judged.parsed.last(judged.table, *setting.options)) for judged in (prefill, decode))
    names = ("prefill", "decode")
    if ours[1] is None:
        ours, theirs, names = theirs, ours, ("decode", "prefill")
    (judged, use), (other, other_use) = ours, theirs
    values = [one.text if one else setting.default for one in (use, other_use)]
    if use is None or None in values or "" in values or values[0] == values[1]:
        return
    value = message_parts.value(use.values[0], use.option)
    other_value = message_parts.value(other_use.values[0], other_use.option) if other_use else f"{setting.default}, the default"
    field = other.field_of(other_use.word if other_use else other.command.start)
    message = (
        f"the {names[0]} worker has `{use.option} {value}`, and the {names[1]} worker {other.plan.identity.service} ({field}) has "
        f"{other_value}, but both must {setting.must}; write the same value in both"
    )
    yield WorkerFinding(judged, ArgumentFinding(setting.code, "warning", use.word, message))


def _check_connectors(prefill: JudgedCommand, decode: JudgedCommand) -> Iterator[WorkerFinding]:
    ours, theirs = (transfer_connectors.names(judged.text(*_CONNECTOR)) for judged in (prefill, decode))
    use = prefill.parsed.last(prefill.table, *_CONNECTOR)
    if use is not None and not transfer_connectors.are_compatible(ours, theirs):
        message = (
            f"the prefill worker transfers the key-value cache with {' and '.join(ours)}, and the decode worker "
            f"{decode.plan.identity.service} with {' and '.join(theirs)}; configure one connector that both have"
        )
        yield WorkerFinding(prefill, ArgumentFinding(codes.WORKERS_WITH_DIFFERENT_TRANSFERS, "warning", use.word, message))
