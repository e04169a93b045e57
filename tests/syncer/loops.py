"""Runs the asyncio code of a test."""

from __future__ import annotations

import asyncio
import functools
from time import monotonic
from typing import TYPE_CHECKING, Any

from tests.testbed import connections

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine


def runs(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Makes a test of a coroutine. The test fails after three minutes."""

    @functools.wraps(test)
    def wrapped(*arguments: Any, **named: Any) -> None:
        asyncio.run(whole(test(*arguments, **named)))

    return wrapped


async def whole(test: Coroutine[Any, Any, None]) -> None:
    """Runs a coroutine for three minutes at most, and leaves no connection open."""
    try:
        async with asyncio.timeout(180):
            await test
    finally:
        await connections.abort()


async def eventually(holds: Callable[[], bool], seconds: float = 180) -> float:
    """Returns as soon as `holds()` is true, with the seconds that it took. Raises TimeoutError."""
    began = monotonic()
    while not holds():
        if monotonic() - began > seconds:
            raise TimeoutError(f"not so within {seconds:.0f} s")
        await asyncio.sleep(0.02)
    return monotonic() - began
