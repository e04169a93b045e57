"""The rules for pods refuse the same specs as an API server, with the field; a real API server checks each row."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from krm_fn.base import registry
from krm_fn.kubernetes.api_server import by_field, name_formats, pod_rules
from tests.support import unusual_pods
from tests.support.cases import cases

if TYPE_CHECKING:
    from krm_fn.kubernetes.native_types import PodSpec

GOOD: PodSpec = {
    "containers": [
        {
            "name": "main",
            "image": "a:1",
            "ports": [{"name": "http", "containerPort": 80}],
            "livenessProbe": {"httpGet": {"port": "http"}},
            "volumeMounts": [{"name": "own", "mountPath": "/own"}],
            "env": [{"name": "A", "value": "1"}],
        }
    ],
    "volumes": [{"name": "own", "emptyDir": {}}],
    "restartPolicy": "Always",
}
LONG = "a" * 63
PROBE = {"exec": {"command": ["true"]}}


def main(**fields):
    return {**GOOD, "containers": [{**GOOD["containers"][0], **fields}]}


def pod(**fields):
    return {**GOOD, **fields}


def mounts(*found):
    return main(volumeMounts=list(found))


def amounts(**sides):
    return main(resources=sides)


def probe(**fields):
    return main(readinessProbe=fields)


def toleration(**fields):
    return pod(tolerations=[fields])


def claims(*found, asked=()):
    return {**main(resources={"claims": [{"name": name} for name in asked]}), "resourceClaims": list(found)}


def source(**fields):
    return main(env=[{"name": "A", "valueFrom": fields}])


C = ("containers", 0)
ENV = (*C, "env", 0, "valueFrom")
GPU = "nvidia.com/gpu"
REFUSED = [
    ("no image", main(image=""), [("DYN205", (*C, "image"))]),
    ("a container without a name", main(name=""), [("DYN206", (*C, "name"))]),
    ("capitals in a name", main(name="Main"), [("DYN206", (*C, "name"))]),
    ("a name of 64 characters", main(name="a" * 64), [("DYN206", (*C, "name"))]),
    ("two containers of one name", pod(containers=[*GOOD["containers"], *main()["containers"]]), [("DYN207", ("containers", 1, "name"))]),
    ("an init container of the same name", pod(initContainers=[{"name": "main", "image": "a"}]), [("DYN207", (*C, "name"))]),
    ("two volumes of one name", pod(volumes=[*GOOD["volumes"], {"name": "own"}]), [("DYN207", ("volumes", 1, "name"))]),
    ("a volume without a name", pod(volumes=[*GOOD["volumes"], {"name": ""}]), [("DYN206", ("volumes", 1, "name"))]),
    ("a mount without its volume", mounts({"name": "gone", "mountPath": "/a"}), [("DYN208", (*C, "volumeMounts", 0, "name"))]),
    (
        "two mounts in one place",
        mounts({"name": "own", "mountPath": "/a"}, {"name": "own", "mountPath": "/a"}),
        [("DYN209", (*C, "volumeMounts", 1, "mountPath"))],
    ),
    ("a mount without a place", mounts({"name": "own", "mountPath": ""}), [("DYN225", (*C, "volumeMounts", 0, "mountPath"))]),
    (
        "a mount of what is above the volume",
        mounts({"name": "own", "mountPath": "/a", "subPath": "../b"}),
        [("DYN228", (*C, "volumeMounts", 0, "subPath"))],
    ),
    (
        "a mount of a path from the root",
        mounts({"name": "own", "mountPath": "/a", "subPath": "/b"}),
        [("DYN228", (*C, "volumeMounts", 0, "subPath"))],
    ),
    ("a request above its limit", amounts(limits={"cpu": "1"}, requests={"cpu": "2"}), [("DYN211", (*C, "resources", "requests", "cpu"))]),
    (
        "a request for GPUs above their limit",
        amounts(limits={GPU: "1"}, requests={GPU: "2"}),
        [("DYN211", (*C, "resources", "requests", GPU))],
    ),
    (
        "a request for GPUs below their limit",
        amounts(limits={GPU: "2"}, requests={GPU: "1"}),
        [("DYN211", (*C, "resources", "requests", GPU))],
    ),
    ("a request for GPUs without a limit", amounts(requests={GPU: "1"}), [("DYN210", (*C, "resources", "limits", GPU))]),
    ("half a GPU", amounts(limits={GPU: "500m"}), [("DYN212", (*C, "resources", "limits", GPU))]),
    ("less than nothing", amounts(limits={"cpu": "-1"}), [("DYN212", (*C, "resources", "limits", "cpu"))]),
    ("a resource without a domain", amounts(limits={"gpu": "1"}), [("DYN229", (*C, "resources", "limits", "gpu"))]),
    ("a resource of no name", amounts(limits={"a b/c": "1"}), [("DYN229", (*C, "resources", "limits", "a b/c"))]),
    (
        "part of a huge page",
        amounts(limits={"cpu": "1", "hugepages-2Mi": "3Mi"}),
        [("DYN212", (*C, "resources", "limits", "hugepages-2Mi"))],
    ),
    ("huge pages only", amounts(limits={"hugepages-2Mi": "2Mi"}), [("DYN229", (*C, "resources", "limits"))]),
    ("a claim the pod lacks", claims(asked=["gpu"]), [("DYN213", (*C, "resources", "claims", 0, "name"))]),
    ("a claim of nothing", claims({"name": "gpu"}), [("DYN224", ("resourceClaims", 0))]),
    (
        "a claim and a template of claims",
        claims({"name": "gpu", "resourceClaimName": "a", "resourceClaimTemplateName": "b"}),
        [("DYN224", ("resourceClaims", 0))],
    ),
    ("a probe that does nothing", probe(periodSeconds=5), [("DYN214", (*C, "readinessProbe"))]),
    ("a probe that does two things", probe(**PROBE, tcpSocket={"port": 80}), [("DYN215", (*C, "readinessProbe"))]),
    ("a probe below nothing", probe(**PROBE, periodSeconds=-1), [("DYN216", (*C, "readinessProbe", "periodSeconds"))]),
    (
        "a liveness probe with two successes",
        main(livenessProbe={**PROBE, "successThreshold": 2}),
        [("DYN217", (*C, "livenessProbe", "successThreshold"))],
    ),
    (
        "a readiness probe that ends something",
        probe(**PROBE, terminationGracePeriodSeconds=5),
        [("DYN217", (*C, "readinessProbe", "terminationGracePeriodSeconds"))],
    ),
    ("a probe of port 0", probe(tcpSocket={"port": 0}), [("DYN218", (*C, "readinessProbe", "tcpSocket", "port"))]),
    ("a probe of a port of no name", probe(httpGet={"port": "HTTP"}), [("DYN218", (*C, "readinessProbe", "httpGet", "port"))]),
    ("a probe that runs nothing", probe(exec={}), [("DYN225", (*C, "readinessProbe", "exec", "command"))]),
    ("port 0", main(ports=[{"containerPort": 0}]), [("DYN218", (*C, "ports", 0, "containerPort"))]),
    ("a port too large", main(ports=[{"containerPort": 65536}]), [("DYN218", (*C, "ports", 0, "containerPort"))]),
    ("a host's port too large", main(ports=[{"containerPort": 1, "hostPort": 65536}]), [("DYN218", (*C, "ports", 0, "hostPort"))]),
    ("a port name of 16 letters", main(ports=[{"containerPort": 1, "name": "a" * 16}]), [("DYN219", (*C, "ports", 0, "name"))]),
    ("a port name without letters", main(ports=[{"containerPort": 1, "name": "80"}]), [("DYN219", (*C, "ports", 0, "name"))]),
    (
        "two ports of one name",
        main(ports=[{"containerPort": 1, "name": "a"}, {"containerPort": 2, "name": "a"}]),
        [("DYN219", (*C, "ports", 1, "name"))],
    ),
    ("a port twice", main(ports=[{"containerPort": 1}, {"containerPort": 1}]), [("DYN219", (*C, "ports", 1, "containerPort"))]),
    ("a variable without a name", main(env=[{"name": "", "value": "1"}]), [("DYN220", (*C, "env", 0, "name"))]),
    ("a variable with an equals sign", main(env=[{"name": "A=B", "value": "1"}]), [("DYN220", (*C, "env", 0, "name"))]),
    ("a variable twice", main(env=[{"name": "A"}, {"name": "A"}]), [("DYN221", (*C, "env", 1, "name"))]),
    (
        "a variable with a value and a source",
        main(env=[{"name": "A", "value": "1", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]),
        [("DYN222", (*C, "env", 0, "valueFrom"))],
    ),
    (
        "a variable with two sources",
        source(fieldRef={"fieldPath": "metadata.name"}, secretKeyRef={"name": "a", "key": "b"}),
        [("DYN224", ENV)],
    ),
    ("a variable from nowhere", source(), [("DYN224", ENV)]),
    (
        "a variable from a Secret without a name",
        source(secretKeyRef={"name": "", "key": "b"}),
        [("DYN225", (*ENV, "secretKeyRef", "name"))],
    ),
    (
        "a variable from a field that is not there",
        source(fieldRef={"fieldPath": "metadata.nodeName"}),
        [("DYN230", (*ENV, "fieldRef", "fieldPath"))],
    ),
    (
        "a variable from no amount",
        source(resourceFieldRef={"resource": "limits.gpu"}),
        [("DYN230", (*ENV, "resourceFieldRef", "resource"))],
    ),
    ("variables from nowhere", main(envFrom=[{}]), [("DYN224", (*C, "envFrom", 0))]),
    (
        "variables from two places",
        main(envFrom=[{"secretRef": {"name": "a"}, "configMapRef": {"name": "b"}}]),
        [("DYN224", (*C, "envFrom", 0))],
    ),
    ("a hook that does nothing", main(lifecycle={"preStop": {}}), [("DYN224", (*C, "lifecycle", "preStop"))]),
    (
        "a hook that does two things",
        main(lifecycle={"preStop": {"exec": {"command": ["a"]}, "sleep": {"seconds": 1}}}),
        [("DYN224", (*C, "lifecycle", "preStop"))],
    ),
    ("nobody", main(securityContext={"runAsUser": -1}), [("DYN226", (*C, "securityContext", "runAsUser"))]),
    ("no group", pod(securityContext={"fsGroup": -1}), [("DYN226", ("securityContext", "fsGroup"))]),
    (
        "a volume of two kinds",
        pod(volumes=[{"name": "own", "emptyDir": {}, "secret": {"secretName": "a"}}]),
        [("DYN224", ("volumes", 0))],
    ),
    ("a Secret without a name", pod(volumes=[{"name": "own", "secret": {}}]), [("DYN225", ("volumes", 0, "secret", "secretName"))]),
    (
        "memory below nothing",
        pod(volumes=[{"name": "own", "emptyDir": {"sizeLimit": "-1"}}]),
        [("DYN226", ("volumes", 0, "emptyDir", "sizeLimit"))],
    ),
    (
        "a host's path upwards",
        pod(volumes=[{"name": "own", "hostPath": {"path": "/a/../b"}}]),
        [("DYN228", ("volumes", 0, "hostPath", "path"))],
    ),
    ("an account of no name", pod(serviceAccountName="my_account"), [("DYN202", ("serviceAccountName",))]),
    ("a priority of no name", pod(priorityClassName="High"), [("DYN202", ("priorityClassName",))]),
    ("a host name with a dot", pod(hostname="a.b"), [("DYN202", ("hostname",))]),
    ("a node label of no key", pod(nodeSelector={"a b": "c"}), [("DYN203", ("nodeSelector", "a b"))]),
    ("a node label of no value", pod(nodeSelector={"a": "b c"}), [("DYN204", ("nodeSelector", "a"))]),
    ("a toleration of nothing", toleration(effect="NoSchedule"), [("DYN227", ("tolerations", 0, "operator"))]),
    ("a toleration that asks for no value", toleration(key="a", operator="Exists", value="b"), [("DYN227", ("tolerations", 0, "value"))]),
    (
        "a toleration for a while",
        toleration(key="a", value="b", tolerationSeconds=5),
        [("DYN227", ("tolerations", 0, "tolerationSeconds"))],
    ),
    ("a toleration of no key", toleration(key="a b", operator="Exists"), [("DYN203", ("tolerations", 0, "key"))]),
    (
        "pods that may not differ at all",
        pod(topologySpreadConstraints=[{"maxSkew": 0, "topologyKey": "a", "whenUnsatisfiable": "DoNotSchedule"}]),
        [("DYN226", ("topologySpreadConstraints", 0, "maxSkew"))],
    ),
    ("names from nobody", pod(dnsPolicy="None"), [("DYN225", ("dnsConfig", "nameservers"))]),
    ("containers for debugging", pod(ephemeralContainers=[{"name": "e", "image": "a"}]), [("DYN200", ("ephemeralContainers",))]),
    ("a deadline", pod(activeDeadlineSeconds=5), [("DYN201", ("activeDeadlineSeconds",))]),
    (
        "several things at once",
        {**main(image="", name="M", ports=[{"containerPort": 0}]), "serviceAccountName": "A_"},
        [
            ("DYN205", (*C, "image")),
            ("DYN206", (*C, "name")),
            ("DYN218", (*C, "ports", 0, "containerPort")),
            ("DYN202", ("serviceAccountName",)),
        ],
    ),
]
ACCEPTED = [
    ("a sound pod", GOOD),
    ("a name of 63 characters", main(name=LONG)),
    ("an init container with a name of its own", pod(initContainers=[{"name": "first", "image": "a"}])),
    ("a volume without a kind is an empty one", pod(volumes=[*GOOD["volumes"], {"name": "more"}])),
    ("one volume in two places", mounts({"name": "own", "mountPath": "/a"}, {"name": "own", "mountPath": "/b"})),
    ("a mount of a path inside", mounts({"name": "own", "mountPath": "/a", "subPath": "b/..c"})),
    ("a request up to its limit", amounts(limits={"cpu": "1"}, requests={"cpu": "1000m"})),
    ("a request without a limit", amounts(requests={"cpu": "2", "memory": "1Gi"})),
    ("GPUs as a limit only", amounts(limits={GPU: "2"})),
    ("GPUs asked for as limited", amounts(limits={GPU: "2"}, requests={GPU: "2"})),
    ("a thousand thousandths of a GPU", amounts(limits={GPU: "1000m"})),
    ("huge pages with memory", amounts(limits={"hugepages-2Mi": "4Mi", "memory": "1Gi"})),
    ("a claim", claims({"name": "gpu", "resourceClaimTemplateName": "b"}, asked=["gpu"])),
    ("a probe of each kind", main(livenessProbe=PROBE, readinessProbe={"tcpSocket": {"port": 80}}, startupProbe={"grpc": {"port": 80}})),
    ("a probe of an unknown port's name", probe(httpGet={"port": "metrics"})),
    ("a probe of zeros", probe(**PROBE, periodSeconds=0, successThreshold=0, initialDelaySeconds=0)),
    ("a readiness probe with two successes", probe(**PROBE, successThreshold=2)),
    ("a liveness probe that ends something", main(livenessProbe={**PROBE, "terminationGracePeriodSeconds": 5})),
    ("a port name of 15 letters", main(ports=[{"containerPort": 1, "name": "a" * 15}])),
    ("a port for two protocols", main(ports=[{"containerPort": 1}, {"containerPort": 1, "protocol": "UDP"}])),
    ("a port of the host of 0 is none", main(ports=[{"containerPort": 1, "hostPort": 0}])),
    ("an empty value beside a source", main(env=[{"name": "A", "value": "", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}])),
    ("a variable from a label", source(fieldRef={"fieldPath": "metadata.labels['a']"})),
    ("a variable from an amount", source(resourceFieldRef={"resource": "requests.memory"})),
    ("an odd name of a variable", main(env=[{"name": "a.b-c", "value": "1"}])),
    ("variables from a Secret", main(envFrom=[{"secretRef": {"name": "a"}, "prefix": "A_"}])),
    ("a hook", main(lifecycle={"preStop": {"sleep": {"seconds": 1}}, "postStart": {"exec": {"command": ["a"]}}})),
    ("root", main(securityContext={"runAsUser": 0})),
    ("memory without end", pod(volumes=[{"name": "own", "emptyDir": {"sizeLimit": "0"}}])),
    ("accounts and classes", pod(serviceAccountName="a.b", runtimeClassName="a", priorityClassName="", hostname="a", subdomain="")),
    ("nodes of a kind", pod(nodeSelector={"example.org/a": ""})),
    ("a toleration of everything", toleration(operator="Exists")),
    ("a toleration for a while", toleration(key="a", operator="Exists", effect="NoExecute", tolerationSeconds=5)),
    ("names from a server", pod(dnsPolicy="None", dnsConfig={"nameservers": ["10.0.0.1"]})),
]


@cases(
    ("name", "words"),
    [
        ("a letter too many", "models", "no volume models; write model, or add it"),
        ("another name", "data", "no volume data; add it"),
    ],
)
def test_a_volume_with_a_similar_name_is_proposed(name, words):
    spec = mounts({"name": name, "mountPath": "/a"})
    spec["volumes"] = [{"name": "own"}, {"name": "model"}]
    assert [words in fault.message for fault in pod_rules.validate(spec)] == [True]


@cases(("spec", "faults"), REFUSED)
def test_refused(spec, faults, control_plane):
    before = copy.deepcopy(spec)
    found = list(pod_rules.validate(spec))
    assert spec == before
    assert sorted((fault.code, fault.path) for fault in found) == sorted(faults)
    assert all("; " in fault.message for fault in found)
    answer = unusual_pods.sent(control_plane, spec)
    assert not answer.ok


@cases("spec", ACCEPTED)
def test_accepted(spec, control_plane):
    assert list(pod_rules.validate(spec)) == []
    answer = unusual_pods.sent(control_plane, spec)
    assert answer.ok, answer.message


LABELS = [
    ("a plain one", {"a": "b"}, []),
    ("with a domain", {"example.org/a-b.c_d": "e"}, []),
    ("an empty value", {"a": ""}, []),
    ("63 characters each", {"a" * 63: "b" * 63}, []),
    ("a value of 64", {"a": "b" * 64}, [("DYN204", ("a",))]),
    ("a key of 64", {"a" * 64: ""}, [("DYN203", ("a" * 64,))]),
    ("a blank", {"a": "b c"}, [("DYN204", ("a",))]),
    ("a value that ends in a dash", {"a": "b-"}, [("DYN204", ("a",))]),
    ("a domain with capitals", {"Example.org/a": "b"}, [("DYN203", ("Example.org/a",))]),
    ("no name behind the domain", {"example.org/": "b"}, [("DYN203", ("example.org/",))]),
    ("no domain before the slash", {"/a": "b"}, [("DYN203", ("/a",))]),
    ("two slashes", {"a/b/c": "d"}, [("DYN203", ("a/b/c",))]),
    ("both wrong", {"a b": "c d"}, [("DYN203", ("a b",)), ("DYN204", ("a b",))]),
]


@cases(("written", "faults"), LABELS)
def test_labels(written, faults, control_plane):
    """The same keys fit labels and annotations, but that the case of a domain counts in labels only."""
    assert [(fault.code, fault.path) for fault in name_formats.validate_labels(written)] == faults
    assert unusual_pods.sent(control_plane, GOOD, labels=written).ok == (not faults)
    of_keys = [(code, path) for code, path in faults if code == "DYN203" and path != ("Example.org/a",)]
    assert [(fault.code, fault.path) for fault in name_formats.validate_annotations(written)] == of_keys
    assert unusual_pods.sent(control_plane, GOOD, annotations=written).ok == (not of_keys)


def test_the_tables_of_rare_fields_name_all_modules():
    tables = [table for name, table in vars(by_field).items() if name.isupper() and isinstance(table, dict)]
    functions = {function for table in tables for function in table.values()}
    assert {function.partition(".")[0] for function in functions} == {*registry.entries(by_field)}
    assert all(callable(registry.attribute(by_field, function)) for function in functions)
