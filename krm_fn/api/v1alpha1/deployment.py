"""DynamoComponentDeployment: one component on its own.

Not its business: the component itself (`krm_fn.api.v1alpha1.component`). Follows the reference's dynamocomponentdeployment_types.go.
"""

from typing import ClassVar, Literal

from krm_fn.api import base
from krm_fn.api.v1alpha1 import component


class ComponentDeploymentSpec(component.Component):
    """What should run: a component, and its engine."""

    backend_framework: component.Framework | None = None
    """The engine. Where it is not given, the command tells."""


class ComponentDeploymentStatus(base.Model):
    """What runs."""

    observed_generation: base.Generation | None = None
    """The `metadata.generation` that this was said about."""
    conditions: base.Conditions
    """The aspects of the state; `Available` is the one to wait for."""
    pod_selector: base.Texts | None = None
    """The labels of its pods."""
    service: base.ServiceReplicaStatus | None = None
    """Its replicas."""


class DynamoComponentDeployment(base.Kind):
    """One component of an inference graph, with everything that makes it run."""

    served: ClassVar = base.Served(
        short_names=("dcd",),
        columns=(
            base.Column("DynamoComponent", ".spec.serviceName"),
            base.Column("Available", '.status.conditions[?(@.type=="Available")].status'),
            base.Column("Backend", ".spec.backendFramework"),
            base.Column("Type", ".spec.componentType", wide=True),
            base.Column("Pods", ".status.service.readyReplicas", "integer", wide=True),
        ),
    )

    api_version: Literal["nvidia.com/v1alpha1"]
    """Group and version."""
    kind: Literal["DynamoComponentDeployment"]
    """The kind."""
    spec: ComponentDeploymentSpec | None = None
    """What should run."""
    status: ComponentDeploymentStatus | None = None
    """What runs, as the cluster reports it."""
