"""Ways in from outside: an Ingress, a VirtualService, both or none (reference: graph.go GenerateComponentIngress and neighbours)."""

from __future__ import annotations

from krm_fn.render import config
from tests.support import given
from tests.support.cases import cases

NGINX = {"ingressControllerClassName": "nginx"}
GATEWAY = {"useVirtualService": True, "virtualServiceGateway": "istio/own"}
ISTIO = config.IngressSettings(istio_gateway="istio/shared")
NONE = config.IngressSettings()
WAYS = [
    ("nothing said", None, NONE, set()),
    ("off", {"host": "a", **NGINX}, NONE, set()),
    ("a class", {"enabled": True, "host": "a", **NGINX}, NONE, {"Ingress"}),
    ("a gateway", {"enabled": True, "host": "a", **GATEWAY}, ISTIO, {"VirtualService"}),
    ("a gateway where the installation has none", {"enabled": True, "host": "a", **GATEWAY, **NGINX}, NONE, {"Ingress"}),
    ("a gateway that is not used", {"enabled": True, "host": "a", **GATEWAY, "useVirtualService": False, **NGINX}, ISTIO, {"Ingress"}),
    ("use of a gateway without one", {"enabled": True, "host": "a", "useVirtualService": True, **NGINX}, ISTIO, {"Ingress"}),
    ("both", {"enabled": True, "host": "a", **NGINX, **GATEWAY}, ISTIO, {"Ingress", "VirtualService"}),
    ("the installation's class", None, config.IngressSettings(class_name="nginx"), {"Ingress"}),
    ("the installation's gateway", None, ISTIO, {"VirtualService"}),
    ("the installation's class, but one's own ingress", {}, config.IngressSettings(class_name="nginx"), set()),
]


def opened(written, settings, kind="frontend"):
    fields = {} if written is None else {"ingress": written}
    found = given.rendered(given.graph({"Front": given.service(kind, **fields)}), ingress=settings)
    return {name.partition("/")[0]: resource for name, resource in found.items() if name.startswith(("Ingress/", "VirtualService/"))}


@cases(("written", "settings", "kinds"), WAYS)
def test_which_way_in(written, settings, kinds):
    assert set(opened(written, settings)) == kinds


def test_any_type_can_have_an_ingress_of_its_own_but_no_default():
    assert set(opened({"enabled": True, "host": "a", **NGINX}, NONE, kind="worker")) == {"Ingress"}
    assert opened(None, config.IngressSettings(class_name="nginx"), kind="worker") == {}


HOSTS = [
    ("the default domain", {"host": "a"}, "a.local"),
    ("a domain of one's own", {"host": "a", "hostSuffix": "example.org"}, "a.example.org"),
    ("a prefix, without a separator", {"host": "a", "hostPrefix": "test-", "hostSuffix": "example.org"}, "test-a.example.org"),
]


@cases(("written", "host"), HOSTS)
def test_the_host(written, host):
    found = opened({"enabled": True, **NGINX, **GATEWAY, **written}, ISTIO)
    assert [rule["host"] for rule in found["Ingress"]["spec"]["rules"]] == [host]
    assert found["VirtualService"]["spec"]["hosts"] == [host]


def test_an_ingress():
    found = opened({"enabled": True, "host": "a", **NGINX, "tls": {"secretName": "cert"}}, NONE)["Ingress"]
    assert (found["apiVersion"], found["metadata"]["name"], found["metadata"]["namespace"]) == (
        "networking.k8s.io/v1",
        "chat-front",
        "team",
    )
    backend = {"service": {"name": "chat-front", "port": {"number": 8000}}}
    assert found["spec"] == {
        "ingressClassName": "nginx",
        "rules": [{"host": "a.local", "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": backend}]}}],
        "tls": [{"hosts": ["a.local"], "secretName": "cert"}],
    }


def test_without_a_certificate_there_is_no_tls():
    assert "tls" not in opened({"enabled": True, "host": "a", **NGINX}, NONE)["Ingress"]["spec"]
    secured = config.IngressSettings(class_name="nginx", tls_secret_name="cert")  # noqa: S106
    assert opened(None, secured)["Ingress"]["spec"]["tls"][0]["secretName"] == "cert"


def test_a_virtual_service():
    found = opened({"enabled": True, "host": "a", **GATEWAY}, ISTIO)["VirtualService"]
    assert (found["apiVersion"], found["metadata"]["name"]) == ("networking.istio.io/v1beta1", "chat-front")
    assert found["spec"] == {
        "gateways": ["istio/own"],
        "hosts": ["a.local"],
        "http": [{"match": [{"uri": {"prefix": "/"}}], "route": [{"destination": {"host": "chat-front", "port": {"number": 8000}}}]}],
    }


def test_labels_and_annotations_are_the_users():
    own = {"labels": {"team": "a"}, "annotations": {"note": "b"}}
    for resource in opened({"enabled": True, "host": "a", **NGINX, **GATEWAY, **own}, ISTIO).values():
        assert own["labels"].items() <= resource["metadata"]["labels"].items()
        assert own["annotations"].items() <= resource["metadata"]["annotations"].items()
