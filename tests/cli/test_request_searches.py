"""`krm-fn request get` of a request of v1beta2: its Run, its Candidates and the graph."""

from __future__ import annotations

import contextlib
import json

import hypothesis
import pytest
import yaml
from hypothesis import strategies as st

from krm_fn.review import search_results
from tests.cli import console
from tests.support import beta, given, searches
from tests.support.cases import cases
from tests.testbed import tier

FRONTEND = {"components": [beta.component("Frontend", "frontend")]}
STATUS = {"activeRunRef": {"name": "find-1"}, "recentRunRefs": [{"name": "find-1"}, {"name": "find-0"}]}
REQUEST = searches.request(STATUS)


def get(*resources, arguments=()):
    """The verb with these objects on stdin."""
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": list(resources)})
    return console.run("request", "get", searches.NAME, *arguments, "-", stdin=text)


def named(graph, name=searches.NAME):
    return {"apiVersion": "nvidia.com/v1beta1", "kind": "DynamoGraphDeployment", "metadata": {"name": name, "namespace": "team"}, **graph}


def three():
    """A Run with three Candidates, of which the best one is not valid. Their order among the objects is not their rank."""
    candidates = [searches.candidate("c", FRONTEND), searches.candidate("a", FRONTEND, valid="False"), searches.candidate("b")]
    return [REQUEST, searches.run("a", "b", "c"), *candidates]


def test_the_graph_of_the_only_candidate():
    """A new name, and the spec alone: no status, no owner, no labels."""
    candidate = searches.candidate("find-1-0")
    done = get(REQUEST, searches.run("find-1-0"), candidate)
    assert (done.code, done.err) == (0, "")
    assert yaml.safe_load(done.out) == named({"spec": candidate["spec"]})


def test_the_best_valid_candidate_and_a_note_about_the_others():
    done = get(*three())
    assert (done.code, yaml.safe_load(done.out)["spec"]) == (0, searches.candidate("b")["spec"])
    assert done.err == "note: this is Candidate 2 of 3: 1 a (it is not valid: the search has judged it), 2 b, 3 c\n"


@pytest.mark.parametrize("arguments", [["--candidate", "c"], ["--rank", "3"]])
def test_a_chosen_candidate(arguments):
    done = get(*three(), arguments=[*arguments, "--graph-name", "chat"])
    assert (done.code, yaml.safe_load(done.out)) == (0, named({"spec": FRONTEND}, "chat"))


def test_a_candidate_that_nothing_has_judged_may_be_written():
    """The first releases have no condition `Valid`."""
    assert get(REQUEST, searches.run("a"), searches.candidate("a", valid="")).code == 0


@pytest.mark.parametrize("version", ["nvidia.com/v1beta1", "nvidia.com/v1alpha1"])
def test_a_view_of_the_request_is_enough(version):
    """An export of a cluster has the version that was asked for."""
    request = {**searches.view(searches.SPEC, version), "status": {"v1beta2": STATUS}}
    assert get(request, searches.run("a"), searches.candidate("a")).code == 0


def test_the_newest_run_counts_if_none_is_active():
    request = searches.request({"recentRunRefs": [{"name": "find-1"}, {"name": "find-0"}]})
    assert get(request, searches.run("a"), searches.run("b", name="find-0"), searches.candidate("a", FRONTEND)).code == 0


def test_a_request_that_has_changed_since_is_a_note():
    request = {**REQUEST, "metadata": {**REQUEST["metadata"], "generation": 3}, "status": {**STATUS, "observedGeneration": 2}}
    done = get(request, searches.run("a"), searches.candidate("a"))
    assert (done.code, done.err[:45]) == (0, "note: the request has changed since this sear")


def test_a_field_of_a_later_release_is_a_note():
    spec = {"components": [{**beta.component("Worker"), "laterField": 1}]}
    done = get(REQUEST, searches.run("a"), searches.candidate("a", spec))
    assert (done.code, yaml.safe_load(done.out)["spec"]) == (0, spec)
    assert done.err == "note: this krm-fn does not know these fields: spec.components[0].laterField\n"


PROGRESS = {
    "branches": [
        {
            "name": "vllm",
            "rounds": {"completed": 3, "total": 20},
            "evaluations": {"scheduled": 9, "feasible": 4, "infeasible": 2},
            "candidates": {"published": 2},
        }
    ]
}
PARETO = {**searches.run("a", "b"), "spec": {**searches.SPEC, "objective": {"mode": "pareto", "metrics": ["goodput", "throughput"]}}}
RUNNING = searches.run("a", phase="Running", conditions=[{"type": "Completed", "status": "False"}], progress=PROGRESS)
FAILURE = [{"type": "Completed", "status": "True", "reason": "JobFailed", "message": "the Job reached its backoff limit"}]
REJECTED = searches.request({"conditions": [{"type": "Accepted", "status": "False", "message": "the SKU is unknown"}]})
WITHOUT = [
    # reason, exit code, objects, options, message
    ("no Run yet", 3, [searches.request()], [], "the request has no Run yet; "),
    ("the operator refuses the request", 1, [REJECTED], [], "the operator did not accept the request: the SKU is unknown"),
    ("the Run is not among the objects", 1, [REQUEST], [], "no DynamoGraphDeploymentRun find-1 in namespace team; "),
    (
        "the Run has not ended",
        3,
        [REQUEST, RUNNING, searches.candidate("a")],
        [],
        "the Run find-1 is not done: Running; vllm: 3 of 20 rounds, evaluations: 9 scheduled, 4 feasible, 2 infeasible, 2 Candidates\n",
    ),
    ("a Run without a status", 3, [REQUEST, {**searches.run(), "status": None}], [], "the Run find-1 is not done: no phase yet\n"),
    ("the phase is not enough", 3, [REQUEST, searches.run("a", conditions=[])], [], "the Run find-1 is not done: Succeeded\n"),
    (
        "the Run failed",
        1,
        [REQUEST, searches.run(phase="Failed", conditions=FAILURE)],
        [],
        "the Run find-1 failed: the Job reached its backoff limit",
    ),
    ("no Candidate", 1, [REQUEST, searches.run()], [], "the Run find-1 found no Candidate"),
    ("the Candidate is gone", 1, [REQUEST, searches.run("a")], [], "no Candidate can be deployed: 1 a (it does not exist)"),
    ("a Candidate that is not valid", 1, three(), ["--rank", "1"], "no Candidate can be deployed: 1 a (it is not valid: "),
    ("an unknown Candidate", 1, three(), ["--candidate", "x"], "no Candidate of the Run find-1 is named x; it has 1 a "),
    ("an unknown rank", 1, three(), ["--rank", "9"], "no Candidate of the Run find-1 has rank 9; it has 1 a "),
    (
        "Candidates without an order",
        1,
        [REQUEST, PARETO, searches.candidate("a"), searches.candidate("b")],
        [],
        "the Candidates of a search for several metrics have no order; choose one with --candidate: 1 a, 2 b",
    ),
    ("no graph", 1, [REQUEST, searches.run("a"), searches.candidate("a", {"services": {}})], [], "the spec of the Candidate a has no comp"),
    ("a spec that is a text", 1, [REQUEST, searches.run("a"), searches.candidate("a", "x")], [], "the spec of the Candidate a has no comp"),
    (
        "a graph with a mistake",
        1,
        [REQUEST, searches.run("a"), searches.candidate("a", {"components": [{"name": 1}]})],
        [],
        "the spec of the Candidate a is not that of a graph: spec.components[0].name: ",
    ),
    ("both views at once", 1, [searches.view(searches.SPEC, model="m")], [], "the spec of the request has a view and fields of its own; "),
]


@cases(("code", "objects", "options", "message"), WITHOUT)
def test_without_a_graph_it_says_why(code, objects, options, message):
    done = get(*objects, arguments=options)
    assert (done.code, done.out) == (code, "")
    assert done.err.startswith(f"Error: {message}")


WRONG = [
    (["--candidate", "a", "--rank", "1"], "--candidate and --rank do not go together"),
    (["--rank", "0"], "0 is not in the range x>=1"),
    (["--graph-name", "../x"], "is not the name of a graph or a Candidate"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG, ids=[row[1] for row in WRONG])
def test_wrong_usage(arguments, message):
    done = get(*three(), arguments=arguments)
    assert (done.code, done.out) == (2, "")
    assert message in done.err


def test_the_options_of_candidates_are_for_searches_only():
    old = given.item("DynamoGraphDeploymentRequest", searches.NAME, api="nvidia.com/v1beta1", spec={"model": "m", "backend": "vllm"})
    done = get(old, arguments=["--rank", "1"])
    assert (done.code, done.out) == (2, "")
    assert "are for requests of v1beta2, and find is none" in done.err


def test_a_request_of_v1beta1_that_a_server_shows_in_v1beta2():
    """Its profiler has no output, as the message about the request of v1beta1 says."""
    done = get(searches.view({"model": "m", "backend": "vllm"}, "nvidia.com/v1beta2"))
    assert (done.code, done.out) == (1, "")
    assert "the Job profile-find does not exist yet" in done.err


@hypothesis.settings(max_examples=tier.number(30, 30))
@hypothesis.given(st.lists(searches.GRAPHS, min_size=1, max_size=4), st.data())
def test_drawn_searches(graphs, data):
    """Of 30 drawn Runs with their Candidates, the graph of the best valid one is written, and renders without errors."""
    names = data.draw(st.permutations([f"find-1-{number}" for number in range(len(graphs))]))
    valid = data.draw(st.lists(st.sampled_from(["True", "False", ""]), min_size=len(graphs), max_size=len(graphs)))
    candidates = [searches.candidate(*row[:2], valid=row[2]) for row in zip(names, graphs, valid, strict=True)]
    done = get(*data.draw(st.permutations([REQUEST, searches.run(*names), *candidates])))
    usable = [graph for graph, state in zip(graphs, valid, strict=True) if state != "False"]
    if not usable:
        assert (done.code, done.out) == (1, "")
        return
    written = yaml.safe_load(done.out)
    assert written == named({"spec": usable[0]})
    expansion = given.expanded(written)
    assert [finding for finding in expansion.results if finding.severity == "error"] == []
    assert "Deployment" in {resource["kind"] for resource in expansion.resources}


@hypothesis.given(st.data())
def test_any_status_gives_a_reason_and_no_exception(data):
    """Statuses of any type never raise another error than the two of the module."""
    from tests.support import strategies  # noqa: PLC0415 - only this test draws any JSON

    status = data.draw(strategies.JSON)
    for parts in (search_results.run_name, search_results.candidate_names):
        with contextlib.suppress(search_results.ResultError):
            parts({"status": status})
