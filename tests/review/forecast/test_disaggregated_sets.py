"""Changes of graphs with a DisaggregatedSet: the pods that restart, the GPUs at the peak, and the way from and to Deployments."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from krm_fn.kubernetes import identity
from krm_fn.render.schema import object_changes
from krm_fn.review import forecast
from tests.support import disaggregated_faults, given
from tests.support.cases import cases

GPUS = {"main": {"resources": {"limits": {"nvidia.com/gpu": "4"}}}}
SETS = disaggregated_faults.SETTINGS


def objects(*, settings=SETS, prefill=None, decode=None, **graph):
    """The rendered objects of a pair with four GPUs in each pod, by key."""
    workers = {"prefill": {"replicas": 2, **GPUS, **(prefill or {})}, "decode": {"replicas": 2, **GPUS, **(decode or {})}}
    rendered = given.rendered(disaggregated_faults.pair(**workers, **graph), **settings).values()
    return {identity.key(resource): copy.deepcopy(resource) for resource in rendered}


def forecast_of(old, new):
    return forecast.forecast(object_changes.between_states(old, new))


def the_set(rendered):
    return next(resource for key, resource in rendered.items() if key.kind == "DisaggregatedSet")


def role(rendered, index=0):
    return the_set(rendered)["spec"]["roles"][index]["spec"]


def edited(change):
    rendered = objects()
    change(rendered)
    return rendered


ROLLING = [
    ("an image of one role", lambda state: containers(state)[0].update(image="other:1")),
    ("a label of the pods of one role", lambda state: template(state)["metadata"]["labels"].update(team="a")),
    ("the nodes of one role", lambda state: role(state)["leaderWorkerTemplate"].update(size=2)),
    ("the order of the roles", lambda state: the_set(state)["spec"]["roles"].reverse()),
]
STAYING = [
    ("replicas", lambda state: role(state).update(replicas=5)),
    ("the steps of a rollout", lambda state: role(state).update(rolloutStrategy={"type": "RollingUpdate"})),
    ("a label of a LeaderWorkerSet", lambda state: the_set(state)["spec"]["roles"][0]["metadata"]["labels"].update(team="a")),
    ("the copies of all roles", lambda state: the_set(state)["spec"].update(slices=2)),
]


def renamed(*names):
    """An edit that gives the roles these names."""
    return lambda state: [role.update(name=name) for role, name in zip(the_set(state)["spec"]["roles"], names, strict=True)]


def codes_of(result):
    return [finding.code for outcome in result.outcomes for finding in outcome.findings]


def test_old_roles_stay_if_no_role_keeps_its_name():
    """The controller looks for old replicas of the new names only (Reconcile), so the GPUs of both generations are held for good."""
    result = forecast_of(objects(), edited(renamed("fill", "generate")))
    assert codes_of(result) == ["DYN832"]
    assert result.restarting == ()
    assert (result.gpus.before, result.gpus.after) == (16, 32)


KEPT = [
    ("one role keeps its name", renamed("fill", "decode")),
    ("the roles have no replicas", lambda state: [role(state, index).update(replicas=0) for index in (0, 1)]),
]


@cases("change", KEPT)
def test_old_roles_go_otherwise(change):
    assert codes_of(forecast_of(objects(), edited(change))) == []


def template(state):
    return role(state)["leaderWorkerTemplate"]["workerTemplate"]


def containers(state):
    return template(state)["spec"]["containers"]


@cases("change", ROLLING)
def test_a_change_of_one_role_restarts_both(change):
    result = forecast_of(objects(), edited(change))
    assert {service.name for service in result.restarting} == {"Prefill", "Decode"}


@cases("change", STAYING)
def test_a_change_outside_of_the_pod_templates_restarts_nothing(change):
    """The revision covers the names of the roles and their pod templates (ComputeRevision)."""
    result = forecast_of(objects(), edited(change))
    assert result.restarting == ()
    assert {outcome.effect for outcome in result.outcomes} == {"same", "updated"}


PEAKS = [
    ("one more of each role", {}, 24),
    ("two more of one role", {"prefill": {"metadata": {"annotations": {"nvidia.com/deployment-rolling-update-max-surge": "2"}}}}, 24),
    ("ratios", {"prefill": {"replicas": 4}, "decode": {"replicas": 1}}, 28),
]


@cases(("workers", "peak"), PEAKS)
def test_the_peak_has_the_surge_of_all_roles(workers, peak):
    """A surge of two batches is not used up if the other role needs more batches: the steps are those of all roles."""
    old, new = objects(**workers), objects(**workers)
    containers(new)[0]["image"] = "other:1"
    assert forecast_of(old, new).gpus.peak == peak


def test_a_rollout_needs_free_gpus_for_both_roles_at_once():
    """The controller waits until the new replicas of all roles are ready."""
    node = {"metadata": {"name": "a"}, "status": {"allocatable": {"nvidia.com/gpu": "20"}}}
    changes = object_changes.between_states(objects(), edited(lambda state: containers(state)[0].update(image="other:1")))
    result = forecast.forecast(changes, nodes=[node])
    assert (result.free, result.needed) == (4, 8)
    assert [outcome.stuck for outcome in result.outcomes if outcome.key.kind == "DisaggregatedSet"] == [True]


SCALED: dict[str, Any] = {"prefill": {"scalingAdapter": {}}}


def adapted(state, replicas):
    """A state in which the scaling adapter has these replicas."""
    for key, resource in state.items():
        if key.kind == "DynamoGraphDeploymentScalingAdapter":
            resource["spec"]["replicas"] = replicas
    return state


SCALING = [
    ("Git loses the number, and the scaler begins with it", objects(), objects(**SCALED), (16, 16, 16)),
    ("an autoscaler added two", adapted(objects(**SCALED), 4), adapted(objects(**SCALED), 4), (24, 24, 24)),
    ("an autoscaler stopped the role", adapted(objects(**SCALED), 0), adapted(objects(**SCALED), 0), (12, 12, 12)),
    ("Git takes the number back", adapted(objects(**SCALED), 4), objects(), (24, 24, 16)),
]


@cases(("old", "new", "gpus"), SCALING)
def test_a_scaled_role_has_the_replicas_of_its_adapter(old, new, gpus):
    """A live DisaggregatedSet has the default of its definition, 1, which the controller ignores."""
    result = forecast_of(old, new)
    assert (result.restarting, tuple(result.gpus[:3])) == ((), gpus)


@pytest.mark.parametrize("back", [False, True], ids=["to a set", "back"])
def test_a_move_between_deployments_and_a_set_restarts_all_pods(back):
    states = [objects(settings={}), objects()]
    result = forecast_of(*(reversed(states) if back else states))
    assert {service.name for service in result.restarting} == {"Prefill", "Decode"}
    assert result.gpus.peak == 32
