"""Rules about the GPU budget of a planner: the replicas of its graph fit the budget.

The planner counts the GPUs of all engines that its mode names, and removes replicas above `max_gpu_budget`, which is 8 unless the author
writes another number, and no limit if it is negative (ai-dynamo 1.6.1, `dynamo/planner/core/budget.py` and `config/defaults.py`; 0.9.1,
`dynamo/planner/defaults.py`, with the flag `--max-gpu-budget`).
"""

from __future__ import annotations

import json

from krm_fn.base import codes, results
from krm_fn.base.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from krm_fn.base.results import Path, Result
    from krm_fn.kubernetes.native_types import Container
    from krm_fn.render.manifests.pod_builder import Pods
    from krm_fn.render.plan import ComponentPlan

_DEFAULT = 8
_CONFIG, _FLAG, _OBSERVES = "--config", "--max-gpu-budget", "--no-operation"
_FIELD = "max_gpu_budget"
_MODULE = "dynamo.planner"
_ONE_PHASE = ("prefill", "decode")
_GPUS = "{}_engine_num_gpu"
"""The field with the GPUs of an engine, which replaces those of its pods."""


class _Budget(NamedTuple):
    """The GPUs that a planner allows, the path of the argument that says so, and the other settings of the planner."""

    gpus: int
    path: Path
    is_written: bool
    settings: dict[str, Any]


def check(components: Sequence[Pods]) -> Iterator[Result]:
    """Yields a warning for a planner whose graph has more GPUs than its budget, because it removes the replicas above the budget."""
    for pods in components:
        budget = _budget(pods.main) if pods.plan.type.scales else None
        if budget and budget.gpus >= 0:
            yield from _check(pods.plan, budget, [other.plan for other in components if _is_counted(other.plan, budget)])


def _check(plan: ComponentPlan, budget: _Budget, engines: Sequence[ComponentPlan]) -> Iterator[Result]:
    counts = [(engine, engine.placement.replicas_or_one, _gpus(engine, budget)) for engine in engines]
    total = sum(replicas * gpus for _, replicas, gpus in counts)
    if total <= budget.gpus:
        return
    listed = " and ".join(f"{replicas} * {gpus} of {engine.identity.service}" for engine, replicas, gpus in counts if replicas * gpus)
    limit = f"{budget.gpus}, the value of {_FIELD}" if budget.is_written else f"{budget.gpus}, the default of {_FIELD}"
    message = f"the engines have {total} GPUs ({listed}), and the planner removes replicas down to {limit}"
    yield results.warning(
        codes.PLANNER_BUDGET_EXCEEDED, f"{message}; raise {_FIELD}, or write fewer replicas", plan.ref, plan.at("main", *budget.path)
    )


def _is_counted(plan: ComponentPlan, budget: _Budget) -> bool:
    mode = budget.settings.get("mode")
    return plan.type.runs_engine and (mode not in _ONE_PHASE or mode in (plan.identity.type, plan.identity.sub_type))


def _gpus(plan: ComponentPlan, budget: _Budget) -> int:
    """Returns the GPUs of one replica as the planner counts them."""
    phase = "prefill" if "prefill" in (plan.identity.type, plan.identity.sub_type) else "decode"
    written = budget.settings.get(_GPUS.format(phase))
    return written if isinstance(written, int) else plan.gpus


def _budget(container: Container) -> _Budget | None:
    """Returns the budget of a planner; None if only the running container knows it, or if the planner scales nothing."""
    lists = (("command", container.get("command") or ()), ("args", container.get("args") or ()))
    words = [(field, index, word) for field, listed in lists for index, word in enumerate(listed)]
    if not any(_MODULE in word for *_, word in words):
        return None
    if any(_OBSERVES in word for *_, word in words):
        return None
    values = [word for *_, word in words[1:]] + [""]
    for (field, index, word), following in zip(words, values, strict=True):
        name, is_joined, value = word.partition("=")
        if name == _CONFIG:
            return _of_config(value if is_joined else following, (field, index))
        if name == _FLAG:
            number = value if is_joined else following
            return _Budget(int(number), (field, index), True, {}) if number.lstrip("-").isdecimal() and number.isascii() else None
    return None


def _of_config(text: str, path: Path) -> _Budget | None:
    """Returns the budget in a configuration that stands in the argument; None for a file, and for a planner that changes nothing itself."""
    try:
        settings = json.loads(text)
    except ValueError:
        return None
    if not isinstance(settings, dict) or settings.get("advisory") or settings.get("environment", "kubernetes") != "kubernetes":
        return None
    gpus = settings.get(_FIELD, _DEFAULT)
    return _Budget(gpus, path, _FIELD in settings, settings) if isinstance(gpus, int) else None
