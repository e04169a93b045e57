"""Findings about planners that are configured for another engine than that of the workers of their graph.

The planner takes the default names and endpoints of the workers, and the figures with which it estimates their speed, from its `backend`
(`dynamo/planner/defaults.py` of 0.9, later `dynamo/planner/config/backend_components.py`, `monitoring/worker_info.py` and
`core/perf_model`). It starts with any of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from krm_fn.render import engines
from krm_fn.render.plan import ComponentPlan
from krm_fn.review.arguments.argument_rules import ArgumentFinding
from krm_fn.review.arguments.command_line_parser import Use
from krm_fn.review.arguments.judged_commands import JudgedCommand
from krm_fn.review.arguments.worker_modes import WorkerFinding

_PLANNER = "dynamo.planner"
_CONFIG, _BACKEND = "--config", "--backend"
_FIELD, _DEFAULT = "backend", "vllm"
"""The field of the document, and its value without one (`SLAPlannerDefaults.backend`, 0.9 to 1.7)."""


def check(commands: Sequence[JudgedCommand], components: Sequence[ComponentPlan]) -> Iterator[WorkerFinding]:
    """Yields a finding for each planner of a graph whose workers all have another engine.

    A worker of an unknown engine can be the one of the plan.
    """
    names = [(judged, judged.command.program.removeprefix("dynamo.")) for judged in commands]
    workers = {judged.plan.identity.service: name for judged, name in names if name in engines.names()}
    others = [plan for plan in components if plan.identity.service not in workers]
    if len({*workers.values()}) != 1 or not all(plan.type.is_frontend or plan.type.scales or plan.type.picks_workers for plan in others):
        return
    (engine,) = {*workers.values()}
    for judged in commands:
        use = judged.parsed.last(judged.table, _CONFIG, _BACKEND) if judged.command.program == _PLANNER else None
        backend = _backend(use) if use else ""
        if use and backend in engines.names() and backend != engine:
            write = f'"{_FIELD}": "{engine}"' if use.flag.name == _CONFIG else f"{_BACKEND} {engine}"
            message = f"the planner plans for {backend}, and the workers of the graph run {engine}; write {write}"
            yield WorkerFinding(judged, ArgumentFinding("DYN714", "warning", use.word, message))


def _backend(use: Use) -> str:
    """Returns the backend in the value of a flag; empty for a file, and for a text that is not known."""
    if use.flag.name == _BACKEND or use.text is None:
        return use.text or ""
    try:
        document = json.loads(use.text)
    except (ValueError, RecursionError):
        return ""
    return f"{document.get(_FIELD, _DEFAULT)}" if isinstance(document, dict) else ""
