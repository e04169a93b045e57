"""Sends requests to one API server. The client handles HTTP and the API's error format, and depends on no kind.

Errors are `ApiError` (the server answered with an error) or `TransportError` (no usable answer). `ClusterError` means credentials that
cannot be read.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from asyncio import sslproto
from collections.abc import AsyncGenerator, Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Self

import aiohttp

import krm_fn
from krm_fn.cluster.access import Access, Cluster
from krm_fn.cluster.api_resources import ServedVersions
from krm_fn.kubernetes import values

MERGE_PATCH = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"
"""Server-side apply. JSON is YAML, so the body may be JSON."""
NAMESPACE_TERMINATING = "NamespaceTerminating"
"""The cause of an answer of 403: the namespace is being deleted."""
_ESCAPED = re.compile("[\x7f-\uffff]")
_UNKNOWN_PATH = ("404 page not found", "the server could not find the requested resource")
"""Messages of an API server about the path of a kind or version that it does not serve."""
LONGEST_WAIT = 60.0
"""The longest Retry-After that is followed, in seconds."""
LINE_LIMIT = 16 * 2**20
"""The longest line of a stream, in bytes. etcd stores objects of 1.5 MiB at most."""
_TLS_BUFFER = 64 * 2**10
"""The bytes that asyncio holds for each TLS connection. Its own 256 KiB would need several MiB for the watches; a TLS record has 16 KiB."""
sslproto.SSLProtocol.max_size = _TLS_BUFFER
_SSL_CONTEXT = re.compile(r" ssl:<ssl\.SSLContext object at 0x[0-9a-f]+>")
"""A part of the messages of aiohttp that differs each time."""


class ApiError(Exception):
    """An error that the API server returned.

    `reason` and `causes` are fields of its Status: one word, and the words of `details.causes`. `retry_after` is in seconds.
    """

    def __init__(
        self, status: int, reason: str = "", message: str = "", retry_after: float | None = None, causes: Collection[str] = ()
    ) -> None:
        super().__init__(f"{status} {reason}: {message}")
        self.status = status
        self.reason = reason
        self.message = message
        self.retry_after = retry_after
        self.causes = causes

    @classmethod
    def read(cls, body: Any, status: int = 0, header: str = "") -> ApiError:
        """Reads the error in a Status object. `status` and `header` are the HTTP status and its Retry-After."""
        fields = body if isinstance(body, dict) else {}
        details, code = values.mapping(fields, "details"), fields.get("code")
        wait = header or details.get("retryAfterSeconds")
        message = str((fields.get("message") if fields else body) or "")[:1024]
        causes = {values.text(cause.get("reason")) for cause in values.objects(details.get("causes"))}
        return cls(code if isinstance(code, int) else status, str(fields.get("reason") or ""), message, _seconds(wait), causes)


class TransportError(ConnectionError):
    """The server did not answer, or the connection broke."""


class StalledError(TransportError):
    """The server sent nothing for too long."""


class GarbledError(TransportError):
    """The answer is not JSON."""


class Client:
    """A client of one cluster, used as `async with Client(cluster) as client`.

    `timeout` limits a whole request, and `stall` the silence in a stream, both in seconds.
    """

    def __init__(self, cluster: Cluster, *, timeout: float = 30, stall: float = 90) -> None:
        self.cluster = cluster
        self.stall = stall
        self._timeout = timeout
        self._stream_timeout = aiohttp.ClientTimeout(total=None, sock_connect=10, sock_read=stall)
        self._request_session: aiohttp.ClientSession | None = None
        self._stream_session: aiohttp.ClientSession | None = None
        self.versions = ServedVersions(self.find)

    async def __aenter__(self) -> Self:
        self._request_session, self._stream_session = _session(), _session()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes all connections. Requests that still run end with TransportError."""
        for session in (self._request_session, self._stream_session):
            if session is not None:
                await session.close()
        self._request_session = self._stream_session = None

    async def request(  # noqa: PLR0913
        self,
        method: str,
        path: str,
        params: Mapping[str, str] | None = None,
        body: Any = None,
        content_type: str = "application/json",
        *,
        accept: str = "",
        timeout: float | None = None,  # noqa: ASYNC109 - asyncio.timeout would keep the other connections
    ) -> dict[str, Any]:
        """Sends one request and returns the object in the answer. `body` is any JSON value.

        `accept` is another media type in JSON for the answer. `timeout` replaces the client's, in seconds. Raises ApiError, TransportError
        or ClusterError. On 401 it reads the credentials again and repeats the request once.
        """
        path = await self.versions.path(path)
        data = None if body is None else _encode_json(body)
        headers = ({} if data is None else {"Content-Type": content_type}) | ({"Accept": accept} if accept else {})
        limit = aiohttp.ClientTimeout(total=timeout or self._timeout, sock_connect=10)
        session = self._open(self._request_session)
        try:
            with _transport(f"{method} {path}"):
                response = await self._send(session, method, path, params=params, data=data, headers=headers, timeout=limit)
                async with response:
                    return _decode_json(await response.read())
        except StalledError:
            await self._reconnect(session)
            raise

    async def stream(
        self, path: str, params: Mapping[str, str], opened: Callable[[], None] = lambda: None
    ) -> AsyncGenerator[dict[str, Any]]:
        """Sends a GET and yields the JSON object in each line of the answer. Ends when the server ends the answer.

        `opened` is called when the server begins a successful answer. Raises ApiError, TransportError or ClusterError; StalledError if the
        server sends nothing for `stall` seconds. Close the iterator (`contextlib.aclosing`) if you leave it early.
        """
        path = await self.versions.path(path)
        session = self._open(self._stream_session)
        with _transport(f"GET {path}"):
            response = await self._send(session, "GET", path, params=params, timeout=self._stream_timeout)
        try:
            opened()
            with _transport(f"GET {path}"):
                async for line in _lines(response.content):
                    yield _decode_json(line)
        finally:
            if response.connection is not None and response.connection.transport is not None:
                response.connection.transport.abort()  # a silent peer would not take part in the end of TLS
            response.close()

    async def find(
        self,
        path: str,
        *,
        timeout: float | None = None,  # noqa: ASYNC109 - as in `request`
    ) -> dict[str, Any] | None:
        """Reads the object at a path; None if the server does not know the path. Raises the errors of `request`."""
        try:
            return await self.request("GET", path, timeout=timeout)
        except ApiError as error:
            if error.status != 404:
                raise
            return None

    async def _reconnect(self, stalled: aiohttp.ClientSession) -> None:
        """Drops all connections of requests: a network that swallowed one request swallows the next one on the same connection too."""
        if stalled is self._request_session:
            self._request_session = _session()
            await stalled.close()

    async def _send(self, session: aiohttp.ClientSession, method: str, path: str, **options: Any) -> aiohttp.ClientResponse:
        access = await self.cluster.access()
        response = await self._send_once(session, access, method, path, **options)
        if response.status == 401:
            refreshed = await self.cluster.access(refused=access)
            if refreshed is not access:
                response.release()
                response = await self._send_once(session, refreshed, method, path, **options)
        if not 200 <= response.status < 300:
            async with response:
                error = ApiError.read(_json_or_text(await response.read()), response.status, response.headers.get("Retry-After", ""))
            if error.status == 404 and any(text in error.message for text in _UNKNOWN_PATH):
                self.versions.forget()
            raise error
        return response

    async def _send_once(
        self,
        session: aiohttp.ClientSession,
        access: Access,
        method: str,
        path: str,
        headers: Mapping[str, str] | None = None,
        **options: Any,
    ) -> aiohttp.ClientResponse:
        self._open(session)
        return await session.request(
            method,
            self.cluster.server + path,
            headers={**access.headers, **(headers or {})},
            ssl=access.tls or True,
            server_hostname=self.cluster.server_name or None,
            allow_redirects=False,  # the credentials are for this server only
            **options,
        )

    @staticmethod
    def _open(session: aiohttp.ClientSession | None) -> aiohttp.ClientSession:
        if session is None or session.closed:
            raise TransportError("the client is closed")
        return session


def _session() -> aiohttp.ClientSession:
    # Without "identity" the API server would spend CPU time on compression.
    headers = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": f"krm-fn-sync/{krm_fn.__version__}"}
    # The API server closes idle connections after 90 seconds.
    return aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=60), headers=headers)


async def _lines(content: aiohttp.StreamReader) -> AsyncGenerator[bytes]:
    """Splits a stream into lines. The reader of aiohttp refuses lines that are longer than its buffer."""
    rest = bytearray()
    async for chunk in content.iter_any():
        rest += chunk
        if b"\n" in chunk:
            *lines, last = bytes(rest).split(b"\n")
            rest = bytearray(last)
            for line in lines:
                if line.strip():
                    yield line
        if len(rest) > LINE_LIMIT:
            raise GarbledError(f"a line of the answer is longer than {LINE_LIMIT} bytes")
    if rest.strip():
        raise TransportError("the answer ends in the middle of a line")


@contextlib.contextmanager
def _transport(request: str) -> Iterator[None]:
    """Converts the errors of aiohttp and of the network to TransportError.

    aiohttp raises RuntimeError for a session or a connection that was closed before or during the request.
    """
    try:
        yield
    except TransportError:
        raise
    except TimeoutError as error:
        raise StalledError(f"{request}: no answer in time") from error
    except (aiohttp.ClientError, OSError, RuntimeError) as error:
        message = _SSL_CONTEXT.sub("", str(error)) or type(error).__name__
        raise TransportError(f"{request}: {message}") from error


def _encode_json(body: Any) -> bytes:
    """Writes a JSON value as JSON that is YAML too. The API server reads the body of a server-side apply as YAML.

    YAML does not have JSON's pairs of escapes for characters such as emoji, so these are written as they are. All others are escaped,
    because YAML refuses some of them.
    """
    text = json.dumps(body, separators=(",", ":"), ensure_ascii=False)
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", text).encode()


def _decode_json(text: bytes) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise GarbledError(f"the answer is not JSON: {text[:80]!r}") from error
    if not isinstance(value, dict):
        raise GarbledError(f"the answer is not an object: {text[:80]!r}")
    return value


def _json_or_text(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text.decode(errors="replace")


def _seconds(value: object) -> float | None:
    """Parses a delay in seconds; None for an HTTP date and other texts."""
    text = str(value if value is not None else "")
    return min(float(text), LONGEST_WAIT) if text.isascii() and text.isdigit() else None


def read_objects(cluster: Cluster, paths: Sequence[str]) -> list[dict[str, Any]]:
    """Reads the objects at paths of the API, for commands that read once and end. An object that does not exist is left out.

    Raises ApiError, TransportError or ClusterError.
    """
    return [resource for resource in asyncio.run(_read_objects(cluster, paths)) if resource]


async def _read_objects(cluster: Cluster, paths: Sequence[str]) -> list[dict[str, Any] | None]:
    async with Client(cluster) as client:
        return [await client.find(path) for path in paths]
