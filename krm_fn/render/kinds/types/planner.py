"""The planner, which scales the workers of a graph through the Kubernetes API.

Follows the operator's `internal/dynamo/component_planner.go`.
"""

from __future__ import annotations

from krm_fn.render import names
from krm_fn.render.kinds.types import ComponentType

TYPE = ComponentType(
    scales=True,
    release_key="planner",
    account=names.PLANNER_ACCOUNT,
    cluster_role="planner_role",
    enforces_account=True,
)
