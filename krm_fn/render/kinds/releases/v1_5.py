"""Release 1.5 of the Dynamo operator (operator: `internal/dynamo/component_*.go`, `backend_*.go`, `epp/config.go`)."""

from __future__ import annotations

from krm_fn.render.kinds.releases import (
    MPI,
    Discovery,
    Engines,
    GroveFacts,
    Picker,
    PodMetadataFacts,
    Ports,
    ProbeDefaults,
    Release,
    ServiceFacts,
    TypeDefaults,
    picker_probe,
)

_PORTS = Ports(http=8000, system=9090, planner_metrics=9085, picker=9002, picker_health=9003, picker_metrics=9090, forward_pass=20380)
_NIXL = 19090
"""The port for the metrics of NIXL.

Rule ports.nixl: In Dynamo 1.5, workers serve metrics of NIXL, which transfers the key-value cache, on port 19090. (operator:
internal/dynamo/component_worker.go)
"""
_PICKER = picker_probe(_PORTS)

_HOME = "/home/dynamo"
"""The home folder of a native endpoint picker.

Rule epp.native-home: A native endpoint picker has the home folder `/home/dynamo`. (operator: internal/dynamo/component_epp.go)
"""
_LEGACY_PICKER = TypeDefaults(
    ports=(("grpc", _PORTS.picker), ("grpc-health", _PORTS.picker_health), ("metrics", _PORTS.picker_metrics)),
    env=(
        ("DYN_ENFORCE_DISAGG", "false"),
        ("USE_STREAMING", "true"),
        ("RUST_LOG", "info"),
    ),
    finds_generations=True,
    probes=(
        ("livenessProbe", _PICKER),
        ("readinessProbe", _PICKER),
        ("startupProbe", ProbeDefaults("grpc", "inference-extension", _PORTS.picker_health, period=10, failures=180)),
    ),
    grace_period=130,  # open streams end before the pod stops
)
"""The defaults of an endpoint picker with a configuration.

Rule types.epp-v1.5: In Dynamo 1.5, endpoint pickers have the same ports, probes and grace period with a configuration and without one.
(operator: internal/dynamo/component_epp.go)
"""
_TYPES = {
    "frontend": TypeDefaults(
        ports=(("http", _PORTS.http),),
        env=(("DYNAMO_PORT", f"{_PORTS.http}"), ("DYN_HTTP_PORT", f"{_PORTS.http}")),
        finds_generations=True,
        probes=(
            ("livenessProbe", ProbeDefaults("http", "/live", "http", delay=15, period=10, timeout=1, failures=3)),
            ("readinessProbe", ProbeDefaults("http", "/health", "http", delay=10, period=10, timeout=3, failures=3)),
        ),
    ),
    "worker": TypeDefaults(
        ports=(("system", _PORTS.system), ("nixl", _NIXL)),
        env=(
            ("DYN_SYSTEM_ENABLED", "true"),
            ("DYN_SYSTEM_USE_ENDPOINT_HEALTH_STATUS", '["generate"]'),
            ("DYN_SYSTEM_PORT", f"{_PORTS.system}"),
            ("DYN_HEALTH_CHECK_ENABLED", "false"),
            ("DYN_FORWARDPASS_METRIC_PORT", f"{_PORTS.forward_pass}"),
            ("NIXL_TELEMETRY_ENABLE", "n"),
            ("NIXL_TELEMETRY_EXPORTER", "prometheus"),
            ("NIXL_TELEMETRY_PROMETHEUS_PORT", f"{_NIXL}"),
        ),
        probes=(
            ("livenessProbe", ProbeDefaults("http", "/live", "system", period=5, timeout=4, failures=1)),
            ("readinessProbe", ProbeDefaults("http", "/health", "system", period=10, timeout=4, failures=3)),
            # A model may load for two hours: 720 probes, ten seconds apart.
            ("startupProbe", ProbeDefaults("http", "/live", "system", period=10, timeout=5, failures=720)),
        ),
    ),
    "planner": TypeDefaults(
        ports=(("metrics", _PORTS.planner_metrics), ("system", _PORTS.system)),
        env=(("PLANNER_PROMETHEUS_PORT", f"{_PORTS.planner_metrics}"), ("DYN_SYSTEM_PORT", f"{_PORTS.system}")),
        probes=(
            ("livenessProbe", ProbeDefaults("http", "/live", "system", period=5, timeout=4, failures=1)),
            ("readinessProbe", ProbeDefaults("http", "/health", "system", period=10, timeout=4, failures=3)),
            ("startupProbe", ProbeDefaults("http", "/live", "system", period=10, timeout=5, failures=720)),
        ),
    ),
    "legacy-epp": _LEGACY_PICKER,
    "native-epp": _LEGACY_PICKER._replace(env=(*_LEGACY_PICKER.env, ("HOME", _HOME))),
}
"""The defaults of all component types.

Rule types.v1.5: In Dynamo 1.5, the component type decides the default ports, variables and probes. (operator:
internal/dynamo/component_*.go)
"""
_DISCOVERY = Discovery(reads=("endpoints", "pods"), short_label=True)
"""The facts about Kubernetes discovery.

Rule rbac.discovery-v1.5: In Dynamo 1.5, Kubernetes discovery reads endpoints and pods. (operator: internal/discovery/resource.go)
"""
_ENGINES = Engines(
    quotes_words=True,
    waits_for_leader=True,
    elastic=True,
    elastic_alone=True,
    mpi=MPI(
        home="$HOME",
        quoted_home="'$HOME'",
        readable=("id_rsa.pub",),
        root='$([ "$(id -u)" = "0" ] && echo --allow-run-as-root)',
        sshd=("StrictModes no",),
        exports=("CPATH", "TRITON_PTXAS_PATH"),
    ),
    counts_devices=True,
)
"""The facts about engines.

Rule engines.v1.5: In Dynamo 1.5, MPI jobs keep their ssh keys under `$HOME`, and words of a command line are quoted for a shell. (operator:
internal/dynamo/backend_*.go)
"""
_PICKER_FLAGS = Picker(
    args=(
        *("--pool-name", "{pool}"),
        *("--pool-namespace", "{namespace}"),
        *("--pool-group", "inference.networking.k8s.io"),
        *("-v", "4"),
        *("--zap-encoder", "json"),
        *("--grpc-port", f"{_PORTS.picker}"),
        *("--grpc-health-port", f"{_PORTS.picker_health}"),
        *("--config-file", "/etc/epp/epp-config-dynamo.yaml"),
    ),
    chooses="workers",
    in_mesh=True,
    native_cache=f"{_HOME}/.cache",
)
"""The arguments of an endpoint picker.

Rule epp.args-v1.5: In Dynamo 1.5, the flags of an endpoint picker begin with two dashes, except the level of its log. (operator:
internal/dynamo/component_epp.go)
"""

RELEASE = Release(
    number=(1, 5),
    reads="v1beta1",
    rules=("feature_rules", "sidecar_rules", "metadata_rules", "grove_rules"),
    pod_layers=("defaults", "user", "cache_mount"),
    role_layers=(
        *("engine", "account", "cache_volume", "shared_memory", "main_first"),
        *("engine_pod", "volume_order", "pull_secrets", "gpu_memory"),
    ),
    merges_probes=False,
    replaces_shared_memory=True,
    multinode_workload="leaderworkerset_native",
    ports=_PORTS,
    types=_TYPES,
    shared_memory="8Gi",
    pod_metadata=PodMetadataFacts(protected=True, discovery=True, inherited=True),
    services=ServiceFacts(only_discovered=True, find_frontends=True, dashes=True, app_protocol=True),
    discovery=_DISCOVERY,
    engines=_ENGINES,
    debug_modes=False,
    picker=_PICKER_FLAGS,
    hashes_runtimes=True,
    reports_gpus=True,
    grove=GroveFacts(cuts_names=True, describes_sets=True, whole_groups=True, volcano=True, refusals="warning", marks_generations=True),
)
"""All facts about Dynamo 1.5.

Rule releases.v1.5: In Dynamo 1.5, graphs are read in v1beta1, and the lowest version of an operator of this release is 1.5.0. (operator:
internal/dynamo/graph.go)
"""
