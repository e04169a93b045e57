"""LeaderWorkerSets for multinode components: one set per component, whose groups are its replicas."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.kube import labels, names
from krm_fn.manifests import pod, services
from krm_fn.manifests.workloads import _sets
from krm_fn.plan import Addressing
from krm_fn.workload_list import Entry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krm_fn.kube.types import PodTemplate, Resource
    from krm_fn.manifests.assemblies import Pod, Pods
    from krm_fn.plan import ComponentPlan, GraphPlan

_INDEX = 0  # of the only set, whose name ends with it as the name of an older set does


class LeaderWorkerSetNative(_sets.Sets):
    """A LeaderWorkerSet with a group for each replica of a component."""

    objects = (_sets.GROUP_KIND,)

    def sets(self, plan: ComponentPlan) -> int:
        """One, also for 0 replicas."""
        return 1

    def groups(self, plan: ComponentPlan) -> int:
        """One for each replica."""
        return plan.placement.replicas_or_one

    def addressing(self, plan: ComponentPlan) -> Addressing:
        """The LeaderWorkerSet controller sets variables with the leader's host and each pod's index. Kubernetes expands `$(NAME)`."""
        return Addressing(
            leader="$(LWS_LEADER_ADDRESS)",
            leader_word="$(LWS_LEADER_ADDRESS)",
            workers=_sets.follower_hosts(plan),
            rank="$(LWS_WORKER_INDEX)",
            operand="$(LWS_WORKER_INDEX)",
            rank_needs_shell=False,
            waits_for_dns=True,
        )

    def render(self, graph: GraphPlan, made: Sequence[Pods]) -> Iterator[Resource]:
        """A LeaderWorkerSet per component. If the component has a scaling adapter, an autoscaler sets the replicas."""
        for component in made:
            plan = component.plan
            templates = (_template(each) for each in component.roles)
            yield _sets.resource(plan, _INDEX, _replicas(plan), services.workload_labels(plan), templates)

    def entries(self, graph: GraphPlan, plan: ComponentPlan) -> Iterator[Entry]:
        """One entry."""
        name = names.instance(plan.who.workload_name, _INDEX)
        yield Entry(plan.who.service, _sets.API_VERSION, "LeaderWorkerSet", name, _replicas(plan))


def _replicas(plan: ComponentPlan) -> int | None:
    return None if plan.placement.autoscaled else plan.placement.replicas_or_one


def _template(made: Pod) -> PodTemplate:
    """The pod template of one role."""
    template = pod.template(made)
    return {**template, "metadata": {**template["metadata"], "labels": _sets.labels_of(template, {labels.ROLE: made.role.role})}}


WORKLOAD = LeaderWorkerSetNative()
