"""A change of an object leads to exactly those models whose status may change with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from krm_fn.kubernetes import identity
from krm_fn.render import labels
from krm_fn.syncer.status import cached_model, cached_object, model_endpoints, replica_status
from krm_fn.syncer.status.base_model_index import BaseModelIndex
from tests.support.cases import cases
from tests.syncer.status import lora
from tests.syncer.status.lora import endpoint, graph, model, slice_, worker

READERS: dict[str, Callable[..., Any]] = {
    cached_model.KIND: cached_model.read,
    cached_object.GRAPH: cached_object.read,
    model_endpoints.KIND: model_endpoints.read,
    "Pod": replica_status.get("Pod").read,
}
AROUND = [model("a"), model("b", modelName="support-v1"), model("c", modelName="other"), model("x", base="acme/other")]


def concerned(before, after, *around):
    """The models that a change concerns; None stands for no object."""
    found = BaseModelIndex()
    for each in (*around, *([before] if before else [])):
        found.update(identity.key(each), None, READERS[each["kind"]](each))
    key = identity.key(after or before)
    values = [each and READERS[each["kind"]](each) for each in (before, after)]
    return "".join(sorted(each.name for each in found.update(key, *values)))


def labelled(resource, **marks):
    return {**resource, "metadata": {**resource["metadata"], "labels": marks}}


CHANGES = [
    # reason, object before, object after, models
    ("a slice", None, slice_(endpoint("w-1")), "abc"),
    ("a slice that goes", slice_(endpoint("w-1")), None, "abc"),
    ("a slice that changes its label", slice_(), slice_(hash_=cached_model.read(AROUND[3]).hash), "abcx"),
    ("a pod", None, worker("w-1"), "abc"),
    ("a pod that restarts", worker("w-1"), worker("w-1", restarts=1), "abc"),
    ("a pod that ends", worker("w-1"), worker("w-1", phase="Failed"), "abc"),
    ("a pod of nobody", None, labelled(worker("w-1"), **{labels.GRAPH: "chat"}), ""),
    ("a graph that serves the base model", None, graph(lora.BASE, "acme/other"), "abcx"),
    ("a graph that serves no base model", None, graph(), ""),
    ("a model concerns those of the same name", None, model("d"), "abd"),
    ("a model that goes", model("d"), None, "abd"),
    ("a model that changes its name", model("d"), model("d", modelName="other"), "abcd"),
    ("a status of a model is its own", model("d"), model("d", status={"readyEndpoints": 1}), "d"),
]


@cases(("before", "after", "expected"), CHANGES)
def test_the_models_that_a_change_concerns(before, after, expected):
    assert concerned(before, after, *AROUND) == expected


def test_a_pod_that_changes_otherwise_concerns_no_model():
    """Its conditions, for example."""
    after = worker("w-1")
    after["status"]["conditions"] = [{"type": "Ready", "status": "True"}]
    assert concerned(worker("w-1"), after, *AROUND) == ""


def test_a_graph_that_changes_otherwise_concerns_no_model():
    assert concerned(graph(lora.BASE), {**graph(lora.BASE), "status": {"state": "successful"}}, *AROUND) == ""


def test_other_namespaces_are_not_concerned():
    elsewhere = slice_(endpoint("w-1"))
    assert concerned(None, {**elsewhere, "metadata": {**elsewhere["metadata"], "namespace": "team-b"}}, *AROUND) == ""
