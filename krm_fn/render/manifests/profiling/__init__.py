"""All objects of one request: its profiling Job, and the annotations of the request itself.

The pod template of a Job can never change in a cluster, so annotations of the Job tell Argo CD and Flux what to do when the rendered
template changes. Follows the operator's `internal/controller/dynamographdeploymentrequest_controller.go`.
"""

from __future__ import annotations

from krm_fn.kubernetes import digest
from krm_fn.render import labels, names, render_mark
from krm_fn.render.manifests import rbac
from krm_fn.render.manifests.profiling import profiler_pod, profiler_scripts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from krm_fn.kubernetes.types import Labels, Resource
    from krm_fn.render.plan import RequestPlan

_RETRIES = 3
"""The largest number of replacements of a failed pod.

Rule profiling.retries: A failed pod of a profiling Job is replaced at most three times. (operator:
internal/controller/dynamographdeploymentrequest_controller.go createProfilingJob)
"""


def render(plan: RequestPlan, job: Resource) -> Iterator[Resource]:
    """Yields the Job and the service account of all Jobs of a namespace. Without a role, the account is assumed to exist."""
    if plan.config.rbac.profiling_role:
        yield from rbac.bound_account(names.PROFILING_ACCOUNT, plan.namespace, plan.config.rbac.profiling_role)
    yield job


def own_annotations(plan: RequestPlan, _job: Resource, spec: Any) -> Labels:
    """Returns the annotations that a render writes on the request itself. The syncer follows only requests with a profile hash.

    Rule profiling.own-annotations: A rendered request has annotations with its hashes and the program that rendered it. (krm-fn)
    """
    return {
        labels.PROFILE_HASH: profile_digest(plan),
        labels.SPEC_HASH: digest.of_value(spec),
        labels.RENDERED_BY: render_mark.program(),
    }


def job(plan: RequestPlan) -> Resource:
    """Makes the profiling Job of a request.

    Rule profiling.job: A request has a Job that profiles, with the labels of the operator. (operator:
    internal/controller/dynamographdeploymentrequest_controller.go createProfilingJob)
    """
    profile_hash = profile_digest(plan)
    app = "aic-profiler" if plan.simulated else "dynamo-profiler"
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": names.profiling_job(plan.name),
            "namespace": plan.namespace,
            "labels": {labels.REQUEST_APP: app, labels.REQUEST: plan.name, labels.MODEL_MANAGED_BY: labels.OPERATOR},
            "annotations": {labels.PROFILE_HASH: profile_hash, **labels.RUN_ONCE},
        },
        "spec": {
            "backoffLimit": _RETRIES,
            "podFailurePolicy": {"rules": [_fails_at_once(profiler_pod.CHECK), _fails_at_once(profiler_pod.COPIER)]},
            "template": profiler_pod.template(plan, profile_hash),
        },
    }


def profile_digest(plan: RequestPlan) -> str:
    """Returns the profile hash of a request.

    Rule profiling.hash: The profile hash covers all that a profiling depends on. (krm-fn)
    """
    container = profiler_pod.profiler(plan)
    return digest.of_value(
        {
            "namespace": plan.namespace,
            "name": plan.name,
            "image": container["image"],
            "args": container["args"],
            "resources": plan.resources,
            "volumes": profiler_pod.volumes(plan),
        }
    )


def _fails_at_once(container: str) -> dict[str, Any]:
    """Makes a rule of a pod failure policy: the Job fails after certain exit codes of a container.

    Rule profiling.failures: A profiling Job fails at once after exit codes that another run would not change. (krm-fn)
    """
    return {
        "action": "FailJob",
        "onExitCodes": {"containerName": container, "operator": "In", "values": [*profiler_scripts.CODES.values()]},
    }
