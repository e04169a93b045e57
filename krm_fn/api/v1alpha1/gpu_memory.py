"""Features of a service that only `behaviour: v1.5` has: the GPU memory service and failover.

Follows the operator's api/v1alpha1/common.go.
"""

from typing import Annotated, Literal

from pydantic import Field

from krm_fn.api import base, common, rules

Mode = Literal["intraPod", "interPod"]


class GPUMemoryService(base.Model):
    """The service that keeps weights in the memory of GPUs, so that several processes share them."""

    model_config = base.rules(*rules.gpu_memory("intraPod"))

    enabled: bool
    """If true, the service runs."""
    mode: Mode = "intraPod"
    """`intraPod` runs the service beside the engine. `interPod` runs it in pods of its own."""
    device_class_name: str = "gpu.nvidia.com"
    """The DeviceClass from which the GPUs are claimed."""
    extra_client_containers: Annotated[list[common.ContainerName], base.Unique()] | None = None
    """Other containers of the pod that use the service. Only for `intraPod`."""
    extra_client_pods: Annotated[list[common.GMSClientPod], base.ByKey()] | None = None
    """Reserved: no release supports it."""


class Failover(base.Model):
    """A second engine that takes over when the first one fails."""

    enabled: bool
    """If true, the second engine runs."""
    mode: Mode = "intraPod"
    """The mode of `gpuMemoryService`, which failover needs."""
    num_shadows: base.Int32 = Field(default=1, ge=1, le=1)
    """The number of waiting engines."""
