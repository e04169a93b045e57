"""`krm-fn check` says of native objects what a real API server says, for objects that are drawn from Kubernetes' schema.

`KRM_FN_ADMISSION` sets the number of objects; `make admission` draws 5,000. The number of a case is its seed.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from krm_fn.base import results
from krm_fn.render.config import Config
from krm_fn.review import native_objects
from tests.support import awkward_values, drawn_objects, native_mistakes
from tests.support.cases import cases

if TYPE_CHECKING:
    from krm_fn.base.results import Result

CASES = int(os.environ.get("KRM_FN_ADMISSION", "300"))
VALID = 25
"""Drawn objects without a change, of each kind, that a server should accept."""
SHARES = {"Deployment": 4, "Service": 2, "Job": 2}
"""The shares of the kinds in all cases. Other kinds have one share: they have fewer fields."""
BY_STATE = {
    "is not in the valid range": "the range of addresses is a setting of the cluster",
    "provided IP is already allocated": "another Service has the address",
}
"""Answers that depend on the state or the settings of the cluster, by a part of the message. `valid_values.NOT_DRAWN` lists such fields."""
SHOWN = 5


@pytest.fixture(scope="module")
def plane(control_plane):
    control_plane.namespace(drawn_objects.NAMESPACE)
    return control_plane


def accepted(plane, sent):
    """The first refusal, or an answer without an error. The object may have any name."""
    created = plane.client.create(sent)
    return created if not created.ok and created.status != 409 else plane.client.apply(sent)


@pytest.mark.parametrize("kind", drawn_objects.KINDS, ids=lambda kind: kind.kind)
def test_drawn_objects_without_a_change_are_valid(kind, plane):
    """Without this, the cases would find only refusals that any object gets."""
    answers = [accepted(plane, awkward_values.case(kind, 4 * number)[0]) for number in range(VALID)]
    assert sum(answer.ok for answer in answers) > 0.9 * VALID, [answer.message for answer in answers if not answer.ok]


def test_a_case_is_always_the_same():
    kind = drawn_objects.KINDS[0]
    assert [awkward_values.case(kind, number) for number in range(50)] == [awkward_values.case(kind, number) for number in range(50)]


def errors(written: Any) -> list[Result]:
    """The errors of `krm-fn check` about an object."""
    return [finding for finding in native_objects.check([written], Config()) if finding.severity == "error"]


@cases("written", native_mistakes.MISTAKES)
def test_a_server_refuses_each_mistake_of_the_table(written, plane):
    assert errors(written)
    assert not accepted(plane, written).ok


@cases("written", native_mistakes.LIMITS)
def test_a_server_accepts_each_object_at_the_limits(written, plane):
    answer = accepted(plane, written)
    assert answer.ok, answer.message


@pytest.mark.parametrize("kind", drawn_objects.KINDS, ids=lambda kind: kind.kind)
def test_the_check_says_what_a_server_says(kind, plane, measured):
    """Neither refuses an object that the other accepts."""
    count = CASES * SHARES.get(kind.kind, 1) // sum(SHARES.get(other.kind, 1) for other in drawn_objects.KINDS)
    disagreements, by_state = [], 0
    for number in range(count):
        written, path = awkward_values.case(kind, number)
        answer, ours = accepted(plane, written), errors(written)
        if any(part in answer.message for part in BY_STATE):
            by_state += 1
        elif answer.ok == bool(ours):
            disagreements.append((number, path, written, ours, answer))
    assert not disagreements, story(disagreements)
    assert by_state < 0.05 * count
    measured.append(f"{kind.kind}: {count} objects, the same verdict as the API server")


def story(disagreements: list[Any]) -> str:
    """The first disagreements in words: the object, our findings, and the server's message."""
    parts = [
        f"case {number}, changed at {results.field(path) or 'no field'}:\n{json.dumps(written)}\n"
        f"ours: {[results.line(finding) for finding in ours] or 'no findings'}\nserver: {answer.message or 'accepted'}"
        for number, path, written, ours, answer in disagreements[:SHOWN]
    ]
    return "\n\n".join([f"{len(disagreements)} disagreements", *parts])
