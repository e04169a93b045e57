"""The variables of a container, held to the rules of a kubelet by tables. `container_commands` has the expansion of `$(NAME)`."""

from __future__ import annotations

import base64

import pytest

from tests.support import container_commands
from tests.testbed.node import environment
from tests.testbed.node.environment import ConfigError, Sources

POD = {
    "metadata": {
        "name": "llm-0",
        "namespace": "prod",
        "uid": "u1",
        "labels": {"app": "llm", "tier.x/y": 'a"b'},
        "annotations": {"note": "line\nbreak"},
    },
    "spec": {"nodeName": "node-1", "serviceAccountName": "llm"},
}
SERVICES = [
    {
        "metadata": {"namespace": "default", "name": "kubernetes"},
        "spec": {"clusterIP": "10.0.0.1", "ports": [{"port": 443, "name": "https"}]},
    },
    {
        "metadata": {"namespace": "prod", "name": "llm-frontend"},
        "spec": {"clusterIP": "10.0.0.7", "ports": [{"port": 8000, "name": "http"}, {"port": 53, "name": "dns-udp", "protocol": "UDP"}]},
    },
    {"metadata": {"namespace": "prod", "name": "headless"}, "spec": {"clusterIP": "None", "ports": [{"port": 1}]}},
    {"metadata": {"namespace": "other", "name": "far"}, "spec": {"clusterIP": "10.0.0.9", "ports": [{"port": 1}]}},
]
SOURCES = Sources(
    config_maps={"settings": {"data": {"level": "debug", "A": "from the map"}}, "gone": None},
    secrets={"keys": {"data": {"TOKEN": base64.b64encode(b"s3cret").decode()}}, "gone": None},
    services=SERVICES,
    host="10.244.0.1",
    allocatable={"cpu": "64", "memory": "256Gi"},
)


def variables(*env, sources=(), **container):
    """The variables of a container without those of Services."""
    found = environment.variables(POD, {"name": "main", "env": list(env), "envFrom": list(sources), **container}, "10.244.0.9", SOURCES)
    linked = environment.service_variables(SERVICES, "prod", links=True)
    return {name: value for name, value in found.items() if linked.get(name) != value}


def of(name, **source):
    """An entry with `valueFrom`."""
    return {"name": name, "valueFrom": source}


EXPANSIONS = [
    ("$(A)", "1"),
    ("$(A)$(B)", "12"),
    ("x$(A)y", "x1y"),
    ("$(MISSING)", "$(MISSING)"),
    ("$$(A)", "$(A)"),
    ("$$$(A)", "$1"),
    ("$$$$(A)", "$$(A)"),
    ("$A", "$A"),
    ("${A}", "${A}"),
    ("$(A", "$(A"),
    ("$", "$"),
    ("$$", "$"),
    ("a$", "a$"),
    ("$(A)$", "1$"),
    ("$()", "$()"),
    ("$((A))", "$((A))"),
    ("$((A + $(A)))", "$((A + $(A)))"),
    ("$( A)", "$( A)"),
    ("$(A\n)", "$(A\n)"),
    ("$\u00e9$(A)", "$\u00e91"),
    ("$(a)", "$(a)"),
    ("$(EMPTY)|", "|"),
]


@pytest.mark.parametrize(("word", "expanded"), EXPANSIONS)
def test_references_expand_as_kubernetes_expands_them(word, expanded):
    """`third_party/forked/golang/expansion`: unknown names stay, `$$` is a dollar, all text up to the next `)` is the name."""
    assert container_commands.expanded(word, {"A": "1", "B": "2", "EMPTY": ""}) == expanded


FIELDS = [
    ("metadata.name", "llm-0"),
    ("metadata.namespace", "prod"),
    ("metadata.uid", "u1"),
    ("metadata.labels", 'app="llm"\ntier.x/y="a\\"b"'),
    ("metadata.annotations", 'note="line\\nbreak"'),
    ("metadata.labels['app']", "llm"),
    ("metadata.labels['tier.x/y']", 'a"b'),
    ("metadata.labels['none']", ""),
    ("metadata.annotations['note']", "line\nbreak"),
    ("spec.nodeName", "node-1"),
    ("spec.serviceAccountName", "llm"),
    ("status.podIP", "10.244.0.9"),
    ("status.podIPs", "10.244.0.9"),
    ("status.hostIP", "10.244.0.1"),
    ("status.hostIPs", "10.244.0.1"),
]


@pytest.mark.parametrize(("path", "value"), FIELDS)
def test_field_references(path, value):
    """The fields of the downward API."""
    assert variables(of("A", fieldRef={"fieldPath": path})) == {"A": value}


def test_an_unknown_field_is_refused():
    """A kubelet refuses what the API server should have refused."""
    with pytest.raises(ConfigError, match=r"unsupported fieldPath: status\.phase"):
        variables(of("A", fieldRef={"fieldPath": "status.phase"}))


AMOUNTS = [
    ("limits.cpu", None, "2"),
    ("limits.cpu", "1m", "1500"),
    ("limits.cpu", "0", "2"),
    ("requests.cpu", "1", "1"),
    ("limits.memory", "1Mi", "256"),
    ("limits.memory", "1Gi", "1"),
    ("requests.memory", "1Gi", "0"),
    ("limits.ephemeral-storage", None, "0"),
]


@pytest.mark.parametrize(("resource", "divisor", "value"), AMOUNTS)
def test_resource_references(resource, divisor, value):
    """Rounded up to a multiple of the divisor; 0 and none mean 1; a request that is not written is 0."""
    resources = {"limits": {"cpu": "1500m", "memory": "256Mi"}, "requests": {"cpu": "250m"}}
    reference = {"resource": resource, **({"divisor": divisor} if divisor else {})}
    assert variables(of("A", resourceFieldRef=reference), resources=resources) == {"A": value}


def test_a_limit_that_is_not_written_is_what_the_node_has():
    """`limits.cpu` without a limit: the allocatable amount."""
    assert variables(of("A", resourceFieldRef={"resource": "limits.cpu"})) == {"A": "64"}


ENTRIES = [
    # Only variables that stand before are known; of two with one name the last counts, and a later reference sees it.
    ([{"name": "A", "value": "$(B)"}, {"name": "B", "value": "2"}], {"A": "$(B)", "B": "2"}),
    ([{"name": "B", "value": "2"}, {"name": "A", "value": "$(B)"}], {"A": "2", "B": "2"}),
    ([{"name": "A", "value": "1"}, {"name": "A", "value": "$(A)2"}], {"A": "12"}),
    # A reference to the variable itself finds the value from envFrom or from a Service.
    ([{"name": "HOST", "value": "$(KUBERNETES_SERVICE_HOST)"}], {"HOST": "10.0.0.1"}),
    # Neither a value nor a source: empty.
    ([{"name": "A"}], {"A": ""}),
    ([{"name": "A", "value": ""}], {"A": ""}),
    # Values from a field, a ConfigMap or a Secret are not expanded.
    ([of("A", configMapKeyRef={"name": "settings", "key": "level"})], {"A": "debug"}),
    ([of("A", secretKeyRef={"name": "keys", "key": "TOKEN"})], {"A": "s3cret"}),
    # What is optional and missing is left out, and references to it stay.
    ([of("A", secretKeyRef={"name": "gone", "key": "x", "optional": True}), {"name": "B", "value": "$(A)"}], {"B": "$(A)"}),
    ([of("A", configMapKeyRef={"name": "settings", "key": "no", "optional": True})], {}),
    # A variable of the container replaces that of a Service.
    ([{"name": "KUBERNETES_SERVICE_HOST", "value": "mine"}], {"KUBERNETES_SERVICE_HOST": "mine"}),
]


@pytest.mark.parametrize(("env", "found"), ENTRIES)
def test_entries(env, found):
    """The order of `env`, its sources, and what they may leave out."""
    assert variables(*env) == found


def test_whole_sources_come_before_the_entries():
    """`envFrom` with a prefix; a later source wins over an earlier one, `env` over both; `env` may refer to them."""
    sources = [
        {"configMapRef": {"name": "settings"}},
        {"prefix": "P_", "secretRef": {"name": "keys"}},
        {"configMapRef": {"name": "settings"}},
    ]
    found = variables({"name": "A", "value": "mine"}, {"name": "B", "value": "$(level) $(P_TOKEN)"}, sources=sources)
    assert found == {"level": "debug", "A": "mine", "P_TOKEN": "s3cret", "B": "debug s3cret"}
    assert variables(sources=[{"secretRef": {"name": "gone", "optional": True}}]) == {}


MISSING = [
    ({"configMapKeyRef": {"name": "gone", "key": "a"}}, 'configmap "gone" not found'),
    ({"secretKeyRef": {"name": "gone", "key": "a"}}, 'secret "gone" not found'),
    ({"configMapKeyRef": {"name": "settings", "key": "no"}}, "couldn't find key no in ConfigMap prod/settings"),
    ({"secretKeyRef": {"name": "keys", "key": "no"}}, "couldn't find key no in Secret prod/keys"),
]


@pytest.mark.parametrize(("source", "message"), MISSING)
def test_what_is_missing_is_said_in_the_words_of_a_kubelet(source, message):
    """The message of CreateContainerConfigError."""
    with pytest.raises(ConfigError) as raised:
        variables({"name": "A", "valueFrom": source})
    assert str(raised.value) == message


def test_a_missing_whole_source_is_an_error():
    """`envFrom` without `optional`."""
    with pytest.raises(ConfigError, match='configmap "gone" not found'):
        variables(sources=[{"configMapRef": {"name": "gone"}}])


def test_services_of_the_namespace_are_variables():
    """Those with a cluster IP, and `kubernetes` always; two ports, of which the first has the short names."""
    found = environment.service_variables(SERVICES, "prod", links=True)
    frontend = {name: value for name, value in found.items() if name.startswith("LLM_FRONTEND")}
    assert frontend == {
        "LLM_FRONTEND_SERVICE_HOST": "10.0.0.7",
        "LLM_FRONTEND_SERVICE_PORT": "8000",
        "LLM_FRONTEND_SERVICE_PORT_HTTP": "8000",
        "LLM_FRONTEND_SERVICE_PORT_DNS_UDP": "53",
        "LLM_FRONTEND_PORT": "tcp://10.0.0.7:8000",
        "LLM_FRONTEND_PORT_8000_TCP": "tcp://10.0.0.7:8000",
        "LLM_FRONTEND_PORT_8000_TCP_PROTO": "tcp",
        "LLM_FRONTEND_PORT_8000_TCP_PORT": "8000",
        "LLM_FRONTEND_PORT_8000_TCP_ADDR": "10.0.0.7",
        "LLM_FRONTEND_PORT_53_UDP": "udp://10.0.0.7:53",
        "LLM_FRONTEND_PORT_53_UDP_PROTO": "udp",
        "LLM_FRONTEND_PORT_53_UDP_PORT": "53",
        "LLM_FRONTEND_PORT_53_UDP_ADDR": "10.0.0.7",
    }
    assert {name.partition("_")[0] for name in found} == {"LLM", "KUBERNETES"}
    assert {name.partition("_")[0] for name in environment.service_variables(SERVICES, "prod", links=False)} == {"KUBERNETES"}
