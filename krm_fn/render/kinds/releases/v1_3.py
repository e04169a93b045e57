"""Release 1.3 of the Dynamo operator: release 1.4 with these changes."""

from __future__ import annotations

from krm_fn.render.kinds.releases import v1_4

_PICKER = v1_4.RELEASE.types["legacy-epp"]
_LOG = "debug,dynamo_llm::kv_router=trace"
"""The log level of an endpoint picker.

Rule epp.log-v1.3: Before Dynamo 1.4, endpoint pickers log the decisions of their router. (operator: internal/dynamo/component_epp.go)
"""

RELEASE = v1_4.RELEASE._replace(
    number=(1, 3),
    rules=(*v1_4.RELEASE.rules, "operator_failures"),
    types={**v1_4.RELEASE.types, "legacy-epp": _PICKER._replace(env=tuple({**dict(_PICKER.env), "RUST_LOG": _LOG}.items()))},
    discovery=v1_4.RELEASE.discovery._replace(short_label=False),
    engines=v1_4.RELEASE.engines._replace(mpi=v1_4.RELEASE.engines.mpi._replace(exports=())),
    memory_needs_size=True,
    hashes_v1alpha1=True,
    keeps_service_mounts=False,
    needs_runtime=False,
    grove=v1_4.RELEASE.grove._replace(update_strategies=(), topology_kind="ClusterTopology", names_topology=False),
)
"""All facts about Dynamo 1.3.

Rule releases.v1.3: In Dynamo 1.3, graphs are read in v1beta1, and the lowest version of an operator of this release is 1.3.0. (operator:
internal/dynamo/graph.go)
"""
