"""Writes one comment on the pull request or merge request of a CI job. The comment is found again by a marker, and rewritten."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from krm_fn.comments import api, github, gitlab
from krm_fn.comments.api import ForgeError
from krm_fn.kube.values import mapping, objects, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from krm_fn.comments.api import Thread

__all__ = ["ForgeError", "write"]

Outcome = Literal["written", "rewritten", "unchanged", "left out"]

_FORGES = (github, gitlab)
_PAGES = 1000
"""The largest number of pages that are searched, of 100 comments each."""


def write(body: str, name: str, environment: Mapping[str, str], *, existing: bool) -> tuple[Outcome, str]:
    """Writes the comment of this name; returns what happened, and the address of the comment.

    `environment` are the variables of the CI job, which say where the comment goes. With `existing`, no new comment is written. Raises
    ForgeError if the job is of no pull request or merge request, or if the server refuses.
    """
    thread = next((match for comment in _FORGES if (match := comment.thread(environment))), None)
    if thread is None:
        raise ForgeError("the variables of a CI job of a pull request or merge request are not set; run this in such a job")
    marked = f"<!-- krm-fn {name} -->\n{body}"
    if len(marked) > thread.limit:
        raise ForgeError(f"the text has {len(body)} characters, and the server accepts {thread.limit}; shorten the text")
    marker = marked.partition("\n")[0]
    mine = next((comment for comment in _own(thread) if text(comment.get("body")).partition("\n")[0].rstrip() == marker), None)
    if mine is None and existing:
        return "left out", ""
    if mine is None:
        return "written", _address(api.request(thread, "POST", thread.comments, {"body": marked}))
    if mine.get("body") == marked:
        return "unchanged", _address(mine)
    return "rewritten", _address(api.request(thread, thread.update, thread.comment(mine), {"body": marked}))


def _own(thread: Thread) -> Iterator[dict[str, Any]]:
    """The comments of the token's user. A comment of somebody else with the same marker is not ours to rewrite."""
    is_own = thread.is_own(api.found(thread, thread.user))
    for page in range(1, _PAGES):
        comments = objects(api.request(thread, "GET", f"{thread.comments}?per_page=100&page={page}{thread.order}"))
        if not comments:
            return
        yield from (comment for comment in comments if is_own(comment))


def _address(comment: Any) -> str:
    return text(mapping(comment).get("html_url"))
