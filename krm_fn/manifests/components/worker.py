"""A worker that runs an inference engine. Follows the reference's `internal/dynamo/component_worker.go`."""

from __future__ import annotations

from krm_fn.manifests.components import Component


class Worker(Component):
    """A worker loads a model and serves it. Its system server answers the probes."""

    runs_engine = True
    figures = "worker"


class PhaseWorker(Worker):
    """A worker for one phase of disaggregated serving. Before release 1.0 its type was `worker`, and the phase was its sub-type."""

    older_type = "worker"


COMPONENT = Worker()
