"""Release 1.5 of the Dynamo operator, as of 2026-08-18 (reference: `internal/dynamo/component_*.go`, `backend_*.go`, `epp/config.go`)."""

from __future__ import annotations

from krm_fn.behaviours import (
    MPI,
    Behaviour,
    Discovery,
    Engines,
    GroveFigures,
    Picker,
    PodMetadata,
    Ports,
    ProbeFigures,
    ServiceFacts,
    TypeFigures,
)

_PORTS = Ports(http=8000, system=9090, planner_metrics=9085, picker=9002, picker_health=9003, picker_metrics=9090, forward_pass=20380)
_NIXL = 19090
_PICKER = ProbeFigures("grpc", "inference-extension", _PORTS.picker_health, delay=5, period=10)

BEHAVIOUR = Behaviour(
    reads="v1beta1",
    rules=(
        "main_containers",
        "replicas",
        "annotations",
        "compilation_cache",
        "frontend_sidecars",
        "generations",
        "gpu_memory",
        "grove_only",
        "topology",
        "unsupported",
        "metadata",
        "shared_memory",
    ),
    assembly="main_first",
    multinode_workload="leaderworkerset_native",
    ports=_PORTS,
    types={
        "frontend": TypeFigures(
            ports=(("http", _PORTS.http),),
            env=(("DYNAMO_PORT", f"{_PORTS.http}"), ("DYN_HTTP_PORT", f"{_PORTS.http}")),
            finds_generations=True,
            probes=(
                ("livenessProbe", ProbeFigures("http", "/live", "http", delay=15, period=10, timeout=1, failures=3)),
                ("readinessProbe", ProbeFigures("http", "/health", "http", delay=10, period=10, timeout=3, failures=3)),
            ),
        ),
        "worker": TypeFigures(
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
                ("livenessProbe", ProbeFigures("http", "/live", "system", period=5, timeout=4, failures=1)),
                ("readinessProbe", ProbeFigures("http", "/health", "system", period=10, timeout=4, failures=3)),
                # A model may load for two hours: 720 probes, ten seconds apart.
                ("startupProbe", ProbeFigures("http", "/live", "system", period=10, timeout=5, failures=720)),
            ),
        ),
        "planner": TypeFigures(
            ports=(("metrics", _PORTS.planner_metrics), ("system", _PORTS.system)),
            env=(("PLANNER_PROMETHEUS_PORT", f"{_PORTS.planner_metrics}"), ("DYN_SYSTEM_PORT", f"{_PORTS.system}")),
            probes=(
                ("livenessProbe", ProbeFigures("http", "/live", "system", period=5, timeout=4, failures=1)),
                ("readinessProbe", ProbeFigures("http", "/health", "system", period=10, timeout=4, failures=3)),
                ("startupProbe", ProbeFigures("http", "/live", "system", period=10, timeout=5, failures=720)),
            ),
        ),
        "epp": TypeFigures(
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
                ("startupProbe", ProbeFigures("grpc", "inference-extension", _PORTS.picker_health, period=10, failures=180)),
            ),
            grace_period=130,  # open streams end before the pod stops
        ),
    },
    shared_memory="8Gi",
    pod_metadata=PodMetadata(protected=True, discovery=True, inherited=True),
    services=ServiceFacts(only_discovered=True, find_frontends=True, dashes=True, app_protocol=True),
    discovery=Discovery(reads=("endpoints", "pods"), short_label=True),
    engines=Engines(
        quotes_words=True,
        waits_for_leader=True,
        elastic=True,
        mpi=MPI(
            home="$HOME",
            quoted_home="'$HOME'",
            readable=("id_rsa.pub",),
            root='$([ "$(id -u)" = "0" ] && echo --allow-run-as-root)',
            sshd=("StrictModes no",),
            exports=("CPATH", "TRITON_PTXAS_PATH"),
        ),
    ),
    debug_modes=False,
    picker=Picker(
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
    ),
    grove=GroveFigures(cuts_names=True, describes_sets=True, whole_groups=True, volcano=True, refusals="warning"),
)
