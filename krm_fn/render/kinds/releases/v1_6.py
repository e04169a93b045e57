"""Release 1.6 of the Dynamo operator: release 1.5 with these changes. `krm_fn.render.kinds.gates` has those that depend on a version."""

from __future__ import annotations

from krm_fn.render.kinds.releases import SIDECAR_KEY, ProbeDefaults, TypeDefaults, v1_5

_RUNTIME = TypeDefaults(
    ports=(("system", v1_5.RELEASE.ports.system),),
    env=(("DYN_SYSTEM_ENABLED", "true"), ("DYN_SYSTEM_PORT", f"{v1_5.RELEASE.ports.system}")),
    probes=(
        ("startupProbe", ProbeDefaults("http", "/live", "system", period=2, timeout=1, failures=30)),
        ("livenessProbe", ProbeDefaults("http", "/live", "system", period=5, timeout=4, failures=3)),
        ("readinessProbe", ProbeDefaults("http", "/health", "system", period=5, timeout=4, failures=3)),
    ),
)
"""The defaults of the container that runs Dynamo.

Rule types.sidecar-v1.6: In sidecar mode, the container that runs Dynamo has a port, variables and probes of its own. (operator:
internal/dynamo/component_dynamo_sidecar.go)
"""

RELEASE = v1_5.RELEASE._replace(
    number=(1, 6),
    role_layers=("topology_aliases", *v1_5.RELEASE.role_layers),
    pod_metadata=v1_5.RELEASE.pod_metadata._replace(owns_origin=True),
    names_sidecar=True,
    sidecar_mode=True,
    role_templates=True,
    engines=v1_5.RELEASE.engines._replace(only_engines_span_nodes=True),
    types={**v1_5.RELEASE.types, SIDECAR_KEY: _RUNTIME},
    reports_names=True,
    grove=v1_5.RELEASE.grove._replace(update_strategies=(*v1_5.RELEASE.grove.update_strategies, "Coherent"), overridden_minimum=True),
)
"""All facts about Dynamo 1.6.

Rule releases.v1.6: In Dynamo 1.6, a frontend sidecar gets its own name for discovery, and pods have the origin version of their graph.
(operator: internal/dynamo/graph.go)
"""
