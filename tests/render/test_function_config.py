"""Settings are read from a DynamoRender, a ConfigMap or a Dynamo resource; a typo in any of them is an error at its place."""

from __future__ import annotations

import json

import pytest

from krm_fn.base import results
from krm_fn.render import config, function_config, labels
from krm_fn.render.config import Config
from krm_fn.render.manifests import graph_objects
from krm_fn.schemas.api import dynamo_render as model
from tests.support import given
from tests.support.cases import cases

EVERYTHING = {
    "behaviour": "v1.5",
    "operatorVersion": "1.2.0",
    "workerHash": "names",
    "sourceVersion": "v1beta1",
    "orchestrator": "grove",
    "gangScheduling": "kai",
    "leaderWorkerSet": {"enabled": False},
    "grove": {"terminationDelay": "1h", "kaiScheduler": {"enabled": True, "queue": "fast"}, "volcanoScheduler": {"enabled": True}},
    "discoveryBackend": "etcd",
    "natsAddress": "nats://nats:4222",
    "etcdAddress": "etcd:2379",
    "modelExpressURL": "http://express:8001",
    "prometheusEndpoint": "http://prometheus:9090",
    "mpiSecretName": "ssh",
    "namespace": "prod",
    "ingress": {"className": "nginx", "tlsSecretName": "tls", "hostSuffix": "example.org", "istioGateway": "istio/gateway"},
    "rbac": {"plannerRole": "p", "eppRole": "e", "profilingRole": ""},
    "profiling": {"copierImage": "copier:1"},
    "serviceMesh": {"enabled": True, "istio": {"tlsMode": "DISABLE", "insecureSkipVerify": False}},
    "dra": False,
    "imagePullSecrets": [{"registry": "nvcr.io", "name": "nvcr"}, {"registry": "reg.example:5000", "name": "own"}],
    "debuggerImage": "debug:1",
    "retainVolumes": False,
    "source": "drop",
    "components": True,
    "unknownFields": "warn",
    "platform": {"kubernetes": "1.33", "grove": "v0.1.0-alpha.14", "kaiScheduler": "0.17.0", "leaderWorkerSet": "0.7.0"},
    "restart": "sync",
}
READ = Config(
    behaviour="v1.5",
    operator_version="1.2.0",
    worker_hash="names",
    source_version="v1beta1",
    orchestrator="grove",
    gang_scheduling="kai",
    leader_worker_set=config.LeaderWorkerSetSettings(enabled=False),
    grove=config.GroveSettings(
        "1h", config.KaiSchedulerSettings(enabled=True, queue="fast"), config.VolcanoSchedulerSettings(enabled=True)
    ),
    discovery_backend="etcd",
    nats_address="nats://nats:4222",
    etcd_address="etcd:2379",
    model_express_url="http://express:8001",
    prometheus_endpoint="http://prometheus:9090",
    mpi_secret_name="ssh",  # noqa: S106 - the name of a Secret
    namespace="prod",
    ingress=config.IngressSettings("nginx", "tls", "example.org", "istio/gateway"),
    rbac=config.RbacSettings("p", "e", ""),
    profiling=config.ProfilingSettings("copier:1"),
    service_mesh=config.ServiceMeshSettings(enabled=True, istio=config.IstioSettings("DISABLE", insecure_skip_verify=False)),
    dra=False,
    image_pull_secrets=(config.PullSecret("nvcr.io", "nvcr"), config.PullSecret("reg.example:5000", "own")),
    debugger_image="debug:1",
    retain_volumes=False,
    source="drop",
    components=True,
    unknown_fields="warn",
    platform=config.PlatformSettings("1.33", "v0.1.0-alpha.14", "0.17.0", "0.7.0"),
    restart="sync",
)


def render(spec=None):
    written = {"apiVersion": function_config.API_VERSION, "kind": function_config.KIND, "metadata": {"name": "render"}}
    return written if spec is None else {**written, "spec": spec}


def config_map(data):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "render"}, "data": data}


def texts(spec, prefix=""):
    """Settings as kpt and annotations have them: every value a text, levels parted by dots."""
    found = {}
    for key, value in spec.items():
        if isinstance(value, dict):
            found.update(texts(value, f"{prefix}{key}."))
        else:
            found[f"{prefix}{key}"] = value if isinstance(value, str) else json.dumps(value)
    return found


FORMS = [
    ("a DynamoRender", render(EVERYTHING)),
    ("a ConfigMap with dots", config_map(texts(EVERYTHING))),
    (
        "a ConfigMap with JSON",
        config_map({key: value if isinstance(value, str) else json.dumps(value) for key, value in EVERYTHING.items()}),
    ),
    ("annotations of a graph", given.graph(annotations=texts(EVERYTHING, labels.SETTINGS))),
]


@cases("resource", FORMS)
def test_every_setting_can_be_written_in_every_form(resource):
    assert function_config.read(resource) == (READ, [])


def test_every_setting_of_the_test_differs_from_its_default():
    assert all(value != getattr(Config(), name) for name, value in READ._asdict().items())


DEFAULTS = [
    ("no configuration", None),
    ("a DynamoRender without settings", render()),
    ("an empty spec", render({})),
    ("an empty level", render({"ingress": {}, "grove": {"kaiScheduler": {}}})),
    ("a ConfigMap without settings", config_map({})),
    ("a ConfigMap without data", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "render"}}),
    ("a graph without annotations", given.graph()),
    ("a graph with annotations of others", given.graph(annotations={"example.org/orchestrator": "grove", labels.ENABLE_GROVE: "false"})),
]


@cases("resource", DEFAULTS)
def test_what_is_not_set_has_its_default(resource):
    assert function_config.read(resource) == (Config(), [])


def test_defaults_are_those_of_the_schema():
    """The models are made from the classes that a render reads."""
    written = model.RenderSpec().model_dump(by_alias=True)
    assert function_config.read(render(written)) == (Config(), [])
    assert {config.key(name) for name in Config._fields} == set(written)


def test_null_keeps_the_default_and_is_a_warning():
    found, said = function_config.read(render({"natsAddress": None, "grove": {"terminationDelay": None}}))
    assert found == Config()
    assert given.findings(said) == [("DYN028", "spec.natsAddress"), ("DYN028", "spec.grove.terminationDelay")]


def test_what_the_function_notes_on_a_graph_is_no_setting():
    """A rendered graph may be the functionConfig of the next run."""
    written = given.graph()
    notes = graph_objects.own_annotations(given.plan(written)[0], [], written["spec"])
    assert function_config.read(given.graph(annotations=dict(notes))) == (Config(), [])


WRONG = [
    ("an unknown key", render({"natsAdress": "x"}), "DYN023", "spec.natsAdress"),
    ("a value of the wrong type", render({"retainVolumes": "true"}), "DYN021", "spec.retainVolumes"),
    ("a word that is none of those allowed", render({"source": "lose"}), "DYN024", "spec.source"),
    ("a spec that is no object", render([]), "DYN021", "spec"),
    ("another version of the kind", {**render(), "apiVersion": "dynamo.krm-fn.io/v2"}, "DYN024", "apiVersion"),
    ("another group", {**render(), "apiVersion": "example.org/v1"}, "DYN024", "apiVersion"),
    ("another kind of the group", {**render(), "kind": "DynamoRendr"}, "DYN024", "kind"),
    ("an unknown key in a ConfigMap", config_map({"natsAdress": "x"}), "DYN023", "data.natsAdress"),
    ("an unknown key below a level", config_map({"ingress.class": "x"}), "DYN023", "data['ingress.class']"),
    ("a level below a text", config_map({"natsAddress.port": "x"}), "DYN021", "data['natsAddress.port']"),
    (
        "a level beside its whole",
        config_map({"ingress.className": "nginx", "ingress": '{"hostSuffix": "example.org"}'}),
        "DYN041",
        "data['ingress.className']",
    ),
    (
        "a level beside its whole, in the other order",
        config_map({"ingress": '{"hostSuffix": "example.org"}', "ingress.className": "nginx"}),
        "DYN041",
        "data['ingress.className']",
    ),
    ("a boolean in a ConfigMap that is none", config_map({"retainVolumes": "yes"}), "DYN021", "data.retainVolumes"),
    ("JSON in a ConfigMap that is broken", config_map({"imagePullSecrets": "[{"}), "DYN021", "data.imagePullSecrets"),
    ("JSON without end", config_map({"imagePullSecrets": "[" * 100_000}), "DYN021", "data.imagePullSecrets"),
    ("JSON of the wrong shape", config_map({"imagePullSecrets": '["nvcr.io"]'}), "DYN021", "data.imagePullSecrets"),
    ("a value in a ConfigMap that is no text", config_map({"natsAddress": 5}), "DYN021", "data.natsAddress"),
    (
        "an unknown key in an annotation",
        given.graph(annotations={labels.SETTINGS + "natsAdress": "x"}),
        "DYN023",
        f"metadata.annotations['{labels.SETTINGS}natsAdress']",
    ),
    ("a kind that holds no settings", given.item("Service", "a"), "DYN040", ""),
    ("no kind at all", {"metadata": {"name": "a"}}, "DYN040", ""),
    (
        "mutual TLS with a certificate alone",
        render({"serviceMesh": {"enabled": True, "istio": {"tlsMode": "MUTUAL", "clientCertificate": "/c"}}}),
        "DYN429",
        "spec.serviceMesh.istio.privateKey",
    ),
]


@cases(("resource", "code", "field"), WRONG)
def test_a_mistake_is_an_error_at_its_place(resource, code, field):
    said = function_config.read(resource)[1]
    assert given.findings(said) == [(code, field)]
    assert said[0].severity == "error"
    assert said[0].ref == results.ref(resource)


def test_the_namespace_outlives_a_mistake_in_another_setting():
    """Otherwise every graph without a namespace would be reported for lacking one."""
    assert function_config.read(config_map({"natsAdress": "x", "namespace": "team"}))[0] == config.Config(namespace="team")
    assert function_config.read(render({"natsAdress": "x", "namespace": 5}))[0] == config.Config()


def test_every_mistake_is_named():
    said = function_config.read(config_map({"natsAdress": "x", "retainVolumes": "maybe", "ingress.class": "y"}))[1]
    assert {field for _, field in given.findings(said)} == {"data.natsAdress", "data.retainVolumes", "data['ingress.class']"}


def test_with_a_mistake_nothing_is_set():
    assert function_config.read(render({"natsAddress": "nats://nats:4222", "natsAdress": "x"}))[0] == Config()


RELEASES = [(0.9, "v0.9"), ("0.9", "v0.9"), (1.5, "v1.5"), ("v1.5", "v1.5")]


@pytest.mark.parametrize(("written", "read"), RELEASES)
def test_a_release_may_be_written_as_a_number(written, read):
    """YAML reads `behaviour: 0.9` as a number."""
    found, said = function_config.read(render({"behaviour": written}))
    assert (found.behaviour, said) == (read, [])


@pytest.mark.parametrize("written", ["v2.0", 2.0, True])
def test_an_unknown_release_is_refused_with_the_known_releases(written):
    (finding,) = function_config.read(render({"behaviour": written}))[1]
    assert finding.path == ("spec", "behaviour")
    assert "v0.9" in finding.message or written is True
