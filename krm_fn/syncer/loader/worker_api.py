"""The HTTP API of a worker that loads and unloads LoRA adapters.

Follows the operator's `internal/modelendpoint/lora.go`. Any pod of a tenant may answer, so an answer gets little time and little memory,
no redirect is followed, and the credentials of the syncer are not in reach.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import NamedTuple, Self
from urllib.parse import quote

import aiohttp
from yarl import URL

import krm_fn

BODY_LIMIT = 64 * 2**10
"""The longest answer, in bytes."""
_EXCERPT = 200
"""Characters of an answer in a message."""


class Adapter(NamedTuple):
    """A LoRA adapter: its name in requests, and the URI from which the worker loads it."""

    name: str
    uri: str


class WorkerError(Exception):
    """A request that failed. `result` is one word for the metrics. `answered` is true if the worker itself refused."""

    def __init__(self, result: str, message: str, *, answered: bool = False) -> None:
        super().__init__(message)
        self.result = result
        self.answered = answered


def connector() -> aiohttp.BaseConnector:
    """Makes the connections to workers. Each request has a connection of its own."""
    return aiohttp.TCPConnector(limit=0, force_close=True)


class WorkerApi:
    """The client of all workers, used as `async with`. `timeout` limits a request, in seconds."""

    def __init__(self, timeout: float, connect: Callable[[], aiohttp.BaseConnector]) -> None:
        self._timeout = timeout
        self._connect = connect

    async def __aenter__(self) -> Self:
        headers = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": f"krm-fn-sync/{krm_fn.__version__}"}
        self._session = aiohttp.ClientSession(
            connector=self._connect(),
            headers=headers,
            skip_auto_headers=("Content-Type",),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=self._timeout),
            auto_decompress=False,
            trust_env=False,  # neither a proxy nor the passwords of .netrc
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()

    async def load(self, url: str, adapter: Adapter) -> None:
        """Loads an adapter into the worker at a URL. Raises WorkerError."""
        body = {"lora_name": adapter.name, "source": {"uri": adapter.uri}}
        await self._request("load", "POST", f"{url}/v1/loras", adapter, json.dumps(body, separators=(",", ":")).encode())

    async def unload(self, url: str, adapter: Adapter) -> None:
        """Unloads an adapter. A worker without it is a success. Raises WorkerError."""
        await self._request("unload", "DELETE", f"{url}/v1/loras/{quote(adapter.name, safe='')}", adapter)

    async def _request(self, action: str, method: str, url: str, adapter: Adapter, data: bytes | None = None) -> None:
        headers = {} if data is None else {"Content-Type": "application/json"}
        target = URL(url, encoded=True)
        try:
            async with self._session.request(method, target, data=data, headers=headers, allow_redirects=False) as response:
                answer = _WorkerAnswer(response.status, response.content_type, await _body(response))
        except TimeoutError:
            raise WorkerError("timeout", f"{action} LoRA: no answer within {self._timeout:g} s") from None
        except (aiohttp.ClientError, OSError, RuntimeError, ValueError) as error:
            raise WorkerError("error", f"failed to call {action} LoRA endpoint: {_excerpt(_message(error), adapter)}") from error
        if action == "unload" and answer.lacks(adapter):
            return
        if problem := answer.problem(adapter):
            raise WorkerError("refused", f"{action} LoRA failed with status {answer.status}: {problem}", answered=True)


class _WorkerAnswer(NamedTuple):
    status: int
    type: str
    body: bytes

    def lacks(self, adapter: Adapter) -> bool:
        """Returns True if the worker says that it does not have the adapter.

        The runtime answers 500 with the message of `unload_lora` in `dynamo/vllm/handlers.py` and
        `dynamo/sglang/request_handlers/handler_base.py`.
        """
        return self.status == 404 or (self.status == 500 and self._message().startswith(f"LoRA adapter '{adapter.name}' not found"))

    def _message(self) -> str:
        """Reads the message of an answer in JSON; empty if it has none."""
        try:
            answer = json.loads(self.body)
        except (ValueError, RecursionError):
            return ""
        message = answer.get("message") if isinstance(answer, dict) else None
        return message if isinstance(message, str) else ""

    def problem(self, adapter: Adapter) -> str:
        """Returns the reason why the request failed; empty after a success."""
        if len(self.body) > BODY_LIMIT:
            return f"the answer is longer than {BODY_LIMIT // 1024} KiB, so this is not a worker of Dynamo"
        if self.type == "text/html" or self.body.lstrip()[:1] == b"<":
            return "the answer is an HTML page, so this is not a worker of Dynamo"
        if 300 <= self.status < 400:
            return "redirects are not followed"
        return "" if self.status < 300 else _excerpt(self.body.decode(errors="replace"), adapter) or "no message"


async def _body(response: aiohttp.ClientResponse) -> bytes:
    """Reads the answer, or its beginning if it is too long."""
    body = b""
    while len(body) <= BODY_LIMIT and (part := await response.content.read(BODY_LIMIT)):
        body += part
    return body


def _message(error: Exception) -> str:
    """Returns the text of an error. The texts of aiohttp about a connection repeat the address."""
    if isinstance(error, aiohttp.ClientConnectorError) and error.os_error.errno:
        return os.strerror(error.os_error.errno)
    return str(error) or type(error).__name__


def _excerpt(text: str, adapter: Adapter) -> str:
    """Returns the beginning of a text in one line, without the adapter's URI: fewer people may read models than statuses and events."""
    line = " ".join(text.replace(adapter.uri, "the source").split()) if adapter.uri else " ".join(text.split())
    shown = "".join(letter if letter.isprintable() else "?" for letter in line[: _EXCERPT + 1])
    return shown if len(line) <= _EXCERPT else f"{shown[:_EXCERPT]}…"
