"""Notes on merge requests of GitLab (https://docs.gitlab.com/api/notes), in a job of GitLab CI."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from krm_fn.comments import api
from krm_fn.comments.api import ForgeError, Thread
from krm_fn.kube.values import mapping

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from krm_fn.comments.api import Comment

_LIMIT = 1_000_000
_FIX = "GITLAB_TOKEN must be an access token of the project with the role Reporter and the scope `api`"


def thread(environment: Mapping[str, str]) -> Thread | None:
    """The notes of the job's merge request; None if the job is none of a merge request. Raises ForgeError without a token."""
    project, number = environment.get("CI_PROJECT_ID", ""), environment.get("CI_MERGE_REQUEST_IID", "")
    if not project or not number:
        return None
    token = environment.get("GITLAB_TOKEN", "")
    if not token:
        raise ForgeError(f"GITLAB_TOKEN is not set; {_FIX}")
    root = api.base(environment.get("CI_API_V4_URL", ""))
    address = f"{root}/projects/{quote(project, safe='')}/merge_requests/{quote(number, safe='')}/notes"
    return Thread(
        comments=address,
        comment=lambda note: f"{address}/{note.get('id')}",
        user=f"{root}/user",
        update="PUT",
        headers={"PRIVATE-TOKEN": token},
        limit=_LIMIT,
        is_own=_is_own,
        fix=_FIX,
        order="&sort=asc&order_by=created_at",
    )


def _is_own(user: Comment | None) -> Callable[[Comment], bool]:
    wanted = (user or {}).get("id")
    return lambda note: not note.get("system") and wanted is not None and mapping(note.get("author")).get("id") == wanted
