"""Findings about workers that transfer key-value caches: the mode of another component type, a missing transfer, and a refused variable.

The planner scales workers by their component types (`dynamo/planner/config/defaults.py`, SubComponentType).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from krm_fn.base import codes, results
from krm_fn.base.results import Ref, Result, Severity
from krm_fn.render.rules import field_origin
from krm_fn.review.arguments import connector_flags, message_parts, transfer_connectors, worker_modes
from krm_fn.review.arguments.argument_rules import ArgumentFinding
from krm_fn.review.arguments.judged_commands import JudgedCommand
from krm_fn.review.arguments.worker_modes import DECODE, PREFILL, WorkerFinding

_NIXL = ("NixlConnector",)


def check(commands: Sequence[JudgedCommand]) -> Iterator[WorkerFinding]:
    """Yields the findings about the main containers of a graph or component. `commands` are those that can be judged."""
    counts = Counter(map(worker_modes.mode, commands))
    for judged in commands:
        yield from check_type(judged, counts)
        yield from _check_connector(judged)
    yield from _check_transfers(commands)


def _check_connector(judged: JudgedCommand) -> Iterator[WorkerFinding]:
    """Reports the name of a connector that vLLM does not have. vLLM ends a worker with such a name at its start."""
    use = connector_flags.transfer(judged.parsed, judged.table)
    slip = transfer_connectors.misspelt(use.text) if use else None
    if use and slip:
        message = f"vLLM has no connector {slip[0]}, so the worker ends at its start; write {slip[1]}"
        yield WorkerFinding(
            judged, ArgumentFinding(codes.UNKNOWN_CONNECTOR, "error", use.values[0] if use.values else use.word, message, old=slip[0])
        )


def check_type(judged: JudgedCommand, counts: Counter[str]) -> Iterator[WorkerFinding]:
    """Reports a worker whose component type names the other mode. `counts` has the numbers of workers of each mode.

    The first remedy keeps a worker of each mode: the last worker of a mode gets another type. Of two workers with exchanged modes, the
    names decide.
    """
    plan, mode, word = judged.plan, worker_modes.mode(judged), worker_modes.word(judged)
    typed = next((name for name in (plan.identity.type, plan.identity.sub_type) if name in (PREFILL, DECODE)), "")
    if word == judged.command.start or {mode, typed} != {PREFILL, DECODE}:
        return
    typed_by = "subComponentType" if plan.paths.written.get("subComponentType") == typed else "componentType"
    option = word.text.partition("=")[0]
    write = f"--disaggregation-mode {typed}" if "--disaggregation-mode" in judged.table.flags else f"--is-{typed}-worker"
    fixes = [f"write {write}", "change the type"]
    if counts[mode] == 1 and counts[typed] and typed not in plan.identity.service.lower():
        fixes = [f"write {plan.word(typed_by)}: {mode} there", f"write {write} here"]
    message = (
        f"{option} makes {plan.identity.service} a {mode} worker, and its component type in {results.field(plan.at(typed_by))} is {typed}; "
        f"{', or '.join(fixes)}"
    )
    yield WorkerFinding(judged, ArgumentFinding(codes.COMPONENT_TYPE_OF_OTHER_MODE, "warning", word, message))


def _check_transfers(commands: Sequence[JudgedCommand]) -> Iterator[WorkerFinding]:
    """Reports workers of vLLM without the configuration of transfers.

    Since Dynamo 1.0, `dynamo/vllm/args.py` ends a prefill worker without one, also in each other role. A decode worker starts. vLLM
    ignores the parameters of a transfer without a connector (`vllm/v1/core/sched/scheduler.py`), so it computes the prompt again.
    """
    workers = [judged for judged in commands if judged.is_known and connector_flags.refuses_connectors(judged.table)]
    modes = [worker_modes.flagged_mode(judged.command.words, judged.parsed, judged.table, judged.container.fields) for judged in workers]
    having = {mode: judged for judged, mode in zip(reversed(workers), reversed(modes), strict=True) if _has_transfer(judged)}
    has_prefill = PREFILL in modes
    for judged, mode in zip(workers, modes, strict=True):
        if (
            _has_transfer(judged)
            or _has_connector(judged)
            or not (mode == PREFILL or (has_prefill and worker_modes.mode(judged) == DECODE))
        ):
            continue
        effect = "so it ends at its start" if mode == PREFILL else "so it computes each prompt again"
        other = next((worker for of_other, worker in having.items() if of_other != mode), None)
        addition, added = _addition(judged, mode, other)
        message = f"the {mode} worker has no {connector_flags.TRANSFER}, {effect}; add {addition}"
        severity: Severity = "error" if mode == PREFILL else "warning"
        finding = ArgumentFinding(codes.WORKER_WITHOUT_KV_TRANSFER, severity, worker_modes.word(judged), message, added=added)
        yield WorkerFinding(judged, finding)


def _has_transfer(judged: JudgedCommand) -> bool:
    return connector_flags.transfer(judged.parsed, judged.table) is not None


def _has_connector(judged: JudgedCommand) -> bool:
    """True for a worker with a connector that the release refuses: the finding about it has the transfer to write."""
    use = judged.parsed.last(judged.table, connector_flags.CONNECTOR)
    return bool(_variables(judged)) or (use is not None and bool({*(connector_flags.names(use) or ())}.difference(connector_flags.NONE)))


def _variables(judged: JudgedCommand) -> list[Mapping[str, Any]]:
    return [entry for entry in judged.container.fields.get("env") or () if entry.get("name") == connector_flags.VARIABLE]


def _addition(judged: JudgedCommand, mode: str, other: JudgedCommand | None) -> tuple[str, tuple[str, ...]]:
    """Returns the flag that a worker lacks, as text and as words; no words if its connector is not the default one.

    `other` is a worker of another mode that has the flag.
    """
    added = connector_flags.TRANSFER, connector_flags.default_config(mode, judged.table)
    default = f"{added[0]} '{added[1]}'"
    use = connector_flags.transfer(other.parsed, other.table) if other else None
    if other is None or use is None:
        return default, added
    beside = f"{other.plan.identity.service} ({other.field_of(use.word)})"
    if transfer_connectors.names(use.text) == _NIXL:
        return f"{default}, as {beside} has", added
    return f"{connector_flags.TRANSFER} with the connector of {beside}", ()


def check_variable(judged: JudgedCommand, ref: Ref) -> Iterator[Result]:
    """Yields the finding about a variable DYN_CONNECTOR that ends a worker of vLLM at its start."""
    variables = _variables(judged)
    if not variables or not judged.is_known or not connector_flags.refuses_connectors(judged.table):
        return
    value = variables[-1].get("value", "" if "valueFrom" not in variables[-1] else None)
    connectors = [name.lower() for name in value.split()] if isinstance(value, str) else ["unknown"]
    mode = worker_modes.mode(judged)
    fix = connector_flags.replacement(connectors, mode, judged.table, has_transfer=_has_transfer(judged))
    fix = fix if fix.startswith("remove") else f"remove it, and {fix} into the arguments"
    message = f"{message_parts.program(judged.table)} refuses the variable {connector_flags.VARIABLE}; {fix}"
    severity: Severity = "error" if judged.table.is_exact else "warning"
    yield Result(severity, codes.REFUSED_CONNECTOR, message, ref, field_origin.of_variable(judged.plan, connector_flags.VARIABLE))
