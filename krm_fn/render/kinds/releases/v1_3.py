"""Release 1.3 of the Dynamo operator: release 1.4 with these changes."""

from __future__ import annotations

from krm_fn.render.kinds.releases import v1_4

RELEASE = v1_4.RELEASE._replace(
    number=(1, 3),
    memory_needs_size=True,
)
"""All facts about Dynamo 1.3.

Rule releases.v1.3: In Dynamo 1.3, graphs are read in v1beta1, and the lowest version of an operator of this release is 1.3.0. (operator:
internal/dynamo/graph.go)
"""
