"""All objects of one request, and the annotations of the request itself.

Follows the reference's `internal/controller/dynamographdeploymentrequest_controller.go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import krm_fn
from krm_fn.kube import digest, labels, names
from krm_fn.manifests import rbac
from krm_fn.manifests.profiling.job import job, profile_digest
from krm_fn.manifests.profiling.pod import BASE_FILE, OUTPUT_FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.kube.types import Labels, Resource
    from krm_fn.plan import RequestPlan

__all__ = ["BASE_FILE", "OUTPUT_FOLDER", "job", "own_annotations", "render"]


def render(plan: RequestPlan, made: Resource) -> Iterator[Resource]:
    """The Job `made`, and the service account of all Jobs of a namespace. Without a role, the account is assumed to exist."""
    if plan.config.rbac.profiling_role:
        yield from rbac.bound_account(names.PROFILING_ACCOUNT, plan.namespace, plan.config.rbac.profiling_role)
    yield made


def own_annotations(plan: RequestPlan, spec: Any) -> Labels:
    """The annotations that a render writes on the request itself. The syncer follows only requests with the digest of their profiling."""
    return {
        labels.PROFILE_HASH: profile_digest(plan),
        labels.SPEC_HASH: digest.of_value(spec),
        labels.RENDERED_BY: f"krm-fn {krm_fn.__version__}",
    }
