"""Invalid fields are removed so that other rules still run: a mistake hides no other, and is reported once."""

from __future__ import annotations

import copy

from hypothesis import given
from hypothesis import strategies as st

from krm_fn.base import results
from krm_fn.render.schema import invalid_fields
from tests.support import strategies
from tests.support.cases import cases

VALUE = {"a": {"b": 1, "c": 2}, "l": [{"x": 1}, {"y": 2}], "t": ["one", "two"]}

WITHOUT = [
    ("nothing is broken", [], VALUE),
    ("a field", [("a", "b")], {**VALUE, "a": {"c": 2}}),
    ("two fields", [("a", "b"), ("a", "c")], {**VALUE, "a": {}}),
    ("an object with all that is in it", [("a",)], {"l": VALUE["l"], "t": VALUE["t"]}),
    ("an object and a field in it", [("a",), ("a", "b")], {"l": VALUE["l"], "t": VALUE["t"]}),
    ("an object in a list becomes empty, so that the others keep their places", [("l", 0)], {**VALUE, "l": [{}, {"y": 2}]}),
    ("a field of an object in a list", [("l", 1, "y")], {**VALUE, "l": [{"x": 1}, {}]}),
    ("a list of texts goes as a whole", [("t", 1)], {**VALUE, "t": []}),
    ("a field that is missing", [("a", "z")], VALUE),
    ("a place in something that is missing", [("z", "y", 0)], VALUE),
    ("a place inside a value", [("a", "b", "z")], VALUE),
    ("the resource as a whole", [()], VALUE),
]


@cases(("broken", "left"), WITHOUT)
def test_without(broken, left):
    before = copy.deepcopy(VALUE)
    assert invalid_fields.without(VALUE, broken) == left
    assert before == VALUE


def test_a_list_in_which_everything_is_broken_is_empty():
    assert invalid_fields.without({"l": [1, {"a": 1}]}, [("l", 0), ("l", 1)]) == {"l": []}
    assert invalid_fields.without({"l": [1, {"a": 1}]}, [("l", 0)]) == {"l": [{}, {"a": 1}]}


def paths(value):
    """Every path in a value."""
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in steps:
        yield (step,)
        yield from ((step, *path) for path in paths(inner))


@given(strategies.JSON, st.data())
def test_what_is_broken_is_gone_and_nothing_else_is_invented(value, data):
    there = list(paths(value))
    broken = data.draw(st.lists(st.sampled_from(there), max_size=3)) if there else []
    left = invalid_fields.without(value, broken)
    assert set(paths(left)) <= set(there)
    assert not [path for path in broken if path in paths(left) and isinstance(path[-1], str)]


def finding(*path):
    return results.error("DYN999", "is wrong; mend it", None, path)


SERVICE = ("spec", "services", "Worker")
NEWS = [
    ("about another field", (*SERVICE, "replicas"), [(*SERVICE, "envs")], True),
    ("about the broken field itself", (*SERVICE, "envs"), [(*SERVICE, "envs")], False),
    ("about what is in the broken field", (*SERVICE, "envs", 0, "name"), [(*SERVICE, "envs")], False),
    ("about the field around the broken one", (*SERVICE, "extraPodSpec"), [(*SERVICE, "extraPodSpec", "volumes")], False),
    ("about a service, whose name is as it is", SERVICE, [(*SERVICE, "envs")], True),
    ("about a service that is broken as a whole", SERVICE, [SERVICE], False),
    ("about a graph without services, since they are broken", ("spec", "services"), [("spec", "services")], False),
    ("about a neighbour in a list", ("spec", "pvcs", 1, "name"), [("spec", "pvcs", 0, "name")], True),
    ("about the resource as a whole", (), [(*SERVICE, "envs")], True),
]


@cases(("path", "broken", "new"), NEWS)
def test_news(path, broken, new):
    found = finding(*path)
    assert list(invalid_fields.independent([found], broken)) == ([found] if new else [])


def test_a_second_entry_with_the_same_key_stays_readable():
    """Its key is not removed, because other rules would then report an entry without a key."""
    twins = {"envs": [{"name": "A"}, {"name": "A"}]}
    found = [results.error("DYN080", "stands twice; remove one", None, ("envs", 1, "name"))]
    assert invalid_fields.without_errors(twins, found) == twins
    assert invalid_fields.error_paths(found) == [("envs", 1, "name")]
