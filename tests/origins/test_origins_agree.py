"""The origins of a trace agree with those that pods carry and the list of images find in another way."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import explain_coverage
import pytest

from krm_fn.base import results
from krm_fn.kubernetes import identity
from krm_fn.origins import explain
from krm_fn.origins.marked_values import UserMark
from krm_fn.render import expand
from krm_fn.render.plan import RequestPlan
from krm_fn.review import pods
from krm_fn.review.images import image_uses

EXAMPLES = dict(explain_coverage.examples())
LISTS: Any = (("pod", "volumes"), ("pod", "containers"), ("container", "volumeMounts"))
WRITTEN = {
    ("user", "volumes"): lambda plan, place: plan.at("pod", "volumes", place, "name"),
    ("user", "volumeMounts"): lambda plan, place: plan.at("main", "volumeMounts", place, "name"),
    ("user", "containers"): lambda plan, place: plan.at("sidecars", place, "name"),
    ("claims", "volumes"): lambda plan, place: plan.at("volumeMounts", place, "name"),
    ("claims", "volumeMounts"): lambda plan, place: plan.at("volumeMounts", place, "name"),
}
"""The user's field with the name of a list's entry, by the layer and the list."""
OURS = ("defaults", "shared memory")
"""Layers that a rule makes."""
CONVERTED = "older-forms"
"""An example whose layers name fields of the current form. The trace names those of the older form, which its author wrote."""


@functools.cache
def user_fields(name):
    """The fields of users that are origins of each field of an example: (index of the resource, path)."""
    loaded = EXAMPLES[name]
    return {
        (each.key, field.path): {tuple(mark) for mark in field.marks if isinstance(mark, UserMark)}
        for each in explain.explain(loaded.values, loaded.config).objects
        for field in each.fields
    }


class Entry(NamedTuple):
    """An entry of a list of a pod: the index of its graph, its plan, its origin, the list, and the key and path of its name."""

    graph: int
    plan: Any
    origin: Any
    field: str
    leaf: tuple[Any, ...]


def entries(name):
    """The entries of all pods of an example."""
    loaded = EXAMPLES[name]
    for planned in expand.plans(loaded.values, loaded.config):
        graph = next(index for index, each in enumerate(loaded.values) if each is planned.source)
        found = ((resource, template) for resource in planned.objects for template in pods.of(resource))
        for resource, template in found if not isinstance(planned.plan, RequestPlan) else ():
            yield from entries_of(graph, identity.key(resource), template, planned.pods)


def entries_of(graph, key, template, made):
    """The entries of one pod template."""
    found = pods.component_of(template, made)
    assert found
    component, pod = found
    spec: Any = pod.spec
    main = next(index for index, each in enumerate(spec["containers"]) if each["name"].startswith(("main", "engine")))
    for part, field in LISTS:
        at = ("containers", main, field) if part == "container" else (field,)
        listed = (spec["containers"][main] if part == "container" else spec).get(field) or ()
        for place, _ in enumerate(listed):
            origin = component.origins.of(listed[place])
            yield Entry(graph, component.plan, origin, field, (key, (*template.path, *at, place, "name")))


@pytest.mark.parametrize("name", [name for name in EXAMPLES if name != CONVERTED])
def test_the_origins_in_pods_agree(name):
    fields = user_fields(name)
    for each in entries(name):
        if written := WRITTEN.get((each.origin.layer, each.field)):
            assert (each.graph, written(each.plan, each.origin.position)) in fields[each.leaf], each.leaf
        elif each.origin.layer in OURS:
            assert fields[each.leaf] == set(), each.leaf


def test_the_examples_have_entries_of_each_layer():
    known = {(each.origin.layer, each.field) for name in EXAMPLES for each in entries(name)}
    assert {*WRITTEN, *((layer, "volumes") for layer in OURS)} <= known


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_authors_of_images_agree(name):
    loaded, fields = EXAMPLES[name], user_fields(name)
    for use in image_uses.uses(loaded.values, loaded.config):
        author = use.author
        assert author, use
        if author.ref:
            index = next(index for index, each in enumerate(loaded.values) if results.ref(each) == author.ref)
            address = use.ref
            key = identity.ObjectKey(address.api_version.rpartition("/")[0], address.kind, address.namespace, address.name)
            assert (index, author.path) in fields[key, use.path]
