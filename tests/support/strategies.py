"""Hypothesis strategies: graphs without and with mistakes, other items, and configurations."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from krm_fn.render import config, labels
from tests.support import faults, given

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

    from krm_fn.kubernetes.types import Resource

_TEXT = st.text(max_size=5)
_SCALAR = st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.floats(allow_nan=False, allow_infinity=False) | _TEXT
JSON = st.recursive(_SCALAR, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3), max_leaves=6)
NAMESPACES = st.sampled_from(["", "team", "default", "other"])


def _some(**fields: SearchStrategy[Any]) -> SearchStrategy[Resource]:
    """An object with any subset of these fields."""
    return st.fixed_dictionaries({}, optional=fields)


def _one_of(*values: Any) -> SearchStrategy[Any]:
    return st.sampled_from(values)


_AMOUNTS = _one_of("1", "2", "500m", "4Gi", "1.5", "0", "8")
_VARIABLES = st.lists(
    st.builds(
        lambda name, more: {"name": name, **more},
        _one_of("A", "B", "DYN_NAMESPACE", "NATS_SERVER", "POD_NAME", "VLLM_CACHE_ROOT"),
        _one_of({}, {"value": ""}, {"value": "x"}, {"valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}),
    ),
    max_size=3,
    unique_by=lambda variable: variable["name"],
)
_PROBES = _some(
    httpGet=st.fixed_dictionaries({"port": _one_of("system", "http", 81)}, optional={"path": st.just("/x")}),
    periodSeconds=st.integers(0, 99),
    failureThreshold=st.integers(0, 99),
    initialDelaySeconds=st.integers(0, 99),
).map(lambda probe: probe if "httpGet" in probe else {**probe, "exec": {"command": ["true"]}})
_COMMANDS = _one_of(
    {},
    {"command": ["python3", "-m", "dynamo.vllm"], "args": ["--model", "m", "--tensor-parallel-size", "8"]},
    {"command": ["/bin/sh", "-c"], "args": ["python3 -m dynamo.sglang --model m && echo 'done'"]},
    {"args": ["python3 -m dynamo.trtllm --model m"]},
    {"args": []},
)
_MAIN = st.builds(
    lambda command, more: {"image": given.IMAGE, **command, **more},
    _COMMANDS,
    _some(
        env=_VARIABLES,
        livenessProbe=_PROBES,
        readinessProbe=_PROBES,
        startupProbe=_PROBES,
        resources=_some(limits=st.dictionaries(_one_of("cpu", "memory"), _AMOUNTS, max_size=2)),
        envFrom=st.just([{"secretRef": {"name": "token"}}]),
        volumeMounts=_one_of([], [{"name": "own", "mountPath": "/own"}]),
        workingDir=_one_of("", "/work"),
        securityContext=_one_of({}, {"privileged": False}),
    ),
)
_POD = st.builds(
    lambda main, more: {"mainContainer": main, "volumes": [{"name": "own", "emptyDir": {"sizeLimit": "1024Mi"}}], **more},
    _MAIN,
    _some(
        terminationGracePeriodSeconds=st.integers(0, 300),
        serviceAccountName=_one_of("", "mine"),
        containers=_one_of([], [{"name": "sidecar", "image": "side:1", "volumeMounts": [{"name": "own", "mountPath": "/side"}]}]),
        initContainers=_one_of([], [{"name": "first", "image": "init:1"}]),
        securityContext=_one_of({}, {"fsGroup": 5}),
        imagePullSecrets=_one_of([], [{"name": "own"}]),
        nodeSelector=_one_of({}, {"gpu": "h100"}),
        hostIPC=st.booleans(),
    ),
)
_SWITCHES = st.dictionaries(
    _one_of(labels.DEBUG, labels.STEALING_DEBUG, labels.ENABLE_METRICS, labels.NO_PULL_SECRETS, "example.org/note"),
    _one_of("true", "false", ""),
    max_size=3,
)
_SERVICE = _some(
    replicas=st.integers(0, 3),
    subComponentType=_one_of("", "decode"),
    globalDynamoNamespace=st.booleans(),
    resources=_some(limits=_some(cpu=_AMOUNTS, memory=_AMOUNTS, gpu=_one_of("1", "4"), gpuType=_one_of("amd.com/gpu"))),
    scalingAdapter=_some(enabled=st.booleans()),
    multinode=_one_of({}, {"nodeCount": 2}, {"nodeCount": 3}),
    envs=_VARIABLES,
    envFromSecret=_one_of("", "token"),
    volumeMounts=_one_of(
        [], [{"name": "weights", "mountPoint": "/weights"}], [{"name": "cache", "mountPoint": "/c", "useAsCompilationCache": True}]
    ),
    sharedMemory=_one_of({"disabled": True}, {"size": "16Gi"}),
    livenessProbe=_PROBES,
    readinessProbe=_PROBES,
    ingress=_some(
        enabled=st.booleans(), host=st.just("chat"), tls=st.just({"secretName": "tls"}), ingressControllerClassName=_one_of("nginx")
    ),
    modelRef=_one_of({"name": "acme/tiny"}, {"name": "acme/large", "revision": "2"}),
    annotations=_SWITCHES,
    labels=_one_of({}, {"tier": "gold"}),
    extraPodMetadata=_some(labels=_one_of({}, {"team": "a"}), annotations=_one_of({}, {"note": "b"})),
)
_PICKER: Resource = {"config": {"plugins": [{"type": "queue"}], "schedulingProfiles": [{"name": "a", "plugins": [{"pluginRef": "queue"}]}]}}


@st.composite
def services(draw: DrawFn) -> Resource:
    """A service of any component type, usually valid."""
    written = {**draw(_SERVICE), "componentType": draw(_one_of("frontend", "worker", "worker", "prefill", "decode", "planner", "epp"))}
    written["extraPodSpec"] = draw(_POD)
    if written["componentType"] == "epp":
        written = {key: value for key, value in written.items() if key not in ("multinode", "replicas", "volumeMounts")} | {
            "eppConfig": _PICKER
        }
        written["extraPodSpec"] = {"mainContainer": {"image": given.IMAGE}}
    if "multinode" in written:
        written["extraPodSpec"]["mainContainer"].setdefault("args", ["run"])
        written["resources"] = {"limits": {"gpu": "4"}}
        # Without replicas, or with the annotation for debug pods (which multinode services lack), a Service would select no pod.
        written["replicas"] = draw(st.integers(1, 2))
        written["annotations"] = {}
    return written


@st.composite
def graphs(draw: DrawFn, *, name: str = "chat") -> Resource:
    """A graph, usually valid."""
    names = draw(st.lists(_one_of("Frontend", "VllmWorker", "prefill", "a-b"), min_size=1, max_size=3, unique=True))
    written = {service: draw(services()) for service in names}
    pickers = [service for service, fields in written.items() if fields["componentType"] == "epp"]
    for service in pickers[1:]:
        del written[service]
    spec = _some(
        envs=_VARIABLES,
        backendFramework=_one_of("vllm", "sglang"),
        pvcs=_one_of(
            [], [{"name": "weights", "create": True, "size": "10Gi", "storageClass": "fast", "volumeAccessMode": "ReadWriteMany"}]
        ),
        restart=_one_of({"id": "one"}, {"id": "two", "strategy": {"type": "Parallel"}}),
    )
    annotations = st.dictionaries(
        _one_of(labels.ENABLE_GROVE, labels.ENABLE_METRICS, labels.DISCOVERY_BACKEND), _one_of("false", "kubernetes", "etcd")
    )
    return given.graph(written, name=name, namespace=draw(NAMESPACES), annotations=draw(st.none() | annotations), **draw(spec))


_CACHES = _some(pvcName=_one_of("models", "", 1), mountPath=_one_of("/models", "/data", "", [1]), pvcPath=_TEXT)
_TOLERATIONS = _some(
    key=_one_of("nvidia.com/gpu", ""),
    operator=_one_of("Exists", "Equal"),
    value=_one_of("a", ""),
    effect=_one_of("NoSchedule", "NoExecute"),
    tolerationSeconds=st.integers(0, 9),
)


@st.composite
def requests(draw: DrawFn) -> Resource:
    """A request, often valid, with any settings."""
    settings = draw(
        st.dictionaries(_TEXT, JSON, max_size=3)
        | _some(
            deployment=_some(modelCache=_CACHES, namespace=JSON) | JSON,
            engine=_some(config=_TEXT, backend=_one_of("vllm", "sglang")) | JSON,
            sweep=_some(useAiConfigurator=JSON, use_ai_configurator=st.booleans()) | JSON,
            output_dir=_one_of("/data", "/data/", None, "/tmp"),  # noqa: S108 - a wrong value
        )
    )
    profiling = _some(
        outputPVC=_one_of("profiles", ""),
        configMapRef=_some(key=_one_of("a.yaml", "")).map(lambda found: {"name": "base", **found}),
        resources=_some(limits=_some(cpu=_AMOUNTS, memory=_AMOUNTS), requests=_some(cpu=_AMOUNTS)),
        tolerations=st.lists(_TOLERATIONS, max_size=2),
    )
    overrides = _some(name=_one_of("chat", "", "A"), labels=_one_of({"a": "b"}, {"a": "b c"}), workersImage=_one_of("image:1", ""))
    spec = _some(autoApply=st.booleans(), useMocker=st.booleans(), enableGpuDiscovery=st.booleans(), deploymentOverrides=overrides)
    name, namespace = draw(_one_of("chat", "a.b", "a" * 55, "a" * 56)), draw(NAMESPACES)
    return faults.request(settings, name=name, namespace=namespace, spec=draw(spec), **draw(profiling))


@st.composite
def broken(draw: DrawFn) -> Resource:
    """A graph in which one to four fields are renamed or replaced."""
    graph: Resource = copy.deepcopy(draw(graphs()))  # parts of it are drawn from lists that must stay
    for _ in range(draw(st.integers(1, 4))):
        _spoil(draw, graph["spec"])
    return graph


def _spoil(draw: DrawFn, value: Any) -> None:
    """Rename or replace one random field inside the value."""
    steps = list(value) if isinstance(value, dict) else list(range(len(value)))
    if not steps:
        return
    step = draw(st.sampled_from(steps))
    if isinstance(value[step], dict | list) and value[step] and draw(st.integers(0, 3)):
        _spoil(draw, value[step])
    elif isinstance(value, dict) and draw(st.booleans()):
        value[draw(_TEXT)] = value.pop(step)
    else:
        value[step] = draw(JSON)


@st.composite
def others(draw: DrawFn) -> Resource:
    """An item of another kind, with random fields."""
    kind = draw(_one_of("Service", "Deployment", "ConfigMap", "Secret", "ServiceAccount", "Widget"))
    name = draw(_one_of("mine", "yours", "theirs"))
    found = given.item(kind, name, namespace=draw(NAMESPACES), annotations=draw(st.none() | JSON))
    if kind == "Secret":
        found["type"] = "kubernetes.io/dockerconfigjson"
    return {**found, **draw(st.dictionaries(_one_of("data", "spec", "stringData", "status"), JSON, max_size=2))}


def configs() -> SearchStrategy[config.Config]:
    """Random configurations."""
    ingress = st.fixed_dictionaries(
        {},
        optional={
            "class_name": st.just("nginx"),
            "tls_secret_name": st.just("tls"),
            "host_suffix": st.just("example.org"),
            "istio_gateway": st.just("istio/gateway"),
        },
    )
    written = _some(
        behaviour=_one_of("v0.9", "v1.5"),
        worker_hash=_one_of("names", "none"),
        dra=st.just(value=True),
        service_mesh=st.just(config.ServiceMeshSettings(enabled=True)),
        orchestrator=st.just("grove"),
        discovery_backend=st.just("etcd"),
        nats_address=st.just("nats://nats:4222"),
        namespace=st.just("prod"),
        ingress=ingress.map(lambda found: config.IngressSettings(**found)),
        image_pull_secrets=st.just((config.PullSecret("registry.example", "pull"),)),
        leader_worker_set=st.just(config.LeaderWorkerSetSettings(enabled=False)),
        retain_volumes=st.just(value=False),
        source=st.just("local"),
        components=st.just(value=True),
        unknown_fields=st.just("warn"),
        restart=st.just("sync"),
    )
    return written.map(lambda found: config.Config(**found))
