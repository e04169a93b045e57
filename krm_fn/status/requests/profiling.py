"""The first step of a request: its profiling Job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.kube import labels
from krm_fn.status import fields
from krm_fn.status.conditions import Condition
from krm_fn.status.requests import FAILED, PENDING, PROFILING, READY, Step

if TYPE_CHECKING:
    from krm_fn.profiling.output import Output
    from krm_fn.status.job import Job
    from krm_fn.status.requests import Request, Seen

TYPE = "Profiling"
RUNNING, COMPLETED, UNSUCCESSFUL = "ProfilingRunning", "ProfilingCompleted", "ProfilingFailed"
WAITING, CONFLICT = "ProfilingPending", "JobConflict"


def step(request: Request, seen: Seen) -> Step:
    """What the Job did. Profiling is completed if the output of these settings exists, whatever became of the Job."""
    job, output = seen.job, seen.output
    if output and output.profile_hash and output.profile_hash == request.profile_hash:
        return _completed()
    if job is None:
        return _without_job(request)
    if request.generated and (job.complete or (job.suspended and not _is_newer(job, request, output)) or not is_ours(request, job)):
        return _completed()
    return _of_job(job, f". Details: {seen.pod}" if seen.pod else "") if is_ours(request, job) else _conflict(job)


def is_ours(request: Request, job: Job) -> bool:
    """True if a Job of the right name is the Job of this request."""
    return job.request == request.key.name


def changed(request: Request, seen: Seen) -> bool:
    """True if other settings were profiled than the request has now."""
    job, output = seen.job, seen.output
    found = output.profile_hash if output else ""
    if found != request.profile_hash and job and is_ours(request, job):
        found = job.profile_hash
    return bool(found and request.profile_hash) and found != request.profile_hash


def _is_newer(job: Job, request: Request, output: Output | None) -> bool:
    """True if the Job has the settings of the request, and the output is of other settings: the Job is there to profile again."""
    return bool(output and output.profile_hash and request.profile_hash) and job.profile_hash == request.profile_hash


def _of_job(job: Job, details: str) -> Step:
    """What the Job of the request did. `details` tell of its pods."""
    if job.complete:
        return _completed()
    if job.failure:
        fix = f"; correct the cause, then delete the Job {job.key.name} and apply it again"
        return _failed(f"profiling job failed: {job.failure}{details}", fix)
    said = f"Profiling is in progress{details}"
    if job.suspended:
        said = f"the Job {job.key.name} is suspended; set its spec.suspend to false, or delete the Job and apply it again"
    return Step(PROFILING, Condition(TYPE, False, RUNNING, said))


def _without_job(request: Request) -> Step:
    if request.generated:
        return _completed()
    name = request.job.name
    stored = fields.condition(request.status, TYPE)
    if stored.get("reason") in (RUNNING, COMPLETED, UNSUCCESSFUL) or request.state == PROFILING:
        return _failed(f'jobs.batch "{name}" not found', "; apply the rendered Job again, and profiling starts from the beginning")
    return Step(PENDING, Condition(TYPE, False, WAITING, f"the Job {name} does not exist yet; apply it together with the request"))


def _completed() -> Step:
    return Step(READY, Condition(TYPE, True, COMPLETED, "Profiling job completed successfully"), done=True)


def _failed(problem: str, fix: str) -> Step:
    return Step(FAILED, Condition(TYPE, False, UNSUCCESSFUL, f"{problem}{fix}"), stalled=True)


def _conflict(job: Job) -> Step:
    said = f"has the label {labels.REQUEST}: {job.request}" if job.request else f"has no label {labels.REQUEST}"
    message = f"the Job {job.key.name} is not the Job of this request: it {said}; delete that Job, or give the request another name"
    return Step(FAILED, Condition(TYPE, False, CONFLICT, message), stalled=True)
