"""What is written: nothing where nothing changed, also if the CRD in the cluster drops a field."""

from __future__ import annotations

from typing import Any

from hypothesis import given as random

from krm_fn.syncer.status import conditions
from krm_fn.syncer.status.conditions import StatusCondition
from tests.support import strategies
from tests.support.cases import cases
from tests.syncer.status import given

READY = {"type": "Ready", "status": "True", "observedGeneration": 3}
CASES = [
    ("equal", {"a": 1, "b": {"c": [1]}}, {"a": 1, "b": {"c": [1]}}, None),
    ("both empty", {}, {}, None),
    ("new", {}, {"a": {"b": 1}}, {"a": {"b": 1}}),
    ("changed inside", {"a": {"b": 1, "c": 2}}, {"a": {"b": 1, "c": 3}}, {"a": {"c": 3}}),
    ("gone inside", {"a": {"b": 1, "c": 2}}, {"a": {"b": 1}}, {"a": {"c": None}}),
    ("gone", {"a": {"b": 1}}, {}, {"a": None}),
    ("another type", {"a": [1]}, {"a": {"b": 1}}, {"a": {"b": 1}}),
    ("lists are whole", {"a": [1, 2]}, {"a": [1, 3]}, {"a": [1, 3]}),
    ("a CRD without the field", {"conditions": [READY]}, {"conditions": [READY], "observedGeneration": 3}, None),
    ("a new generation", {"conditions": [READY]}, {"conditions": [READY], "observedGeneration": 4}, {"observedGeneration": 4}),
    ("an older generation", {"observedGeneration": 2}, {"observedGeneration": 3}, {"observedGeneration": 3}),
    ("no condition", {}, {"observedGeneration": 3}, {"observedGeneration": 3}),
    (
        "a CRD without the field, and a change",
        {"conditions": [READY], "state": "pending"},
        {"conditions": [READY], "state": "failed", "observedGeneration": 3},
        {"state": "failed", "observedGeneration": 3},
    ),
]


@cases(("live", "desired", "patch"), CASES)
def test_the_patch(live, desired, patch):
    assert conditions.patch(live, desired) == patch


def merged(target, patch):
    """What an API server makes of a merge patch (RFC 7386)."""
    if not isinstance(patch, dict):
        return patch
    found = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            found.pop(key, None)
        else:
            found[key] = merged(found.get(key), value)
    return found


def without_nulls(value):
    """A status has no nulls: an API server drops them."""
    return {key: without_nulls(each) for key, each in value.items() if each is not None} if isinstance(value, dict) else value


@random(live=strategies.JSON, desired=strategies.JSON)
def test_the_patch_turns_one_status_into_the_other(live, desired):
    live, desired = ({"a": without_nulls(each)} for each in (live, desired))
    assert without_nulls(merged(live, conditions.patch(live, desired) or {})) == without_nulls(desired)


NEW = StatusCondition("Ready", True, "R", "m")
OLD_TIME, FOREIGN = "2020-01-01T00:00:00Z", {"type": "Other", "x": 1}
CONDITIONS: list[tuple[str, Any, str]] = [
    ("none before", None, given.NOW),
    ("the same status", [{"type": "Ready", "status": "True", "lastTransitionTime": OLD_TIME}], OLD_TIME),
    ("another status", [{"type": "Ready", "status": "False", "lastTransitionTime": OLD_TIME}], given.NOW),
    ("no time", [{"type": "Ready", "status": "True"}], given.NOW),
    ("a time that is no text", [{"type": "Ready", "status": "True", "lastTransitionTime": 7}], given.NOW),
    ("twice: the first counts", [{"type": "Ready", "status": "True", "lastTransitionTime": OLD_TIME}, {"type": "Ready"}], OLD_TIME),
    ("no conditions at all", "rubbish", given.NOW),
    ("rubbish among them", [3, None, {"type": []}, {}], given.NOW),
]


@cases(("live", "since"), CONDITIONS)
def test_the_time_of_a_transition(live, since):
    (found,) = conditions.merge(live, [NEW], ("Ready",), 3, given.NOW)
    assert (found["lastTransitionTime"], found["observedGeneration"], found["status"]) == (since, 3, "True")


def test_conditions_keep_their_order_and_their_owners():
    live = [FOREIGN, {"type": "Stalled", "status": "True"}, {"type": "Ready", "status": "True"}]
    found = conditions.merge(live, [NEW, StatusCondition("Reconciling", True, "R", "m")], ("Ready", "Stalled", "Reconciling"), 0, given.NOW)
    assert found[0] is FOREIGN
    assert [each["type"] for each in found] == ["Other", "Ready", "Reconciling"]
    assert "observedGeneration" not in found[1], "the API server requires a number from 1"


def test_a_message_fits_into_a_condition():
    """The API server refuses a longer one, and with it the whole status."""
    (found,) = conditions.merge([], [StatusCondition("Ready", False, "R", "x" * 40000)], (), 1, given.NOW)
    assert len(found["message"]) == 32768
    assert found["message"].endswith("x…")
