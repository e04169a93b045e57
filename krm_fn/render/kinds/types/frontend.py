"""The HTTP frontend of a graph, which serves the OpenAI-compatible API. Follows the operator's `internal/dynamo/component_frontend.go`."""

from __future__ import annotations

from krm_fn.render.kinds.types import ComponentType

_COMMAND = ("python3", "-m", "dynamo.frontend")
"""The default command of the main container.

Rule container.frontend: A frontend runs `python3 -m dynamo.frontend` unless the user sets a command. (operator:
internal/dynamo/component_frontend.go)
"""
_PORT = "http"
"""The name of the port for clients.

Rule service.port-http: The Service of a frontend has the port `http` for clients. (operator:
internal/controller/dynamocomponentdeployment_controller.go generateService)
"""

TYPE = ComponentType(
    is_frontend=True,
    command=_COMMAND[:1],
    args=_COMMAND[1:],
    release_key="frontend",
    service_port=_PORT,
)
