"""Release 1.6 of the Dynamo operator: release 1.5 with these changes. `krm_fn.kinds.gates` has those that depend on a version."""

from __future__ import annotations

from krm_fn.kinds.releases import v1_5

RELEASE = v1_5.RELEASE._replace(
    number=(1, 6),
    pod_metadata=v1_5.RELEASE.pod_metadata._replace(owns_origin=True),
    names_sidecar=True,
    reports_names=True,
)
"""In Dynamo 1.6, a frontend sidecar gets its own name for discovery, and pods have the origin version of their graph.

Follows the operator's `internal/dynamo/graph.go`.
Rule: releases.v1.6
"""
