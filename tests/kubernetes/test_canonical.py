"""Pods that users wrote keep everything but the spelling of quantities, wherever in a pod quantities stand."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from krm_fn.kubernetes import canonical
from tests.support.cases import cases

if TYPE_CHECKING:
    from krm_fn.kubernetes.native_types import PodSpec

ODD, PLAIN = "2000m", "2"


def asks(amount):
    return {"limits": {"cpu": amount}, "requests": {"memory": amount}, "claims": [{"name": "gpu"}]}


PLACES = [
    ("a sidecar's resources", lambda q: {"containers": [{"name": "a", "resources": asks(q)}]}),
    ("an init container's resources", lambda q: {"initContainers": [{"name": "a", "resources": asks(q)}]}),
    ("the pod's own resources", lambda q: {"resources": asks(q)}),
    ("overhead", lambda q: {"overhead": {"cpu": q}}),
    ("a volume in memory", lambda q: {"volumes": [{"name": "a", "emptyDir": {"sizeLimit": q, "medium": "Memory"}}]}),
    (
        "a claim that lives with the pod",
        lambda q: {"volumes": [{"name": "a", "ephemeral": {"volumeClaimTemplate": {"metadata": {}, "spec": {"resources": asks(q)}}}}]},
    ),
    (
        "a divisor in a sidecar's environment",
        lambda q: {"containers": [{"env": [{"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": q}}}]}]},
    ),
]


@cases("make", PLACES)
def test_quantities_become_canonical(make):
    written = make(ODD)
    before = copy.deepcopy(written)
    assert canonical.spec(written) == make(PLAIN)
    assert written == before


UNCHANGED = [
    ("an empty pod", {}),
    ("zeros, falsehoods and empty lists", {"priority": 0, "hostNetwork": False, "tolerations": [], "nodeSelector": {}}),
    ("a volume of another kind", {"volumes": [{"name": "a", "secret": {"secretName": "s", "defaultMode": 0}}]}),
    ("a volume without a limit", {"volumes": [{"name": "a", "emptyDir": {}}]}),
    (
        "a claim that asks for nothing",
        {"volumes": [{"name": "a", "ephemeral": {"volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"]}}}}]},
    ),
    (
        "a variable from another source",
        {"containers": [{"env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]}]},
    ),
    ("a field no version knows", {"somethingNew": {"cpu": "2000m"}}),
    ("an empty container", {"containers": [{}]}),
]


@cases("written", UNCHANGED)
def test_everything_else_stays_as_written(written):
    assert canonical.spec(written) == written


def test_a_pod_without_quantities_is_not_copied():
    written: PodSpec = {"nodeSelector": {"a": "b"}}
    assert canonical.spec(written) is written
