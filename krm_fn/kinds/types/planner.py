"""The planner, which scales the workers of a graph through the Kubernetes API.

Follows the operator's `internal/dynamo/component_planner.go`.
"""

from __future__ import annotations

from krm_fn.kinds.types import ComponentType
from krm_fn.kube import names

TYPE = ComponentType(
    scales=True,
    release_key="planner",
    account=names.PLANNER_ACCOUNT,
    cluster_role="planner_role",
    enforces_account=True,
)
