"""Every rule fires at the field where the user can mend it, its twin does not, and no finding hides another."""

from __future__ import annotations

import pytest

from krm_fn.base import results
from tests.support import faults, given, newer_faults, newer_pod_faults

ALL = [*faults.ALL, *newer_faults.ALL, *newer_pod_faults.ALL]


@pytest.mark.parametrize("case", ALL, ids=[case.reason for case in ALL])
def test_exactly_this_is_said(case):
    assert given.findings(given.expanded(*case.items, **case.settings).results) == case.found


@pytest.mark.parametrize("case", [case for case in ALL if case.found], ids=[case.reason for case in ALL if case.found])
def test_a_finding_says_what_is_wrong_and_how_to_mend_it(case):
    for finding in given.expanded(*case.items, **case.settings).results:
        assert finding.ref in [results.ref(item) for item in case.items]
        assert "; " in finding.message or finding.severity != "error"


def test_a_mount_over_the_default_shared_memory_is_told_how_to_leave_the_default_out():
    """The user wrote one mount, so the message names the second."""
    mounted = {"volumeMounts": [{"name": "a", "mountPath": "/dev/shm"}]}  # noqa: S108 - the kernel's name for it
    written = given.service("worker", main=mounted, pod={"volumes": [{"name": "a", "emptyDir": {}}]})
    (found,) = given.expanded(given.graph({"Worker": written})).results
    problem, _, mend = found.message.partition("; ")
    assert (found.code, problem) == ("DYN209", "two volumes are mounted at /dev/shm, and the second is the default shared memory")
    assert mend == "remove this mount, or set sharedMemory.disabled: true"


def test_a_claim_at_the_place_of_another_mount_is_told_nothing_of_shared_memory():
    main = {"volumeMounts": [{"name": "a", "mountPath": "/data"}]}
    written = given.service(
        "worker", main=main, pod={"volumes": [{"name": "a", "emptyDir": {}}]}, volumeMounts=[{"name": "b", "mountPoint": "/data"}]
    )
    (found,) = given.expanded(given.graph({"Worker": written})).results
    assert (found.code, found.message) == ("DYN209", "two volumes are mounted at /data; mount one of them elsewhere")


@pytest.mark.parametrize("engine", ["vllm", "trtllm"])
def test_a_variable_without_a_name_does_not_stop_the_engines_rules(engine):
    """The schema reports it, and the other rules run on the rest of the resource."""
    main = {"command": ["python3", "-m", f"dynamo.{engine}"], "args": ["--tensor-parallel-size", "16"]}
    written = given.service("worker", main=main, multinode={"nodeCount": 2}, resources={"limits": {"gpu": "8"}}, envs=[{"value": "a"}])
    assert given.findings(given.expanded(given.graph({"Worker": written})).results) == [("DYN022", "spec.services.Worker.envs[0].name")]


@pytest.mark.parametrize("behaviour", ["v0.9", "v1.5", "v1.6"])
def test_pods_for_the_kai_scheduler_without_a_queue_are_only_warned_of(behaviour):
    """KAI puts them into its default queue, and the operator and Grove 0.1.0-alpha.3 accept them."""
    graph = given.graph({"Worker": given.service("worker", pod={"schedulerName": "kai-scheduler"})})
    findings = given.expanded(graph, orchestrator="grove", behaviour=behaviour).results
    assert [finding.severity for finding in findings if finding.code == "DYN192"] == ["warning"]
