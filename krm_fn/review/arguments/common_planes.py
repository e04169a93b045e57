"""Compares the planes over which the frontend and the workers of a graph talk to each other.

Each process reads its own flags and variables (`dynamo/common/configuration/groups/runtime_args.py` and `dynamo/frontend/frontend_args.py`
of ai-dynamo 1.0.0 to 1.6.1, and the modules `args` of 0.9.0). A worker that serves another plane gets no request, and a frontend with
another discovery finds no worker.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from krm_fn.base import codes
from krm_fn.base.records import NamedTuple
from krm_fn.review.arguments import message_parts
from krm_fn.review.arguments.argument_rules import ArgumentFinding
from krm_fn.review.arguments.command_line_parser import Use
from krm_fn.review.arguments.judged_commands import JudgedCommand
from krm_fn.review.arguments.worker_modes import WorkerFinding

_FRONTEND = "dynamo.frontend"
_PLANES = ("--request-plane", "--discovery-backend")


class _Choice(NamedTuple):
    judged: JudgedCommand
    use: Use

    @property
    def value(self) -> str:
        return self.use.text or ""


def check(commands: Sequence[JudgedCommand]) -> Iterator[WorkerFinding]:
    """Yields a finding for each worker whose flag has another value than that of the frontend. A default depends on the release."""
    for option in _PLANES:
        choices = [_Choice(judged, use) for judged in commands if (use := judged.parsed.last(judged.table, option)) and use.text]
        frontends = {choice.value for choice in choices if choice.judged.command.program == _FRONTEND}
        right = next(iter(frontends)) if len(frontends) == 1 else ""
        for choice in choices:
            if right and choice.value != right:
                value = message_parts.value(choice.use.values[0], choice.use.option)
                message = (
                    f"`{choice.use.option} {value}` is not that of the frontend, which has {right}, so no request reaches this component"
                )
                finding = ArgumentFinding(
                    codes.PLANE_DIFFERS_FROM_FRONTEND, "warning", choice.use.values[0], f"{message}; write {right}", old=choice.value
                )
                yield WorkerFinding(choice.judged, finding)
