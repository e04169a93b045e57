"""Random pods with unusual values in one or two fields, and the answer of a real API server to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hypothesis.strategies import DrawFn, SearchStrategy

    from krm_fn.kube.native_types import PodSpec
    from krm_fn.kube.types import Labels
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
_HOOKS = _some(**_HANDLERS, sleep=st.just({"seconds": 1}))
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
    optional={"subPath": st.sampled_from(["", "a", "../a", "/a", "a/..b"]), "readOnly": st.booleans()},
)
_CONTAINER: Mapping[str, SearchStrategy[Any]] = {
    "name": _NAMES,
    "image": st.sampled_from(["a:1", ""]),
    "ports": st.lists(
        _some(containerPort=_PORT_NUMBERS, name=_PORT_NAMES, protocol=st.sampled_from(["TCP", "UDP"]), hostPort=_PORT_NUMBERS)
    ).filter(lambda ports: all("containerPort" in port for port in ports)),
    "env": st.lists(
        st.fixed_dictionaries(
            {"name": st.sampled_from(["A", "B", "", "a=b", "a.b"])}, optional={"value": st.sampled_from(["", "x"]), "valueFrom": _SOURCES}
        ),
        max_size=2,
    ),
    "envFrom": st.lists(_some(secretRef=_some(name=_NAMES), configMapRef=_some(name=_NAMES), prefix=st.just("A_")), max_size=2),
    "volumeMounts": st.lists(_MOUNTS, max_size=2),
    "resources": _some(limits=_SIDES, requests=_SIDES, claims=_lists({"name": "a"}, {"name": "b"})),
    **dict.fromkeys(("livenessProbe", "readinessProbe", "startupProbe"), _PROBES),
    "lifecycle": _some(preStop=_HOOKS, postStart=_HOOKS),
    "securityContext": _some(runAsUser=_NUMBERS, runAsGroup=_NUMBERS),
}
_VOLUMES = st.builds(
    lambda name, kinds: {"name": name, **kinds},
    st.sampled_from(["own", "more", "More", ""]),
    _some(
        emptyDir=st.sampled_from([{}, {"medium": "Memory", "sizeLimit": "1Gi"}, {"sizeLimit": "-1"}]),
        secret=st.sampled_from([{"secretName": "a"}, {}]),
        configMap=st.sampled_from([{"name": "a"}, {}]),
        persistentVolumeClaim=st.sampled_from([{"claimName": "a"}, {"claimName": ""}]),
        hostPath=st.sampled_from([{"path": "/a"}, {"path": "/a/../b"}]),
    ),
)
_POD: Mapping[str, SearchStrategy[Any]] = {
    "volumes": st.lists(_VOLUMES, max_size=2),
    "initContainers": st.lists(st.fixed_dictionaries({"name": _NAMES, "image": st.sampled_from(["a", ""])}), max_size=2),
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
    "securityContext": _some(**dict.fromkeys(("runAsUser", "runAsGroup", "fsGroup"), _NUMBERS)),
    "topologySpreadConstraints": st.lists(
        st.fixed_dictionaries({"maxSkew": _NUMBERS, "topologyKey": st.just("a"), "whenUnsatisfiable": st.just("DoNotSchedule")}), max_size=1
    ),
    "dnsPolicy": st.sampled_from(["None", "ClusterFirst"]),
    "dnsConfig": st.sampled_from([{}, {"nameservers": ["10.0.0.1"]}]),
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
