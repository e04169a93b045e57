"""An upgrade names what a new runtime changes for the graphs that it concerns, from one table."""

from __future__ import annotations

from krm_fn.migration.upgrade import runtime_changes
from tests.support import beta
from tests.support.cases import cases

FRONTEND = beta.component("Frontend", "frontend")
WORKER = beta.component("Worker")
GLOBAL = beta.component("Global", "planner", main={"command": ["python3", "-m", "dynamo.global_planner"]})
SCALED = beta.component("Worker", scalingAdapter={})
OLD, NEW = (1, 6, 2), (1, 7, 0)
OPERATOR, LIMIT, PREPROCESS = "an operator can be upgraded", "the limit of requests", "a frontend starts preprocess"

ROWS = [
    # reason, components, before, after, the beginnings of the notes behind "since 1.7, "
    ("a frontend and a worker", [FRONTEND, WORKER], OLD, NEW, [LIMIT, PREPROCESS, OPERATOR]),
    ("a worker", [WORKER], OLD, NEW, [LIMIT, OPERATOR]),
    ("a global planner", [GLOBAL], OLD, NEW, [OPERATOR]),
    ("a scaling adapter without a planner", [SCALED], OLD, NEW, [LIMIT, OPERATOR]),
    ("a scaling adapter", [SCALED, GLOBAL], OLD, NEW, [LIMIT, "a planner rejects a scaling adapter", OPERATOR]),
    ("before the change", [WORKER], (1, 5, 1), OLD, []),
    ("behind the change", [WORKER], NEW, (1, 7, 1), []),
    ("back", [WORKER], NEW, OLD, []),
]


@cases(("components", "old", "new", "beginnings"), ROWS)
def test_a_step_names_the_changes_that_concern_a_graph(components, old, new, beginnings):
    notes = list(runtime_changes.notes(beta.graph(*components), old, new))
    assert len(notes) == len(beginnings)
    for note, beginning in zip(notes, beginnings, strict=True):
        assert (note.code, note.severity) == ("DYN668", "info")
        assert note.message.startswith(f"since 1.7, {beginning}")
