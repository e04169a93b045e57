"""A module that NVIDIA's profiler imports and that is not on PyPI: it creates graphs to measure.

With AI Configurator, nothing is measured.
"""

from __future__ import annotations


class DeploymentFailedError(Exception):
    """A measured graph did not become ready."""


class DynamoDeploymentClient:
    """A client that creates a graph and measures it."""

    def __init__(self, *_: object, **__: object) -> None:
        raise NotImplementedError("this image measures no graphs")


async def cleanup_remaining_deployments(clients: list[object], _namespace: str) -> None:
    """Delete the measured graphs."""
    assert not clients
