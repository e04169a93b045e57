"""Component types: each file is a type, and its `TYPE` holds the facts about it.

Follows the operator's `internal/dynamo/component_*.go`.
"""

from __future__ import annotations

import sys
from functools import cache

from krm_fn.base import registry
from krm_fn.base.records import NamedTuple
from krm_fn.render.kinds.releases import TypeDefaults

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from krm_fn.kubernetes.native_types import PodSpec
    from krm_fn.kubernetes.types import Labels
    from krm_fn.render.kinds.releases import Release


class ComponentType(NamedTuple):
    """The facts about a component type. The defaults are those of an unknown or empty type.

    `runs_engine`: an inference engine may change the main container. `is_frontend`: clients connect to it, so it has a default ingress, and
    other components do not discover it. `scales`: it sets the replicas of the engines of its graph, through their scaling adapters.
    `singleton`: a graph has at most one component of this type. `picks_workers`: it is the endpoint picker of an InferencePool, and pods of
    workers get a label by which it finds them.

    `command` and `args` are those of the main container, below the user's. `ports`, variables and probes depend on the release:
    `release_key` is their key in `Release.types`, and `defaults` are those of a type that no release lists. `configured_key` is their key
    for an endpoint picker with a configuration. `service_port` names the port
    of the Service; `port_by_number` is true if the Service has its number as target. `app_protocol` is the `appProtocol` of that port, for
    workload kinds that set it. `annotations` are those of pods that have objects of their own, below the user's, since release 1.0.

    `account` is the fixed name of the ServiceAccount, which a render binds to the ClusterRole with the key `cluster_role` in the
    configuration. `enforces_account`: the user cannot choose another (the operator sets it when a graph becomes
    DynamoComponentDeployments). `v1alpha1_type` is the type in v1alpha1; empty if it is the same.
    """

    runs_engine: bool = False
    is_frontend: bool = False
    scales: bool = False
    singleton: bool = False
    picks_workers: bool = False
    command: tuple[str, ...] = ("/bin/sh", "-c")
    """The default command of the main container.

    Rule container.defaults: see `krm_fn.render.manifests.component_defaults`.
    """
    args: tuple[str, ...] = ()
    release_key: str = ""
    configured_key: str = ""
    defaults: TypeDefaults = TypeDefaults()
    service_port: str = "system"
    """The name of the port of the component's Service.

    Rule service.port: see `krm_fn.render.manifests.component_defaults`.
    """
    port_by_number: bool = False
    app_protocol: str = ""
    """The application protocol of that port; empty for none.

    Rule service.app-protocol: see `krm_fn.render.manifests.workloads`.
    """
    annotations: Labels = {}
    """The default annotations of pods of this type.

    Rule metadata.mesh-sidecar: The proxy of a mesh stays out of the pods of an endpoint picker, which speaks TLS itself. (operator:
    internal/dynamo/graph.go generateSingleDCD)
    """
    account: str = ""
    cluster_role: Literal["", "planner_role", "epp_role"] = ""
    enforces_account: bool = False
    v1alpha1_type: str = ""

    @property
    def enforced(self) -> PodSpec:
        """The pod fields of this type that override the user's."""
        return self.account_field if self.enforces_account else {}

    @property
    def account_field(self) -> PodSpec:
        """The field of a pod spec with the ServiceAccount of this type; empty if it has none.

        Rule planner.pod: The pod of a planner uses the planner's ServiceAccount. (operator: internal/dynamo/component_planner.go)
        """
        return {"serviceAccountName": self.account} if self.account else {}

    def key(self, *, is_configured: bool) -> str:
        """Returns the key of the defaults of a component. `is_configured` is true for an endpoint picker with a configuration."""
        return self.configured_key if is_configured and self.configured_key else self.release_key

    def defaults_in(self, release: Release, key: str) -> TypeDefaults:
        """Returns the ports, variables, probes and grace period of a component with a key in a release."""
        return release.types.get(key, self.defaults)


UNKNOWN = ComponentType()


def names() -> tuple[str, ...]:
    """Returns the names of all component types."""
    return registry.entries(sys.modules[__name__])


@cache
def get(name: str) -> ComponentType:
    """Returns the component type of a name, which is case-sensitive; `UNKNOWN` for any other name."""
    if name not in names():
        return UNKNOWN
    component_type: ComponentType = registry.get(sys.modules[__name__], name).TYPE
    return component_type
