"""Facts about what exists: component types, orchestrators, and releases of the Dynamo operator."""

from __future__ import annotations

ROLLOUT_GROUP = frozenset({"disaggregatedSet"})
"""The orchestrators of which one object holds the workers of a graph that roll out together (`krm_fn.render.resolve.rollout_group`)."""
WHOLE_GRAPH = frozenset({"grove"})
"""The orchestrators of which one object holds a whole graph. With all others, each component has its own objects.

`krm_fn.render.manifests.workloads` makes the objects of each orchestrator.
"""
