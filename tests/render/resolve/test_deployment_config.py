"""`DYN_DEPLOYMENT_CONFIG` sets replicas and resources, and a frontend's port (reference: graph.go, overrideWithDynDeploymentConfig)."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krm_fn.render.resolve import deployment_config
from krm_fn.render.resolve.deployment_config import Override
from tests.support.cases import cases

UNREADABLE = [
    ("nothing", ""),
    ("a word", "nope"),
    ("a list", "[]"),
    ("a number", "1"),
    ("a broken object", '{"a":'),
    ("what only JavaScript knows", '{"a": NaN}'),
    ("a whole number beyond a float", '{"a": 1' + "0" * 400 + "}"),
    ("a fraction beyond a float", '{"a": 1e999}'),
    ("a number with more digits than can be read", '{"a": 1' + "0" * 5000 + "}"),
]


@cases("text", UNREADABLE)
def test_what_is_no_json_object_is_refused(text):
    with pytest.raises(ValueError):  # noqa: PT011 - the message is the JSON reader's
        deployment_config.parse(text)


def test_nesting_without_end_is_refused():
    with pytest.raises(RecursionError):
        deployment_config.parse("[" * 100_000)


READABLE = [
    ("an object", '{"a": {"b": 1}}', {"a": {"b": 1}}),
    ("null is an empty one", "null", {}),
    ("blanks around it", ' {"a": 1} ', {"a": 1}),
]


@cases(("text", "content"), READABLE)
def test_a_json_object_is_read(text, content):
    assert deployment_config.parse(text) == content


def arguments(**members):
    return {"Worker": {"ServiceArgs": members}}


OVERRIDES = [
    ("nothing about the service", {"Other": {"ServiceArgs": {"workers": 3}}}, Override()),
    ("the service's name is compared exactly", {"worker": {"ServiceArgs": {"workers": 3}}}, Override()),
    ("a service without arguments", {"Worker": {"port": 1}}, Override()),
    ("nulls all the way", {"Worker": {"ServiceArgs": {"workers": None, "resources": None}}}, Override()),
    ("workers are replicas", arguments(workers=3), Override(replicas=3)),
    ("zero workers are replicas too", arguments(workers=0), Override(replicas=0)),
    (
        "members below are found in any case",
        {"Worker": {"SERVICEARGS": {"Workers": 2, "Resources": {"CPU": "4"}}}},
        Override(2, {"cpu": "4"}),
    ),
    (
        "all amounts",
        arguments(resources={"cpu": "4", "memory": "8Gi", "gpu": "1", "custom": {"rdma/ib": "1"}}),
        Override(None, {"cpu": "4", "memory": "8Gi", "gpu": "1", "custom": {"rdma/ib": "1"}}),
    ),
    ("an empty amount is none", arguments(resources={"cpu": "", "gpu": "1"}), Override(None, {"gpu": "1"})),
    ("no amounts are no override", arguments(resources={"cpu": "", "custom": {}}), Override()),
    ("unknown members do not matter", arguments(workers=1, colour="red", resources={"disk": 5}), Override(1)),
]


@cases(("content", "override"), OVERRIDES)
def test_what_it_says_about_a_service(content, override):
    assert deployment_config.override(content, "Worker") == override


WRONG = [
    ("a service that is no object", {"Worker": "x"}, "Worker must be a JSON object"),
    ("arguments that are no object", {"Worker": {"ServiceArgs": 1}}, "must be a JSON object"),
    ("workers as a text", arguments(workers="3"), "workers of Worker"),
    ("workers as a fraction", arguments(workers=1.5), "workers of Worker"),
    ("workers as a boolean", arguments(workers=True), "workers of Worker"),
    ("workers below zero", arguments(workers=-1), "0 or larger"),
    ("workers beyond 32 bits", arguments(workers=2**31), "workers of Worker"),
    ("an amount as a number", arguments(resources={"gpu": 1}), "in quotes"),
    ("custom amounts that are no object", arguments(resources={"custom": "x"}), "custom resources of Worker"),
    ("a custom amount as a number", arguments(resources={"custom": {"rdma/ib": 1}}), "custom resources of Worker"),
]


@cases(("content", "message"), WRONG)
def test_a_member_of_the_wrong_type_is_refused(content, message):
    with pytest.raises(ValueError, match=message):
        deployment_config.override(content, "Worker")


PRINTED = [
    ("the service's port is 8000", {"Front": {"port": 81, "a": 1}}, '{"Front":{"a":1,"port":8000}}'),
    ("a port is added", {"Front": {}}, '{"Front":{"port":8000}}'),
    ("the port of another service stays", {"Other": {"port": 81}}, '{"Other":{"port":81}}'),
    ("what is no object gets no port", {"Front": 7}, '{"Front":7}'),
    ("keys are sorted at every level", {"b": {"d": 1, "c": 2}, "a": []}, '{"a":[],"b":{"c":2,"d":1}}'),
    ("characters of HTML are escaped", {"a": "<b>&'\u2028\u2029"}, '{"a":"\\u003cb\\u003e\\u0026\'\\u2028\\u2029"}'),
    ("in keys too", {"<": 1}, '{"\\u003c":1}'),
    ("other scripts are not", {"a": "ü✓😀"}, '{"a":"ü✓😀"}'),
    ("half a surrogate pair becomes the replacement character", {"a": "\ud800!"}, '{"a":"\ufffd!"}'),
    ("words of JSON", {"a": [True, False, None]}, '{"a":[true,false,null]}'),
    ("whole numbers pass through a float", {"a": 98765432109876543210}, '{"a":98765432109876540000}'),
    ("fractions lose what says nothing", {"a": 2.50}, '{"a":2.5}'),
    ("a whole number written as a fraction", {"a": 3.0}, '{"a":3}'),
    ("large numbers get an exponent", {"a": 1.5e21}, '{"a":1.5e+21}'),
    ("the largest without", {"a": 1e20}, '{"a":100000000000000000000}'),
    ("small numbers get an exponent", {"a": 1.5e-7}, '{"a":1.5e-7}'),
    ("the smallest without", {"a": 1e-6}, '{"a":0.000001}'),
    ("negative numbers", {"a": [-1, -0.5, -2.5e-9]}, '{"a":[-1,-0.5,-2.5e-9]}'),
    ("zero, and the zero below it", {"a": [0, -0.0]}, '{"a":[0,-0]}'),
]


@cases(("content", "text"), PRINTED)
def test_a_frontends_text_is_printed_as_go_prints_it(content, text):
    assert deployment_config.with_port(content, "Front", 8000) == text


JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=3), JSON, max_size=3))
def test_the_printed_text_is_json_of_the_same_value(content):
    assert json.loads(deployment_config.with_port(content, "not in there", 8000), parse_int=float) == content
