"""`krm-fn check` says of native objects what a real API server says, for objects that are drawn from Kubernetes' schema.

`KRM_FN_ADMISSION` sets the number of objects; `make admission` draws 5,000. The number of a case is its seed.
"""

from __future__ import annotations

import pytest

from tests.support import awkward_values, drawn_objects

VALID = 25
"""Drawn objects without a change, of each kind, that a server should accept."""


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
