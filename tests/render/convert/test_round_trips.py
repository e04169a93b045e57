"""Converting there and back restores every field, and rendering what was converted gives the same objects.

`make convert-check` runs these properties with 10,000 graphs; `KRM_FN_EXAMPLES` sets the number.
"""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from krm_fn.base import results
from krm_fn.render import dynamo_api, expand, labels
from krm_fn.render.config import Config
from krm_fn.render.convert import conversion_findings, not_convertible, preserved_fields, versions
from krm_fn.render.schema import schema_check
from krm_fn.repository.files import reading
from tests.support import by_schema, faults, golden, newer_faults, strategies
from tests.testbed import tier

if TYPE_CHECKING:
    from krm_fn.kubernetes.types import Resource

EXAMPLES = tier.number(60, 10, "KRM_FN_EXAMPLES")
checked = [HealthCheck.filter_too_much, HealthCheck.data_too_large, HealthCheck.too_slow, HealthCheck.large_base_example]
budget = settings(max_examples=EXAMPLES, suppress_health_check=checked, deadline=None)
few = settings(budget, max_examples=max(EXAMPLES // 5, 20))
KINDS = (dynamo_api.GRAPH, dynamo_api.COMPONENT, dynamo_api.ADAPTER, dynamo_api.REQUEST)
OTHER = {"v1alpha1": "v1beta1", "v1beta1": "v1alpha1"}
VERSIONS = pytest.mark.parametrize("version", OTHER)


def convertible(resources: Any) -> list[Resource]:
    """The resources that have two versions."""
    return [each for each in resources if dynamo_api.is_dynamo(each) and each["kind"] in KINDS and isinstance(each.get("spec"), dict)]


def _written() -> dict[str, Resource]:
    """The resources of the examples and of the tables of rules, by name."""
    files = [path for folder in golden.folders() for path in sorted(folder.rglob("*.yaml")) if "expected" not in path.name]
    found = {f"{path.parent.name}/{path.name}:{each.line}": each.value for path in files for each in reading.read(str(path)).sources}
    for case in (*faults.ALL, *newer_faults.ALL):
        found |= {f"{case.reason}:{place}": item for place, item in enumerate(case.items)}
    sound = {name: each for name, each in found.items() if isinstance(each, dict)}
    return {name: each for name, each in sound.items() if convertible([each]) and each.get("apiVersion", "").split("/")[-1] in OTHER}


WRITTEN = _written()


def version_of(resource: Resource) -> str:
    return str(resource["apiVersion"].rpartition("/")[2])


def there_and_back(resource: Resource) -> Resource:
    """The resource in the other version. Asserts that nothing is lost or changed, and that the result has fields of that version only."""
    before = copy.deepcopy(resource)
    version = version_of(resource)
    other = versions.to(OTHER[version], resource)
    text = json.loads(json.dumps(other))
    assert versions.to(version, text) == resource
    assert resource == before
    return other


def test_there_are_resources_of_both_versions():
    """Otherwise the tests below would test little."""
    counted = [version_of(resource) for resource in WRITTEN.values()]
    assert min(counted.count(version) for version in OTHER) > 10


PLAIN = {name: each for name, each in WRITTEN.items() if labels.PRESERVED.isdisjoint(labels.annotations(each))}


@pytest.mark.parametrize("resource", PLAIN.values(), ids=PLAIN)
def test_every_example_comes_back(resource):
    """Field by field, also the faulty ones."""
    there_and_back(resource)


@VERSIONS
@pytest.mark.parametrize("kind", KINDS)
def test_every_shape_comes_back(kind, version):
    """For each kind and version: whatever the schema allows. The result has no field or type that the other version lacks."""

    @budget if kind == dynamo_api.GRAPH else few
    @given(by_schema.resources(kind, version))
    def comes_back(resource):
        other = there_and_back(resource)
        said = [each for each in schema_check.resource(resource, unknown="warning") if each.code in ("DYN021", "DYN023")]
        wrong = [each for each in schema_check.resource(other, unknown="warning") if each.code in ("DYN021", "DYN023")]
        assert said or not wrong
        assert preserved_fields.findings(other) == []
        assert isinstance(not_convertible.fields(resource, OTHER[version]), list)

    comes_back()


@VERSIONS
def test_a_changed_graph_comes_back(version):
    """The kept fields of one graph lie on another one, as after a change: the live fields win, and none is lost."""

    @few
    @given(by_schema.resources(dynamo_api.GRAPH, version), by_schema.resources(dynamo_api.GRAPH, OTHER[version]))
    def comes_back(resource, earlier):
        annotations = labels.annotations(versions.to(version, earlier))
        resource = {**resource, "metadata": {**resource["metadata"], "annotations": annotations}} if annotations else resource
        other = versions.to(OTHER[version], resource)
        back = versions.to(version, other)
        assert (back.get("spec"), back.get("status")) == (resource.get("spec"), resource.get("status"))

    comes_back()


@few
@given(st.sampled_from(KINDS), st.sampled_from(tuple(OTHER)), strategies.JSON, strategies.JSON, st.text(max_size=30))
def test_nothing_raises(kind, version, spec, status, kept):
    """Whatever a resource has in place of its fields, and in the annotation."""
    annotations = dict.fromkeys(labels.PRESERVED, kept)
    resource = {"apiVersion": f"nvidia.com/{version}", "kind": kind, "metadata": {"name": "g", "annotations": annotations}}
    resource |= {"spec": {"services": spec, "components": spec, "profilingConfig": spec, "x": spec}, "status": status}
    for wanted in OTHER:
        conversion_findings.of_conversion(resource, wanted, versions.to(wanted, resource))
        conversion_findings.of_native_conversion(resource, wanted, *not_convertible.native(wanted, resource))
        conversion_findings.of_render(resource, wanted, is_pinned=True)


@VERSIONS
def test_no_wrong_value_raises(version):
    """A graph in which one field has any value."""

    @few
    @given(by_schema.resources(dynamo_api.GRAPH, version), strategies.JSON, st.data())
    def is_converted(resource, value, data):
        spoilt = copy.deepcopy(resource)
        holder: Any = spoilt["spec"]
        while True:
            steps = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
            if not steps:
                break
            step = data.draw(st.sampled_from(steps))
            if not isinstance(holder[step], dict | list) or not holder[step] or data.draw(st.integers(0, 3)) == 0:
                holder[step] = value
                break
            holder = holder[step]
        other = versions.to(OTHER[version], spoilt)
        versions.to(version, other)
        conversion_findings.of_conversion(spoilt, OTHER[version], other)
        conversion_findings.of_native_conversion(spoilt, OTHER[version], *not_convertible.native(OTHER[version], spoilt))

    is_converted()


def rendered(resource: Resource, behaviour: str) -> tuple[bool, list[Resource]]:
    """Whether a render fails, and the generated objects. Adapters and components have the version of their graph; here all have one."""
    expansion = expand.expand([resource], Config(behaviour=behaviour, source="drop"))  # type: ignore[arg-type]
    failed = results.has_errors(expansion.results)
    assert [each for each in expansion.results if each.code == "DYN019"] == []
    return failed, [] if failed else [versions.to("v1beta1", each) for each in expansion.resources]


RENDERED = {name: each for name, each in WRITTEN.items() if each["kind"] in (dynamo_api.GRAPH, dynamo_api.COMPONENT)}


@pytest.mark.parametrize("behaviour", ["v0.9", "v1.5"])
@pytest.mark.parametrize("resource", RENDERED.values(), ids=RENDERED)
def test_a_converted_graph_renders_the_same(resource, behaviour):
    """Under each behaviour, and in the same order.

    Rules about fields of one version, and component types and names that only one schema allows, are no difference of the conversion.
    """
    other = versions.to(OTHER[version_of(resource)], resource)
    failed, objects = rendered(resource, behaviour)
    if not (failed or refused(other)):
        assert rendered(other, behaviour) == (False, objects)


def refused(resource: Resource) -> bool:
    """True if the schema refuses the resource."""
    return any(each.severity == "error" for each in schema_check.resource(resource))
