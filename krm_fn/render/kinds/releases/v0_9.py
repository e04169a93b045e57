"""Release 0.9 of the Dynamo operator (operator: `internal/dynamo/component_*.go`, `backend_*.go`, `epp/config.go`)."""

from __future__ import annotations

from krm_fn.render.kinds.releases import (
    MPI,
    Discovery,
    Engines,
    Picker,
    PodMetadataFacts,
    Ports,
    ProbeDefaults,
    Release,
    ServiceFacts,
    TypeDefaults,
    picker_probe,
)

_PORTS = Ports(http=8000, system=9090, planner_metrics=9085, picker=9002, picker_health=9003, picker_metrics=9090)
_PICKER = picker_probe(_PORTS)

_TYPES = {
    "frontend": TypeDefaults(
        ports=(("http", _PORTS.http),),
        env=(("DYNAMO_PORT", f"{_PORTS.http}"), ("DYN_HTTP_PORT", f"{_PORTS.http}")),
        probes=(
            ("livenessProbe", ProbeDefaults("http", "/live", "http", delay=15, period=10, timeout=1, failures=3)),
            ("readinessProbe", ProbeDefaults("http", "/health", "http", delay=10, period=10, timeout=3, failures=3)),
        ),
    ),
    "worker": TypeDefaults(
        ports=(("system", _PORTS.system),),
        env=(
            ("DYN_SYSTEM_ENABLED", "true"),
            ("DYN_SYSTEM_USE_ENDPOINT_HEALTH_STATUS", '["generate"]'),
            ("DYN_SYSTEM_PORT", f"{_PORTS.system}"),
            ("DYN_HEALTH_CHECK_ENABLED", "false"),
        ),
        probes=(
            ("livenessProbe", ProbeDefaults("http", "/live", "system", period=5, timeout=4, failures=1)),
            ("readinessProbe", ProbeDefaults("http", "/health", "system", period=10, timeout=4, failures=3)),
            # A model may load for two hours: 720 probes, ten seconds apart.
            ("startupProbe", ProbeDefaults("http", "/live", "system", period=10, timeout=5, failures=720)),
        ),
    ),
    "planner": TypeDefaults(
        ports=(("metrics", _PORTS.planner_metrics),),
        env=(("PLANNER_PROMETHEUS_PORT", f"{_PORTS.planner_metrics}"),),
    ),
    "legacy-epp": TypeDefaults(
        ports=(("grpc", _PORTS.picker), ("grpc-health", _PORTS.picker_health), ("metrics", _PORTS.picker_metrics)),
        env=(
            ("DYN_KV_BLOCK_SIZE", "16"),
            ("DYN_DISCOVERY_TIMEOUT_SEC", "300"),
            ("USE_STREAMING", "true"),
            ("RUST_LOG", "debug,dynamo_llm::kv_router=trace"),
        ),
        probes=(("livenessProbe", _PICKER), ("readinessProbe", _PICKER)),
        grace_period=130,  # open streams end before the pod stops
    ),
}
"""The defaults of all component types.

Rule types.v0.9: In Dynamo 0.9, the component type decides the default ports, variables and probes. (operator:
internal/dynamo/component_*.go)
"""
_DISCOVERY = Discovery(reads=("endpoints",), short_label=False)
"""The facts about Kubernetes discovery.

Rule rbac.discovery-v0.9: In Dynamo 0.9, Kubernetes discovery reads endpoints. (operator: internal/discovery/resource.go)
"""
_ENGINES = Engines(
    quotes_words=False,
    waits_for_leader=False,
    elastic=False,
    mpi=MPI(
        home="~",
        quoted_home="~",
        readable=("id_rsa.pub", "authorized_keys"),
        root="--allow-run-as-root",
        sshd=(),
        exports=(),
    ),
)
"""The facts about engines.

Rule engines.v0.9: In Dynamo 0.9, MPI jobs keep their ssh keys under `~`, and words of a command line are not quoted for a shell. (operator:
internal/dynamo/backend_*.go)
"""
_PICKER_FLAGS = Picker(
    args=(
        *("-pool-name", "{pool}"),
        *("-pool-namespace", "{namespace}"),
        *("-pool-group", "inference.networking.k8s.io"),
        *("-v", "4"),
        *("--zap-encoder", "json"),
        *("-grpc-port", f"{_PORTS.picker}"),
        *("-grpc-health-port", f"{_PORTS.picker_health}"),
        *("-config-file", "/etc/epp/epp-config-dynamo.yaml"),
    ),
    chooses="frontends",
    in_mesh=False,
    cache="/home/nonroot/.cache",
)
"""The arguments of an endpoint picker.

Rule epp.args-v0.9: In Dynamo 0.9, most flags of an endpoint picker begin with one dash. (operator: internal/dynamo/component_epp.go)
"""

RELEASE = Release(
    number=(0, 9),
    reads="v1alpha1",
    pod_layers=("defaults", "user", "account", "sidecars", "service_fields", "claims", "shared_memory", "pull_secrets"),
    role_layers=("engine", "main_last", "engine_pod"),
    merges_probes=True,
    replaces_shared_memory=False,
    multinode_workload="leaderworkerset",
    ports=_PORTS,
    types=_TYPES,
    shared_memory="8Gi",
    pod_metadata=PodMetadataFacts(protected=False, discovery=False, inherited=False),
    services=ServiceFacts(only_discovered=False, find_frontends=False, dashes=False, app_protocol=False),
    discovery=_DISCOVERY,
    engines=_ENGINES,
    debug_modes=True,
    picker=_PICKER_FLAGS,
)
"""All facts about Dynamo 0.9.

Rule releases.v0.9: In Dynamo 0.9, graphs are read in v1alpha1. (operator: internal/dynamo/graph.go)
"""
