"""Release 1.6 of the Dynamo operator: release 1.5 with these changes. `krm_fn.kinds.gates` has those that depend on a version."""

from __future__ import annotations

from krm_fn.kinds.releases import v1_5

RELEASE = v1_5.RELEASE._replace(
    number=(1, 6),
    role_layers=("topology_aliases", *v1_5.RELEASE.role_layers),
    pod_metadata=v1_5.RELEASE.pod_metadata._replace(owns_origin=True),
    names_sidecar=True,
    reports_names=True,
    grove=v1_5.RELEASE.grove._replace(update_strategies=(*v1_5.RELEASE.grove.update_strategies, "Coherent")),
)
"""In Dynamo 1.6, a frontend sidecar gets its own name for discovery, and pods have the origin version of their graph.

Follows the operator's `internal/dynamo/graph.go`.
Rule: releases.v1.6
"""
