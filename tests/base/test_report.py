"""Findings in lines: counts first, then what matters most, no more lines than a reader shows."""

from krm_fn.base import report, results
from krm_fn.base.results import Ref
from tests.support.cases import cases

GRAPH = Ref("nvidia.com/v1alpha1", "DynamoGraphDeployment", "llm", "prod")

ENTRIES = [
    # reason, finding, line
    ("only a message", results.error("DYN001", "is empty; write something"), "error DYN001 is empty; write something"),
    (
        "a field of a resource",
        results.warning("DYN002", "is odd", GRAPH, ("spec", "a")),
        "warning DYN002 spec.a: is odd (DynamoGraphDeployment prod/llm)",
    ),
    (
        "a resource without a namespace",
        results.info("DYN002", "is odd", GRAPH._replace(namespace="")),
        "note DYN002 is odd (DynamoGraphDeployment llm)",
    ),
    ("a line of a file", results.error("DYN002", "is odd", file="a.yaml", line=3, column=5), "a.yaml:3:5: error DYN002 is odd"),
    ("a line without a column", results.error("DYN002", "is odd", file="a.yaml", line=3), "a.yaml:3: error DYN002 is odd"),
    ("a file", results.error("DYN002", "is odd", file="a.yaml"), "a.yaml: error DYN002 is odd"),
    ("a line of the input", results.error("DYN002", "is odd", line=3, column=5), "<stdin>:3:5: error DYN002 is odd"),
    ("a message of several lines", results.error("DYN002", "is\n  odd\n"), "error DYN002 is odd"),
    ("a terminal's control characters", results.error("DYN002", "is \x1b[31mred"), "error DYN002 is \\x1b[31mred"),
    ("other scripts", results.error("DYN002", "is \u00e9"), "error DYN002 is \u00e9"),
]


@cases(("finding", "line"), ENTRIES)
def test_entry(finding, line):
    assert report.entry(finding) == line


NOTE, WARNING, ERROR = results.info("DYN003", "c"), results.warning("DYN002", "b"), results.error("DYN001", "a")


def test_nothing_to_say():
    assert report.summary([]) == ""


def test_most_important_first():
    assert report.summary([NOTE, WARNING, ERROR, NOTE]).splitlines() == [
        "krm-fn: 1 error, 1 warning, 2 notes",
        "error DYN001 a",
        "warning DYN002 b",
        "note DYN003 c",
        "note DYN003 c",
    ]


LIMITS = [
    # reason, findings, lines allowed, lines written
    ("all fit", [ERROR, WARNING, NOTE], 4, ["krm-fn: 1 error, 1 warning, 1 note", "error DYN001 a", "warning DYN002 b", "note DYN003 c"]),
    ("one too many", [ERROR] * 4, 4, ["krm-fn: 4 errors", "error DYN001 a", "error DYN001 a", "and 2 more"]),
    ("room for counts only", [ERROR] * 4, 2, ["krm-fn: 4 errors", "and 4 more"]),
]


@cases(("found", "allowed", "lines"), LIMITS)
def test_limit(found, allowed, lines):
    assert report.summary(found, allowed).split("\n") == lines
