"""Layering as the reference does it: Go structs merged with override, environment variables merged by name."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from krm_fn.kubernetes import merge
from tests.support.cases import cases

if TYPE_CHECKING:
    from krm_fn.kubernetes.native_types import EnvVar

OVERLAYS = [
    ("a value replaces the base's", {"a": 1}, {"a": 2}, {"a": 2}),
    (
        "what the base lacks comes as it is, empty or not",
        {},
        {"a": 0, "b": "", "c": [], "d": False},
        {"a": 0, "b": "", "c": [], "d": False},
    ),
    ("zero does not replace", {"a": 1}, {"a": 0}, {"a": 1}),
    ("false does not replace", {"a": True}, {"a": False}, {"a": True}),
    ("an empty text does not replace", {"a": "x"}, {"a": ""}, {"a": "x"}),
    ("an empty list does not replace", {"a": [1]}, {"a": []}, {"a": [1]}),
    ("a list replaces as a whole", {"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
    ("objects merge field by field", {"a": {"b": 1, "c": 2}}, {"a": {"c": 3, "d": 4}}, {"a": {"b": 1, "c": 3, "d": 4}}),
    ("an empty object changes nothing", {"a": {"b": 1}}, {"a": {}}, {"a": {"b": 1}}),
    ("the text zero is a value", {"a": {"cpu": "1"}}, {"a": {"cpu": "0"}}, {"a": {"cpu": "0"}}),
    ("what only the base has stays", {"a": 1}, {"b": 2}, {"a": 1, "b": 2}),
]


@cases(("base", "user", "merged"), OVERLAYS)
def test_overlay(base, user, merged):
    assert merge.overlay(base, user) == merged


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=1), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text("abc", max_size=1), JSON, max_size=3)


@given(OBJECTS, OBJECTS)
def test_an_overlay_leaves_both_sides_alone_and_is_settled_after_once(base, user):
    before = copy.deepcopy((base, user))
    merged = merge.overlay(base, user)
    assert (base, user) == before
    assert merge.overlay(merged, user) == merged
    assert merge.overlay({}, user) == user
    assert merge.overlay(base, {}) == base


HTTP = {"httpGet": {"path": "/health", "port": "system"}, "periodSeconds": 10}
PROBES = [
    ("times alone keep the handler", HTTP, {"periodSeconds": 33}, {"httpGet": {"path": "/health", "port": "system"}, "periodSeconds": 33}),
    ("a path alone keeps the port", HTTP, {"httpGet": {"path": "/x"}}, {"httpGet": {"path": "/x", "port": "system"}, "periodSeconds": 10}),
    ("a named port replaces", HTTP, {"httpGet": {"port": "http"}}, {"httpGet": {"path": "/health", "port": "http"}, "periodSeconds": 10}),
    (
        "a port as a number does not replace a named one",
        HTTP,
        {"httpGet": {"port": 81, "path": "/x"}},
        {"httpGet": {"path": "/x", "port": "system"}, "periodSeconds": 10},
    ),
    ("a port as a number replaces a number", {"httpGet": {"port": 80}}, {"httpGet": {"port": 81}}, {"httpGet": {"port": 81}}),
    (
        "another handler replaces the default's, and its times stay",
        HTTP,
        {"exec": {"command": ["true"]}},
        {"exec": {"command": ["true"]}, "periodSeconds": 10},
    ),
    ("a port of another handler is not the default's", HTTP, {"tcpSocket": {"port": 81}}, {"tcpSocket": {"port": 81}, "periodSeconds": 10}),
    ("an empty probe changes nothing", HTTP, {}, HTTP),
    (
        "two handlers by the user are left for the judges",
        HTTP,
        {"exec": {}, "grpc": {"port": 1}},
        {"exec": {}, "grpc": {"port": 1}, "periodSeconds": 10},
    ),
]


@cases(("default", "user", "merged"), PROBES)
def test_probe(default, user, merged):
    before = copy.deepcopy((default, user))
    assert merge.probe(default, user) == merged
    assert (default, user) == before


def env(**values):
    return [{"name": name, "value": value} for name, value in values.items()]


CONTAINERS = [
    (
        "environments merge by name and are sorted",
        {"env": env(B="1", A="1")},
        {"env": env(B="2", C="2")},
        {"env": env(A="1", B="2", C="2")},
    ),
    ("an empty environment keeps the default's", {"env": env(A="1")}, {"env": []}, {"env": env(A="1")}),
    ("no environment at all stays none", {"image": "a"}, {"image": "b"}, {"image": "b"}),
    (
        "a start-up probe replaces as a whole",
        {"startupProbe": HTTP},
        {"startupProbe": {"periodSeconds": 1}},
        {"startupProbe": {"periodSeconds": 1}},
    ),
    ("even an empty one", {"startupProbe": HTTP}, {"startupProbe": {}}, {"startupProbe": {}}),
    ("no start-up probe keeps the default's", {"startupProbe": HTTP}, {}, {"startupProbe": HTTP}),
    (
        "other probes merge",
        {"livenessProbe": HTTP},
        {"livenessProbe": {"periodSeconds": 1}},
        {"livenessProbe": {**HTTP, "periodSeconds": 1}},
    ),
    (
        "a probe without a default comes as written",
        {},
        {"readinessProbe": {"httpGet": {"port": 1}}},
        {"readinessProbe": {"httpGet": {"port": 1}}},
    ),
    ("command and arguments are two lists", {"command": ["a"], "args": ["b"]}, {"args": ["c"]}, {"command": ["a"], "args": ["c"]}),
]


@cases(("base", "user", "merged"), CONTAINERS)
def test_container(base, user, merged):
    before = copy.deepcopy((base, user))
    assert merge.container(base, user) == merged
    assert (base, user) == before


def test_variables_are_replaced_as_a_whole_and_sorted_by_bytes():
    """Reference: MergeEnvs. Value and source never mix; capitals come before the underscore, the underscore before small letters."""
    source: EnvVar = {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}
    assert merge.envs(env(a="1", B="2"), [source], env(A_="3", AA="4")) == [*env(AA="4", A_="3"), source, *env(a="1")]


def test_of_one_layer_the_last_of_a_name_wins():
    assert merge.envs([*env(A="1"), *env(A="2")]) == env(A="2")


def test_present_drops_none_and_nothing_else():
    assert merge.present(a=None, b=0, c="", d=[], e=False) == {"b": 0, "c": "", "d": [], "e": False}
