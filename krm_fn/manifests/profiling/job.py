"""The profiling Job of a request.

Its pod template can never change in a cluster, so its annotations tell Argo CD and Flux what to do when the rendered template changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.kube import digest, labels, names
from krm_fn.manifests.profiling import pod, script

if TYPE_CHECKING:
    from krm_fn.kube.types import Resource
    from krm_fn.plan import RequestPlan

_RETRIES = 3


def job(plan: RequestPlan) -> Resource:
    """The Job, with the labels of the reference."""
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
            "podFailurePolicy": {"rules": [_fails_at_once(pod.CHECK), _fails_at_once(pod.COPIER)]},
            "template": pod.template(plan, profile_hash),
        },
    }


def profile_digest(plan: RequestPlan) -> str:
    """The digest of all that profiling depends on. The output of a profiling is valid for every request with the same digest."""
    container = pod.profiler(plan)
    return digest.of_value(
        {
            "namespace": plan.namespace,
            "name": plan.name,
            "image": container["image"],
            "args": container["args"],
            "resources": plan.resources,
            "volumes": pod.volumes(plan),
        }
    )


def _fails_at_once(container: str) -> dict[str, Any]:
    """The rule that fails the Job without another run of the profiler."""
    return {"action": "FailJob", "onExitCodes": {"containerName": container, "operator": "In", "values": [*script.CODES.values()]}}
