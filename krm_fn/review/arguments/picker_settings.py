"""Findings about endpoint pickers that disagree with the workers and the frontends of their graph.

The picker hashes prompts in blocks of `DYN_KV_CACHE_BLOCK_SIZE` tokens for the model `DYN_MODEL_NAME`, and a frontend beside a worker sends
a request to the worker that the picker chose: `--router-mode direct` (the guide of Dynamo's inference gateway).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from krm_fn.base import codes, results
from krm_fn.base.results import Ref, Result
from krm_fn.render.plan import ComponentPlan
from krm_fn.render.rules import field_origin
from krm_fn.review.arguments.argument_rules import ArgumentFinding
from krm_fn.review.arguments.judged_commands import JudgedCommand
from krm_fn.review.arguments.worker_modes import WorkerFinding

_BLOCK_SIZE, _MODEL = "DYN_KV_CACHE_BLOCK_SIZE", "DYN_MODEL_NAME"
_BLOCK_FLAGS = ("--block-size", "--page-size", "--kv-block-size")
_MODEL_FLAGS = ("--model", "--model-path", "--served-model-name")
_FRONTEND, _MODE, _DIRECT = "dynamo.frontend", "--router-mode", "direct"


def check(commands: Sequence[JudgedCommand], components: Sequence[ComponentPlan], ref: Ref) -> Iterator[Result]:
    """Yields the findings about the variables of each picker. `commands` are those of the main containers that can be judged."""
    workers = [judged for judged in commands if judged.engine]
    if not workers or not all(judged.parsed.is_complete for judged in workers):
        return
    sizes = [{judged.text(*_known_options(judged, _BLOCK_FLAGS))} for judged in workers]
    models = [_models(judged) for judged in workers]
    for plan in components:
        values: Mapping[str, Any] = {entry.get("name", ""): entry.get("value") for entry in (*plan.pod.envs, *_variables(plan))}
        if not plan.type.picks_workers:
            continue
        for name, options, what in ((_BLOCK_SIZE, sizes, "have blocks of"), (_MODEL, models, "serve")):
            written, common = values.get(name), set.intersection(*map(set, options)) - {None}
            right = sorted(f"{option}" for option in common)
            if isinstance(written, str) and written and "$(" not in written and right and written not in right:
                message = f"the endpoint picker has {name} {written[:60]}, and the workers {what} {right[-1]}; write {right[-1]}"
                path = field_origin.of_variable(plan, name, "value")
                yield results.warning(codes.ENDPOINT_PICKER_DISAGREES, message, ref, path, current=written, proposed=right[-1])


def check_sidecar(judged: JudgedCommand, components: Sequence[ComponentPlan]) -> Iterator[WorkerFinding]:
    """Yields a finding for a frontend beside a worker that chooses workers itself, in a graph with an endpoint picker."""
    sidecar, name = judged.plan.features.frontend_sidecar, judged.container.fields.get("name")
    if not sidecar or name != sidecar or judged.command.program != _FRONTEND or not any(plan.type.picks_workers for plan in components):
        return
    use = judged.parsed.last(judged.table, _MODE)
    if use and use.text and use.text != _DIRECT and _DIRECT in (use.flag.choices or ()):
        message = f"{use.text} chooses a worker a second time, after the endpoint picker; write {_DIRECT}"
        yield WorkerFinding(judged, ArgumentFinding(codes.ENDPOINT_PICKER_DISAGREES, "warning", use.values[0], message, old=use.text))


def _variables(plan: ComponentPlan) -> Sequence[Mapping[str, Any]]:
    return plan.pod.container.get("env") or ()


def _known_options(judged: JudgedCommand, options: Sequence[str]) -> tuple[str, ...]:
    return tuple(option for option in options if option in judged.table.flags)


def _models(judged: JudgedCommand) -> set[str | None]:
    """Returns the names of the model of a worker, as it loads it and as it serves it."""
    texts = [judged.text(option) for option in _known_options(judged, _MODEL_FLAGS)]
    return {name for written in texts if written for name in written.replace(",", " ").split()}
