"""A forecast never raises and always ends, whatever values the objects, the nodes and the pods have."""

from __future__ import annotations

import random
from typing import Any

import pytest

from krm_fn.review.forecast import forecast
from tests.review.forecast import given, native_objects
from tests.review.forecast.native_objects import json_copy
from tests.review.forecast.test_findings import labelled
from tests.review.forecast.test_groups import clique_set, leader_worker_set
from tests.review.forecast.test_simulation import node, pod

ODD: tuple[Any, ...] = (None, "", "x", 0, -1, 1.5, True, 10**6, 10**12, [], {}, [1], {"a": 1}, [None], [[]])
ROUNDS = 40  # for each object; they take about two seconds together
OBJECTS = {
    "Deployment": labelled(),
    "LeaderWorkerSet": leader_worker_set(),
    "PodCliqueSet": clique_set(),
    **{f"{each['kind']} {each['metadata']['name']}": each for each in native_objects.ALL},
}


def places(value, at=()):
    """The paths of all fields and entries below a value."""
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in steps:
        yield (*at, key)
        yield from places(inner, (*at, key))


def with_odd_value(value, draw):
    """The value with an odd one somewhere inside."""
    made = json_copy(value)
    *holder, last = draw.choice([path for path in places(made) if path not in (("kind",), ("apiVersion",))])
    inner = made
    for step in holder:
        inner = inner[step]
    inner[last] = draw.choice(ODD)
    return made


@pytest.mark.parametrize("name", OBJECTS)
def test_no_value_stops_a_forecast(name):
    draw = random.Random(name)  # noqa: S311 - test data
    for _ in range(ROUNDS):
        states = [with_odd_value(OBJECTS[name], draw) if draw.random() < 0.7 else OBJECTS[name] for _ in range(2)]
        nodes, pods = with_odd_value(node("one", 4, taint="gpu"), draw), with_odd_value(pod("chat", app="edited"), draw)
        found = forecast([given.change(*states)], [nodes], [pods])
        assert found.gpus.peak >= max(found.gpus.before, 0)


def test_a_huge_number_of_replicas_ends():
    unchanged = labelled(replicas=10**9)
    changed = json_copy(unchanged)
    changed["spec"]["template"]["spec"]["containers"][0]["image"] = "worker:2"
    (outcome,) = forecast([given.change(unchanged, changed)]).outcomes
    assert outcome.effect == "restarts"
