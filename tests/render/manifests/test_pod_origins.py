"""The recorded origin of an entry of a pod's list leads to the field of the graph that has the name of this entry."""

from __future__ import annotations

from typing import Any

import explain_coverage
import pytest

from krm_fn.kubernetes import paths
from krm_fn.render import expand
from krm_fn.render.plan import RequestPlan
from krm_fn.review import pods

EXAMPLES = dict(explain_coverage.examples())
NAMES = {
    ("user", "volumes"): lambda plan, position: plan.at("pod", "volumes", position, "name"),
    ("user", "volumeMounts"): lambda plan, position: plan.at("main", "volumeMounts", position, "name"),
    ("user", "containers"): lambda plan, position: plan.at("sidecars", position, "name"),
    ("claims", "volumes"): lambda plan, position: plan.at("volumeMounts", position, "name"),
    ("claims", "volumeMounts"): lambda plan, position: plan.at("volumeMounts", position, "name"),
}
"""The field with the name of an entry, by the layer and the list."""
CONVERTED = "older-forms"
"""An example whose layers name fields of the current form. Its author wrote the older form."""
RULES = {("defaults", "volumes"), ("shared memory", "volumes")}
"""Layers and lists of entries that a rule makes."""


def entries(loaded):
    """The graph, the plan, the recorded origin, the list and the name of each entry in the pods of an example."""
    for planned in expand.plans(loaded.values, loaded.config):
        templates = (template for resource in planned.objects for template in pods.of(resource))
        for template in templates if not isinstance(planned.plan, RequestPlan) else ():
            match = pods.component_of(template, planned.pods)
            assert match
            component, pod = match
            spec: Any = pod.spec
            main = next(each for each in spec["containers"] if each["name"].startswith(("main", "engine")))
            for holder, field in ((spec, "volumes"), (spec, "containers"), (main, "volumeMounts")):
                for entry in holder.get(field) or ():
                    yield planned.source, component.plan, component.origins.of(entry), field, entry["name"]


@pytest.mark.parametrize("name", [name for name in EXAMPLES if name != CONVERTED])
def test_a_recorded_origin_leads_to_the_field_with_the_name(name):
    for source, plan, origin, field, written in entries(EXAMPLES[name]):
        if path := NAMES.get((origin.layer, field)):
            assert paths.at(source, path(plan, origin.position)) == written


def test_the_examples_have_entries_of_each_layer():
    known = {(origin.layer, field) for loaded in EXAMPLES.values() for _, _, origin, field, _ in entries(loaded)}
    assert {*NAMES, *RULES} <= known
