"""Features of a component that may change in any release.

Follows the operator's api/v1beta1/common.go, ExperimentalSpec.
"""

from typing import Annotated, Literal

from pydantic import Field

from krm_fn.api import base, common, rules

Mode = Literal["IntraPod", "InterPod"]


class GPUMemoryServiceV1beta1(base.Model):
    """The service that keeps weights in the memory of GPUs, so that several processes share them."""

    model_config = base.rules(*rules.gpu_memory("IntraPod"))

    mode: Mode = "IntraPod"
    """`IntraPod` runs the service beside the engine. `InterPod` runs it in pods of its own."""
    device_class_name: str = "gpu.nvidia.com"
    """The DeviceClass from which the GPUs are claimed."""
    extra_client_containers: Annotated[list[common.ContainerName], base.Unique()] | None = None
    """Other containers of the pod that use the service. Only for `IntraPod`."""
    extra_client_pods: Annotated[list[common.GMSClientPod], base.ByKey()] | None = None
    """Reserved: no release supports it."""


class FailoverV1beta1(base.Model):
    """A second engine that takes over when the first one fails."""

    mode: Mode = "IntraPod"
    """The mode of `gpuMemoryService`, which failover needs."""
    num_shadows: base.Int32 = Field(default=1, ge=1, le=1)
    """The number of waiting engines."""


class ComponentGroveV1beta1(base.Model):
    """How Grove runs a component."""

    force_scaling_group: bool | None = None
    """If true, a scaling group contains the component, also if it has only one pod."""


class ComponentExperimentalV1beta1(base.Model):
    """Features of a component that may change in any release."""

    gpu_memory_service: GPUMemoryServiceV1beta1 | None = None
    """The service that keeps weights in the memory of GPUs."""
    failover: FailoverV1beta1 | None = None
    """A second engine that takes over when the first one fails."""
    grove: ComponentGroveV1beta1 | None = None
    """How Grove runs the component."""
    checkpoint: common.Checkpoint | None = None
    """A saved state from which new pods start."""
