"""Writes one comment on the pull request or merge request of a CI job. A marker identifies the comment, so that it is rewritten.

Requests are JSON over HTTP, without redirects, so that the token reaches one server only.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any, Literal

from krm_fn.base import report
from krm_fn.cli.comments import forges
from krm_fn.cli.comments.forges import Comment, ForgeError, Thread
from krm_fn.kubernetes.values import mapping, objects, text

__all__ = ["ForgeError", "write"]

Outcome = Literal["written", "rewritten", "unchanged", "left out"]

_FORGES = (forges.github_thread, forges.gitlab_thread)
_PAGES = 1000
"""The largest number of pages that are searched, of 100 comments each."""
_SECONDS = 30
_LARGEST = 64 * 1024 * 1024
_SHOWN = 300  # characters of a server's message


def write(body: str, name: str, environment: Mapping[str, str], *, existing: bool) -> tuple[Outcome, str]:
    """Writes the comment of this name; returns what happened, and the address of the comment.

    `environment` are the variables of the CI job, which say where the comment goes. With `existing`, no new comment is written. Raises
    ForgeError if the job does not belong to a pull request or merge request, or if the server rejects a request.
    """
    thread = next((thread for forge in _FORGES if (thread := forge(environment))), None)
    if thread is None:
        raise ForgeError("the variables of a CI job of a pull request or merge request are not set; run this in such a job")
    marked = f"<!-- krm-fn {name} -->\n{body}"
    if len(marked) > thread.limit:
        raise ForgeError(f"the text has {len(body)} characters, and the server accepts {thread.limit}; shorten the text")
    marker = marked.partition("\n")[0]
    comments = (comment for comment in _own_comments(thread) if text(comment.get("body")).partition("\n")[0].rstrip() == marker)
    existing_comment = next(comments, None)
    if existing_comment is None and existing:
        return "left out", ""
    if existing_comment is None:
        return "written", _address(_request(thread, "POST", thread.comments, {"body": marked}))
    if existing_comment.get("body") == marked:
        return "unchanged", _address(existing_comment)
    return "rewritten", _address(_request(thread, thread.update, thread.comment(existing_comment), {"body": marked}))


def _own_comments(thread: Thread) -> Iterator[dict[str, Any]]:
    """Yields the comments of the token's user. Comments of other users with the same marker are not rewritten."""
    is_own = thread.is_own(_find(thread, thread.user))
    for page in range(1, _PAGES):
        comments = objects(_request(thread, "GET", f"{thread.comments}?per_page=100&page={page}{thread.order}"))
        if not comments:
            return
        yield from (comment for comment in comments if is_own(comment))


def _address(comment: Any) -> str:
    return text(mapping(comment).get("html_url"))


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        """Rejects a redirect: it would send the token to another address."""


def _request(thread: Thread, method: str, address: str, body: Any = None) -> Any:
    """Sends a request and returns the JSON in the answer. Raises ForgeError with the server's message."""
    headers = {**thread.headers, "User-Agent": "krm-fn", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    http_request = urllib.request.Request(address, data, headers, method=method)  # noqa: S310 - `forges` checks the scheme
    try:
        with urllib.request.build_opener(_NoRedirects).open(http_request, timeout=_SECONDS) as answer:
            return json.loads(answer.read(_LARGEST))
    except urllib.error.HTTPError as problem:
        raise ForgeError(_rejection(thread, method, address, problem)) from problem
    except (OSError, ValueError) as problem:
        raise ForgeError(f"{method} {address} failed: {report.printable(str(problem))}") from problem


def _find(thread: Thread, address: str) -> Comment | None:
    """Reads the object at an address; None if the server rejects the request."""
    try:
        return mapping(_request(thread, "GET", address))
    except ForgeError as problem:
        if isinstance(problem.__cause__, urllib.error.HTTPError):
            return None
        raise


def _rejection(thread: Thread, method: str, address: str, problem: urllib.error.HTTPError) -> str:
    try:
        message = mapping(json.loads(problem.read(_LARGEST))).get("message")
    except (OSError, ValueError):
        message = None
    shown = report.printable(f"{message or problem.reason}")[:_SHOWN]
    denied = problem.code in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND)
    return f"the server refuses {method} {address}: {problem.code} {shown}{f'; {thread.fix}' if denied else ''}"
