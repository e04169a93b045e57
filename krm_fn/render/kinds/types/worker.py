"""A worker, which loads a model into an inference engine and serves it. Follows the operator's `internal/dynamo/component_worker.go`."""

from __future__ import annotations

from krm_fn.render.kinds.types import ComponentType

TYPE = ComponentType(runs_engine=True, release_key="worker")
