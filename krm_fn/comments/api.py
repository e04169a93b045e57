"""Requests to the API of a forge: JSON over HTTP, without redirects, so that the token reaches one server only."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, NamedTuple

from krm_fn import report
from krm_fn.kube.values import mapping

_SECONDS = 30
_LARGEST = 64 * 1024 * 1024
_SHOWN = 300  # characters of a server's message

Comment = dict[str, Any]


class ForgeError(Exception):
    """The comment is not written. The message is for users."""


class Thread(NamedTuple):
    """The comments of one pull request or merge request.

    `comments` is the address of the list, `comment` returns that of one comment, and `user` is that of the token's user. `update` is the
    HTTP method that rewrites a comment. `order` are further parameters of the list. `limit` is the largest number of characters of a
    comment. `is_own` takes the token's user, or None if the server does not name it, and returns a test for own comments. `fix` says what
    a job needs to write comments.
    """

    comments: str
    comment: Callable[[Comment], str]
    user: str
    update: str
    headers: dict[str, str]
    limit: int
    is_own: Callable[[Comment | None], Callable[[Comment], bool]]
    fix: str
    order: str = ""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        """A redirect is an error: it would carry the token to another address."""


def request(thread: Thread, method: str, address: str, body: Any = None) -> Any:
    """The JSON of an answer. Raises ForgeError with the server's message."""
    headers = {**thread.headers, "User-Agent": "krm-fn", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    asked = urllib.request.Request(address, data, headers, method=method)  # noqa: S310 - the scheme is checked by `base`
    try:
        with urllib.request.build_opener(_NoRedirects).open(asked, timeout=_SECONDS) as answer:
            return json.loads(answer.read(_LARGEST))
    except urllib.error.HTTPError as problem:
        raise ForgeError(_refused(thread, method, address, problem)) from problem
    except (OSError, ValueError) as problem:
        raise ForgeError(f"{method} {address} failed: {report.printable(str(problem))}") from problem


def found(thread: Thread, address: str) -> Comment | None:
    """The object at an address; None if the server refuses to show it."""
    try:
        return mapping(request(thread, "GET", address))
    except ForgeError as problem:
        if isinstance(problem.__cause__, urllib.error.HTTPError):
            return None
        raise


def base(address: str) -> str:
    """The address of an API without a slash at its end. Raises ForgeError if it is not one of HTTP."""
    if not address.startswith(("https://", "http://")):
        raise ForgeError(f"{address!r} is not the address of an API; it must begin with https://")
    return address.rstrip("/")


def _refused(thread: Thread, method: str, address: str, problem: urllib.error.HTTPError) -> str:
    try:
        message = mapping(json.loads(problem.read(_LARGEST))).get("message")
    except (OSError, ValueError):
        message = None
    shown = report.printable(f"{message or problem.reason}")[:_SHOWN]
    denied = problem.code in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND)
    return f"the server refuses {method} {address}: {problem.code} {shown}{f'; {thread.fix}' if denied else ''}"
