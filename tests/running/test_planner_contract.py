"""NVIDIA's planners of v1beta1 read the status that the syncer computes: its numbers are theirs, and they refuse what we leave out.

Each planner runs with the Python of its release. It needs no cluster: the objects are those of a render, with the status of controllers.
"""

from __future__ import annotations

import copy
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import runtimes

from krm_fn.render import labels
from krm_fn.syncer.status import DEFAULT_FEATURES, cached_object, graph_status
from krm_fn.syncer.status.workload_index import WorkloadIndex
from tests.running import bed
from tests.support import beta, given
from tests.support.cases import cases

READER = Path(__file__).with_name("planner_reader.py")
RELEASES = [release for release in runtimes.RELEASES if not release.startswith("0.")]
NOW = "2026-03-01T12:00:00Z"
FLAGS = ["--model", "llama", "--endpoint", "dyn://team.engine.generate"]
COUNTS = ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas")


def worker(gpus: Any = 4, beside: Any = (), claims: Any = None, **fields: Any) -> Any:
    resources = {"claims": [{"name": "mine"}]} if claims else {"limits": {"nvidia.com/gpu": gpus}} if gpus else {}
    main = {"command": ["python3", "-m", "dynamo.vllm"], "args": FLAGS, "resources": resources}
    pod = {"resourceClaims": [{"name": "mine", "resourceClaimTemplateName": claims}]} if claims else {}
    return beta.component("Worker", main=main, pod=pod, beside=beside, replicas=2, **fields)


def settled(written: Any, orchestrator: str) -> Any:
    """A graph that runs as its spec requires, with the status of the syncer."""
    rendered = given.rendered(beta.graph(written, backendFramework="vllm"), behaviour="v1.6", orchestrator=orchestrator)
    graph = copy.deepcopy(rendered["DynamoGraphDeployment/chat"])
    graph["metadata"]["generation"] = 1
    entries = cached_object.read(graph).entries or ()
    living = [workload(entry.api_version, entry.kind, entry.name, graph) for entry in entries]
    index = WorkloadIndex.of([*living, *(rendered[name] for name in rendered if name.startswith("PodCliqueSet/"))])
    return {**graph, "status": graph_status.of_graph(cached_object.read(graph), index, NOW, DEFAULT_FEATURES)}


def workload(api: str, kind: str, name: str, graph: Any) -> Any:
    """A workload with two replicas, as its controller reports it."""
    status = {"observedGeneration": 1, **dict.fromkeys(COUNTS, 2), "conditions": [{"type": "Available", "status": "True"}]}
    marks = {labels.PART_OF: "chat"}
    metadata = {"name": name, "namespace": graph["metadata"]["namespace"], "generation": 1, "labels": marks}
    return {"apiVersion": api, "kind": kind, "metadata": metadata, "spec": {"replicas": 2}, "status": status}


def asked(release: str, graph: Any, folder: Path) -> dict[str, Any]:
    """The answers of the planner of a release about this graph, and about its only worker."""
    (folder / "graph.json").write_text(json.dumps(graph))
    python = bed.environment(release) / "bin" / "python3"
    done = subprocess.run([python, READER, folder / "graph.json"], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    answers: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return {**answers, **answers.pop("workers")["Worker"]}


LAYOUTS = [
    # reason, orchestrator, fields of the worker, GPUs of an engine, GPUs of a replica
    ("a Deployment", "deployment", {}, 4, 4),
    ("a LeaderWorkerSet", "deployment", {"multinode": {"nodeCount": 2}}, 8, 8),
    ("a PodClique", "grove", {}, 4, 4),
    ("a PodCliqueScalingGroup", "grove", {"multinode": {"nodeCount": 2}}, 8, 8),
    ("no GPU", "deployment", {"gpus": None}, 0, 0),
    (
        "another container with a GPU",
        "deployment",
        {"beside": [{"name": "helper", "image": beta.IMAGE, "resources": {"limits": {"nvidia.com/gpu": 1}}}]},
        4,
        5,
    ),
]


@pytest.mark.parametrize("release", RELEASES)
@cases(("orchestrator", "fields", "engine", "replica"), LAYOUTS)
def test_a_planner_reads_the_numbers_of_the_syncer(release, orchestrator, fields, engine, replica, tmp_path):
    limit = {"metadata": {"annotations": {labels.POWER_LIMIT: "300"}}} if fields.get("gpus", 4) else {}
    answers = asked(release, settled(worker(**fields, **limit), orchestrator), tmp_path)
    assert answers["gpus"] == {"gpus_per_engine": engine, "gpus_per_replica": replica}
    assert (answers["model"], answers["component"]) == ("llama", "engine")
    assert answers["watts"] == 300 or not limit
    assert (answers["ready"], answers["observed"], answers["replicas"]) == (True, True, [2, True])
    assert answers["settling"] == [False, ""]


@pytest.mark.parametrize("release", RELEASES)
def test_a_planner_refuses_to_scale_without_the_gpus_of_claims(release, tmp_path):
    """The message of the syncer says why they are absent. An older number would be worse than none."""
    graph = settled(worker(claims="gpus"), "deployment")
    assert "run krm-fn sync with --device-claims" in graph["status"]["conditions"][0]["message"]
    refusal = asked(release, graph, tmp_path)["gpus"]["refused"]
    assert refusal.startswith("GPUShapeUnavailableError")


@pytest.mark.parametrize("release", RELEASES)
def test_a_planner_waits_for_a_number_that_git_leaves_out(release, tmp_path):
    """So the syncer writes it into a graph with a planner."""
    graph = settled(worker(), "deployment")
    del graph["spec"]["components"][0]["replicas"]
    assert asked(release, graph, tmp_path)["replicas"] == [2, False]
