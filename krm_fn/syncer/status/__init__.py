"""Computes the status of Dynamo resources from the resource and its workloads. Pure: the time is an argument.

Follows the operator's `internal/controller/dynamographdeployment_controller.go` and neighbours; `docs/status.md` names the differences.
"""

from __future__ import annotations

from krm_fn.base.records import NamedTuple

FIELD_MANAGER = "dynamo-status-syncer"
"""The field manager of the syncer's writes. It shows who wrote a status."""


class SyncFeatures(NamedTuple):
    """The features of the syncer that are on, beside writing a status. Each feature needs rights of its own."""

    pods: bool = False
    """Reads pods, so that a message can name the reason of a pod."""
    pod_messages: bool = False
    """Copies the last line of a failed container's termination message, which may be a line of its log. Needs `pods`."""
    restarts: bool = False
    """Annotates the pod templates of a graph in the order of its restart."""
    scaling: bool = True
    """Scales the workloads of scaling adapters."""
    grove_counts: bool = True
    """Scales the objects that Grove made to the replica counts in the annotation `workloads`."""
    graph_replicas: bool = False
    """Writes the replica count of a scaling adapter into a graph with a planner, which reads it there."""
    requests: bool = False
    """Writes the status of requests, whose profiling Jobs and outputs it reads."""
    auto_apply: bool = False
    """Applies the graph of a request with `autoApply`, and the objects of the graph. Needs `requests`."""
    other_namespaces: bool = False
    """Applies such a graph also if its namespace is not that of its request. Needs `auto_apply`."""
    models: bool = False
    """Writes the status of models, whose EndpointSlices it reads."""
    loras: bool = False
    """Loads LoRA adapters into the pods of their base model, and unloads them. Needs `models`."""
    device_claims: bool = False
    """Reads claims of devices and their classes, to count the GPUs of components whose pods claim devices."""
    services: bool = False
    """Reads Services, so that the condition `Drifted` can name a missing one."""


DEFAULT_FEATURES = SyncFeatures()
