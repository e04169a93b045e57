"""Findings about components whose program is that of another component type.

A component of the type frontend whose program is a worker answers no HTTP requests.

Frontends listen on the port of `dynamo.frontend`, and the operator's probes and Services need it (`internal/dynamo/component_frontend.go`).
An engine's own server, such as `vllm serve`, is a program that krm-fn does not judge here: `engine_servers` finds it in workers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from krm_fn.base import codes
from krm_fn.render.plan import ComponentPlan
from krm_fn.review.arguments import flag_tables
from krm_fn.review.arguments.argument_rules import ArgumentFinding
from krm_fn.review.arguments.judged_commands import JudgedCommand
from krm_fn.review.arguments.worker_modes import WorkerFinding

_TYPES = {"dynamo.frontend": ("frontend", "port http and probes"), "dynamo.planner": ("planner", "rights to scale components")}
"""The type of the component that a program needs, and the things that only this type has."""
_FRONTEND, _MOCKER = "dynamo.frontend", "dynamo.mocker"


def check(commands: Sequence[JudgedCommand], components: Sequence[ComponentPlan]) -> Iterator[WorkerFinding]:
    """Yields the findings. `commands` are the only programs of the main containers of a graph or component."""
    frontends = {other.identity.service for other in components if other.type.is_frontend}
    yield from _check_workers(commands, components)
    for judged in commands:
        plan, program = judged.plan, judged.command.program
        is_worker = program == _MOCKER or bool(judged.engine)
        if not plan.type.is_frontend or not is_worker or _starts_more(judged):
            continue
        others = frontends - {plan.identity.service}
        worker, frontend = f"write {plan.word('componentType')}: worker", f"start {_FRONTEND}"
        first, second = (worker, frontend) if others or not _are_of_frontend(judged) else (frontend, worker)
        message = f"the component is a frontend, but {program} is a worker, so nothing answers HTTP requests; {first}, or {second}"
        yield WorkerFinding(judged, ArgumentFinding(codes.FRONTEND_STARTS_WORKER, "warning", judged.command.start, message))


def _check_workers(commands: Sequence[JudgedCommand], components: Sequence[ComponentPlan]) -> Iterator[WorkerFinding]:
    """Yields a finding for each worker that starts a frontend or a planner, in a graph without a component of that type.

    Only the type of a component gives it the port and the probes of a frontend, or the rights and the variables of a planner (operator:
    `internal/dynamo/component_frontend.go` and `component_planner.go`).
    """
    has = {plan.identity.type for plan in components}
    for judged in commands:
        right, lacks = _TYPES.get(judged.command.program, ("", ""))
        if right and right not in has and judged.plan.type.runs_engine and not _starts_more(judged):
            message = f"the component starts {judged.command.program}, and as a {judged.plan.identity.type} it has no {lacks}"
            fix = f"write {judged.plan.word('componentType')}: {right}"
            yield WorkerFinding(
                judged, ArgumentFinding(codes.PROGRAM_OF_OTHER_COMPONENT_TYPE, "warning", judged.command.start, f"{message}; {fix}")
            )


def _starts_more(judged: JudgedCommand) -> bool:
    """True if another program can answer requests: one of the same line, or one of another container of the pod."""
    fields = judged.container.fields
    in_background = judged.command.is_in_shell and any(
        "&" in f"{item}".replace("&&", "") for item in fields.get(judged.command.start.field, ())
    )
    return in_background or bool(judged.plan.pod.spec.get("containers"))


def _are_of_frontend(judged: JudgedCommand) -> bool:
    """True if the frontend of the same release has all flags of the command."""
    version = judged.container.version
    table = flag_tables.of_version(_FRONTEND, version) if version else next(flag_tables.of_each_minor(_FRONTEND), None)
    return table is not None and all(use.option in table.flags for use in judged.parsed.uses) and not judged.parsed.problems
