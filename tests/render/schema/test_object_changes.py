"""The fields that differ between two states of one object: lists by their merge keys, and where their order counts."""

from __future__ import annotations

from typing import Any

import pytest

from krm_fn.kubernetes import identity, secret_values
from krm_fn.render.schema import object_changes
from krm_fn.review.diff import comparison
from tests.support import given
from tests.support.cases import cases

POD = ("spec", "template", "spec", "containers", 0)


def deployment(pod: Any = None, **main: Any) -> dict[str, Any]:
    """A Deployment with one container."""
    spec = {"containers": [{"name": "main", **main}], **(pod or {})}
    return given.item("Deployment", "chat", api="apps/v1", spec={"template": {"spec": spec}})


def service(*ports: Any) -> dict[str, Any]:
    return given.item("Service", "chat", spec={"ports": list(ports)})


def env(*names: str) -> list[dict[str, str]]:
    return [{"name": name, "value": name.lower()} for name in names]


def worker(**main: Any) -> dict[str, Any]:
    return given.graph({"Worker": given.service("worker", main=main)})


HTTP, RPC = {"name": "http", "port": 80}, {"name": "rpc", "port": 90}
TCP, UDP = ({"containerPort": 53, "protocol": protocol} for protocol in ("TCP", "UDP"))
SLOW = {"name": "B", "value": "slow"}
ROWS = [
    ("a value", deployment(image="a"), deployment(image="b"), [((*POD[:-1], "main", "image"), "a", "b")]),
    ("another type", deployment(tty=1), deployment(tty=True), [((*POD[:-1], "main", "tty"), 1, True)]),
    ("null is absent", deployment(image=None), deployment(), []),
    ("an entry that moves and changes", deployment(env=env("A", "B")), deployment(env=[*env("C"), *env("A"), SLOW]),
     [(("C",), None, env("C")[0]), (("B", "value"), "b", "slow")]),
    ("a removed entry", deployment(env=env("A", "B")), deployment(env=env("B")), [(("A",), env("A")[0], None)]),
    ("the order of variables", deployment(env=env("A", "B")), deployment(env=env("B", "A")), [(("env",), ["A", "B"], ["B", "A"])]),
    ("the order of arguments", deployment(args=["-a", "-b"]), deployment(args=["-b", "-a"]), [((0,), None, "-b"), ((1,), "-b", None)]),
    ("one of many arguments", deployment(args=["-a", "1", "-b"]), deployment(args=["-a", "2", "-b"]), [((1,), "1", "2")]),
    ("ports of one number", deployment(ports=[TCP, UDP]), deployment(ports=[TCP, {**UDP, "name": "dns"}]),
     [(("53/UDP", "name"), None, "dns")]),
    ("a key twice", deployment(env=env("A", "A")), deployment(env=[*env("A"), {"name": "A"}]), [((1, "value"), "a", None)]),
    ("tolerations have no keys", deployment({"tolerations": [{"key": "a"}]}), deployment({"tolerations": [{"key": "b"}, {"key": "a"}]}),
     [((0,), None, {"key": "b"})]),
    ("the order of a Service's ports", service(HTTP, RPC), service(RPC, HTTP), []),
    ("a port of a Service by its name", service(HTTP, RPC), service({**RPC, "port": 91}, HTTP), [(("rpc", "port"), 90, 91)]),
    ("a variable of a graph", worker(env=env("A", "B")), worker(env=[env("A")[0], SLOW]), [(("B", "value"), "b", "slow")]),
]  # fmt: skip


@cases(("old", "new", "expected"), ROWS)
def test_fields_that_differ(old, new, expected):
    found = object_changes.between(old, new)
    assert [(tuple(each.names[-len(names) :]), each.old, each.new) for each, (names, *_) in zip(found, expected, strict=True)] == expected


@pytest.mark.parametrize(("old", "new"), [row[1:3] for row in ROWS], ids=[row[0] for row in ROWS])
def test_the_paths_lead_to_the_values(old, new):
    """A path of the new state leads to the new value, and one of the old state to the old value."""
    for change in object_changes.between(old, new):
        if not change.order:
            assert change.new is None or at(new, change.path) == change.new
            assert change.old is None or at(old, change.old_path) == change.old


def at(value: Any, path: Any) -> Any:
    for step in path:
        value = value[step]
    return value


def test_a_resource_does_not_differ_from_itself():
    assert object_changes.between(deployment(env=env("A")), deployment(env=env("A"))) == ()


def test_long_lists_end_soon():
    old, new = (deployment(args=[f"{side}{index}" for index in range(5000)]) for side in "ab")
    assert len(object_changes.between(old, new)) == 5000


HIDES = "c2VjcmV0"


@pytest.mark.parametrize("field", ["data", "stringData"])
def test_values_of_secrets_are_hidden(field):
    """Also in the annotation of kubectl, which holds the whole object."""
    last = {"kubectl.kubernetes.io/last-applied-configuration": HIDES}
    states = [
        {**given.item("Secret", "key", annotations=note), field: data}
        for data, note in (({"a": HIDES, "b": HIDES}, last), ({"a": f"{HIDES}2", "c": HIDES}, None))
    ]
    key = identity.key(states[0])
    (change,) = object_changes.between_states({key: states[0]}, {key: states[1]})
    shown = comparison.without_secrets(change)
    assert len(shown.fields) == len(change.fields) > 2
    assert HIDES not in repr(shown.fields)
    assert {each.new for each in shown.fields} == {secret_values.HIDDEN, None}
