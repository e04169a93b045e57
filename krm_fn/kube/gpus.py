"""Names that stand for GPUs: of resources that a container requests, and of devices and their drivers.

Follows the reference's `internal/dra` (isGPUResourceName, looksLikeGPUIdentifier).
"""

from __future__ import annotations


def is_resource(name: str) -> bool:
    """True if a resource name stands for GPUs, or for parts of a GPU.

    >>> is_resource("nvidia.com/gpu"), is_resource("nvidia.com/mig-3g.20gb"), is_resource("cpu")
    (True, True, False)
    """
    text = name.lower()
    return text == "gpu" or text.startswith("gpu.") or text.endswith("/gpu") or "/mig-" in text


def is_device(name: str) -> bool:
    """True if the name of a DeviceClass or of a driver stands for GPUs.

    >>> is_device("gpu.nvidia.com"), is_device("compute-domain-default-channel.nvidia.com")
    (True, False)
    """
    text = name.lower()
    return text == "gpu" or text.startswith(("gpu.", "gpu/")) or text.endswith("/gpu") or "/gpu." in text or "/gpu-" in text
