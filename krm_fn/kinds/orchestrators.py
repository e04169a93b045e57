"""Facts about the orchestrators of graphs, which are the workload kinds that the configuration can name.

`krm_fn.manifests.workloads` makes the objects of each kind.
"""

from __future__ import annotations

WHOLE_GRAPH = frozenset({"grove"})
"""The orchestrators of which one object holds a whole graph. With all others, each component has its own objects."""
