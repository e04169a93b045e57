"""The HTTP frontend of a graph. Follows the reference's `internal/dynamo/component_frontend.go`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.manifests.components import Component

if TYPE_CHECKING:
    from krm_fn.kube.types import Container
    from krm_fn.plan import ComponentPlan


class Frontend(Component):
    """Serves the OpenAI-compatible API."""

    is_frontend = True
    figures = "frontend"

    def service_port(self, plan: ComponentPlan) -> dict[str, Any]:
        """The HTTP port for clients."""
        return {"name": "http", "port": plan.behaviour.ports.http, "targetPort": "http", "protocol": "TCP"}

    def container(self, plan: ComponentPlan) -> Container:
        """Runs Dynamo's frontend unless the user sets a command."""
        return {"command": ["python3"], "args": ["-m", "dynamo.frontend"], **self.standard(plan)}


COMPONENT = Frontend()
