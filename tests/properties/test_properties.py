"""Properties of the expansion for random inputs: graphs without and with mistakes, among other items.

`KRM_FN_EXAMPLES` sets the number of inputs for each property.
"""

from __future__ import annotations

import copy
from collections import Counter
from typing import TYPE_CHECKING, Any

import yaml
from hypothesis import HealthCheck, assume, settings
from hypothesis import given as drawn
from hypothesis import strategies as st

from krm_fn.base import results
from krm_fn.kubernetes import identity
from krm_fn.render import dynamo_api, expand, labels
from krm_fn.render.config import Config
from krm_fn.schemas import finding_pages
from tests.support import by_schema, faults, given, strategies
from tests.testbed import tier

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.kubernetes.native_types import PodSpec
    from krm_fn.kubernetes.types import Labels, Resource

budget = settings(
    max_examples=tier.number(25, 10, "KRM_FN_EXAMPLES"),
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.data_too_large],
)
EXPANDED = ("DynamoGraphDeployment", "DynamoGraphDeploymentRequest")
ITEMS = st.lists(
    strategies.graphs() | strategies.graphs(name="batch") | strategies.requests() | strategies.others(), max_size=4, unique_by=identity.key
)


def sound(expansion: expand.Expansion) -> list[Resource]:
    """The items of an expansion. Discards examples with errors."""
    assume(not results.has_errors(expansion.results))
    return expansion.resources


def pods(resource: Resource) -> Iterator[tuple[Labels, PodSpec]]:
    """Labels and pod spec of each pod template in a generated workload."""
    spec = resource.get("spec") or {}
    if labels.OWNER not in labels.annotations(resource):
        return
    if resource["kind"] == "Deployment":
        yield spec["template"]["metadata"]["labels"], spec["template"]["spec"]
    elif resource["kind"] == "LeaderWorkerSet":
        for role in ("leaderTemplate", "workerTemplate"):
            template = spec["leaderWorkerTemplate"][role]
            yield template["metadata"]["labels"], template["spec"]
    elif resource["kind"] == "PodCliqueSet":
        for clique in spec["template"]["cliques"]:
            yield clique["labels"], clique["spec"]["podSpec"]


@budget
@drawn(
    st.lists(strategies.broken() | strategies.others() | strategies.graphs() | strategies.requests(), min_size=1, max_size=3),
    strategies.configs(),
)
def test_no_input_raises_or_is_changed_and_every_finding_has_an_address_and_a_known_code(items, config):
    before = copy.deepcopy(items)
    expansion = expand.expand(items, config)
    assert items == before
    for found in expansion.results:
        assert found.ref is not None
        assert found.code in finding_pages.pages().keys() - {"DYN019"}
        assert found.message
        assert results.wire(found)["severity"] in ("error", "warning", "info")


TYPED = st.builds(by_schema.resources, st.sampled_from((dynamo_api.GRAPH, dynamo_api.COMPONENT)), st.sampled_from(("v1alpha1", "v1beta1")))


@budget
@drawn(TYPED.flatmap(lambda drawn_later: drawn_later), strategies.configs())
def test_every_shape_that_a_schema_allows_can_be_read_under_every_release(resource, config):
    found = expand.expand([resource], config)
    assert "DYN019" not in {each.code for each in found.results}


@budget
@drawn(strategies.JSON, strategies.configs())
def test_any_value_may_stand_where_a_spec_belongs(spec, config):
    written = {**given.graph(), "spec": spec}
    assert expand.expand([written], config).resources


@budget
@drawn(strategies.JSON)
def test_any_value_may_stand_where_settings_of_the_profiler_belong(settings):
    written = faults.request()
    written["spec"]["profilingConfig"]["config"] = settings
    found = expand.expand([written], Config())
    assert "DYN019" not in {each.code for each in found.results}


@budget
@drawn(strategies.requests())
def test_the_profiler_reads_the_settings_that_the_user_wrote(request):
    """All but those that the request overwrites, and with whole numbers as integers, which Python compares as equal."""
    made = [each for each in sound(expand.expand([request], Config())) if each["kind"] == "Job"]
    (profiler,) = [each for each in made[0]["spec"]["template"]["spec"]["initContainers"] if each["name"] == "profiler"]
    read, written = yaml.safe_load(profiler["args"][1]), request["spec"]["profilingConfig"]["config"]
    ours = {"deployment": ("model", "dgd_image"), "engine": ("backend", "config")}
    for key, value in written.items():
        if key not in (*ours, "output_dir"):
            assert read[key] == value
    for key, fields in ours.items():
        inner = written.get(key) or {}
        assert {field: value for field, value in read[key].items() if field in inner and field not in fields} == {
            field: value for field, value in inner.items() if field not in fields
        }


@budget
@drawn(st.dictionaries(st.text(max_size=3), strategies.JSON, max_size=2), strategies.configs())
def test_any_value_may_stand_where_a_service_belongs(services, config):
    assert expand.expand([given.graph(services)], config).resources


@budget
@drawn(strategies.JSON, strategies.JSON)
def test_any_value_may_stand_where_metadata_belongs(annotations, metadata):
    given.expanded(given.graph(annotations=annotations))
    given.expanded({**given.graph(), "metadata": {"name": "chat", "labels": metadata, "ownerReferences": metadata}})


@budget
@drawn(ITEMS, strategies.configs())
def test_no_two_items_leave_with_one_identity(items, config):
    leaving = sound(expand.expand(items, config))
    assert max(Counter(identity.key(resource) for resource in leaving).values(), default=1) == 1


@budget
@drawn(ITEMS, strategies.configs())
def test_selectors_select_and_mounts_have_volumes(items, config):
    leaving = sound(expand.expand(items, config))
    there = [(resource, found, spec) for resource in leaving for found, spec in pods(resource)]
    for resource, found, spec in there:
        if resource["kind"] == "Deployment":
            assert resource["spec"]["selector"]["matchLabels"].items() <= found.items()
        volumes = [volume["name"] for volume in spec.get("volumes", ())]
        assert len(set(volumes)) == len(volumes)
        for container in [*spec.get("initContainers", ()), *spec["containers"]]:
            assert {mount["name"] for mount in container.get("volumeMounts", ())} <= set(volumes)
        assert len({container["name"] for container in spec["containers"]}) == len(spec["containers"])
    for resource in leaving:
        if resource["kind"] == "Service" and labels.OWNER in labels.annotations(resource):
            wanted = _carried(resource["spec"]["selector"])
            assert any(wanted.items() <= found.items() for _, found, _ in there)


def _carried(selector: Labels) -> Labels:
    """The selector without the label that a controller adds to the pods."""
    return {key: value for key, value in selector.items() if key != labels.ROLE}


@budget
@drawn(ITEMS, strategies.configs(), st.randoms(use_true_random=False))
def test_the_order_of_items_does_not_matter(items, config, random):
    leaving = expand.expand(items, config)
    mixed = list(items)
    random.shuffle(mixed)
    again = expand.expand(mixed, config)
    assert again.results == leaving.results
    assert results.has_errors(leaving.results) or _set(again.resources) == _set(leaving.resources)


def _set(resources: list[Resource]) -> Any:
    return sorted(resources, key=repr)


@budget
@drawn(ITEMS, strategies.configs())
def test_a_second_run_changes_nothing(items, config):
    leaving = sound(expand.expand(items, config))
    again = expand.expand(leaving, config)
    assert not results.has_errors(again.results)
    assert len(again.resources) == len(leaving)
    assert all(one is other for one, other in zip(again.resources, leaving, strict=True))


@budget
@drawn(ITEMS, strategies.configs())
def test_items_of_others_leave_as_they_came(items, config):
    leaving = expand.expand(items, config).resources
    mine = [item for item in items if item["kind"] not in EXPANDED]
    kept = [item for item in leaving if any(item is other for other in mine)]
    assert len(kept) == len(mine)
    assert all(one is other for one, other in zip(kept, mine, strict=True))
