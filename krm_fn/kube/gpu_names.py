"""Recognizes names of GPUs: resources that a container requests, and devices and their drivers.

Follows the operator's `internal/dra` (isGPUResourceName, looksLikeGPUIdentifier).
"""

from __future__ import annotations


def is_resource(name: str) -> bool:
    """Returns true if a resource name means GPUs, or parts of a GPU.

    >>> is_resource("nvidia.com/gpu"), is_resource("nvidia.com/mig-3g.20gb"), is_resource("cpu")
    (True, True, False)
    """
    text = name.lower()
    return text == "gpu" or text.startswith("gpu.") or text.endswith("/gpu") or "/mig-" in text


def is_device(name: str) -> bool:
    """Returns true if the name of a DeviceClass or of a driver means GPUs.

    >>> is_device("gpu.nvidia.com"), is_device("compute-domain-default-channel.nvidia.com")
    (True, False)
    """
    text = name.lower()
    return text == "gpu" or text.startswith(("gpu.", "gpu/")) or text.endswith("/gpu") or "/gpu." in text or "/gpu-" in text
