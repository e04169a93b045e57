"""Comments on pull requests of GitHub and on merge requests of GitLab, found by the variables of a CI job."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from krm_fn.kubernetes.values import mapping

_GITLAB_FIX = "GITLAB_TOKEN must be an access token of the project with the role Reporter and the scope `api`"
Comment = dict[str, Any]


class ForgeError(Exception):
    """A comment that cannot be written. The message is for users."""


class Thread(NamedTuple):
    """The comments of one pull request or merge request.

    `comments` is the address of the list, `comment` returns the address of one comment, and `user` is the address of the token's user.
    `update` is the HTTP method that rewrites a comment. `order` are further parameters of the list. `limit` is the largest number of
    characters of a comment. `is_own` gets the token's user, or None if the server does not name it, and returns a test for comments of this
    user. `fix` names the rights that a job needs.
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


def github_thread(environment: Mapping[str, str]) -> Thread | None:
    """Returns the comments of the job's pull request; None if the job does not belong to a pull request. Raises ForgeError without a token.

    See https://docs.github.com/en/rest/issues/comments.
    """
    repository, number = environment.get("GITHUB_REPOSITORY", ""), _pull_request(environment.get("GITHUB_EVENT_PATH", ""))
    if not repository or number is None:
        return None
    token = environment.get("GITHUB_TOKEN", "")
    if not token:
        raise ForgeError("GITHUB_TOKEN is not set; set it to ${{ github.token }}")
    root = _base(environment.get("GITHUB_API_URL") or "https://api.github.com")
    issues = f"{root}/repos/{quote(repository)}/issues"
    return Thread(
        comments=f"{issues}/{number}/comments",
        comment=lambda comment: f"{issues}/comments/{comment.get('id')}",
        user=f"{root}/user",
        update="PATCH",
        headers={"Authorization": f"Bearer {token}", "Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"},
        limit=65_536,
        is_own=_is_own_comment,
        fix="give the job `permissions: {pull-requests: write}`; GitHub gives pull requests from forks no such token",
    )


def _pull_request(event: str) -> int | None:
    """Reads the number of the pull request from the event that started the job."""
    try:
        number = mapping(mapping(json.loads(Path(event).read_bytes())).get("pull_request")).get("number") if event else None
    except (OSError, ValueError):
        return None
    return number if isinstance(number, int) else None


def _is_own_comment(user: Comment | None) -> Callable[[Comment], bool]:
    """Returns a test for comments of the token's user. The token of a job belongs to a bot, and GitHub does not name its user."""
    if user is None:
        return lambda comment: mapping(comment.get("user")).get("type") == "Bot"
    return lambda comment: mapping(comment.get("user")).get("login") == user.get("login")


def gitlab_thread(environment: Mapping[str, str]) -> Thread | None:
    """Returns the notes of the job's merge request; None if the job does not belong to a merge request. Raises ForgeError without a token.

    See https://docs.gitlab.com/api/notes.
    """
    project, number = environment.get("CI_PROJECT_ID", ""), environment.get("CI_MERGE_REQUEST_IID", "")
    if not project or not number:
        return None
    token = environment.get("GITLAB_TOKEN", "")
    if not token:
        raise ForgeError(f"GITLAB_TOKEN is not set; {_GITLAB_FIX}")
    root = _base(environment.get("CI_API_V4_URL", ""))
    address = f"{root}/projects/{quote(project, safe='')}/merge_requests/{quote(number, safe='')}/notes"
    return Thread(
        comments=address,
        comment=lambda note: f"{address}/{note.get('id')}",
        user=f"{root}/user",
        update="PUT",
        headers={"PRIVATE-TOKEN": token},
        limit=1_000_000,
        is_own=_is_own_note,
        fix=_GITLAB_FIX,
        order="&sort=asc&order_by=created_at",
    )


def _is_own_note(user: Comment | None) -> Callable[[Comment], bool]:
    id_ = (user or {}).get("id")
    return lambda note: not note.get("system") and id_ is not None and mapping(note.get("author")).get("id") == id_


def _base(address: str) -> str:
    """Checks the address of an API, and removes a slash at its end. Raises ForgeError if it is not an address of HTTP."""
    if not address.startswith(("https://", "http://")):
        raise ForgeError(f"{address!r} is not the address of an API; it must begin with https://")
    return address.rstrip("/")
