"""The lines below the table of `krm-fn status`: what is ready, what was changed in the cluster, who writes statuses, and the next step."""

from __future__ import annotations

import copy
import datetime as dt
import re
from typing import Any

import pytest

from krm_fn.cli import status_wait
from krm_fn.cluster import timestamps
from krm_fn.render import labels
from tests.cli import console
from tests.cli.test_status import GRAPH, deployment, listing
from tests.support.cases import cases

WORKLOADS = (
    '[{"service":"Frontend","apiVersion":"apps/v1","kind":"Deployment","name":"chat-frontend","replicas":1},'
    '{"service":"Worker","apiVersion":"apps/v1","kind":"Deployment","name":"chat-worker","replicas":2}]'
)


NOW = dt.datetime(2026, 3, 1, 12, tzinfo=dt.UTC)


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    """The time of the command is NOW."""
    monkeypatch.setattr(timestamps, "now", lambda: ago(0))


def ago(seconds: int) -> str:
    """A time before NOW, as the API server writes it."""
    return (NOW - dt.timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def graph(ready: str = "True", written: int = 300) -> dict[str, Any]:
    """A rendered graph with a status that a syncer wrote some seconds ago."""
    resource = copy.deepcopy(GRAPH)
    manager = {"manager": "dynamo-status-syncer", "operation": "Update", "subresource": "status", "time": ago(written)}
    resource["metadata"] |= {"annotations": {labels.WORKLOADS: WORKLOADS}, "managedFields": [manager]}
    condition = {"type": "Ready", "status": ready, "reason": "a", "message": "", "lastTransitionTime": ago(written)}
    return {**resource, "status": {"state": "successful", "conditions": [condition]}}


def lease(renewed: int, holder: str = "krm-fn 0.2.0 krm-fn-sync-7d9", name: str = "krm-fn-sync") -> dict[str, Any]:
    metadata = {"name": name, "namespace": "dynamo-system"}
    spec = {"holderIdentity": holder, "leaseDurationSeconds": 15, "renewTime": f"{ago(renewed)[:-1]}.123456Z"}
    return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": spec}


BOTH = [deployment("chat-frontend", 1, 1), deployment()]
UNREADY = [deployment("chat-frontend", 1, 1), deployment(ready=1)]
DEAD = "next: kubectl get pods -n dynamo-system -l app.kubernetes.io/name=krm-fn-sync, because no syncer writes statuses"
OLD = "the stored status is old: team/chat says Ready=False, and its objects say Ready=True"
WROTE = "last status written 5m ago, of team/chat"
PODS = f"next: kubectl describe pods -n team -l {labels.GRAPH}=chat,{labels.COMPONENT}=Worker"
RUNS = f"syncer: runs, krm-fn 0.2.0 krm-fn-sync-7d9 (dynamo-system/krm-fn-sync); {WROTE}"
STOPPED = f"syncer: does not run, krm-fn 0.2.0 krm-fn-sync-7d9 renewed the Lease dynamo-system/krm-fn-sync last, 5h ago; {WROTE}"
MEMBERS = [lease(1, f"krm-fn-sync-{name}", f"krm-fn-sync-{name}") for name in "ab"]

ROWS = [
    ("all is well", [graph(), *BOTH, lease(2)], ["graphs 1/1 ready", RUNS]),
    ("a Deployment is not ready", [graph("False"), *UNREADY, lease(2)], ["graphs 0/1 ready", RUNS, PODS]),
    ("the syncer ended, and the stored status is old", [graph("False"), *BOTH, lease(18000)], ["graphs 1/1 ready", OLD, STOPPED, DEAD]),
    ("the syncer ended, and the stored status is still right", [graph(), *BOTH, lease(18000)], ["graphs 1/1 ready", STOPPED, DEAD]),
    (
        "nobody holds the Lease any more",
        [graph(), *BOTH, lease(18000, "")],
        ["graphs 1/1 ready", f"syncer: does not run, nobody renewed the Lease dynamo-system/krm-fn-sync last, 5h ago; {WROTE}", DEAD],
    ),
    (
        "members of shards",
        [graph(), *BOTH, *MEMBERS],
        [
            "graphs 1/1 ready",
            "syncer: runs, krm-fn-sync-a (dynamo-system/krm-fn-sync-a), krm-fn-sync-b (dynamo-system/krm-fn-sync-b); " + WROTE,
        ],
    ),
    ("without the Lease", [graph(), *BOTH], ["graphs 1/1 ready", f"syncer: unknown, the input has no Lease; {WROTE}"]),
    ("a status that no syncer wrote", [GRAPH, *BOTH], ["graphs 1/1 ready"]),
    (
        "a Deployment that somebody scaled",
        [graph(), BOTH[0], deployment("chat-worker", 1, 1), lease(2)],
        [
            "graphs 1/1 ready",
            "changed in the cluster: team/chat: Deployment chat-worker: replicas=1, in the graph=2; apply the render again",
            RUNS,
            "next: apply the output of the build again, or change the graph in Git (docs/status.md#changes-in-the-cluster)",
        ],
    ),
    (
        "a missing Deployment",
        [graph("False"), BOTH[0], lease(2)],
        ["graphs 0/1 ready", RUNS, "next: apply the output of the build again (docs/status.md#what-to-do)"],
    ),
]


@cases(("resources", "expected"), ROWS)
def test_the_lines_below_the_table(resources, expected):
    done = console.run("status", "-", stdin=listing(*resources))
    assert done.code == 0, done.err
    _, _, summary = done.out.partition("\n\n")
    lines = [line.partition(" (docs/syncer-operations.md")[0] for line in summary.splitlines()]
    assert lines == expected


def test_the_lines_have_colours_only_where_they_are_seen():
    text = listing(graph("False"), *BOTH, lease(18000))
    plain, coloured = (console.run("status", *options, "-", stdin=text).out for options in ([], ["--color", "always"]))
    assert "\x1b" not in plain
    assert "\x1b[32mgraphs 1/1 ready\x1b[0m" in coloured
    assert "\x1b[31mthe stored status is old" in coloured
    assert re.sub(r"\x1b\[\d+m", "", coloured) == plain


def test_programs_get_no_lines():
    assert "syncer:" not in console.run("status", "-o", "yaml", "-", stdin=listing(graph(), *BOTH, lease(2))).out


def test_a_log_has_a_line_for_each_change_and_each_minute(monkeypatch, capsys):
    times = iter([0.0, 1.0, 3.0, 5.0, 66.0, 67.0])
    monkeypatch.setattr(status_wait, "monotonic", lambda: next(times))
    with status_wait.show_wait() as show:
        for text in ("a", "a", "b", "b", "b"):
            show(text)
    assert capsys.readouterr().err.splitlines() == ["waiting: 1 s, a", "waiting: 5 s, b", "waiting: 66 s, b"]


def test_an_input_without_dynamo_resources_is_named():
    text = listing({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}})
    assert console.run("status", "-", stdin=text).err == "no Dynamo resource among the objects\n"
