"""The endpoint picker of the Gateway API inference extension, which chooses where a gateway sends a request.

Follows the operator's `internal/dynamo/component_epp.go`. `krm_fn.render.manifests.inference_pool` makes its objects.
"""

from __future__ import annotations

from krm_fn.render import labels, names
from krm_fn.render.kinds.types import ComponentType

_PORT = "grpc"
"""The name of the port for the gateway.

Rule service.port-grpc: The Service of an endpoint picker has the port `grpc` for the gateway. (operator:
internal/controller/dynamocomponentdeployment_controller.go generateService)
"""

TYPE = ComponentType(
    singleton=True,
    picks_workers=True,
    command=(),
    release_key="native-epp",
    configured_key="legacy-epp",
    service_port=_PORT,
    port_by_number=True,
    app_protocol="http2",
    annotations={labels.MESH_SIDECAR: "false"},  # the picker speaks TLS itself, so a service mesh must not speak it for the picker
    account=names.EPP_ACCOUNT,
    cluster_role="epp_role",
)
