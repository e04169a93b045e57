"""What looser definitions have stored can still be labelled, given a status, released from its finalizers and deleted.

The reference's definitions have fewer rules than ours, and its webhook may be off. A user who replaces these definitions must be able to
delete what they let through. The tests use a group of their own, so that they can replace the definition of a kind.
"""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import pytest

from krm_fn.generate import crds
from tests.platform import test_crds, test_crds_rules
from tests.support import documents, slips
from tests.testbed import api, server

GROUP = "stored.example.com"
SPACE = "stored"
DEFINITIONS = crds.definitions()
KINDS = [definition["spec"]["names"]["kind"] for definition in DEFINITIONS]
OPEN = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
STATUS = {each["kind"]: status for each, status in test_crds.STATUS}


LOOSE = {"state": "", "conditions": [{"type": "Ready"}], "services": {"Worker": {"componentKind": "", "replicas": -1}}}
"""A status that our definitions refuse."""


class Stored(NamedTuple):
    """A resource that our definitions refuse."""

    reason: str
    written: dict[str, Any]


def bare(kind):
    return {key: part for key, part in slips.other(kind, None).items() if key != "spec"}


TWINS: Any = [{"name": "a"}, {"name": "a"}]
STORED = [
    *(Stored("no spec", bare(kind)) for kind in ("DynamoGraphDeployment", "DynamoGraphDeploymentRequest", "DynamoModel")),
    *(Stored("an empty spec", slips.other(kind, {})) for kind in KINDS if kind != "DynamoComponentDeployment"),
    *(Stored(case.reason, case.written) for case in test_crds_rules.RULES if case.code),
    Stored("a variable twice", slips.worker(envs=TWINS)),
    Stored("a claim twice", slips.graph({"services": {"Worker": {}}, "pvcs": TWINS})),
    Stored("a mount twice", slips.worker(volumeMounts=[{"name": "a", "mountPoint": "/a"}] * 2)),
    Stored("more mounts than allowed", slips.worker(volumeMounts=[{"name": f"a{index}", "mountPoint": "/a"} for index in range(101)])),
    Stored("a word that Kubernetes does not have", slips.worker(extraPodSpec={"dnsPolicy": "Nowhere"})),
    *(Stored("recorded", document) for document, verdict in documents.recorded() if verdict.rules),
]


def moved(definition, schema=None):
    """A definition in the group of these tests, with its own schema or another one."""
    found = copy.deepcopy(definition)
    found["metadata"] = {"name": f"{found['spec']['names']['plural']}.{GROUP}"}
    found["spec"]["group"] = GROUP
    found["spec"]["names"].pop("shortNames")
    found["spec"]["versions"][0]["schema"] = schema or found["spec"]["versions"][0]["schema"]
    return found


def resource(case, name):
    """What is stored: with a finalizer, as the operator leaves it."""
    metadata = {"name": name, "namespace": SPACE, "finalizers": ["nvidia.com/finalizer"]}
    return {**copy.deepcopy(case.written), "apiVersion": f"{GROUP}/v1alpha1", "metadata": metadata}


def created(plane, resource):
    return plane.client.request("POST", plane.client.path(resource).rpartition("/")[0] + "?dryRun=All", resource)


@pytest.fixture(scope="module")
def stored(control_plane):
    """The control plane with the resources, stored under open definitions and now under ours."""
    control_plane.namespace(SPACE)
    for definition in DEFINITIONS:
        assert control_plane.apply(moved(definition, OPEN), dry_run=False).ok
    for kind in KINDS:
        server.eventually(lambda: control_plane.client.knows(f"{GROUP}/v1alpha1", kind))  # noqa: B023 - called before the next turn
    written = [resource(case, f"s{index}") for index, case in enumerate(STORED)]
    for each in written:
        collection = control_plane.client.path(each).rpartition("/")[0]
        answer = control_plane.client.request("POST", collection, each)
        assert answer.ok, answer.message
        if each["kind"] in STATUS:
            path = f"{control_plane.client.path(each)}/status"
            assert control_plane.client.request("PATCH", path, {"status": LOOSE}, api.MERGE).ok
    for kind, definition in zip(KINDS, DEFINITIONS, strict=True):
        answer = control_plane.apply(moved(definition), dry_run=False)
        assert answer.ok, answer.message
        probe = {**slips.other(kind, 1), "apiVersion": f"{GROUP}/v1alpha1"}
        probe["metadata"] = {"name": "probe", "namespace": SPACE}
        server.eventually(lambda: not created(control_plane, probe).ok)  # noqa: B023 - called before the next turn
    return control_plane


@pytest.mark.parametrize("index", range(len(STORED)), ids=[f"{case.written['kind']}: {case.reason}" for case in STORED])
def test_what_is_stored_can_be_changed_and_deleted(index, stored):
    case = STORED[index]
    written = resource(case, f"s{index}")
    path = stored.client.path(written)
    again = {**written, "metadata": {**written["metadata"], "name": "again"}}
    assert not created(stored, again).ok  # or nothing would be tried here
    labelled = stored.client.request("PATCH", path, {"metadata": {"labels": {"a": "b"}}}, api.MERGE)
    assert labelled.ok, labelled.message
    if status := STATUS.get(case.written["kind"]):
        told = stored.client.request("PATCH", f"{path}/status", {"status": {**status, "observedGeneration": 1}}, api.MERGE)
        assert told.ok, told.message
    released = stored.client.request("PATCH", path, {"metadata": {"finalizers": None}}, api.MERGE)
    assert released.ok, released.message
    assert stored.client.request("DELETE", path).ok
    assert stored.client.request("GET", path).status == 404
