"""Release 1.4 of the Dynamo operator: release 1.5 with these changes."""

from __future__ import annotations

from krm_fn.render.kinds.releases import v1_5

RELEASE = v1_5.RELEASE._replace(
    number=(1, 4),
)
"""All facts about Dynamo 1.4.

Rule releases.v1.4: In Dynamo 1.4, graphs are read in v1beta1, and the lowest version of an operator of this release is 1.4.0. (operator:
internal/dynamo/graph.go)
"""
