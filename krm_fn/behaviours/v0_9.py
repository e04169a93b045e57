"""Release 0.9 of the Dynamo operator (reference: `internal/dynamo/component_*.go`, `backend_*.go`, `epp/config.go`)."""

from __future__ import annotations

from krm_fn.behaviours import MPI, Behaviour, Discovery, Engines, Picker, PodMetadata, Ports, ProbeFigures, ServiceFacts, TypeFigures

_PORTS = Ports(http=8000, system=9090, planner_metrics=9085, picker=9002, picker_health=9003, picker_metrics=9090)
_PICKER = ProbeFigures("grpc", "inference-extension", _PORTS.picker_health, delay=5, period=10)

BEHAVIOUR = Behaviour(
    reads="v1alpha1",
    successor="v1.5",
    assembly="main_last",
    multinode_workload="leaderworkerset",
    ports=_PORTS,
    types={
        "frontend": TypeFigures(
            ports=(("http", _PORTS.http),),
            env=(("DYNAMO_PORT", f"{_PORTS.http}"), ("DYN_HTTP_PORT", f"{_PORTS.http}")),
            probes=(
                ("livenessProbe", ProbeFigures("http", "/live", "http", delay=15, period=10, timeout=1, failures=3)),
                ("readinessProbe", ProbeFigures("http", "/health", "http", delay=10, period=10, timeout=3, failures=3)),
            ),
        ),
        "worker": TypeFigures(
            ports=(("system", _PORTS.system),),
            env=(
                ("DYN_SYSTEM_ENABLED", "true"),
                ("DYN_SYSTEM_USE_ENDPOINT_HEALTH_STATUS", '["generate"]'),
                ("DYN_SYSTEM_PORT", f"{_PORTS.system}"),
                ("DYN_HEALTH_CHECK_ENABLED", "false"),
            ),
            probes=(
                ("livenessProbe", ProbeFigures("http", "/live", "system", period=5, timeout=4, failures=1)),
                ("readinessProbe", ProbeFigures("http", "/health", "system", period=10, timeout=4, failures=3)),
                # A model may load for two hours: 720 probes, ten seconds apart.
                ("startupProbe", ProbeFigures("http", "/live", "system", period=10, timeout=5, failures=720)),
            ),
        ),
        "planner": TypeFigures(
            ports=(("metrics", _PORTS.planner_metrics),),
            env=(("PLANNER_PROMETHEUS_PORT", f"{_PORTS.planner_metrics}"),),
        ),
        "epp": TypeFigures(
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
    },
    shared_memory="8Gi",
    pod_metadata=PodMetadata(protected=False, discovery=False, inherited=False),
    services=ServiceFacts(only_discovered=False, find_frontends=False, dashes=False, app_protocol=False),
    discovery=Discovery(reads=("endpoints",), short_label=False),
    engines=Engines(
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
    ),
    debug_modes=True,
    picker=Picker(
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
    ),
)
