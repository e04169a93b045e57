"""The profiling Job of a request and its pods, as the status of the request sees them.

Follows the reference's `internal/controller/dynamographdeploymentrequest_controller.go` checkProfilingJobStatus.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.kube import identity, labels
from krm_fn.kube.identity import ObjectKey
from krm_fn.records import NamedTuple
from krm_fn.status import fields

if TYPE_CHECKING:
    from krm_fn.kube.types import Resource

GROUP, KIND = "batch", "Job"


class Job(NamedTuple):
    """A Job. `request` is its label `dgdr`, `profile_hash` its annotation. `failure` is the reason of a Job that failed, for people."""

    key: ObjectKey
    request: str = ""
    profile_hash: str = ""
    complete: bool = False
    failure: str = ""
    suspended: bool = False
    deleted: bool = False


def read(resource: Resource, home: str = "") -> Job:
    """Reads one Job. `home` is the namespace of a resource without one. Never raises for what somebody wrote.

    The first of its conditions Complete and Failed counts.
    """
    status = fields.mapping(resource, "status")
    ended = next((each for each in fields.mappings(status.get("conditions")) if _ends(each)), {})
    failed = ended.get("type") == "Failed"
    return Job(
        identity.key(resource, home),
        fields.label(resource, labels.REQUEST),
        fields.text(labels.notes(resource).get(labels.PROFILE_HASH)),
        complete=ended.get("type") == "Complete",
        failure=(fields.text(ended.get("message")) or fields.text(ended.get("reason")) or "the Job failed") if failed else "",
        suspended=fields.mapping(resource, "spec").get("suspend") is True,
        deleted="deletionTimestamp" in fields.mapping(resource, "metadata"),
    )


def _ends(condition: dict[str, object]) -> bool:
    return condition.get("status") == "True" and condition.get("type") in ("Complete", "Failed")
