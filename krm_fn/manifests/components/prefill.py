"""A worker for the prompt phase of disaggregated serving, the same as a worker."""

from __future__ import annotations

from krm_fn.manifests.components.worker import Worker

COMPONENT = Worker()
