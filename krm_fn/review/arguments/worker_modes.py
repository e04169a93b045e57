"""The modes of workers in disaggregated serving, and findings about workers of a graph that no request can pass.

An engine takes its mode from its command line, and in some releases from a variable. No release of Dynamo takes it from the type of the
component, or from a variable that the operator sets. Sources: `dynamo/vllm/args.py` and `backend_args.py`, `dynamo/sglang/args.py`, and
`dynamo/trtllm/backend_args.py`, in the wheels of Dynamo 0.9.0 to 1.6.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from krm_fn.base import codes
from krm_fn.base.records import NamedTuple
from krm_fn.render import engines, names
from krm_fn.render.plan import ComponentPlan
from krm_fn.review.arguments import connector_flags, flag_tables
from krm_fn.review.arguments.argument_rules import ArgumentFinding
from krm_fn.review.arguments.command_line_parser import ParsedCommand
from krm_fn.review.arguments.flag_tables import FlagTable
from krm_fn.review.arguments.judged_commands import JudgedCommand
from krm_fn.review.arguments.shell_words import Word

PREFILL, DECODE = "prefill", "decode"
_AGGREGATED = "agg"
_MODE = "--disaggregation-mode"
_OLDER = {"--is-prefill-worker": PREFILL, "--is-decode-worker": DECODE}
_MODES = (PREFILL, DECODE, "encode")
_VARIABLES = ("DISAGGREGATION_MODE", "IS_PREFILL_WORKER", "IS_DECODE_WORKER")
"""The ends of the variables that can decide the mode, such as DYN_VLLM_DISAGGREGATION_MODE."""
_MODE_VARIABLE = "_DISAGGREGATION_MODE"
_OTHER_ROLES = ("--multimodal", "--headless")
"""The beginnings of flags that give a worker another role."""
_IN_FILES = ("--config", "--disagg-config")
_NEEDED = {
    PREFILL: (DECODE, "so no worker answers a request"),
    DECODE: (PREFILL, "and a decode worker waits for the key-value cache of one"),
}


class WorkerFinding(NamedTuple):
    """A finding about the command line of a worker."""

    judged: JudgedCommand
    finding: ArgumentFinding


def check(commands: Sequence[JudgedCommand], components: Sequence[ComponentPlan]) -> Iterator[WorkerFinding]:
    """Yields the findings about the main containers of a graph or component. `commands` are those that can be judged."""
    workers = [judged for judged in commands if any(option in judged.table.flags for option in (_MODE, *_OLDER))]
    modes = [mode(judged) for judged in workers]
    yield from _check_two_modes(workers)
    for judged, of_worker in zip(workers, modes, strict=True):
        if of_worker == _AGGREGATED and (typed := _mode_of_type(judged, modes)):
            yield WorkerFinding(judged, _without_mode(judged, typed))
    if len(set(modes)) == 1 and modes[0] in _NEEDED and _is_whole(workers, components):
        missing, effect = _NEEDED[modes[0]]
        others = ", ".join(f"{judged.plan.identity.service} ({judged.field_of(word(judged))})" for judged in workers[1:])
        subject = f"all workers of the graph are {modes[0]} workers{f', also {others}' if others else ''}"
        message = f"{subject}, {effect}; add a {missing} worker, or remove the mode{_with_type(workers[0].plan, modes[0])}"
        yield WorkerFinding(workers[0], ArgumentFinding(codes.PREFILL_WITHOUT_DECODE, "warning", word(workers[0]), message))


def _check_two_modes(workers: Sequence[JudgedCommand]) -> Iterator[WorkerFinding]:
    """Reports workers with the flags of both modes. `dynamo/vllm/args.py` and `backend_args.py` end such a worker."""
    for judged in workers:
        uses = [use for option in _OLDER if (use := judged.parsed.last(judged.table, option))]
        if len(uses) == len(_OLDER) and not any(use.is_negated or use.values for use in uses):
            first, second = sorted(uses, key=lambda use: (use.word.field != "command", use.word.item, use.word.offset))
            message = f"`{second.option}` excludes `{first.option}`, and with both the worker ends at its start; remove one of them"
            yield WorkerFinding(judged, ArgumentFinding(codes.FLAG_WITH_TWO_VALUES, "error", second.word, message))


def mode(judged: JudgedCommand) -> str:
    """Returns the mode of a worker: `prefill`, `decode`, `encode` or `agg`; empty for another role, and if it is not known."""
    written = _written_options(judged.command.words)
    if any(option.startswith(_OTHER_ROLES) for option in written):
        return ""
    return flagged_mode(judged.command.words, judged.parsed, judged.table, judged.container.fields)


def flagged_mode(words: Sequence[Word], parsed: ParsedCommand, table: FlagTable, container: Mapping[str, Any]) -> str:
    """Returns the mode that the flags of a command line give a worker, also to one with another role; empty if it is not known."""
    written = _written_options(words)
    if not parsed.is_complete or _is_elsewhere(parsed, table, container) or written.issuperset(_OLDER):
        return ""
    for option, older in _OLDER.items():
        if option in written:  # also if the table of the newest release, for an image of an unknown one, lacks the flag
            return older
    use = parsed.last(table, _MODE)
    if use is None:
        return _of_variable(table, container) or _AGGREGATED
    return "" if use.text is None else use.text if use.text in _MODES else _AGGREGATED


def _written_options(words: Sequence[Word]) -> set[str]:
    """Returns the options of a command line as its author wrote them, with hyphens."""
    return {word.text.partition("=")[0].replace("_", "-") for word in words}


def word(judged: JudgedCommand) -> Word:
    """Returns the flag with the mode, or the start of the command without one."""
    uses = [use for option in (_MODE, *_OLDER) if (use := judged.parsed.last(judged.table, option))]
    return uses[0].word if uses else judged.command.start


def _is_elsewhere(parsed: ParsedCommand, table: FlagTable, container: Mapping[str, Any]) -> bool:
    """True if a variable or a file can decide the mode."""
    if any("configMapRef" in entry for entry in container.get("envFrom") or ()):
        return True
    names = {str(entry.get("name")) for entry in container.get("env") or ()}
    deciding = {name for name in names if name.startswith("DYN_") and name.endswith(_VARIABLES)}
    if deciding and _of_variable(table, container):
        deciding.discard(f"DYN_{table.program.rpartition('.')[2].upper()}{_MODE_VARIABLE}")
    return bool(deciding) or any(parsed.last(table, option) for option in _IN_FILES)


def _of_variable(table: FlagTable, container: Mapping[str, Any]) -> str:
    """Returns the mode in the variable of the flag, which vLLM and TensorRT-LLM read since 1.0; empty if it is not there, or not known."""
    name = f"DYN_{table.program.rpartition('.')[2].upper()}{_MODE_VARIABLE}"
    values = [entry.get("value") for entry in container.get("env") or () if entry.get("name") == name]
    if not values or values[-1] not in _MODES:
        return ""
    engine = engines.of_program(table.program)
    since = engine.reads_mode_variable_since if engine else None
    is_read = _MODE in table.flags and since is not None and flag_tables.number(table.release) >= since
    return f"{values[-1]}" if is_read else ""


def _with_type(plan: ComponentPlan, mode: str) -> str:
    """The rest of the remedy that removes a mode: a component of the type of the mode needs another type, too."""
    if plan.paths.written.get("subComponentType") == mode:
        return f" and {plan.word('subComponentType')}: {mode}"
    return f" and write {plan.word('componentType')}: worker" if plan.identity.type == mode else ""


def _mode_of_type(judged: JudgedCommand, modes: Sequence[str]) -> str:
    """Returns the mode that the type of a worker without one names; empty if its program serves whole requests on purpose.

    A worker of vLLM decodes without a mode, too. `modes` are those of all workers of the graph.
    """
    types = (judged.plan.identity.type, judged.plan.identity.sub_type)
    is_left_out = DECODE in types and judged.engine is not None and not judged.engine.decodes_without_mode and PREFILL in modes
    return PREFILL if PREFILL in types else DECODE if is_left_out else ""


def _without_mode(judged: JudgedCommand, typed: str) -> ArgumentFinding:
    """Returns the finding about a component of the type of a mode whose engine serves whole requests."""
    option = f"{_MODE} {typed}" if _MODE in judged.table.flags else f"--is-{typed}-worker"
    needs_transfer = connector_flags.refuses_connectors(judged.table) and not connector_flags.transfer(judged.parsed, judged.table)
    transfer = f" and {connector_flags.TRANSFER} '{connector_flags.default_config(typed, judged.table)}'" if needs_transfer else ""
    message = (
        f"the component has the type {typed}, but {judged.command.program} takes the mode of a worker from its flags, and without one it "
        f"serves whole requests; {'write' if judged.has(_MODE) else 'add'} `{option}`{transfer}"
    )
    added = () if transfer or judged.has(_MODE) else (*option.split(),)
    return ArgumentFinding(codes.PREFILL_SERVES_WHOLE_REQUESTS, "warning", word(judged), message, added=added)


def _is_whole(commands: Sequence[JudgedCommand], components: Sequence[ComponentPlan]) -> bool:
    """True if a graph has a frontend of its own, and if the commands are those of all workers that the frontend can find."""
    others = [plan for plan in components if all(judged.plan.identity != plan.identity for judged in commands)]
    if not any(plan.type.is_frontend for plan in others):
        return False
    known = all(plan.type.is_frontend or plan.type.scales or plan.type.picks_workers for plan in others)
    return known and all(not plan.identity.standalone and _has_own_namespace(plan) for plan in components)


def _has_own_namespace(plan: ComponentPlan) -> bool:
    """True if no other graph shares the Dynamo namespace of a component."""
    identity = plan.identity
    return identity.dynamo_namespace == names.dynamo_namespace(identity.namespace, identity.graph, shared=False)
