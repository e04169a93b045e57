"""The forecast of every example: nothing restarts without a change, and everything restarts with a new label of all pods."""

from __future__ import annotations

import re

import pytest

from krm_fn.base.yaml import reader
from krm_fn.kubernetes import paths
from krm_fn.render import labels
from krm_fn.review.forecast import forecast
from tests.review.forecast import given
from tests.review.forecast.native_objects import json_copy
from tests.support import golden

SUMMARY = re.compile(r"([0-9]+) services?, .*?(?:([0-9]+) GPUs?)?")


UNLIKE = {
    "disagg-vllm-planner": "the cluster has the number of a component with a scaling adapter",
    "layout-c-generator": "a later layer changes replicas",
    "older-planner": "the cluster has the number of a component with a scaling adapter",
    "scaling-hpa-decode": "the cluster has the number of a component with a scaling adapter",
    "v1beta1-disagg-sglang": "the cluster has the number of a component with a scaling adapter",
}
"""Examples whose GPUs are not those of the summary."""


def objects(example):
    file = golden.EXAMPLES / example / "expected.yaml"
    return [each.value for each in reader.read(file.read_text("utf-8"))[0]] if file.exists() else []


EXAMPLES = [folder.name for folder in sorted(golden.EXAMPLES.iterdir()) if any(labels.GRAPH in str(each) for each in objects(folder.name))]


def summaries(found):
    """The numbers of services and GPUs that the graphs of an example state."""
    texts = [((each.get("metadata") or {}).get("annotations") or {}).get(labels.SUMMARY, "") for each in found]
    numbers = [match.groups(default="0") for text in texts if (match := SUMMARY.fullmatch(text))]
    return sum(int(services) for services, _ in numbers), sum(int(gpus) for _, gpus in numbers)


def stamped(resource):
    """The object with another annotation of all its pods."""
    new = json_copy(resource)
    for place in paths.POD_TEMPLATES:
        for _, metadata in paths.find(new, (place.metadata,)):
            metadata["annotations"] = {**(metadata.get("annotations") or {}), labels.RESTART_AT: "now"}
    return new


def test_there_are_examples_of_all_kinds():
    kinds = {each["kind"] for example in EXAMPLES for each in objects(example)}
    assert kinds >= {"Deployment", "LeaderWorkerSet", "PodCliqueSet"}


@pytest.mark.parametrize("example", EXAMPLES)
def test_nothing_restarts_without_a_change(example):
    found = forecast([given.change(each, each) for each in objects(example)])
    assert {outcome.effect for outcome in found.outcomes} == {"same"}
    assert not found.restarting
    assert found.gpus.before == found.gpus.peak == found.gpus.after
    assert sum(gpus.before for outcome in found.outcomes for _, gpus in outcome.shares) == found.gpus.before
    assert (found.needed, found.gpus.interrupted) == (0, 0)


@pytest.mark.parametrize("example", EXAMPLES)
def test_services_and_gpus_are_those_of_the_summary(example):
    resources = objects(example)
    services, gpus = summaries(resources)
    if services:
        found = forecast([given.change(each, each) for each in resources])
        assert len(found.services) == services
        assert (found.gpus.after == gpus) == (example not in UNLIKE)


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_service_restarts_with_new_pods(example):
    found = forecast([given.change(each, stamped(each)) for each in objects(example)])
    assert set(found.restarting) == set(found.services)
    assert found.gpus.interrupted == found.gpus.before


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_generated_kind_is_known(example):
    """A note about an unknown kind would be about krm-fn's own output."""
    pairs = ((each, {**each, "metadata": {**each["metadata"], "labels": {"a": "b"}}}) for each in objects(example))
    assert "unknown" not in {outcome.effect for outcome in forecast([given.change(*pair) for pair in pairs]).outcomes}


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_first_installation_creates_all_objects_and_takes_all_gpus(example):
    found = forecast([given.change(None, each) for each in objects(example)])
    assert {outcome.effect for outcome in found.outcomes} == {"created"}
    assert not found.restarting
    assert found.gpus.before == 0
    assert found.needed == found.gpus.peak == found.gpus.after
