"""docs/running.md lists the marks `ran` of all tests, and the features that no mark names."""

from __future__ import annotations

import subprocess
import sys

import pytest
import running_page
from running_page import Never, Ran

from tests.testbed import programs

MOCK = Ran("Deployment", "mock engine", "1.5", "answered", "the real runtime", "tests/a.py", "test_chat")
GROVE = MOCK._replace(workload="PodCliqueSet", engine="vLLM, Ray", result="met", by="stub engines")


def rows(*marks, nevers=()):
    """The rows of both tables."""
    page = running_page.text([*marks], [*nevers])
    return [line for line in page.splitlines() if line.startswith("| ") and not line.startswith(("| workload", "| feature"))]


@pytest.mark.slow
def test_the_page_lists_the_present_marks():
    command = [sys.executable, "tools/running_page.py", "--print"]
    printed = subprocess.run(command, cwd=programs.ROOT, capture_output=True, text=True, check=True).stdout
    assert printed == running_page.PAGE.read_text(), "`make generate` writes it"
    assert "[test_rendered_graph_becomes_ready_and_answers](../tests/running/test_combinations.py)" in printed


def test_marks_of_the_same_objects_share_a_row():
    """A cell has the strongest result of its release, and the row has each test once."""
    weaker = MOCK._replace(result="parsed", function="test_parser")
    (row,) = rows(MOCK, weaker, MOCK, MOCK._replace(release="1.6", result="met"))
    assert row.startswith("| Deployment | mock engine | never | answered | met | the real runtime |")
    assert row.endswith("| [test_chat](../tests/a.py), [test_parser](../tests/a.py) |")


def test_another_workload_has_a_row_of_its_own():
    deployment, grove = rows(GROVE, MOCK)
    assert deployment.startswith("| Deployment | mock engine |")
    assert grove.startswith("| PodCliqueSet (Grove) | vLLM, Ray | never | met | never | stub engines |")


@pytest.mark.parametrize(
    ("unless", "listed"),
    [({}, True), ({"workload": "PodCliqueSet"}, False), ({"engine": "vLLM"}, False), ({"engine": "vLLM", "result": "answered"}, True)],
    ids=["no condition", "workload", "engine", "a weaker result"],
)
def test_a_feature_is_listed_until_a_test_runs_it(unless, listed):
    assert ("| Pods | none |" in rows(GROVE, nevers=[Never("Pods", "none", unless)])) == listed


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"release": "1.5.1"}, "release: one of 0.9, 1.5, 1.6"),
        ({"result": "passed"}, "result: one of answered, met, parsed"),
        ({"by": ""}, "by: ''"),
        ({"engines": "vLLM"}, "engines: no such value"),
    ],
)
def test_a_wrong_mark_is_an_error_that_names_the_test(values, message):
    right = dict(zip(running_page.FIELDS, MOCK, strict=False))
    assert running_page.ran(pytest.mark.ran(**right).mark, MOCK.file, MOCK.function) == MOCK
    with pytest.raises(ValueError, match=f"^tests/a.py::test_chat: .*{message}"):
        running_page.ran(pytest.mark.ran(**right | values).mark, MOCK.file, MOCK.function)


def test_each_feature_has_a_reason_and_a_condition_that_a_mark_can_fit():
    nevers = running_page.never()
    assert len({each.feature for each in nevers}) == len(nevers) > 5
    assert all(each.reason.endswith(".") for each in nevers)
    assert {*running_page.FIELDS} >= {field for each in nevers for field in each.unless}
