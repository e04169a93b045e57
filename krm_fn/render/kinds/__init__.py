"""Facts about what exists: component types, orchestrators, and releases of the Dynamo operator."""

from __future__ import annotations

DISAGGREGATED = "disaggregatedSet"
"""The orchestrator that joins prefill and decode of a graph in one object."""
WHOLE_GRAPH = frozenset({"grove"})
"""The orchestrators of which one object holds a whole graph. With all others, each component has its own objects.

`krm_fn.render.manifests.workloads` makes the objects of each orchestrator.
"""
