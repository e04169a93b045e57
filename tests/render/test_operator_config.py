"""The configuration file of a Dynamo operator is a configuration of the function: every key of it is read, ignored by name, or refused."""

from __future__ import annotations

import json

import pytest

from krm_fn.render import config, function_config, labels, operator_config
from krm_fn.render.config import Config
from krm_fn.schemas.api import operator as model
from tests.support import given
from tests.support.cases import cases

EVERYTHING = {
    "discovery": {"backend": "etcd"},
    "infrastructure": {
        "natsAddress": "nats://nats:4222",
        "etcdAddress": "etcd:2379",
        "modelExpressURL": "http://express:8001",
        "prometheusEndpoint": "http://prometheus:9090",
    },
    "orchestrators": {
        "grove": {"enabled": True, "terminationDelay": "1h0m0s"},
        "lws": {"enabled": False},
        "kaiScheduler": {"enabled": True},
        "volcanoScheduler": {"enabled": True},
    },
    "dra": {"enabled": False},
    "ingress": {
        "virtualServiceGateway": "istio/gateway",
        "controllerClassName": "nginx",
        "controllerTLSSecretName": "tls",
        "hostSuffix": "example.org",
    },
    "serviceMesh": {
        "provider": "istio",
        "istio": {
            "tlsMode": "MUTUAL",
            "insecureSkipVerify": False,
            "clientCertificate": "/c.pem",
            "privateKey": "/k.pem",
            "caCertificates": "/ca.pem",
        },
    },
    "rbac": {"plannerClusterRoleName": "p", "eppClusterRoleName": "e", "dgdrProfilingClusterRoleName": "d"},
    "mpi": {"sshSecretName": "ssh"},
}
READ = Config(
    behaviour="v1.2+",
    orchestrator="grove",
    leader_worker_set=config.LeaderWorkerSetSettings(enabled=False),
    grove=config.GroveSettings("1h0m0s", config.KaiSchedulerSettings(enabled=True), config.VolcanoSchedulerSettings(enabled=True)),
    discovery_backend="etcd",
    nats_address="nats://nats:4222",
    etcd_address="etcd:2379",
    model_express_url="http://express:8001",
    prometheus_endpoint="http://prometheus:9090",
    mpi_secret_name="ssh",  # noqa: S106 - the name of a Secret
    ingress=config.IngressSettings("nginx", "tls", "example.org", "istio/gateway"),
    rbac=config.RbacSettings("p", "e", "d"),
    service_mesh=config.ServiceMeshSettings(enabled=True, istio=config.IstioSettings("MUTUAL", False, "/c.pem", "/k.pem", "/ca.pem")),
    dra=False,
)
DETECTED = {
    "orchestrators": {"grove": {"enabled": False}, "lws": {"enabled": True}, "kaiScheduler": {"enabled": False}},
    "dra": {"enabled": True},
}


def written(*, annotations=None, **sections):
    head = {"apiVersion": "operator.config.dynamo.nvidia.com/v1alpha1", "kind": "OperatorConfiguration"}
    return {**head, **({"metadata": {"name": "operator", "annotations": annotations}} if annotations else {}), **sections}


def test_every_setting_is_read():
    assert function_config.read(written(**EVERYTHING)) == (READ, [])


def test_every_setting_of_a_build_is_in_the_test():
    """Each key of the schema is read, or has no meaning for a build."""
    ignored = [path[0] for path in operator_config.IGNORED if len(path) == 1]
    sections = set(model.OperatorConfiguration.model_json_schema()["properties"]) - {"apiVersion", "kind", "metadata"}
    assert sections - {*EVERYTHING} == {*ignored, "checkpoint"}


def test_without_keys_the_defaults_are_those_of_the_function():
    read, found = function_config.read(written(**DETECTED))
    assert (read, found) == (Config(behaviour="v1.2+"), [])


@pytest.mark.parametrize(
    ("mesh", "enabled"),
    [
        ({"provider": "istio"}, True),
        ({"provider": ""}, False),
        ({"provider": "istio", "enabled": False}, False),
        ({"enabled": True}, True),
        ({}, False),
    ],
)
def test_a_provider_enables_the_mesh(mesh, enabled):
    assert function_config.read(written(serviceMesh=mesh, **DETECTED))[0].service_mesh.enabled is enabled


def test_annotations_set_the_keys_that_the_file_has_not():
    annotations = {
        f"{labels.SETTINGS}workerHash": "names",
        f"{labels.SETTINGS}namespace": "prod",
        f"{labels.SETTINGS}ingress.className": "own",
    }
    read, found = function_config.read(
        written(annotations=annotations, ingress={"controllerClassName": "nginx", "hostSuffix": "a.org"}, **DETECTED)
    )
    assert found == []
    assert (read.worker_hash, read.namespace, read.ingress) == ("names", "prod", config.IngressSettings("own", host_suffix="a.org"))


FINDINGS = [
    ("the operator's own process", {**DETECTED, "server": {"metrics": {"port": 8080}}, "logging": {"level": "info"}}, [("DYN420", "")]),
    ("a Secret to copy", {**DETECTED, "mpi": {"sshSecretNamespace": "dynamo-system"}}, [("DYN420", "")]),
    ("empty sections", {**DETECTED, "server": {}, "gpu": {}}, []),
    ("what the operator finds out", {}, [("DYN421", "")]),
    ("checkpoints", {**DETECTED, "checkpoint": {"enabled": True, "storage": {}}}, [("DYN422", "checkpoint.enabled")]),
    ("no checkpoints", {**DETECTED, "checkpoint": {"enabled": False}}, []),
    ("a typo", {"infrastructure": {"natsAdress": "nats"}}, [("DYN023", "infrastructure.natsAdress")]),
    ("a wrong type", {"dra": {"enabled": "yes"}}, [("DYN021", "dra.enabled")]),
    ("a wrong value", {"discovery": {"backend": "consul"}}, [("DYN024", "discovery.backend")]),
    ("a wrong duration", {"orchestrators": {"grove": {"terminationDelay": "15"}}}, [("DYN027", "orchestrators.grove.terminationDelay")]),
]


@cases(("sections", "expected"), FINDINGS)
def test_a_finding_names_the_key(sections, expected):
    assert given.findings(function_config.read(written(**sections))[1]) == expected


def test_a_finding_names_all_keys_without_meaning():
    (found,) = function_config.read(written(**DETECTED, server={"webhook": {"port": 1}}, leaderElection={"enabled": True}))[1]
    assert "leaderElection, server" in found.message


def test_another_version_is_an_error_and_another_group_is_no_configuration():
    assert given.findings(function_config.read({**written(), "apiVersion": "operator.config.dynamo.nvidia.com/v2"})[1]) == [
        ("DYN020", "apiVersion")
    ]
    assert given.findings(function_config.read({**written(), "apiVersion": "operator.config.grove.io/v1alpha1"})[1]) == [("DYN040", "")]


def test_a_setting_of_an_annotation_is_checked():
    annotations = {f"{labels.SETTINGS}workerHash": "everywhere"}
    found = function_config.read(written(annotations=annotations, **DETECTED))[1]
    assert given.findings(found) == [("DYN024", f"metadata.annotations['{labels.SETTINGS}workerHash']")]


def test_a_file_beside_the_graph_is_the_configuration(tmp_path):
    from krm_fn.repository.files import sources  # noqa: PLC0415 - only this test reads files

    (tmp_path / "operator.yaml").write_text(json.dumps(written(**DETECTED, infrastructure={"natsAddress": "nats://nats:4222"})))
    (tmp_path / "graph.yaml").write_text(json.dumps(given.graph()))
    loaded = sources.load([str(tmp_path)])
    assert (loaded.results, loaded.config.nats_address) == ([], "nats://nats:4222")
