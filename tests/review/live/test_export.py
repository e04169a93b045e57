"""The values of an export of a cluster: what is kept, and what makes an export unusable."""

from __future__ import annotations

import copy
import json

import pytest
import yaml

from krm_fn.base.yaml import reader
from krm_fn.review.live import cluster_export
from tests.support import given
from tests.support.cases import cases

GRAPH = given.graph({"Frontend": given.service("frontend")})
DEPLOYMENT = given.item("Deployment", "chat-frontend", api="apps/v1", spec={"replicas": 1})
SECRET = given.item("Secret", "token", data={"token": "aHVudGVyMg=="})


def read(text):
    return cluster_export.read([document.value for document in reader.read(text)[0]])


def renamed(**metadata):
    return {**DEPLOYMENT, "metadata": {**DEPLOYMENT["metadata"], **metadata}}


def test_objects_stay_as_they_are():
    assert cluster_export.read([GRAPH, DEPLOYMENT]) == cluster_export.Export([GRAPH, DEPLOYMENT], [])


def test_secrets_are_left_out_in_every_form():
    api_server = {"apiVersion": "v1", "kind": "SecretList", "items": [{key: SECRET[key] for key in ("metadata", "data")}]}
    assert cluster_export.read([SECRET, api_server, DEPLOYMENT]).objects == [DEPLOYMENT]


def test_a_list_of_the_api_server_names_the_kind_once():
    bare = {key: DEPLOYMENT[key] for key in ("metadata", "spec")}
    assert cluster_export.read([{"apiVersion": "apps/v1", "kind": "DeploymentList", "metadata": {}, "items": [bare]}]).objects == [
        DEPLOYMENT
    ]


def test_the_last_state_of_an_object_counts():
    later = {**DEPLOYMENT, "spec": {"replicas": 2}}
    assert cluster_export.read([DEPLOYMENT, GRAPH, later]).objects == [later, GRAPH]


def test_namespaces():
    node = given.item("Node", "node", namespace="")
    assert cluster_export.read([DEPLOYMENT, renamed(namespace="other"), node]).namespaces == ["other", given.NAMESPACE]


LISTED = yaml.safe_dump({"apiVersion": "v1", "items": [GRAPH, DEPLOYMENT], "kind": "List", "metadata": {"resourceVersion": ""}})
UNUSABLE = [
    ("a table", "NAME   READY\nchat   1/1\n", "is a table"),
    ("a table of the API server", json.dumps({"apiVersion": "meta.k8s.io/v1", "kind": "Table", "metadata": {}, "rows": []}), "is a table"),
    ("names", "deployment.apps/chat\n", "a list of names"),
    ("a list without its end", LISTED[: LISTED.index("kind: List")], "a list has no kind"),
    ("an object without its end", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, namespace: demo}\n", "metadata only"),
    ("a control character in a name", json.dumps(renamed(name="a\x1b[2J")), r'"a\u001b[2J"'),
    ("a path as a name", json.dumps(renamed(name="../a")), '"../a"'),
    ("a command as a namespace", json.dumps(renamed(namespace="a b")), '"a b"'),
]


@cases(("reason", "text", "said"), UNUSABLE)
def test_unusable_exports(reason, text, said):
    (finding,) = read(text).results
    assert (finding.code, finding.severity) == ("DYN565", "error")
    assert said in finding.message


def test_every_truncation_of_a_list_is_found():
    """Without the last field of a list, an export must never look complete: parts of a namespace would look deleted."""
    whole = len(LISTED) - len("kind: List\nmetadata:\n  resourceVersion: ''\n")
    for end in range(len("apiVersion: v1\nitems:\n- "), whole, 7):
        documents, broken = reader.read(LISTED[:end])
        found = cluster_export.read([document.value for document in documents])
        assert found.results or any(each.severity == "error" for each in broken), LISTED[:end]


@pytest.mark.parametrize("value", [None, 1, "text", [], [1], {}, {"metadata": 1}, {"kind": "List", "items": 1}, {"kind": 1, "items": []}])
def test_any_value_is_read(value):
    before = copy.deepcopy(value)
    cluster_export.read([value, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": value}])
    assert value == before


def test_another_namespace():
    found = cluster_export.read([renamed(namespace="other")])
    (finding,) = cluster_export.check_namespace(found, [given.NAMESPACE])
    assert (finding.code, finding.severity) == ("DYN566", "error")
    assert "of the namespace other" in finding.message
    assert not [*cluster_export.check_namespace(found, [given.NAMESPACE, "other"])]
    assert not [*cluster_export.check_namespace(cluster_export.read([]), [given.NAMESPACE])]
