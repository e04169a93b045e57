"""Finds workers that publish no events about their caches to a frontend that routes by them.

Such a router waits for events, unless `--no-router-kv-events` lets it predict the caches (`dynamo/common/configuration/groups`, module
`kv_router_args`, and `frontend_args.py` of ai-dynamo 1.0). A vLLM worker publishes none with `"enable_kv_cache_events": false`
(`dynamo/vllm/main.py`, `setup_kv_event_publisher`; its module `args` warns of this), and since 1.1 none without `--kv-events-config`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from krm_fn.base import codes
from krm_fn.render.plan import ComponentPlan
from krm_fn.review.arguments import flag_tables, worker_modes
from krm_fn.review.arguments.argument_rules import ArgumentFinding
from krm_fn.review.arguments.judged_commands import JudgedCommand
from krm_fn.review.arguments.worker_modes import WorkerFinding

_FRONTEND, _WORKER = "dynamo.frontend", "dynamo.vllm"
_FLAG, _FIELD = "--kv-events-config", "enable_kv_cache_events"
_MODE, _KV = "DYN_ROUTER_MODE", "kv"
_EVENTS_ON = '{"publisher":"zmq","topic":"kv-events","endpoint":"tcp://*:20080","enable_kv_cache_events":true}'
_WITHOUT_DEFAULT = (1, 1, 0)
"""The first release whose workers publish nothing without the flag (`create_kv_events_config` in `dynamo/vllm/args.py`)."""
_EVENTS = "kv-events"
"""A part of all flags that say where a router gets the caches from."""
_SETTINGS = ("DYN_ROUTER_USE_KV_EVENTS", "DYN_KV_EVENTS")


def check(commands: Sequence[JudgedCommand], components: Sequence[ComponentPlan]) -> Iterator[WorkerFinding]:
    """Yields a finding for each worker, if none of the graph publishes events. `components` are all of the graph.

    A component whose command cannot be judged may publish some.
    """
    frontends = [judged for judged in commands if judged.command.program == _FRONTEND]
    workers = [judged for judged in commands if judged.table.flags and judged.command.program not in (_FRONTEND, "dynamo.planner")]
    silent = [judged for judged in workers if _is_silent(judged)]
    if (
        not silent
        or len(silent) != len(workers)
        or len(commands) != len(components)
        or not frontends
        or not all(_needs_events(judged) for judged in frontends)
    ):
        return
    for judged in silent:
        use = judged.parsed.last(judged.table, _FLAG)
        if use is None and not _is_decode(judged):
            message = f"the frontend routes by the caches of the workers, and this one has no {_FLAG}, so it gets no events"
            yield WorkerFinding(
                judged,
                ArgumentFinding(codes.ROUTER_WITHOUT_EVENTS, "warning", judged.command.start, f"{message}; add {_FLAG} '{_EVENTS_ON}'"),
            )
        elif use:
            message = f"the frontend routes by the caches of the workers, and {_FIELD} is false, so it gets no events; write true"
            yield WorkerFinding(judged, ArgumentFinding(codes.ROUTER_WITHOUT_EVENTS, "warning", use.values[0], message))


def _is_silent(judged: JudgedCommand) -> bool:
    """True for a worker that publishes no events. A decode worker never does."""
    if judged.command.program != _WORKER or not judged.parsed.is_complete:
        return False
    use = judged.parsed.last(judged.table, _FLAG)
    if use is not None:
        return (use.document or {}).get(_FIELD) is False
    return judged.is_known and flag_tables.number(judged.table.release) >= _WITHOUT_DEFAULT


def _is_decode(judged: JudgedCommand) -> bool:
    return worker_modes.mode(judged) == worker_modes.DECODE


def _needs_events(judged: JudgedCommand) -> bool:
    """True for a frontend that routes by caches, and has no setting about events."""
    variables: dict[str, Any] = {
        f"{entry.get('name')}": entry.get("value") for main in judged.container.in_all_forms() for entry in main.get("env") or ()
    }
    is_kv = (judged.text("--router-mode") or variables.get(_MODE)) == _KV
    is_default = not any(_EVENTS in word.text for word in judged.command.words) and not any(name in variables for name in _SETTINGS)
    return is_kv and is_default and judged.parsed.is_complete
