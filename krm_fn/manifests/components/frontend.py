"""The HTTP entrance of a graph. Follows the reference's `internal/dynamo/component_frontend.go`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.manifests import env, probes
from krm_fn.manifests.components import Component

if TYPE_CHECKING:
    from krm_fn.kube.types import Container
    from krm_fn.plan import ComponentPlan

PORT = 8000


class Frontend(Component):
    """Serves the OpenAI-compatible API."""

    is_entrance = True
    service_port = {"name": "http", "port": PORT, "targetPort": "http", "protocol": "TCP"}

    def container(self, plan: ComponentPlan) -> Container:
        """Runs Dynamo's own frontend unless the user says otherwise."""
        return {
            "command": ["python3"],
            "args": ["-m", "dynamo.frontend"],
            "ports": [{"name": "http", "containerPort": PORT, "protocol": "TCP"}],
            "env": [env.value("DYNAMO_PORT", f"{PORT}"), env.value("DYN_HTTP_PORT", f"{PORT}")],
            "livenessProbe": probes.http("/live", "http", delay=15, period=10, timeout=1, failures=3),
            "readinessProbe": probes.http("/health", "http", delay=10, period=10, timeout=3, failures=3),
        }


COMPONENT = Frontend()
