"""A real API server refuses a change of a native object exactly where the forecast says so."""

from __future__ import annotations

import itertools
import os

import pytest

from krm_fn.kubernetes import identity, paths
from krm_fn.review import forecast
from krm_fn.review.forecast import native_kinds, object_rules
from tests.review.forecast import given, native_objects, refusals
from tests.review.forecast.random_edits import Editor, Schemas
from tests.testbed import api
from tests.testbed.control_plane import EXISTS

UPDATES = int(os.environ.get("KRM_FN_UPDATES", "60"))  # `make forecast` takes 400
SEED = 4
NOTHING = object_rules.ClusterState({}, {}, {})
TRIES = 60  # edits of one object until one is valid
SPACE = "updates"


def bound(plane, claim):
    """Bind a claim, as a controller does: only a bound claim can grow."""
    status = {"phase": "Bound", "capacity": {"storage": claim["spec"]["resources"]["requests"]["storage"]}}
    assert plane.client.request("PATCH", f"{plane.client.path(claim)}/status", {"status": status}, api.MERGE).ok


def in_namespace(plane, resource, name=""):
    """The object in the namespace of these tests, if its kind has one."""
    metadata = {**resource["metadata"], "name": name or resource["metadata"]["name"], "namespace": SPACE}
    if "/namespaces/" not in plane.client.path({**resource, "metadata": metadata}):
        del metadata["namespace"]
    return {**resource, "metadata": metadata}


@pytest.fixture(scope="module")
def objects(control_plane):
    """The objects of `native_objects` on the server. Those without a namespace are removed at the end."""
    control_plane.namespace(SPACE)
    stored = [in_namespace(control_plane, resource) for resource in native_objects.ALL]
    for resource in stored:
        answer = control_plane.apply(resource, dry_run=False)
        assert answer.ok, (resource["kind"], answer.message)
        if resource["kind"] == "PersistentVolumeClaim":
            bound(control_plane, resource)
    yield stored
    for resource in stored:
        if "namespace" not in resource["metadata"]:
            control_plane.client.request("DELETE", control_plane.client.path(resource))


@pytest.mark.parametrize("refusal", refusals.ALL, ids=lambda refusal: refusal.reason)
def test_a_listed_change_is_refused_where_the_list_says_so(refusal, control_plane, objects):
    old, new = (in_namespace(control_plane, resource) for resource in (refusal.old, refusals.changed(refusal)))
    if old not in objects:
        old, new = (in_namespace(control_plane, resource, "listed") for resource in (old, new))
        assert control_plane.apply(old, dry_run=False).ok
    answer = control_plane.apply(new)
    assert answer.ok == (not refusal.cause), answer.message


def is_unlike(old, edit):
    """Empty maps that the forecast reads as missing ones.

    An immutable ConfigMap with an empty map differs for the server from one without. A Job keeps the labels that the server adds to the
    pods if the file has empty labels.
    """
    is_map = old["kind"] == "ConfigMap" and old.get("immutable") and edit.action == "empty"
    return is_map or (old["kind"] == "Job" and paths.at(edit.new, ("spec", "template", "metadata", "labels")) == {})


def valid_edits(plane, schemas, old):
    """Edits after which the object would be valid if it were new, and None for each other edit."""
    for edit in Editor(schemas, old, SEED).edits():
        if edit.new != old:
            yield edit if plane.client.create(edit.new).status == EXISTS and not is_unlike(old, edit) else None


def test_a_random_update_is_refused_where_the_forecast_says_so(control_plane, objects, measured):
    schemas = Schemas(control_plane.client)
    streams = [(old, valid_edits(control_plane, schemas, old)) for old in objects]
    wrong, count, refused = [], 0, 0
    for old, stream in itertools.islice(itertools.cycle(streams), 2 * UPDATES):
        edit = next((edit for edit in itertools.islice(stream, TRIES) if edit), None)
        answer = control_plane.apply(edit.new) if edit else None
        if edit is None or answer is None or "failed to create typed patch object" in answer.message:
            continue  # invalid for server-side apply only
        effect = forecast.kind_forecast(given.change(old, edit.new), NOTHING).effect
        count, refused = count + 1, refused + (not answer.ok)
        if (effect == "refused") == answer.ok:
            wrong.append((old["kind"], old["metadata"]["name"], edit.path, edit.action, effect, answer.message[:300]))
        if count == UPDATES:
            break
    measured.append(f"{count} random updates, {refused} refused by the server, {len(wrong)} forecast wrongly")
    assert not wrong, "\n".join(map(repr, wrong))
    assert count == UPDATES


def test_every_kind_of_the_server_has_a_row_and_a_scope(control_plane):
    """All kinds of stable API versions that can be updated. Events and reviews are no objects that a repository holds."""
    client = control_plane.client
    versions = ["v1", *(group["preferredVersion"]["groupVersion"] for group in client.get("/apis")["groups"])]
    rows, scoped = set(), set()
    for version in versions:
        group = version.rpartition("/")[0]
        for entry in client.get(f"/apis/{version}" if group else f"/api/{version}")["resources"]:
            if "update" in entry["verbs"] and "/" not in entry["name"] and group in NATIVE and entry["kind"] != "Event":
                rows.add((group, entry["kind"]))
                scoped |= set() if entry["namespaced"] else {(group, entry["kind"])}
    assert rows == native_kinds.KINDS.keys()
    assert scoped == identity.CLUSTER_SCOPED


NATIVE = {group for group, _ in native_kinds.KINDS} | {"events.k8s.io", "internal.apiserver.k8s.io"}
