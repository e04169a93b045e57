"""Tasks that run as long as the syncer does."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from krm_fn.sync.namespace_leases import NamespaceLeaseError

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterable

_LOG = logging.getLogger(__name__)


def start(*coroutines: Coroutine[Any, Any, None]) -> list[asyncio.Task[None]]:
    """Starts tasks."""
    return [asyncio.create_task(coroutine) for coroutine in coroutines]


async def cancel(running: Iterable[asyncio.Task[Any]]) -> None:
    """Ends tasks, and waits until they have ended."""
    ending = list(running)
    for task in ending:
        task.cancel()
    await asyncio.gather(*ending, return_exceptions=True)


async def either(one: asyncio.Event, other: asyncio.Event) -> None:
    """Waits until one of two events is set."""
    waiting = [asyncio.create_task(event.wait()) for event in (one, other)]
    await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    for event in waiting:
        event.cancel()


async def first_end(stop: asyncio.Event, running: Iterable[asyncio.Task[None]]) -> int:
    """Waits for `stop`, or for a task that ends. Returns the exit code: 0 after `stop`, 1 for a task, because none should end."""
    stopped = asyncio.create_task(stop.wait())
    done, _ = await asyncio.wait([stopped, *running], return_when=asyncio.FIRST_COMPLETED)
    stopped.cancel()
    for problem in (task.exception() for task in done if task is not stopped):
        _report(problem)
    return 0 if stopped in done else 1


def _report(problem: BaseException | None) -> None:
    if isinstance(problem, NamespaceLeaseError):
        _LOG.error("%s", problem)
    else:
        _LOG.error("a part of the syncer ended; please report it", exc_info=problem)
