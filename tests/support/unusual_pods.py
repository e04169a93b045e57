"""Random pods with unusual values in one or two fields, and the answer of a real API server to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hypothesis.strategies import DrawFn, SearchStrategy

    from krm_fn.kubernetes.native_types import PodSpec
    from krm_fn.kubernetes.types import Labels
    from tests.testbed.api import Answer
    from tests.testbed.control_plane import ControlPlane

_SELECTED = {"selected": "yes"}


def sent(plane: ControlPlane, spec: PodSpec, *, labels: Labels | None = None, annotations: Labels | None = None) -> Answer:
    """The answer of the server to a Deployment with this pod spec, in a strict dry run."""
    metadata: dict[str, Any] = {"labels": {**(labels or {}), **_SELECTED}, "annotations": annotations or {}}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "odd", "namespace": "default"},
        "spec": {"selector": {"matchLabels": _SELECTED}, "template": {"metadata": metadata, "spec": spec}},
    }
    return plane.apply(deployment)


def _some(**fields: SearchStrategy[Any]) -> SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=fields)


def _lists(*entries: Any, most: int = 2) -> SearchStrategy[list[Any]]:
    return st.lists(st.sampled_from(entries), max_size=most)


_NAMES = st.sampled_from(["a", "main", "A", "a_b", "-a", "a.b", "a" * 63, "a" * 64, ""])
_NUMBERS = st.sampled_from([-1, 0, 1, 2, 70])
_PORT_NUMBERS = st.sampled_from([-1, 0, 1, 80, 65535, 65536])
_PORT_NAMES = st.sampled_from(["http", "UPPER", "a--b", "a" * 15, "a" * 16, "80", "-a"])
_PORTS = _PORT_NUMBERS | _PORT_NAMES
_AMOUNTS = st.sampled_from(["0", "1", "2", "500m", "1.5", "4Gi", "1k", "-1"])
_RESOURCES = ("cpu", "memory", "ephemeral-storage", "nvidia.com/gpu", "hugepages-2Mi", "gpu", "a b/c", "kubernetes.io/x", "requests.a.b/c")
_SIDES = st.dictionaries(st.sampled_from(_RESOURCES), _AMOUNTS, max_size=2)
_HANDLERS: Mapping[str, SearchStrategy[Any]] = {
    "exec": st.sampled_from([{"command": ["true"]}, {"command": []}, {}]),
    "httpGet": st.fixed_dictionaries({"port": _PORTS}),
    "tcpSocket": st.fixed_dictionaries({"port": _PORTS}),
}
_PROBES = _some(
    **_HANDLERS,
    grpc=st.fixed_dictionaries({"port": _PORT_NUMBERS}),
    **dict.fromkeys(("periodSeconds", "timeoutSeconds", "initialDelaySeconds", "successThreshold", "failureThreshold"), _NUMBERS),
    terminationGracePeriodSeconds=st.sampled_from([1, 5]),
)
_HOOKS = _some(**_HANDLERS, sleep=st.sampled_from([{"seconds": seconds} for seconds in (-1, 0, 1, 30, 31)]))
_PATHS = st.sampled_from(["a", "a/..b", "/a", "../a", "..a", "a/../b"])
_MODES = st.sampled_from([-1, 0, 0o777, 0o1000])
_ITEMS = st.lists(st.fixed_dictionaries({"key": st.sampled_from(["a", "a/b", ""]), "path": _PATHS}, optional={"mode": _MODES}), max_size=2)
_ADDRESSES = st.sampled_from(["10.0.0.1", "10.0.0.01", "::1", "::ffff:10.0.0.1", "host", ""])
_DOMAINS = st.sampled_from(["a.b", "a_b.", ".", "", "A", "-a"])
_LABELS = st.dictionaries(st.sampled_from(["a", "a b", "x.y/a"]), st.sampled_from(["", "b", "b c"]), max_size=1)
_SELECTORS = _some(
    matchLabels=_LABELS,
    matchExpressions=st.lists(
        st.fixed_dictionaries(
            {"key": st.sampled_from(["a", "a b"]), "operator": st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist", "Gt"])},
            optional={"values": st.sampled_from([[], ["b"], ["b c"], ["1", "2"]])},
        ),
        max_size=2,
    ),
)
_KEYS = st.sampled_from([[], ["a"], ["a b"], ["b"]])
_TERMS = st.fixed_dictionaries(
    {"topologyKey": st.sampled_from(["a", "", "a b"])},
    optional={"labelSelector": _SELECTORS, "namespaceSelector": _SELECTORS, "namespaces": _lists("a", "A"), "matchLabelKeys": _KEYS},
)
_NODES = _SELECTORS.map(lambda selector: {"matchExpressions": selector.get("matchExpressions", [])})
_WEIGHTS = st.sampled_from([0, 1, 100, 101])
_AFFINITIES = _some(
    podAffinity=_some(requiredDuringSchedulingIgnoredDuringExecution=st.lists(_TERMS, max_size=1)),
    podAntiAffinity=_some(
        preferredDuringSchedulingIgnoredDuringExecution=st.lists(
            st.fixed_dictionaries({"weight": _WEIGHTS, "podAffinityTerm": _TERMS}), max_size=1
        )
    ),
    nodeAffinity=_some(
        preferredDuringSchedulingIgnoredDuringExecution=st.lists(
            st.fixed_dictionaries({"weight": _WEIGHTS, "preference": _NODES}),
            max_size=1,
        )
    ),
)
_PROFILES = st.fixed_dictionaries(
    {"type": st.sampled_from(["Localhost", "RuntimeDefault", "Unconfined"])},
    optional={"localhostProfile": st.sampled_from(["a", "../a", " a"])},
)
_SOURCES = _some(
    fieldRef=st.fixed_dictionaries(
        {
            "fieldPath": st.sampled_from(
                ["metadata.name", "metadata.labels['a']", "status.podIPs", "spec.nodeName", "nope", "metadata.labels"]
            )
        }
    ),
    resourceFieldRef=st.fixed_dictionaries({"resource": st.sampled_from(["limits.cpu", "requests.hugepages-2Mi", "limits.gpu"])}),
    secretKeyRef=st.fixed_dictionaries({"name": _NAMES, "key": st.sampled_from(["k", ""])}),
    configMapKeyRef=st.fixed_dictionaries({"name": _NAMES, "key": st.just("k")}),
)
_MOUNTS = st.fixed_dictionaries(
    {"name": st.sampled_from(["own", "gone"]), "mountPath": st.sampled_from(["/a", "/b", "c", ""])},
    optional={
        "subPath": st.sampled_from(["", "a", "../a", "/a", "a/..b"]),
        "subPathExpr": st.sampled_from(["", "$(A)", "../a", "/a"]),
        "readOnly": st.booleans(),
        "recursiveReadOnly": st.sampled_from(["Disabled", "IfPossible", "Enabled", "on"]),
        "mountPropagation": st.sampled_from(["None", "HostToContainer", "Bidirectional", ""]),
    },
)
_CONTAINER: Mapping[str, SearchStrategy[Any]] = {
    "name": _NAMES,
    "image": st.sampled_from(["a:1", ""]),
    "ports": st.lists(
        _some(containerPort=_PORT_NUMBERS, name=_PORT_NAMES, protocol=st.sampled_from(["TCP", "UDP"]), hostPort=_PORT_NUMBERS)
    ).filter(lambda ports: all("containerPort" in port for port in ports)),
    "env": st.lists(
        st.fixed_dictionaries(
            {"name": st.sampled_from(["A", "B", "", "a=b", "a.b", "a\tb", "ä"])},
            optional={"value": st.sampled_from(["", "x"]), "valueFrom": _SOURCES},
        ),
        max_size=2,
    ),
    "envFrom": st.lists(_some(secretRef=_some(name=_NAMES), configMapRef=_some(name=_NAMES), prefix=st.just("A_")), max_size=2),
    "volumeMounts": st.lists(_MOUNTS, max_size=2),
    "resources": _some(limits=_SIDES, requests=_SIDES, claims=_lists({"name": "a"}, {"name": "b"})),
    **dict.fromkeys(("livenessProbe", "readinessProbe", "startupProbe"), _PROBES),
    "lifecycle": _some(preStop=_HOOKS, postStart=_HOOKS),
    "securityContext": _some(
        runAsUser=_NUMBERS,
        runAsGroup=_NUMBERS,
        privileged=st.booleans(),
        allowPrivilegeEscalation=st.booleans(),
        seccompProfile=_PROFILES,
        appArmorProfile=_PROFILES,
        procMount=st.sampled_from(["Default", "Unmasked", ""]),
        capabilities=st.sampled_from([{"add": ["CAP_SYS_ADMIN"]}, {"drop": ["ALL"]}]),
    ),
    "restartPolicy": st.sampled_from(["Always", "Never", "on"]),
    "resizePolicy": st.lists(
        st.fixed_dictionaries(
            {
                "resourceName": st.sampled_from(["cpu", "memory", "x"]),
                "restartPolicy": st.sampled_from(["NotRequired", "RestartContainer", ""]),
            }
        ),
        max_size=2,
    ),
}
_VOLUMES = st.builds(
    lambda name, kinds: {"name": name, **kinds},
    st.sampled_from(["own", "more", "More", ""]),
    _some(
        emptyDir=st.sampled_from([{}, {"medium": "Memory", "sizeLimit": "1Gi"}, {"sizeLimit": "-1"}]),
        secret=_some(secretName=st.just("a"), defaultMode=_MODES, items=_ITEMS),
        configMap=_some(name=st.just("a"), defaultMode=_MODES, items=_ITEMS),
        nfs=st.fixed_dictionaries({"server": st.sampled_from(["a", ""]), "path": _PATHS}),
        csi=st.fixed_dictionaries({"driver": st.sampled_from(["", "a.b", "a_b", "A"])}),
        projected=st.builds(
            lambda sources: {"sources": sources},
            st.lists(
                _some(
                    configMap=_some(name=st.just("a"), items=_ITEMS),
                    serviceAccountToken=st.fixed_dictionaries({"path": _PATHS}, optional={"expirationSeconds": st.sampled_from([10, 600])}),
                ),
                max_size=2,
            ),
        ),
        persistentVolumeClaim=st.sampled_from([{"claimName": "a"}, {"claimName": ""}]),
        hostPath=st.sampled_from([{"path": "/a"}, {"path": "/a/../b"}]),
    ),
)
_POD: Mapping[str, SearchStrategy[Any]] = {
    "volumes": st.lists(_VOLUMES, max_size=2),
    "initContainers": st.lists(
        st.fixed_dictionaries(
            {"name": _NAMES, "image": st.sampled_from(["a", ""])},
            optional={"restartPolicy": st.just("Always"), "livenessProbe": _PROBES, "lifecycle": _some(preStop=_HOOKS)},
        ),
        max_size=2,
    ),
    "affinity": _AFFINITIES,
    "hostAliases": st.lists(st.fixed_dictionaries({"ip": _ADDRESSES}, optional={"hostnames": st.lists(_DOMAINS, max_size=1)}), max_size=1),
    "hostNetwork": st.booleans(),
    "hostnameOverride": _NAMES,
    "resources": _some(limits=_SIDES, requests=_SIDES),
    "os": st.sampled_from([{"name": "linux"}, {"name": "windows"}, {"name": "x"}]),
    "readinessGates": _lists({"conditionType": "a.b/c"}, {"conditionType": "a b"}),
    "resourceClaims": st.lists(
        st.builds(
            lambda name, sources: {"name": name, **sources},
            st.sampled_from(["a", "b", "B"]),
            _some(resourceClaimName=st.just("x"), resourceClaimTemplateName=st.just("y")),
        ),
        max_size=2,
    ),
    **dict.fromkeys(("serviceAccountName", "priorityClassName", "hostname", "subdomain"), _NAMES),
    "runtimeClassName": _NAMES.filter(bool),
    "nodeSelector": st.dictionaries(st.sampled_from(["a", "a b", "x.y/a", "/a"]), st.sampled_from(["", "b", "b c", "b-"]), max_size=2),
    "tolerations": st.lists(
        _some(
            key=st.sampled_from(["", "a", "a b"]),
            operator=st.sampled_from(["Exists", "Equal"]),
            value=st.sampled_from(["", "b"]),
            effect=st.sampled_from(["NoSchedule", "NoExecute"]),
            tolerationSeconds=st.just(5),
        ),
        max_size=1,
    ),
    "securityContext": _some(
        **dict.fromkeys(("runAsUser", "runAsGroup", "fsGroup"), _NUMBERS),
        seccompProfile=_PROFILES,
        sysctls=_lists({"name": "net.core.somaxconn", "value": "1"}, {"name": "a b", "value": "1"}),
        supplementalGroups=_lists(-1, 0, 2**31),
    ),
    "topologySpreadConstraints": st.lists(
        st.fixed_dictionaries(
            {
                "maxSkew": _NUMBERS,
                "topologyKey": st.sampled_from(["a", ""]),
                "whenUnsatisfiable": st.sampled_from(["DoNotSchedule", "ScheduleAnyway"]),
            },
            optional={"minDomains": _NUMBERS, "labelSelector": _SELECTORS, "matchLabelKeys": _KEYS},
        ),
        max_size=1,
    ),
    "dnsPolicy": st.sampled_from(["None", "ClusterFirst"]),
    "dnsConfig": _some(nameservers=st.lists(_ADDRESSES, max_size=4), searches=st.lists(_DOMAINS, max_size=2)),
    "activeDeadlineSeconds": st.sampled_from([0, 5]),
    "ephemeralContainers": _lists({"name": "e", "image": "a"}, most=1),
}


@st.composite
def pods(draw: DrawFn) -> dict[str, Any]:
    """A pod with random, possibly invalid values in one or two fields."""
    main: dict[str, Any] = {"name": "main", "image": "a:1"}
    found: dict[str, Any] = {"containers": [main], "volumes": [{"name": "own", "emptyDir": {}}]}
    choices = [(main, key, strategy) for key, strategy in _CONTAINER.items()] + [(found, key, strategy) for key, strategy in _POD.items()]
    for holder, key, strategy in draw(st.lists(st.sampled_from(choices), min_size=1, max_size=2, unique_by=lambda choice: choice[1])):
        holder[key] = draw(strategy)
    return found
