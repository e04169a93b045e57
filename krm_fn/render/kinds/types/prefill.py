"""A worker for the prompt phase of disaggregated serving. Before release 1.0, its type was `worker`, and the phase its sub-type."""

from __future__ import annotations

from krm_fn.render.kinds.types import ComponentType

TYPE = ComponentType(runs_engine=True, release_key="worker", v1alpha1_type="worker")
