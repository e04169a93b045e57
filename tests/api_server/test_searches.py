"""`krm-fn request get` against a real API server with definitions of requests of v1beta2, Runs and Candidates."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import Phase, given, settings

from krm_fn.render import dynamo_api
from krm_fn.schemas.generate import crds
from tests.cli import console
from tests.support import beta, definitions, searches
from tests.testbed import api, control_plane, programs

pytestmark = pytest.mark.server

_FREE = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_SCHEMA: dict[str, Any] = {"type": "object", "properties": {"spec": _FREE, "status": _FREE}}


def definition(kind: str) -> dict[str, Any]:
    """A definition of a kind in v1beta2 with a status, and without a schema of its fields."""
    plural = f"{kind.lower()}s"
    version = {"name": "v1beta2", "served": True, "storage": True, "subresources": {"status": {}}, "schema": {"openAPIV3Schema": _SCHEMA}}
    spec = {"group": dynamo_api.GROUP, "names": {"kind": kind, "plural": plural}, "scope": "Namespaced", "versions": [version]}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{dynamo_api.GROUP}"},
        "spec": spec,
    }


@pytest.fixture(scope="module")
def plane(tmp_path_factory):
    """A control plane of its own, whose requests have v1beta2 only, and whose graphs have v1beta1."""
    needed = control_plane.Programs(*(programs.path(name) for name in ("etcd", "kube-apiserver", "kubectl")))
    with control_plane.running(tmp_path_factory.mktemp("searches"), needed) as running:
        graphs = [entry for entry in crds.definitions("v1beta1") if entry["spec"]["names"]["kind"] == dynamo_api.GRAPH]
        definitions.serve(running, [*graphs, *map(definition, (dynamo_api.REQUEST, dynamo_api.RUN, dynamo_api.CANDIDATE))])
        running.namespace("team")
        yield running


def stored(plane, resource):
    """Creates a resource, and then writes its status, as an operator does."""
    metadata = {key: value for key, value in resource["metadata"].items() if key != "ownerReferences"}
    assert plane.client.create({**resource, "metadata": metadata}, dry_run=False).ok
    status(plane, resource, resource.get("status"))


def status(plane, resource, fields):
    answer = plane.client.request("PATCH", f"{plane.client.path(resource)}/status", {"status": fields}, api.MERGE)
    assert answer.ok, answer.message


def get(plane, *arguments):
    return console.run("request", "get", searches.NAME, "-n", "team", "--kubeconfig", plane.kubeconfig, *arguments)


def test_a_search_from_its_request_to_the_graph(plane):
    """The command waits for nothing: before the Run is done, it says so. The server accepts the graph that is printed."""
    assert "no DynamoGraphDeploymentRequest find in namespace team" in get(plane).err
    stored(plane, searches.request())
    assert get(plane).code == 3
    status(plane, searches.request(), {"activeRunRef": {"name": "find-1"}})
    assert "no DynamoGraphDeploymentRun find-1" in get(plane).err
    run = searches.run("a", "b")
    stored(plane, {**run, "status": {"phase": "Running"}})
    assert (get(plane).code, get(plane).err) == (3, "Error: the Run find-1 is not done: Running\n")
    frontend = {"components": [beta.component("Frontend", "frontend")]}
    for candidate in (searches.candidate("a", frontend, valid="False"), searches.candidate("b")):
        stored(plane, candidate)
    status(plane, run, run["status"])
    done = get(plane, "--graph-name", "chat")
    assert done.code == 0, done.err
    graph = yaml.safe_load(done.out)
    assert (graph["metadata"], graph["spec"]) == ({"name": "chat", "namespace": "team"}, searches.candidate("b")["spec"])
    assert plane.judge(graph).ok
    assert get(plane, "--candidate", "a").code == 1


def test_the_server_accepts_each_found_graph_and_its_render(plane):
    """30 drawn Candidates: the printed graph has the spec of the Candidate, and the server accepts it and all objects of its render."""
    found = []

    @settings(max_examples=30, derandomize=True, database=None, deadline=None, phases=[Phase.generate])
    @given(searches.GRAPHS)
    def drawn(spec):
        found.append(spec)

    drawn()
    name = "drawn-1"
    plane.client.create({**searches.request(), "metadata": {"name": "drawn", "namespace": "team"}}, dry_run=False)
    status(plane, {**searches.request(), "metadata": {"name": "drawn", "namespace": "team"}}, {"activeRunRef": {"name": name}})
    candidates = [searches.candidate(f"drawn-{number}", spec) for number, spec in enumerate(found)]
    stored(plane, searches.run(*(candidate["metadata"]["name"] for candidate in candidates), name=name))
    for candidate in candidates:
        stored(plane, candidate)
    for rank, spec in enumerate(found, 1):
        done = console.run("request", "get", "drawn", "-n", "team", "--kubeconfig", plane.kubeconfig, "--rank", str(rank))
        assert (done.code, yaml.safe_load(done.out)["spec"]) == (0, spec), done.err
        objects = [*yaml.safe_load_all(console.run("render", "-", stdin=done.out).out)]
        refused = [answer.message for answer in map(plane.judge, objects) if not answer.ok]
        assert (len(objects) > 3, refused) == (True, [])
    assert len(found) == 30
