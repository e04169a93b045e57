"""Findings about workers that transfer key-value caches: the mode of another component type, and a transfer that only one of them has.

The planner scales workers by their component types (`dynamo/planner/config/defaults.py`, SubComponentType).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from krm_fn.base import results
from krm_fn.review.arguments import flag_tables, worker_modes
from krm_fn.review.arguments.argument_rules import ArgumentFinding
from krm_fn.review.arguments.judged_commands import JudgedCommand
from krm_fn.review.arguments.worker_modes import DECODE, PREFILL, WorkerFinding

_TRANSFER = "--kv-transfer-config"
_WITHOUT_DEFAULT = (1, 0, 0)
"""The first release whose vLLM workers transfer nothing by default: before it, `--connector` had the default `nixl`."""


def check(commands: Sequence[JudgedCommand]) -> Iterator[WorkerFinding]:
    """Yields the findings about the main containers of a graph or component. `commands` are those that can be judged."""
    for judged in commands:
        yield from _check_type(judged)
    yield from _check_transfers(commands)


def _check_type(judged: JudgedCommand) -> Iterator[WorkerFinding]:
    """Reports a worker whose component type names the other mode."""
    plan, mode, word = judged.plan, worker_modes.mode(judged), worker_modes.word(judged)
    typed = next((name for name in (plan.identity.type, plan.identity.sub_type) if name in (PREFILL, DECODE)), "")
    if word == judged.command.start or {mode, typed} != {PREFILL, DECODE}:
        return
    field = results.field(plan.at("subComponentType" if plan.paths.written.get("subComponentType") == typed else "componentType"))
    option = word.text.partition("=")[0]
    write = f"--disaggregation-mode {typed}" if "--disaggregation-mode" in judged.table.flags else f"--is-{typed}-worker"
    message = (
        f"{option} makes {plan.identity.service} a {mode} worker, and its component type in {field} is {typed}; "
        f"write {write}, or change the type"
    )
    yield WorkerFinding(judged, ArgumentFinding("DYN637", "warning", word, message))


def _check_transfers(commands: Sequence[JudgedCommand]) -> Iterator[WorkerFinding]:
    """Reports workers of vLLM without the configuration of transfers that a worker of the other mode has.

    Since Dynamo 1.0, `dynamo/vllm/args.py` ends a prefill worker without a configuration, and a decode worker has no default. vLLM ignores
    the parameters of a transfer without a connector (`vllm/v1/core/sched/scheduler.py`), so the worker computes the prompt again.
    """
    workers = [judged for judged in commands if _needs_transfer(judged)]
    for judged in workers:
        mode = worker_modes.mode(judged)
        other = next((worker for worker in workers if worker.has(_TRANSFER) and worker_modes.mode(worker) != mode), None)
        theirs = other.parsed.last(other.table, _TRANSFER) if other else None
        if other is None or theirs is None or judged.has(_TRANSFER):
            continue
        effect = "ends at its start" if mode == PREFILL else "computes each prompt again"
        beside = f"{other.plan.identity.service} ({other.field_of(theirs.word)})"
        message = (
            f"the {mode} worker has no {_TRANSFER}, and {beside} has it; without it, the worker {effect}; "
            f"add {_TRANSFER} with the same connector"
        )
        yield WorkerFinding(
            judged, ArgumentFinding("DYN635", "error" if mode == PREFILL else "warning", worker_modes.word(judged), message)
        )


def _needs_transfer(judged: JudgedCommand) -> bool:
    if _TRANSFER not in judged.table.flags or not judged.is_known:
        return False
    return flag_tables.number(judged.table.release) >= _WITHOUT_DEFAULT and worker_modes.mode(judged) in (PREFILL, DECODE)
