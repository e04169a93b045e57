"""Workers that an operator would not keep, so that a graph cannot be given back."""

from __future__ import annotations

import pytest

from krm_fn.migration.take_over import definitions, moved_graphs, operators, to_operator
from krm_fn.migration.take_over.moved_graphs import Applier, MovedGraph, NamespaceObjects, RefusedMoveError
from krm_fn.render import labels
from krm_fn.repository.files import kubectl
from tests.support import beta
from tests.support.cases import cases

GRAPH = beta.graph(beta.component("Decode", "decode"))


def worker(name, **more):
    marks = {labels.GRAPH: "chat", labels.WORKER_HASH: "0a1b2c3d", **more}
    metadata = {"name": name, "namespace": "team", "labels": marks}
    return {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "metadata": metadata, "spec": {}}


WORKERS = [
    ("a name without the hash", worker("chat-decode-0"), False, "the name lacks the worker hash"),
    ("a role of a DisaggregatedSet", worker("chat-0f0f0f0f-decode", **{labels.SET_NAME: "chat"}), False, "the DisaggregatedSet chat"),
    ("a role of a graph without hashes in names", worker("chat-0f-decode", **{labels.SET_NAME: "chat"}), True, "the DisaggregatedSet chat"),
]


@cases(("running", "unnamed", "said"), WORKERS)
def test_the_operator_would_run_new_workers_beside(running, unnamed, said, monkeypatch):
    annotations = {labels.WORKER_HASH_V1: "legacy"} if unnamed else {}
    graph = {**GRAPH, "metadata": {**GRAPH["metadata"], "annotations": annotations}}
    monkeypatch.setattr(kubectl, "served_resources", lambda: frozenset(moved_graphs.READ))
    monkeypatch.setattr(kubectl, "get", lambda *_: [graph, running])
    monkeypatch.setattr(definitions, "stored_versions", dict)
    monkeypatch.setattr(operators, "watching", lambda _: [])
    moved = MovedGraph("team", "chat", [graph], NamespaceObjects("team"), Applier())
    with pytest.raises(RefusedMoveError, match=said) as refused:
        to_operator.check_start([moved])
    assert [finding.code for finding in refused.value.findings] == ["DYN808"]
