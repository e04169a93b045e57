"""Pull secrets and service accounts come from the other items and from the configuration, since a build cannot ask a cluster."""

from __future__ import annotations

import json
from typing import Any

from krm_fn.render import config, labels
from krm_fn.render.manifests import ownership
from krm_fn.render.resolve import cluster
from tests.support import faults, given
from tests.support.cases import cases

HOSTS = [
    ("an image with a registry", "registry.example/team/app:1", "registry.example"),
    ("a port is part of it", "localhost:5000/app:1", "localhost:5000"),
    ("a digest is not", "registry.example/app@sha256:abcd", "registry.example"),
    ("a scheme is not", "https://registry.example/v1/", "registry.example"),
    ("a user is not", "me@registry.example/app", "registry.example"),
    ("a query is not", "registry.example?x=/y", "registry.example"),
    ("capitals stay", "Registry.example/app", "Registry.example"),
    ("Docker Hub's short form is taken for a host", "acme/app:1", "acme"),
    ("a bare name too", "ubuntu", "ubuntu"),
    ("a bare name with a tag has a port that is none", "ubuntu:22.04", ""),
    ("a bare name with a digest too", "ubuntu@sha256:abcd", ""),
    ("digits of other scripts are no port", "host:٣/a", ""),
    ("an empty port", "host:/app", "host:"),
    ("nothing", "", ""),
    ("a scheme alone", "https://", ""),
]


@cases(("image", "host"), HOSTS)
def test_the_registry_of_an_image(image, host):
    """Reference: internal/controller_common or common/url.go GetHost: a URL's authority, with a port only if it is a number."""
    assert cluster.registry_host(image) == host


def found(*items, **settings):
    return cluster.read(ownership.without_generated(items), config.Config(**settings))[0]


IMAGE = "registry.example/app:1"
LOOKUPS = [
    ("a Secret of the same namespace", [faults.secret({"registry.example": {}})], {}, ("pull",)),
    ("a key with scheme and path", [faults.secret({"https://registry.example/v2/": {}})], {}, ("pull",)),
    ("a Secret of another namespace", [faults.secret({"registry.example": {}}, namespace="other")], {}, ()),
    (
        "a Secret without a namespace lives where the configuration says",
        [faults.secret({"registry.example": {}}, namespace="")],
        {"namespace": "team"},
        ("pull",),
    ),
    ("a Secret for another registry", [faults.secret({"other.example": {}})], {}, ()),
    ("a Secret of another type", [faults.secret({"registry.example": {}}, type="Opaque")], {}, ()),
    ("a Secret with an empty list of registries", [faults.secret({})], {}, ()),
    ("all that fit, by name", [faults.secret({"registry.example": {}}, name=name) for name in ("b", "a")], {}, ("a", "b")),
    (
        "a Secret that names the registry twice counts once",
        [faults.secret({"registry.example": {}, "registry.example/app": {}})],
        {},
        ("pull",),
    ),
    (
        "plain text",
        [faults.secret({}, data=None, stringData={".dockerconfigjson": json.dumps({"auths": {"registry.example": {}}})})],
        {},
        ("pull",),
    ),
    (
        "plain text wins over encoded text",
        [faults.secret({"registry.example": {}}, stringData={".dockerconfigjson": json.dumps({"auths": {"other.example": {}}})})],
        {},
        (),
    ),
    (
        "an unreadable one does not matter to the others",
        [faults.secret({"registry.example": {}}), faults.secret({}, name="bad", data={})],
        {},
        ("pull",),
    ),
    ("the configuration's, in every namespace", [], {"image_pull_secrets": (config.PullSecret("registry.example", "mine"),)}, ("mine",)),
    ("the configuration's by a URL", [], {"image_pull_secrets": (config.PullSecret("https://registry.example/v1/", "mine"),)}, ("mine",)),
    (
        "the configuration's come last and once",
        [faults.secret({"registry.example": {}})],
        {"image_pull_secrets": tuple(config.PullSecret("registry.example", name) for name in ("mine", "pull", "more"))},
        ("pull", "mine", "more"),
    ),
    (
        "one with a copied owner annotation, because no Secret is generated",
        [faults.secret({"registry.example": {}}, annotations={labels.OWNER: "DynamoGraphDeployment/chat"})],
        {},
        ("pull",),
    ),
]


@cases(("items", "settings", "names"), LOOKUPS)
def test_the_pull_secrets_of_an_image(items, settings, names):
    assert found(*items, **settings).pull_secrets("team", IMAGE) == names


def test_an_image_without_a_registry_has_no_pull_secrets():
    assert found(faults.secret({"ubuntu": {}})).pull_secrets("team", "ubuntu:22.04") == ()


def test_a_secret_written_over_several_lines_is_read():
    """Kubernetes takes base64 with line breaks."""
    written = faults.secret({"registry.example": {}})
    text = written["data"][".dockerconfigjson"]
    written["data"][".dockerconfigjson"] = f"{text[:10]}\n{text[10:]}\n"
    assert found(written).pull_secrets("team", IMAGE) == ("pull",)


UNREADABLE = [
    ("no data", {"data": None}),
    ("data of a wrong type", {"data": ["x"]}),
    ("no such key", {"data": {"other": ""}}),
    ("a value of a wrong type", {"data": {".dockerconfigjson": 5}}),
    ("no base64", {"data": {".dockerconfigjson": "%"}}),
    ("no JSON", {"stringData": {".dockerconfigjson": "{"}}),
    ("JSON without end", {"stringData": {".dockerconfigjson": "[" * 100_000}}),
    ("a registry without a host", {"stringData": {".dockerconfigjson": '{"auths": {"": {}}}'}}),
]


@cases("fields", UNREADABLE)
def test_an_unreadable_secret_is_a_warning_that_does_not_show_it(fields):
    around, said = cluster.read([faults.secret({}, **fields)], config.Config())
    assert given.findings(said) == [("DYN050", "data['.dockerconfigjson']")]
    assert said[0].severity == "warning"
    assert around.secrets == {}


def test_a_password_in_a_registry_key_is_not_shown():
    text = json.dumps({"auths": {"https://user:hunter2@registry.example:port": {}}})
    _, (said,) = cluster.read([faults.secret({}, stringData={".dockerconfigjson": text})], config.Config())
    assert said.code == "DYN050"
    assert "hunter2" not in said.message
    assert "user" not in said.message


HARMLESS = [("a list", "[]"), ("no registries", "{}"), ("registries of a wrong type", '{"auths": []}')]


@cases("text", HARMLESS)
def test_a_secret_without_registries_says_nothing(text):
    around, said = cluster.read([faults.secret({}, stringData={".dockerconfigjson": text})], config.Config())
    assert (around.secrets, said) == ({}, [])


def account(name, namespace="team", annotations=None, **marks):
    written = given.item("ServiceAccount", name, namespace=namespace, annotations=annotations)
    return {**written, "metadata": {**written["metadata"], "labels": marks}}


MARK = {labels.COMPONENT_POD: "true"}
OWNED = {labels.OWNER: "DynamoGraphDeployment/chat"}
ACCOUNTS = [
    ("an account without the mark", [account("a")], {}),
    ("an account with the mark", [account("a"), account("b", **MARK)], {"team": "b"}),
    ("the first by name", [account("c", **MARK), account("b", **MARK)], {"team": "b"}),
    ("one in each namespace", [account("c", **MARK), account("b", "other", **MARK)], {"team": "c", "other": "b"}),
    ("the mark must say true", [account("a", **{labels.COMPONENT_POD: "yes"})], {}),
    ("a copied owner annotation", [account("a", annotations=OWNED, **MARK)], {"team": "a"}),
    ("what an earlier run generated", [account("a", annotations=OWNED, **MARK, **{labels.MANAGED_BY: labels.MANAGER})], {}),
]


@cases(("items", "fallback"), ACCOUNTS)
def test_the_account_for_pods_without_one(items, fallback):
    assert found(*items).fallback == fallback


NAMESPACES = [
    ("its own", "team", "prod", "team"),
    ("the configured one", "", "prod", "prod"),
    ("kubectl's", "", "", "default"),
]


@cases(("own", "configured", "namespace"), NAMESPACES)
def test_where_a_resource_lives(own, configured, namespace):
    assert cluster.namespace(given.graph(namespace=own), config.Config(namespace=configured)) == namespace


def test_config_maps_tell_their_keys():
    """Only those that the user wrote, and only `data`, as in the reference."""
    mine = given.item("ConfigMap", "a", data={"x": "", "y": ""}, binaryData={"z": ""})
    odd = given.item("ConfigMap", "b", data=["x"])
    ours = given.item("ConfigMap", "c", data={"x": ""}, annotations={labels.OWNER: "DynamoGraphDeployment/chat"})
    ours["metadata"]["labels"] = {labels.MANAGED_BY: labels.MANAGER}
    other = given.item("ConfigMap", "d", api="example.com/v1", data={"x": ""})
    assert found(mine, odd, ours, other).config_maps == {("team", "a"): {"x", "y"}, ("team", "b"): frozenset()}


SPECS: list[Any] = [None, [], {"profilingConfig": "a"}, {"profilingConfig": {"outputPVC": 1}}, {"profilingConfig": {}}]


def test_requests_tell_the_claims_of_their_outputs():
    same = [faults.request(name=name, outputPVC="profiles") for name in ("a", "b")]
    elsewhere = faults.request(name="c", namespace="", outputPVC="profiles")
    odd = [{**faults.request(name=f"odd-{index}"), "spec": spec} for index, spec in enumerate(SPECS)]
    seen = found(*same, elsewhere, *odd, namespace="prod").outputs
    assert seen == {("team", "profiles"): ("a", "b"), ("prod", "profiles"): ("c",)}
