"""Steps of rollouts, GPUs of pods and nodes, and the simulation, without a cluster."""

from __future__ import annotations

import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st

from krm_fn.review.forecast import forecast, gpu_capacity, native_workloads, rollouts, simulated_rollout, simulation
from krm_fn.review.forecast.rollouts import Rollout, Steps
from tests.review.forecast import given
from tests.review.forecast.edits import written
from tests.review.forecast.native_objects import json_copy
from tests.review.forecast.test_findings import IMAGE, labelled
from tests.support.cases import cases
from tests.testbed import tier

GPU = "nvidia.com/gpu"


def size(*gpus):
    return tuple(gpu_capacity.Demand(((GPU, count),) if count else ()) for count in gpus)


STEPS = [
    ("the defaults are 25 %", None, 4, Steps(1, 1)),
    ("a surge rounds up, and missing pods round down", None, 1, Steps(1, 0)),
    ("both are zero: one pod may be missing", {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": "10%"}}, 4, Steps(0, 1)),
    ("no more pods than there are may be missing", {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 5}}, 2, Steps(0, 2)),
    ("numbers as they are", {"rollingUpdate": {"maxSurge": 3, "maxUnavailable": 2}}, 8, Steps(3, 2)),
    ("Recreate", {"type": "Recreate"}, 3, Steps(0, 3, at_once=True)),
]


@cases(("reason", "strategy", "replicas", "found"), STEPS)
def test_steps(reason, strategy, replicas, found):
    assert native_workloads.deployment_steps(strategy, replicas) == found


# the GPUs at the peak, and the free GPUs that the rollout takes
ROLLOUTS = [
    ("a surge of one", Rollout(1, 1, size(2), size(4), Steps(1, 0)), 6, 4),
    ("no surge, larger pods", Rollout(2, 2, size(1), size(2), Steps(0, 1)), 4, 2),
    ("no surge, smaller pods", Rollout(2, 2, size(2), size(1), Steps(0, 1)), 4, 0),
    ("all at once", Rollout(2, 2, size(2), size(2), Steps(0, 2, at_once=True)), 4, 0),
    ("only the number grows", Rollout(1, 3, size(2), size(2), Steps(1, 0), replaces=False), 6, 4),
    ("only the number falls", Rollout(3, 1, size(2), size(2), Steps(1, 0), replaces=False), 6, 0),
    ("a group of three pods", Rollout(1, 1, size(1, 1, 1), size(1, 1, 1), Steps(0, 1)), 3, 0),
    ("a new object", Rollout(0, 2, size(2), size(2), Steps(1, 0), replaces=False), 4, 4),
    ("pods without GPUs", Rollout(2, 2, size(0), size(0), Steps(1, 0)), 0, 0),
    ("more and other pods: the old ones are scaled first", Rollout(1, 2, size(1), size(1), Steps(1, 0)), 3, 2),
]


@cases(("reason", "one", "peak", "needed"), ROLLOUTS)
def test_rollouts(reason, one, peak, needed):
    assert simulation.peak([one]) == peak
    assert simulation.needed_gpus([one]) == needed


def test_a_pruned_object_holds_its_gpus_until_the_others_have_ended():
    old, new = Rollout(1, 0, size(2), size(2), replaces=False, pruned=True), Rollout(0, 1, size(2), size(2), replaces=False)
    assert simulation.peak([old, new]) == 4
    assert simulation.simulate([old, new], gpu_capacity.pool({GPU: 3})).stuck == (False, False)


def test_one_rollout_gives_its_gpus_to_another():
    """The first pod gets smaller, which makes room for the second."""
    smaller, larger = Rollout(1, 1, size(4), size(1), Steps(0, 1)), Rollout(1, 1, size(1), size(4), Steps(0, 1))
    assert simulation.simulate([larger], gpu_capacity.pool({GPU: 1})).stuck == (True,)
    assert simulation.simulate([larger, smaller], gpu_capacity.pool({GPU: 5})).stuck == (False, False)


def pod(name="chat", gpus=1, node="one", phase="Running", **labels):
    spec = {"nodeName": node, "containers": [{"name": "main", "resources": {"limits": {GPU: f"{gpus}"}}}]}
    return {"kind": "Pod", "metadata": {"name": name, "namespace": given.HOME, "labels": labels}, "spec": spec, "status": {"phase": phase}}


def node(name, gpus, *, taint="", **spec):
    taints = [{"key": taint, "effect": "NoSchedule"}] if taint else []
    status = {"allocatable": {GPU: f"{gpus}"}}
    return {"kind": "Node", "metadata": {"name": name, "labels": {"zone": name}}, "spec": {"taints": taints, **spec}, "status": status}


NODES = [
    ("room on another node", [node("one", 2), node("two", 1)], {}, False),
    ("a cordoned node", [node("one", 2), node("two", 1, unschedulable=True)], {}, True),
    ("a taint", [node("one", 2), node("two", 1, taint="gpu")], {}, True),
    ("a tolerated taint", [node("one", 2), node("two", 1, taint="gpu")], {"tolerations": [{"key": "gpu", "operator": "Exists"}]}, False),
    ("a selected node", [node("one", 2), node("two", 2)], {"nodeSelector": {"zone": "two"}}, False),
    ("a selected node with room for one of two pods", [node("one", 2), node("two", 1)], {"nodeSelector": {"zone": "two"}}, True),
    ("another selected node", [node("one", 2), node("two", 1)], {"nodeSelector": {"zone": "three"}}, True),
]


@cases(("reason", "nodes", "fields", "stuck"), NODES)
def test_nodes(reason, nodes, fields, stuck):
    """Two old pods with a GPU each hold node `one`, and one new pod more needs a GPU."""
    old = labelled()
    new = written(json_copy(old), IMAGE, "worker:2")
    new["spec"]["template"]["spec"] |= fields
    pods = [pod(f"chat-{index}", app="edited") for index in range(2)]
    (outcome,) = forecast([given.change(old, new)], nodes, pods).outcomes
    assert outcome.stuck is stuck


OTHERS = [
    ("nothing else runs", [], 2),
    ("another pod", [pod("other", 2)], 0),
    ("a pod that has ended", [pod("other", 2, phase="Succeeded")], 2),
    ("a pod that waits for a node", [pod("other", 2, node="")], 2),
    ("a pod on another node", [pod("other", 2, node="elsewhere")], 2),
]


@cases(("reason", "others", "free"), OTHERS)
def test_free_gpus(reason, others, free):
    """The pods of the Deployment itself count once, whether the list of pods has them or not."""
    unchanged = given.change(labelled(), labelled())
    own = [pod(f"chat-{index}", app="edited") for index in range(2)]
    assert forecast([unchanged], [node("one", 4)], others).free == free
    assert forecast([unchanged], [node("one", 4)], [*own, *others]).free == free


def asks(gpus, **more):
    return {"resources": {"limits": {GPU: gpus}}, **more}


DEMANDS = [
    ("limits of GPUs are requests", {"containers": [{"resources": {"limits": {GPU: "2", "cpu": "4"}}}]}, 2),
    ("containers together", {"containers": [asks(1), {"resources": {"requests": {GPU: "1"}}}]}, 2),
    ("an init container runs before", {"initContainers": [asks("1")], "containers": [{}]}, 1),
    ("a larger container wins", {"initContainers": [asks(1)], "containers": [asks(2)]}, 2),
    ("a sidecar runs beside", {"initContainers": [asks(1, restartPolicy="Always")], "containers": [asks(2)]}, 3),
    ("parts of a GPU", {"containers": [{"resources": {"limits": {"nvidia.com/mig-1g.10gb": "1"}}}]}, 1),
    ("no pod", None, 0),
]


@cases(("reason", "spec", "gpus"), DEMANDS)
def test_demands(reason, spec, gpus):
    assert gpu_capacity.pod_demand(spec).gpus == gpus


@settings(deadline=None, max_examples=tier.number(150, 10))
@drawn(
    together=st.lists(
        st.builds(
            lambda old, new, gpus, steps, replaces: Rollout(old, new, size(*gpus[:2]), size(*gpus[1:]), steps, replaces=replaces),
            st.integers(0, 3),
            st.integers(0, 3),
            st.lists(st.integers(0, 3), min_size=3, max_size=4),
            st.sampled_from([Steps(1, 0), Steps(0, 1), Steps(1, 1), Steps(2, 0), Steps(0, 3, at_once=True)]),
            st.booleans(),
        ),
        max_size=6,
    ),
    free=st.integers(0, 12),
)
def test_rollouts_that_wait_or_have_ended_need_no_attention(together, free):
    """The simulation leaves them out of a round. With all of them in all rounds, the result is the same."""
    held = sum(rollouts.gpus(each.old_demands) * each.old_units for each in together)
    simulated = simulation.simulate(together, simulation._pool(together, held + free))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(simulated_rollout.SimulatedRollout, "is_blocked", lambda _: False)
        assert simulated == simulation.simulate(together, simulation._pool(together, held + free))
    least = simulation.needed_gpus(together)
    assert not any(simulation.simulate(together, simulation._pool(together, held + least)).stuck)
    assert not least or any(simulation.simulate(together, simulation._pool(together, held + least - 1)).stuck)
