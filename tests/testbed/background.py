"""Coroutines that run in a thread of their own while a test goes on."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from typing import TYPE_CHECKING, Any

from tests.testbed import connections

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator


@contextlib.contextmanager
def running(work: Coroutine[Any, Any, None], name: str) -> Iterator[None]:
    """Run a coroutine in a thread until the context ends. Then it and all its tasks are cancelled."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name=name)
    thread.start()
    asyncio.run_coroutine_threadsafe(work, loop)
    try:
        yield
    finally:
        asyncio.run_coroutine_threadsafe(_cancel(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _cancel() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for each in others:
        each.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await connections.abort()
