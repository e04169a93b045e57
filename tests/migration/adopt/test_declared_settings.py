"""Settings that an operator declares and no object of a graph shows yet."""

from __future__ import annotations

from krm_fn.migration import adopt
from krm_fn.migration.adopt import all_namespaces
from tests.migration.adopt import test_adopt as exports
from tests.support import given
from tests.support.cases import cases

LABELS = {"app.kubernetes.io/name": "dynamo-operator", "control-plane": "controller-manager"}
EXPORT = exports.exported(given.graph(exports.SERVICES), behaviour="v0.9", natsAddress="nats://nats:4222")
SHOWN = {"behaviour": "v0.9", "discoveryBackend": "kubernetes", "natsAddress": "nats://nats:4222", "orchestrator": "deployment"}
FLAGS = ["--natsAddr=nats://nats:4222", "--ingress-host-suffix=example.com", "--grove-termination-delay=4h"]


def operator(*arguments, name="operator", env=()):
    container = {"name": "manager", "image": "operator:0.9.0", "args": [*arguments], "env": [*env]}
    spec = {"replicas": 1, "template": {"spec": {"containers": [{"name": "proxy", "image": "proxy:1"}, container]}}}
    metadata = {"name": name, "namespace": "dynamo-system", "labels": LABELS, "resourceVersion": "1"}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}


def file(**settings):
    """The configuration of an operator, as `cluster_reading` reads it from a ConfigMap."""
    head = {"apiVersion": "operator.config.dynamo.nvidia.com/v1alpha1", "kind": "OperatorConfiguration"}
    return {**head, "metadata": {"name": "operator", "namespace": "dynamo-system"}, **settings}


SUFFIX = {"ingress": {"hostSuffix": "example.com"}}
DEFAULT = "--mpi-run-ssh-secret-name=mpi-run-ssh-secret"
CONFIG = "--config=/etc/dynamo/config.yaml"
DECLARED = [
    ("no operator", [], {}),
    ("flags", [operator(*FLAGS)], SUFFIX | {"grove": {"terminationDelay": "4h"}}),
    (
        "an empty flag, a default, and a flag without an effect",
        [operator("--etcdAddr=", "--mpi-run-ssh-secret-name=mpi-run-ssh-secret", "-v")],
        {},
    ),
    ("a variable", [operator(env=[{"name": "INTERNAL_IMAGES_DEBUGGER", "value": "kubectl:1"}])], {"debuggerImage": "kubectl:1"}),
    ("a setting that would change pods", [operator("--etcdAddr=etcd:2379", FLAGS[1])], SUFFIX),
    ("a setting that live objects show otherwise", [operator("--natsAddr=nats://other:4222", FLAGS[1])], SUFFIX),
    ("an operator of another namespace", [operator(*FLAGS, "--restrictedNamespace=other")], {}),
    ("an operator of this namespace alone", [operator(FLAGS[1], f"--restrictedNamespace={given.NAMESPACE}")], SUFFIX),
    ("two operators: nobody knows whose pods run", [operator(*FLAGS), operator(name="second")], {}),
    ("a file", [operator(CONFIG), file(**SUFFIX, rbac={"plannerClusterRoleName": "of-the-chart"})], SUFFIX),
    ("a file that is not in the export", [operator(CONFIG, *FLAGS)], {}),
    ("a broken file", [operator(CONFIG), file(infrastructure=[])], {}),
]


@cases(("reason", "operators", "more"), DECLARED)
def test_declared_settings_are_added_if_they_change_no_pod(reason, operators, more):
    """The operator is in another namespace, and its Deployment is not one of the graph."""
    adopted = adopt.adopt([*EXPORT, *operators])
    assert [finding.code for finding in adopted.results] == []
    assert adopted.files["render.yaml"]["spec"] == SHOWN | more
    assert adopted.verification
    assert adopted.verification.keeps_all
    assert adopted.leftovers == ()


def test_each_namespace_gets_them():
    adopted = all_namespaces.adopt_all([*EXPORT, operator(*FLAGS)])
    assert [*adopted.namespaces] == [given.NAMESPACE]
    assert adopted.namespaces[given.NAMESPACE].files["render.yaml"]["spec"]["grove"] == {"terminationDelay": "4h"}
