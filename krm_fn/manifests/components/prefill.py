"""A worker for the prompt phase of disaggregated serving."""

from __future__ import annotations

from krm_fn.manifests.components.worker import PhaseWorker

COMPONENT = PhaseWorker()
