"""Findings about planners that are configured for another engine, or for other modes, than those of the workers of their graph.

The planner takes the default names and endpoints of the workers, and the figures with which it estimates their speed, from its `backend`
(`dynamo/planner/defaults.py` of 0.9, later `dynamo/planner/config/backend_components.py`, `monitoring/worker_info.py` and
`core/perf_model`). It starts with any of them. Its `mode` decides which workers it finds and scales (`PlannerConfig.mode`, since 1.0).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from krm_fn.base import codes
from krm_fn.render import engines
from krm_fn.render.plan import ComponentPlan
from krm_fn.review.arguments import flag_tables, worker_modes
from krm_fn.review.arguments.argument_rules import ArgumentFinding
from krm_fn.review.arguments.command_line_parser import Use
from krm_fn.review.arguments.judged_commands import JudgedCommand
from krm_fn.review.arguments.worker_modes import WorkerFinding

_PLANNER = "dynamo.planner"
_CONFIG, _BACKEND = "--config", "--backend"
_MODE, _WORKERS = "mode", {"disagg": ("prefill", "decode"), "prefill": ("prefill",), "decode": ("decode",), "agg": ("agg",)}
"""The field with the mode of the planner, and the modes of the workers that it then scales."""
_FIELD, _DEFAULT = "backend", "vllm"
"""The field of the document, and its value without one (`SLAPlannerDefaults.backend`, 0.9 to 1.7)."""


def check(commands: Sequence[JudgedCommand], components: Sequence[ComponentPlan]) -> Iterator[WorkerFinding]:
    """Yields a finding for each planner of a graph whose workers all have another engine.

    A worker of an unknown engine can be the one of the plan.
    """
    workers = {judged.plan.identity.service: judged.engine.name for judged in commands if judged.engine}
    others = [plan for plan in components if plan.identity.service not in workers]
    if len({*workers.values()}) != 1 or not all(plan.type.is_frontend or plan.type.scales or plan.type.picks_workers for plan in others):
        return
    (engine,) = {*workers.values()}
    yield from _check_modes(commands)
    yield from _check_types(commands)
    for judged in commands:
        use = judged.parsed.last(judged.table, _CONFIG, _BACKEND) if judged.command.program == _PLANNER else None
        backend = _backend(use) if use else ""
        if use and backend in engines.names() and backend != engine:
            write = f'"{_FIELD}": "{engine}"' if use.flag.name == _CONFIG else f"{_BACKEND} {engine}"
            message = f"the planner plans for {backend}, and the workers of the graph run {engine}; write {write}"
            yield WorkerFinding(judged, ArgumentFinding(codes.PLANNER_FOR_OTHER_ENGINE, "warning", use.word, message))


def _check_modes(commands: Sequence[JudgedCommand]) -> Iterator[WorkerFinding]:
    """Yields a finding for each planner whose mode names workers that the graph does not have. All workers have a known mode."""
    modes = {worker_modes.mode(judged) for judged in commands if judged.engine}
    if not modes or not modes <= {*_WORKERS["disagg"], *_WORKERS["agg"]}:
        return
    right = "disagg" if len(modes) > 1 else next(iter(modes))
    for judged in commands:
        use = judged.parsed.last(judged.table, _CONFIG) if judged.command.program == _PLANNER else None
        document = use.document or {} if use else {}
        written = f"{document.get(_MODE, 'disagg')}" if document else ""
        if use and written in _WORKERS and not modes.issuperset(_WORKERS[written]):
            problem = (
                f"the planner scales {' and '.join(_WORKERS[written])} workers, and the graph has {' and '.join(sorted(modes))} workers"
            )
            fix = f'{"write" if _MODE in document else "add"} "{_MODE}": "{right}"'
            yield WorkerFinding(judged, ArgumentFinding(codes.PLANNER_FOR_OTHER_MODES, "warning", use.word, f"{problem}; {fix}"))


def _check_types(commands: Sequence[JudgedCommand]) -> Iterator[WorkerFinding]:
    """Yields a finding for the prefill worker that the planner of its graph does not find, because its type does not name the mode.

    The planner of a graph with prefill and decode looks for the component of the type prefill, and otherwise for one with the default name,
    and ends without one (`get_service_from_sub_component_type_or_name` of 1.0, later `get_component_from_type_or_name`). It uses a single
    worker without a mode as the decode worker.
    """
    planners = [judged for judged in commands if judged.command.program == _PLANNER]
    workers = [judged for judged in commands if judged.engine and worker_modes.mode(judged) == worker_modes.PREFILL]
    typed = [judged for judged in workers if worker_modes.PREFILL in (judged.plan.identity.type, judged.plan.identity.sub_type)]
    if planners and len(workers) == 1 and not typed and all(_scales_both(judged) for judged in planners):
        (judged,) = workers
        release = flag_tables.number(planners[0].table.release)
        names = {name for name, since in judged.engine.prefill_names if since <= release} if judged.engine else set()
        if judged.plan.identity.service not in names:
            field = judged.plan.word("subComponentType")
            problem = "the planner finds the prefill worker by its type, and this one has no type prefill, so the planner ends at its start"
            fix = f"add {field}: prefill" if field == "subComponentType" else f"write {field}: prefill"
            word = worker_modes.word(judged)
            yield WorkerFinding(judged, ArgumentFinding(codes.WORKER_UNKNOWN_TO_PLANNER, "warning", word, f"{problem}; {fix}"))


def _scales_both(planner: JudgedCommand) -> bool:
    """True for a planner whose document is known, with the mode for prefill and decode."""
    use = planner.parsed.last(planner.table, _CONFIG)
    return bool(use and use.document and f"{use.document.get(_MODE, 'disagg')}" == "disagg")


def _backend(use: Use) -> str:
    """Returns the backend in the value of a flag; empty for a file, and for a text that is not known."""
    if use.flag.name == _BACKEND or use.text is None:
        return use.text or ""
    return f"{use.document.get(_FIELD, _DEFAULT)}" if use.document else ""
