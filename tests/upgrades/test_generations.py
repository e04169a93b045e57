"""The measure of moments at which a generation of workers has only one role."""

from __future__ import annotations

from tests.support.cases import cases
from tests.upgrades import generations
from tests.upgrades.generations import Moment

BOTH, PREFILL, DECODE, NONE = {"Prefill": 1, "Decode": 1}, {"Prefill": 1, "Decode": 0}, {"Prefill": 0, "Decode": 2}, {"Prefill": 0}


def run(*states, seconds=1.0):
    return [Moment(seconds, state) for state in states]


MOMENTS = [
    ("one generation", {"a": BOTH}, [], True),
    ("an old one that is gone", {"a": NONE, "b": BOTH}, [], True),
    ("a new one without decode", {"a": BOTH, "b": PREFILL}, ["b"], True),
    ("each has one role", {"a": DECODE, "b": PREFILL}, ["a", "b"], False),
    ("nothing", {}, [], False),
]


@cases(("state", "alone", "served"), MOMENTS)
def test_a_moment_says_who_is_alone(state, alone, served):
    moment = Moment(1, state)
    assert (moment.alone(), moment.is_served()) == (alone, served)


def test_equal_moments_are_one_state():
    """Other events between two writes of the controller do not count."""
    assert generations.alone_in_two_states(run({"a": BOTH}, {"a": PREFILL}, {"a": PREFILL}, {"a": NONE})) == []
    assert generations.alone_in_two_states(run({"a": BOTH}, {"a": DECODE}, {"a": {**DECODE, "Decode": 1}}, {"a": NONE})) == ["a"]


def test_a_summary_tells_old_and_new_generations_apart():
    states = ({"a": BOTH}, {"a": BOTH, "b": PREFILL}, {"a": DECODE, "b": PREFILL}, {"a": DECODE, "b": BOTH}, {"a": NONE, "b": BOTH})
    assert generations.summary([run(*states), run({"a": BOTH})]) == (
        "2 changes, 6 moments; an old generation alone in 2 moments, 2.0 s at most, 1.0 s per change; "
        "the new one alone in 2 moments, 2.0 s at most, 1.0 s per change; "
        "none with both roles in 1 moments, 1.0 s at most, 0.5 s per change"
    )
