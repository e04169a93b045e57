"""Compares the command lines of the prefill worker and the decode worker of a graph: they exchange key-value caches of one model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from krm_fn.base.records import NamedTuple
from krm_fn.review.arguments import argument_rules, transfer_connectors
from krm_fn.review.arguments.argument_rules import ArgumentFinding
from krm_fn.review.arguments.judged_commands import JudgedCommand

_MODEL = ("--model", "--model-path")
_SERVED = ("--served-model-name",)
_BLOCKS = ("--block-size", "--page-size", "--kv-block-size")
_TRANSFER = ("--disaggregation-transfer-backend", "--connector")
_CONNECTOR = ("--kv-transfer-config",)
_MODES = {"--is-prefill-worker": "prefill", "--is-decode-worker": "decode"}


class Disagreement(NamedTuple):
    """A finding about the command line of a prefill worker."""

    judged: JudgedCommand
    finding: ArgumentFinding


def check(commands: Sequence[JudgedCommand]) -> Iterator[Disagreement]:
    """Yields the disagreements of the prefill worker and the decode worker of a graph. Of several workers of one kind, none is compared."""
    by_mode: dict[str, list[JudgedCommand]] = {"prefill": [], "decode": []}
    for judged in commands:
        if (mode := _mode(judged)) in by_mode:
            by_mode[mode].append(judged)
    if [len(listed) for listed in by_mode.values()] != [1, 1]:
        return
    prefill, decode = by_mode["prefill"][0], by_mode["decode"][0]
    if prefill.command.program == decode.command.program and prefill.parsed.is_complete and decode.parsed.is_complete:
        yield from _check_pair(prefill, decode)


def _check_pair(prefill: JudgedCommand, decode: JudgedCommand) -> Iterator[Disagreement]:
    for code, options, subject in (
        ("DYN616", _SERVED if prefill.has(*_SERVED) and decode.has(*_SERVED) else _MODEL, "serve one model"),
        ("DYN617", _BLOCKS, "exchange blocks of one size"),
        ("DYN618", _TRANSFER, "transfer the key-value cache in the same way"),
    ):
        ours, theirs = prefill.text(*options), decode.text(*options)
        if ours is not None and theirs is not None and ours != theirs:
            yield _disagreement(code, prefill, decode, options, f"must {subject}")
    yield from _check_connectors(prefill, decode)


def _check_connectors(prefill: JudgedCommand, decode: JudgedCommand) -> Iterator[Disagreement]:
    ours, theirs = (transfer_connectors.names(judged.text(*_CONNECTOR)) for judged in (prefill, decode))
    use = prefill.parsed.last(prefill.table, *_CONNECTOR)
    if use is not None and not transfer_connectors.are_compatible(ours, theirs):
        message = (
            f"the prefill worker transfers the key-value cache with {' and '.join(ours)}, and the decode worker "
            f"{decode.plan.identity.service} with {' and '.join(theirs)}; configure one connector that both have"
        )
        yield Disagreement(prefill, ArgumentFinding("DYN618", "warning", use.word, message))


def _disagreement(code: str, prefill: JudgedCommand, decode: JudgedCommand, options: Sequence[str], must: str) -> Disagreement:
    ours, theirs = prefill.parsed.last(prefill.table, *options), decode.parsed.last(decode.table, *options)
    if ours is None or theirs is None:
        raise ValueError(options)
    value, other_value = (argument_rules.shown(use.values[0], use.option) for use in (ours, theirs))
    other = decode.plan.identity.service
    message = (
        f"the prefill worker has `{ours.option} {value}`, and the decode worker {other} has {other_value}, but both {must}; "
        "write the same value in both"
    )
    return Disagreement(prefill, ArgumentFinding(code, "warning", ours.word, message))


def _mode(judged: JudgedCommand) -> str:
    """Returns the mode of a worker: that of its flags, or else its component type."""
    for option, mode in _MODES.items():
        if judged.has(option):
            return mode
    written = judged.text("--disaggregation-mode")
    identity = judged.plan.identity
    return written or (identity.sub_type if identity.type not in ("prefill", "decode") else identity.type)
