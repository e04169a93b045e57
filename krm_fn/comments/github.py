"""Comments on pull requests of GitHub (https://docs.github.com/en/rest/issues/comments), in a job of GitHub Actions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from krm_fn.comments import api
from krm_fn.comments.api import ForgeError, Thread
from krm_fn.kube.values import mapping

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from krm_fn.comments.api import Comment

_LIMIT = 65_536
_FIX = "give the job `permissions: {pull-requests: write}`; GitHub gives pull requests from forks no such token"


def thread(environment: Mapping[str, str]) -> Thread | None:
    """The comments of the job's pull request; None if the job is none of a pull request. Raises ForgeError without a token."""
    repository, number = environment.get("GITHUB_REPOSITORY", ""), _number(environment.get("GITHUB_EVENT_PATH", ""))
    if not repository or number is None:
        return None
    token = environment.get("GITHUB_TOKEN", "")
    if not token:
        raise ForgeError("GITHUB_TOKEN is not set; set it to ${{ github.token }}")
    root = api.base(environment.get("GITHUB_API_URL") or "https://api.github.com")
    issues = f"{root}/repos/{quote(repository)}/issues"
    return Thread(
        comments=f"{issues}/{number}/comments",
        comment=lambda comment: f"{issues}/comments/{comment.get('id')}",
        user=f"{root}/user",
        update="PATCH",
        headers={"Authorization": f"Bearer {token}", "Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"},
        limit=_LIMIT,
        is_own=_is_own,
        fix=_FIX,
    )


def _number(event: str) -> int | None:
    """The number of the pull request in the event that started the job."""
    try:
        number = mapping(mapping(json.loads(Path(event).read_bytes())).get("pull_request")).get("number") if event else None
    except (OSError, ValueError):
        return None
    return number if isinstance(number, int) else None


def _is_own(user: Comment | None) -> Callable[[Comment], bool]:
    """The token of a job belongs to a bot, and GitHub does not name its user."""
    if user is None:
        return lambda comment: mapping(comment.get("user")).get("type") == "Bot"
    return lambda comment: mapping(comment.get("user")).get("login") == user.get("login")
