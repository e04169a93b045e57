"""Definitions that serve one version are exchanged for those that serve the other, with live objects, on a real API server.

Two served versions without a conversion webhook lose fields, so each set of definitions serves one version, and Git has the converted
resources.
"""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode

import pytest

from krm_fn.render.convert import versions
from krm_fn.schemas.generate import crds
from tests.platform import test_crds
from tests.support import definitions, schema_mistakes
from tests.testbed import api, control_plane, programs, server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.testbed.control_plane import ControlPlane

pytestmark = [pytest.mark.server, pytest.mark.xdist_group("dynamo_v1beta1")]
ALPHA, BETA = "v1alpha1", "v1beta1"
READY = {**test_crds.READY, "observedGeneration": 1}

WORKER = {
    "componentType": "worker",
    "subComponentType": "decode",
    "replicas": 2,
    "resources": {"limits": {"gpu": "1"}},
    "envs": [{"name": "B", "value": "2"}],
    "extraPodSpec": {"mainContainer": {"image": "registry.example/dynamo:1.5.0", "ports": [{"containerPort": 9000}]}},
}
GRAPH = schema_mistakes.graph(
    {"backendFramework": "vllm", "envs": [{"name": "A", "value": "1"}], "pvcs": [{"name": "cache"}], "services": {"Worker": WORKER}}
)
GRAPH["metadata"] = {"name": "llm", "namespace": "default"}
SHRINKING, FORGOTTEN, CLIENT_SIDE, LOST = (
    {**GRAPH, "metadata": {"name": name, "namespace": "default"}} for name in ("shrinking", "forgotten", "client-side", "lost")
)
COMPONENT = schema_mistakes.other("DynamoComponentDeployment", {"serviceName": "Worker", "backendFramework": "vllm", **WORKER})
ADAPTER = schema_mistakes.other("DynamoGraphDeploymentScalingAdapter", {"replicas": 2, "dgdRef": {"name": "llm", "serviceName": "Worker"}})
REQUEST = schema_mistakes.request(config={"sla": {"ttft": 200}})
LIVE: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (GRAPH, {"state": "successful", "conditions": [READY]}),
    (COMPONENT, {"conditions": [READY]}),
    (ADAPTER, {"replicas": 2, "conditions": [READY]}),
    (REQUEST, {"conditions": [READY]}),
]
"""One resource of each kind, with its status."""
KINDS = {written["kind"] for written, _ in LIVE}


def applied(plane: ControlPlane, written: dict[str, Any], manager: str = "gitops") -> api.Answer:
    """Strict server-side apply by one manager, as Flux and Argo CD do it."""
    asked = urlencode({"fieldManager": manager, "force": "true", "fieldValidation": "Strict"})
    return plane.client.request("PATCH", f"{path(written)}?{asked}", written, api.APPLY)


def path(written: dict[str, Any]) -> str:
    return f"/apis/{written['apiVersion']}/namespaces/default/{written['kind'].lower()}s/{written['metadata']['name']}"


def serve(plane: ControlPlane, version: str) -> None:
    """Exchange the definitions with a server-side apply, and wait until the API server serves this version alone."""
    definitions.serve(plane, [each for each in crds.definitions(version) if each["spec"]["names"]["kind"] in KINDS])
    other = ALPHA if version == BETA else BETA
    for kind in KINDS:
        server.eventually(lambda: not plane.client.request("GET", f"/apis/nvidia.com/{other}/{kind.lower()}s").ok)  # noqa: B023 - called at once


def listed(plane: ControlPlane, folder: str) -> list[list[str]]:
    """The rows of `kubectl get dgd` with a new cache: kubectl keeps its list of served versions for some hours."""
    return [row.split() for row in plane.kubectl("--cache-dir", folder, "get", "dgd").splitlines()]


def lost(written: Any, live: Any, at: str = "") -> Iterator[str]:
    """The fields that a live object lacks, or has with another value. It may have more, because an API server writes defaults."""
    if isinstance(written, dict) and isinstance(live, dict):
        for key, inner in written.items():
            yield from lost(inner, live.get(key), f"{at}.{key}")
    elif isinstance(written, list) and isinstance(live, list) and len(written) == len(live):
        for index, (inner, now) in enumerate(zip(written, live, strict=True)):
            yield from lost(inner, now, f"{at}[{index}]")
    elif written != live:
        yield f"{at}: {written} became {live}"


def create(plane: ControlPlane) -> dict[tuple[str, str], Any]:
    """Store the resources as v1alpha1, with their status; returns their metadata by kind and name."""
    found = {}
    for written in (SHRINKING, FORGOTTEN):
        assert applied(plane, written).ok
    for written, status in LIVE:
        answer = applied(plane, written)
        assert answer.ok, answer.message
        found[key(written)] = answer.body["metadata"]
        assert plane.client.request("PATCH", f"{path(written)}/status?fieldManager=syncer", {"status": status}, api.MERGE).ok
    return found


def key(written: dict[str, Any]) -> tuple[str, str]:
    return written["kind"], written["metadata"]["name"]


class Exchanged(NamedTuple):
    """A control plane with live objects after the exchange of v1alpha1 for v1beta1.

    `before` is the table of `kubectl get dgd` before, `after` right after, and `metadata` that of the objects before.
    """

    plane: ControlPlane
    before: list[list[str]]
    after: list[list[str]]
    metadata: dict[tuple[str, str], Any]


@pytest.fixture(scope="module")
def exchanged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Exchanged]:
    """Each test leaves v1beta1 served."""
    needed = control_plane.Programs(*(programs.path(name) for name in ("etcd", "kube-apiserver", "kubectl")))
    folder = tmp_path_factory.mktemp("exchange")
    with control_plane.running(folder, needed) as plane:
        serve(plane, ALPHA)
        metadata = create(plane)
        plane.kubectl("--cache-dir", f"{folder}/c", "apply", "-f", "-", input=json.dumps(CLIENT_SIDE))
        before = listed(plane, f"{folder}/a")
        serve(plane, BETA)
        yield Exchanged(plane, before, listed(plane, f"{folder}/b"), metadata)


def test_the_table_of_graphs_stays(exchanged):
    assert exchanged.before[0] == ["NAME", "READY", "BACKEND", "AGE"]
    assert ["llm", "True", "vllm"] in [row[:3] for row in exchanged.before]
    assert [row[:-1] for row in exchanged.after] == [row[:-1] for row in exchanged.before]


def test_live_objects_survive_the_exchange_and_the_way_back(exchanged):
    """0 fields are lost, objects keep their identity and status, and a server-side apply of the converted resource is enough."""
    plane = exchanged.plane
    for turn, version in enumerate((BETA, ALPHA, BETA)):
        if turn:
            serve(plane, version)
        for original, status in LIVE:
            written = versions.to(version, original)
            for manager in ("another", "gitops"):
                answer = applied(plane, written, manager)
                assert answer.ok, answer.message
            live = plane.client.get(path(written))
            assert [*lost(written["spec"], live["spec"])] == []
            assert live["metadata"]["uid"] == exchanged.metadata[key(original)]["uid"]
            assert live["metadata"].get("annotations", {}) == written["metadata"].get("annotations", {})
            assert live["status"]["conditions"] == status["conditions"]


def test_fields_that_leave_git_later_leave_the_cluster_too(exchanged):
    """The managed fields of the other version do not keep fields alive."""
    written = versions.to(BETA, SHRINKING)
    assert applied(exchanged.plane, written).ok
    del written["spec"]["env"]
    answer = applied(exchanged.plane, written)
    assert answer.ok, answer.message
    assert "env" not in answer.body["spec"]


def test_client_side_apply_works_after_the_exchange(exchanged, tmp_path):
    written = versions.to(BETA, CLIENT_SIDE)
    exchanged.plane.kubectl("--cache-dir", str(tmp_path), "apply", "-f", "-", input=json.dumps(written))
    assert [*lost(written["spec"], exchanged.plane.client.get(path(written))["spec"])] == []


def test_what_is_not_converted_reads_with_the_shared_fields_only(exchanged):
    """The reason why Git must have the converted resources before the exchange. The object can still be changed and deleted."""
    forgotten = {**FORGOTTEN, "apiVersion": f"nvidia.com/{BETA}"}
    assert exchanged.plane.client.get(path(forgotten))["spec"] == {"backendFramework": "vllm"}
    labelled = exchanged.plane.client.request("PATCH", path(forgotten), {"metadata": {"labels": {"a": "b"}}}, api.MERGE)
    assert labelled.ok, labelled.message


def test_both_versions_were_stored(exchanged):
    """An API server refuses definitions without a version that it may have stored, so both sets list both versions."""
    plane = exchanged.plane
    (definition,) = [each for each in crds.definitions(BETA) if each["spec"]["names"]["kind"] == "DynamoGraphDeployment"]
    assert set(plane.client.get(plane.client.path(definition))["status"]["storedVersions"]) == {ALPHA, BETA}
    alone = copy.deepcopy(definition)
    del alone["spec"]["versions"][1]
    answer = plane.apply(alone)
    assert not answer.ok
    assert "must remain in spec.versions" in answer.message


def both_served() -> dict[str, Any]:
    """A definition of graphs that serves both versions without a webhook, and has no rule that a graph needs components."""
    alpha, beta = (
        next(each for each in crds.definitions(version) if each["spec"]["names"]["kind"] == "DynamoGraphDeployment")["spec"]["versions"][0]
        for version in (ALPHA, BETA)
    )
    (definition,) = [each for each in crds.definitions(BETA) if each["spec"]["names"]["kind"] == "DynamoGraphDeployment"]
    for version in (alpha, beta):
        del version["schema"]["openAPIV3Schema"]["x-kubernetes-validations"]
    definition["spec"]["versions"] = [beta, {**alpha, "storage": False}]
    return definition


def test_two_served_versions_without_a_webhook_lose_fields(exchanged):
    """The API server drops the services of a v1alpha1 graph before it answers, and says nothing."""
    plane = exchanged.plane
    definitions.serve(plane, [both_served()])
    answers = []

    def is_created():
        answers.append(plane.client.request("POST", f"{path(LOST).rpartition('/')[0]}?fieldValidation=Strict", LOST))
        return answers[-1].ok

    server.eventually(is_created)
    assert answers[-1].warnings == ()
    assert answers[-1].body["spec"] == {"backendFramework": "vllm"}
    for version in (ALPHA, BETA):
        assert plane.client.get(path({**LOST, "apiVersion": f"nvidia.com/{version}"}))["spec"] == {"backendFramework": "vllm"}
    serve(plane, BETA)


def test_a_webhook_of_an_operator_does_not_stay_unnoticed(exchanged):
    """Our definitions have no conversion. An apply over an operator's definition is refused, and a replacement removes its webhook."""
    (ours,) = [each for each in crds.definitions(BETA) if each["spec"]["names"]["kind"] == "DynamoGraphDeploymentScalingAdapter"]
    operators = copy.deepcopy(ours)
    service = {"name": "dynamo-platform-webhook", "namespace": "dynamo-system", "path": "/convert"}
    operators["spec"]["conversion"] = {
        "strategy": "Webhook",
        "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": {"service": service}},
    }
    plane = exchanged.plane
    where = plane.client.path(ours)
    assert plane.client.request("PATCH", f"{where}?fieldManager=helm&force=true", operators, api.APPLY).ok
    refused = plane.apply(ours)
    assert "should not be set when strategy is not set to Webhook" in refused.message
    plane.kubectl("replace", "-f", "-", input=json.dumps(ours))
    assert plane.client.get(where)["spec"]["conversion"] == {"strategy": "None"}
