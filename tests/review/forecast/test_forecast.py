"""The whole forecast, with the objects that a render makes."""

from __future__ import annotations

from pathlib import Path

import pytest

from krm_fn.base.yaml import reader
from krm_fn.kubernetes import identity
from krm_fn.render import config, dynamo_api
from krm_fn.review.diff import rendered_state
from krm_fn.review.forecast import forecast
from tests.review.forecast import given

EXAMPLES = Path(__file__).parents[3] / "examples"


def graph(name):
    return next(each.value for each in reader.read((EXAMPLES / name / "graph.yaml").read_text())[0])


def rendered(resource, **settings):
    done = rendered_state.render([resource], config.Config(**settings))
    assert not [each for each in done.findings if each.severity == "error"]
    return {identity.key(each, given.HOME): each for each in done.objects}


def changes(old, new):
    """The changes between two renders."""
    return [given.change(old.get(key), new.get(key)) for key in dict.fromkeys((*new, *old))]


def by_name(found, name):
    (outcome,) = [each for each in found.outcomes if each.key.name == name and each.key.kind not in ("Service", dynamo_api.ADAPTER)]
    return outcome


def codes(found):
    return sorted({each.code for each in (*found.findings, *(one for outcome in found.outcomes for one in outcome.findings))})


def node(gpus, name="one", **spec):
    return {"kind": "Node", "metadata": {"name": name}, "spec": spec, "status": {"allocatable": {"nvidia.com/gpu": f"{gpus}"}}}


@pytest.fixture
def planner():
    """The planner example with 4 GPUs for Decode, another router mode and another role of the planner."""
    old, new = graph("older-planner"), graph("older-planner")
    new["spec"]["services"]["Decode"]["resources"]["limits"]["gpu"] = "4"
    new["spec"]["services"]["Frontend"]["envs"][0]["value"] = "round-robin"
    return changes(rendered(old), rendered(new, rbac=config.Config().rbac._replace(planner_role="other")))


def test_the_planner_example(planner):
    found = forecast(planner)
    assert [each.name for each in found.restarting] == ["Frontend", "Decode"]
    assert len(found.services) == 4
    assert found.gpus[:4] == (6, 10, 8, 2)
    assert found.needed == 4
    refused = [each.key.kind for each in found.outcomes if each.effect == "refused"]
    assert refused == ["RoleBinding"]
    assert codes(found) == ["DYN530"]


@pytest.mark.parametrize(("gpus", "stuck"), [(8, True), (9, True), (10, False)])
def test_the_planner_example_on_nodes(gpus, stuck, planner):
    found = forecast(planner, [node(gpus)])
    assert found.free == gpus - 6
    assert by_name(found, "assistant-decode").stuck is stuck
    assert not by_name(found, "assistant-frontend").stuck
    assert ("DYN532" in codes(found)) is stuck
