"""Ends the connections of an event loop before the loop ends."""

from __future__ import annotations

import asyncio
from typing import Any


async def abort() -> None:
    """Abort all connections of the running loop.

    After a cancelled request, TLS waits for the answer of the server in the background. A loop that ends before leaves the socket open.
    """
    loop: Any = asyncio.get_running_loop()
    for transport in list(loop._transports.values()):
        transport.abort()
    for _ in range(3):  # an aborted transport closes its socket in the next turn
        await asyncio.sleep(0)
