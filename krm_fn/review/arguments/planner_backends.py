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
from krm_fn.review.arguments import worker_modes
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


def _backend(use: Use) -> str:
    """Returns the backend in the value of a flag; empty for a file, and for a text that is not known."""
    if use.flag.name == _BACKEND or use.text is None:
        return use.text or ""
    return f"{use.document.get(_FIELD, _DEFAULT)}" if use.document else ""
