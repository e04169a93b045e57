"""Plans: the facts that `resolve` derives from a resource once. All lower layers read plans. A plan does not depend on an API version."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn import results
from krm_fn.behaviours import Behaviour
from krm_fn.config import Config
from krm_fn.kube import names
from krm_fn.kube.types import Labels, Role
from krm_fn.plan.address import Address, Book, filled
from krm_fn.plan.facts import Addressing, Claim, Edge, EndpointPicker, GPUs, Identity, Ingress, Mount, Placement, PodFacts, Restart
from krm_fn.plan.features import Checkpoint, Failover, Features, GPUMemory, GraphFeatures, KVTransfer, Topology
from krm_fn.plan.request import BaseGraph, ModelCache, Overrides, RequestPlan
from krm_fn.records import NamedTuple
from krm_fn.results import Path, Ref

if TYPE_CHECKING:
    from collections.abc import Mapping

    from krm_fn.plan.address import Field, GraphField, Remedy

__all__ = [
    "Address",
    "Addressing",
    "BaseGraph",
    "Book",
    "Checkpoint",
    "Claim",
    "ComponentPlan",
    "Edge",
    "EndpointPicker",
    "Failover",
    "Features",
    "GPUMemory",
    "GPUs",
    "GraphFeatures",
    "GraphPlan",
    "Identity",
    "Ingress",
    "KVTransfer",
    "ModelCache",
    "Mount",
    "Overrides",
    "Placement",
    "PodFacts",
    "RequestPlan",
    "Restart",
    "RolePlan",
    "Topology",
]


class ComponentPlan(NamedTuple):
    """One component.

    `address` is where its author wrote it in the resource `ref`. `inventory` is the spec of its DynamoComponentDeployment in the API
    version that its release reads; None if the configuration does not enable it.
    """

    ref: Ref
    address: Address
    config: Config
    behaviour: Behaviour
    who: Identity
    placement: Placement
    pod: PodFacts
    edge: Edge
    inventory: dict[str, Any] | None
    features: Features = Features()

    def at(self, field: Field, *rest: str | int) -> Path:
        """The path at which the user writes a field. The steps of `rest` replace the `*` of the path in order; further steps follow it."""
        return self.address.at(field, *rest)

    def word(self, field: Field, *rest: str | int) -> str:
        """The name of a field for messages: its path below the component, in the user's API version."""
        return results.field(self.address.at(field, *rest)[len(self.address.path) :])

    def sidecar(self, index: int, *rest: str | int) -> Path:
        """The path of a field of a container beside the main one. `index` counts these containers."""
        return (*self.address.path, *self.address.sidecars[index], *rest)

    def annotation(self, key: str) -> Path:
        """The path of an annotation of the component's objects or pods: on its pods, on its graph, or on the component itself."""
        if key in self.pod.annotations:
            return self.at("pod.annotations", key)
        return self.address.inherited.get(key) or self.at("annotations", key)

    def remedy(self, name: Remedy) -> str:
        """What the user can do, for the end of a message: `set scalingAdapter.enabled: true`."""
        return self.address.remedies[name]

    def debugs(self, annotation: str) -> bool:
        """True if an annotation of the service turns on a debug mode that its release has."""
        return self.behaviour.debug_modes and self.who.annotations.get(annotation) == "true"

    @property
    def service_name(self) -> str:
        """The name of the component's Service."""
        return names.service(self.who.workload_name) if self.behaviour.services.dashes else self.who.workload_name


class RolePlan(NamedTuple):
    """One pod template of a component. `target` is the value of its selector label.

    `rank` is the rank of the pods' node if it is the same for all of them. `serves_memory` is true for the pods of the GPU memory service.
    """

    component: ComponentPlan
    target: str
    role: Role = "main"
    debug: bool = False
    addressing: Addressing = Addressing()
    rank: int | None = None
    serves_memory: bool = False


class GraphPlan(NamedTuple):
    """One graph: shared facts, and its components in the order of the spec. A standalone component is a graph of one component."""

    name: str
    namespace: str
    config: Config
    ref: Ref
    orchestrator: str
    discovery: str
    components: tuple[ComponentPlan, ...]
    annotations: Labels
    claims: tuple[Claim, ...]
    restart: Restart | None
    standalone: bool
    fields: Mapping[GraphField, Path]
    behaviour: Behaviour
    features: GraphFeatures = GraphFeatures()

    def at(self, field: GraphField, *rest: str | int) -> Path:
        """The path at which the user writes a field of the graph. `rest` is used as in `ComponentPlan.at`."""
        return filled(self.fields[field], rest)

    def word(self, field: GraphField) -> str:
        """The name of a field for messages: the last step of its path in the user's API version."""
        return str(self.fields[field][-1])
