"""An asynchronous client that follows objects on an API server and writes to it, for parts of the test bed that act as a node does."""

from __future__ import annotations

import contextlib
import json
import ssl
from typing import TYPE_CHECKING, Any

import aiohttp

from tests.testbed import api

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

Object = dict[str, Any]

UNAVAILABLE = (aiohttp.ClientConnectionError, OSError, TimeoutError)

_INITIAL = {"watch": "1", "sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan", "allowWatchBookmarks": "true"}


class Session:
    """Requests to the API server of a kubeconfig. Use `open_session`."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session

    async def changes(self, path: str) -> AsyncIterator[tuple[str, Object]]:
        """Type and object of every event of a list: first `ADDED` for each object that exists; `BOOKMARK` follows the last of them.

        Ends when the server ends the watch. Raises an error of `UNAVAILABLE`, or aiohttp.ClientError, if the server does not answer.
        """
        quiet = aiohttp.ClientTimeout(total=None, sock_read=90)
        async with self._session.get(path, params=_INITIAL, timeout=quiet, read_bufsize=2**22) as response:
            response.raise_for_status()
            async for line in response.content:
                event = json.loads(line)
                if event["type"] == "ERROR":
                    return
                yield event["type"], event["object"]

    async def request(self, method: str, path: str, body: Object | None = None) -> tuple[int, Object]:
        """Send a request; returns the HTTP status and the body. A PATCH is a merge patch.

        Raises an error of `UNAVAILABLE` if the server does not answer, or is overloaded.
        """
        kind = {"Content-Type": api.MERGE if method == "PATCH" else "application/json"}
        limit = aiohttp.ClientTimeout(total=30)
        data = None if body is None else json.dumps(body)
        async with self._session.request(method, path, data=data, headers=kind, timeout=limit) as response:
            if response.status == 429 or response.status >= 500:
                raise TimeoutError(await response.text())
            return response.status, await response.json()


@contextlib.asynccontextmanager
async def open_session(kubeconfig: Path) -> AsyncIterator[Session]:
    """A session with the rights of a kubeconfig of the test bed."""
    config = json.loads(kubeconfig.read_text())  # noqa: ASYNC240 - a small local file
    cluster, token = config["clusters"][0]["cluster"], config["users"][0]["user"]["token"]
    connector = aiohttp.TCPConnector(ssl=ssl.create_default_context(cafile=cluster["certificate-authority"]))
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=5)
    headers = {"Authorization": f"Bearer {token}"}
    async with aiohttp.ClientSession(cluster["server"], headers=headers, connector=connector, timeout=timeout) as session:
        yield Session(session)
