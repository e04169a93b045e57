"""What looser definitions have stored can still be labelled, given a status, released from its finalizers and deleted.

The reference's definitions have fewer rules than ours, and its webhook may be off. A user who replaces these definitions must be able to
delete what they let through. The tests use a group of their own, so that they can replace the definition of a kind.
"""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import pytest

from krm_fn.schemas.generate import crds
from tests.platform import test_crds, test_crds_rules, test_crds_rules_v1beta1, test_crds_v1beta1
from tests.support import definitions, documents, schema_mistakes
from tests.testbed import api, server

SPACE = "stored"
DEFINITIONS = {
    "v1alpha1": crds.definitions("v1alpha1"),
    "v1beta1": [each for each in crds.definitions("v1beta1") if each["spec"]["versions"][0]["name"] == "v1beta1"],
}
KINDS = [definition["spec"]["names"]["kind"] for definition in DEFINITIONS["v1alpha1"]]
OPEN = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
STATUS = {
    (version, each["kind"]): status
    for version, found in (("v1alpha1", test_crds.STATUS), ("v1beta1", test_crds_v1beta1.STATUS))
    for each, status in found
}


_REPLICAS = {"Worker": {"componentKind": "", "replicas": -1}}
LOOSE = {"state": "", "conditions": [{"type": "Ready"}], "services": _REPLICAS, "components": _REPLICAS}
"""A status that our definitions refuse."""


class Stored(NamedTuple):
    """A resource that our definitions refuse."""

    reason: str
    written: dict[str, Any]


def bare(kind):
    return {key: part for key, part in schema_mistakes.other(kind, None).items() if key != "spec"}


def free(document):
    """True if a component has free fields. An API server cannot compare them, and checks the rules of the component again."""
    return "providerOverride" in document.get("spec", {})


TWINS: Any = [{"name": "a"}, {"name": "a"}]
STORED = [
    *(Stored("no spec", bare(kind)) for kind in ("DynamoGraphDeployment", "DynamoGraphDeploymentRequest", "DynamoModel")),
    *(Stored("an empty spec", schema_mistakes.other(kind, {})) for kind in KINDS if kind != "DynamoComponentDeployment"),
    *(Stored(case.reason, case.written) for case in test_crds_rules.RULES if case.code),
    Stored("a variable twice", schema_mistakes.container(env=TWINS)),
    Stored("a claim twice", schema_mistakes.graph({"services": {"Worker": {}}, "pvcs": TWINS})),
    Stored("a mount twice", schema_mistakes.worker(volumeMounts=[{"name": "a", "mountPoint": "/a"}] * 2)),
    Stored(
        "more mounts than allowed", schema_mistakes.worker(volumeMounts=[{"name": f"a{index}", "mountPoint": "/a"} for index in range(101)])
    ),
    Stored("a word that Kubernetes does not have", schema_mistakes.worker(extraPodSpec={"dnsPolicy": "Nowhere"})),
    *(Stored(case.reason, case.written) for case in test_crds_rules_v1beta1.RULES if case.code),
    Stored("a component twice", schema_mistakes.newer({"components": [{"name": "a"}, {"name": "a"}]})),
    Stored("an unknown type", schema_mistakes.component(type="main")),
    Stored("an adapter without a component", test_crds_v1beta1.item("DynamoGraphDeploymentScalingAdapter", {"dgdRef": {"name": "a"}})),
    *(Stored("recorded", document) for document, verdict in documents.recorded() if verdict.rules and not free(document)),
]


def version(written):
    return written["apiVersion"].rpartition("/")[2]


def group(name):
    """The group of the definitions of a version."""
    return f"{name}.stored.example.com"


def moved(definition, schema=None):
    """A definition in the group of these tests, with its own schema or another one."""
    found = copy.deepcopy(definition)
    spec = found["spec"]
    spec["group"] = group(spec["versions"][0]["name"])
    spec["names"].pop("shortNames")
    spec["versions"][0]["schema"] = schema or spec["versions"][0]["schema"]
    return {**found, "metadata": {"name": f"{spec['names']['plural']}.{spec['group']}"}}


def resource(written, name):
    """What is stored: with a finalizer, as the operator leaves it."""
    metadata = {"name": name, "namespace": SPACE, "finalizers": ["nvidia.com/finalizer"]}
    return {**copy.deepcopy(written), "apiVersion": f"{group(version(written))}/{version(written)}", "metadata": metadata}


def created(plane, resource):
    return plane.client.request("POST", plane.client.path(resource).rpartition("/")[0] + "?dryRun=All", resource)


@pytest.fixture(scope="module")
def stored(control_plane):
    """The control plane with the resources, stored under open definitions and now under ours."""
    control_plane.namespace(SPACE)
    every = [(name, definition) for name, found in DEFINITIONS.items() for definition in found]
    definitions.serve(control_plane, [moved(definition, OPEN) for _, definition in every])
    written = [resource(case.written, f"s{index}") for index, case in enumerate(STORED)]
    for each in written:
        collection = control_plane.client.path(each).rpartition("/")[0]
        answer = control_plane.client.request("POST", collection, each)
        assert answer.ok, answer.message
        if (version(each), each["kind"]) in STATUS:
            path = f"{control_plane.client.path(each)}/status"
            assert control_plane.client.request("PATCH", path, {"status": LOOSE}, api.MERGE).ok
    definitions.serve(control_plane, [moved(definition) for _, definition in every])
    for name, definition in every:
        wrong = {**schema_mistakes.other(definition["spec"]["names"]["kind"], 1), "apiVersion": f"nvidia.com/{name}"}
        probe = resource(wrong, "probe")
        server.eventually(lambda: not created(control_plane, probe).ok)  # noqa: B023 - called before the next turn
    return control_plane


@pytest.mark.parametrize("index", range(len(STORED)), ids=[f"{case.written['kind']}: {case.reason}" for case in STORED])
def test_what_is_stored_can_be_changed_and_deleted(index, stored):
    written = resource(STORED[index].written, f"s{index}")
    path = stored.client.path(written)
    again = {**written, "metadata": {**written["metadata"], "name": "again"}}
    assert not created(stored, again).ok  # or nothing would be tried here
    labelled = stored.client.request("PATCH", path, {"metadata": {"labels": {"a": "b"}}}, api.MERGE)
    assert labelled.ok, labelled.message
    if status := STATUS.get((version(written), written["kind"])):
        told = stored.client.request("PATCH", f"{path}/status", {"status": {**status, "observedGeneration": 1}}, api.MERGE)
        assert told.ok, told.message
    released = stored.client.request("PATCH", path, {"metadata": {"finalizers": None}}, api.MERGE)
    assert released.ok, released.message
    assert stored.client.request("DELETE", path).ok
    assert stored.client.request("GET", path).status == 404
