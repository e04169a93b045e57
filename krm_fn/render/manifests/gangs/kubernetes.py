"""Kubernetes' own gang scheduling: a PodGroup of `scheduling.k8s.io`, which pods name in `schedulingGroup`.

Kubernetes 1.37 serves PodGroups in `v1beta1` if the feature gate `GenericWorkload` is on, which is off by default (kubernetes
`pkg/features/kube_features.go` and `pkg/registry/scheduling/rest/storage_scheduling.go`).

All groups of a LeaderWorkerSet have the same pod templates, and no release of LeaderWorkerSet up to 0.10 fills in `schedulingGroup`:
Volcano is the only provider in lws `pkg/schedulerprovider/interface.go`. So each replica has a set of its own. The definition of
LeaderWorkerSet has the field from 0.9.0 on.
"""

from __future__ import annotations

from krm_fn.kubernetes import digest
from krm_fn.render import labels, names
from krm_fn.render.kinds.floors import Floors
from krm_fn.render.manifests import services
from krm_fn.render.manifests.gangs import Gang, GangScheduler

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from krm_fn.kubernetes.native_types import PodTemplateSpec
    from krm_fn.render.plan import ComponentPlan

_DIGITS = 8
"""The digits of the hash in the name of a PodGroup.

Rule gangs.name-length: The hash in the name of a PodGroup has eight digits. (krm-fn)
"""


class KubernetesGangs(GangScheduler):
    """Makes a PodGroup for each replica of a component on several nodes."""

    objects = (("scheduling.k8s.io", "PodGroup"),)
    per_replica = True
    floors = Floors(kubernetes="1.37", leader_worker_set="0.9.0")

    def gather(self, plan: ComponentPlan, index: int, templates: Iterable[PodTemplateSpec]) -> Gang:
        """Returns a PodGroup, and the pod templates, which name it.

        `minCount` is the number of pods. A group that is preempted loses all pods, because an engine does not run on a part of its nodes.

        Rule gangs.pod-group: A PodGroup lets Kubernetes start all pods of a group or none, and preempt them together. (krm-fn)
        """
        written = tuple(templates)
        spec = _spec(plan, written)
        name = _name(plan, index, spec, written)
        group = {
            "apiVersion": "scheduling.k8s.io/v1beta1",
            "kind": "PodGroup",
            "metadata": {
                "name": name,
                "namespace": plan.identity.namespace,
                "labels": {**services.workload_labels(plan), labels.INSTANCE: f"{index}"},
            },
            "spec": spec,
        }
        return Gang((group,), tuple(_with_group(template, name) for template in written))


def _spec(plan: ComponentPlan, templates: Sequence[PodTemplateSpec]) -> dict[str, Any]:
    """Returns the spec of a PodGroup. The scheduler refuses a group whose priority is not that of its pods.

    Rule gangs.members: A PodGroup needs all pods of its replica, one on each node, and has their priority class. (krm-fn)
    """
    priority = templates[0]["spec"].get("priorityClassName")
    return {
        "schedulingPolicy": {"gang": {"minCount": plan.placement.nodes}},
        "disruptionMode": {"all": {}},
        **({"priorityClassName": priority} if priority else {}),
    }


def _name(plan: ComponentPlan, index: int, spec: dict[str, Any], templates: Sequence[PodTemplateSpec]) -> str:
    """Names the PodGroup of one replica.

    The scheduler counts pods that end as members of their group (kubernetes `pkg/scheduler/backend/cache/podgroupstate.go`), so with
    one PodGroup for old and new pods, a new leader would start before its workers fit. Most fields of a PodGroup cannot change, either.

    Rule gangs.name: A PodGroup has the name of its LeaderWorkerSet, a dash, and a hash of its pods, so that new pods form a new gang.
    (krm-fn)
    """
    return f"{names.instance(plan.identity.workload_name, index)}-{digest.of_value([spec, *templates])[:_DIGITS]}"


def _with_group(template: PodTemplateSpec, name: str) -> PodTemplateSpec:
    """Returns a pod template that names its PodGroup.

    Rule gangs.scheduling-group: The pods of a group name their PodGroup in `schedulingGroup`. (krm-fn)
    """
    return {**template, "spec": {**template["spec"], "schedulingGroup": {"podGroupName": name}}}


GANG_SCHEDULER = KubernetesGangs()
