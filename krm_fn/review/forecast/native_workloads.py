"""The workloads of Kubernetes: the changes that restart their pods, and the order in which the pods restart.

Sources: `pkg/controller/deployment`, `statefulset`, `daemon`, `replicaset` and `replication` of Kubernetes, and for pods
`computePodActions` in `pkg/kubelet/kuberuntime`. Pods of a Job never change, and those of a CronJob only with the next Job.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from krm_fn.base import codes, results
from krm_fn.base.results import Path, Result
from krm_fn.kubernetes import paths, stored_objects, stored_templates, values
from krm_fn.kubernetes.types import Resource
from krm_fn.render import labels
from krm_fn.render.schema import object_changes
from krm_fn.render.schema.object_changes import ObjectChange
from krm_fn.review.forecast import gpu_capacity, object_rules, uniform_workloads
from krm_fn.review.forecast.gpu_capacity import Demand
from krm_fn.review.forecast.object_rules import Choice
from krm_fn.review.forecast.rollouts import RolloutPods, Steps
from krm_fn.review.forecast.uniform_workloads import UniformWorkload

_TEMPLATE: Path = ("spec", "template")
_GATED = tuple(pattern for patterns in stored_objects.GATES.values() for pattern in patterns)


def _strategy(resource: Resource) -> dict[str, Any]:
    """Returns the update strategy of a StatefulSet or a DaemonSet."""
    return values.mapping(object_rules.spec(resource).get("updateStrategy"))


class TemplateWorkload(UniformWorkload):
    """Pods restart where the stored template differs, without the fields of feature gates that are off."""

    form: Callable[[Any], Any] = staticmethod(stored_templates.native)

    def causes(self, old: Resource, new: Resource) -> tuple[Path, ...]:
        """Returns the paths of the fields of the pod template that differ as stored."""
        written = [object_rules.spec(resource).get("template") for resource in (old, new)]
        if repr(written[0]) == repr(written[1]):
            return ()
        before, after = (stored_objects.without_disabled(self.form(template)) for template in written)
        return object_changes.of_parts(before, after, _TEMPLATE)

    def waits(self, new: Resource) -> bool:
        """True if the update strategy leaves the pods to the user (OnDelete)."""
        return _strategy(new).get("type") == "OnDelete"

    def demands(self, resource: Resource) -> tuple[Demand, ...]:
        """Returns the demand of one pod."""
        return (gpu_capacity.pod_demand(values.mapping(object_rules.spec(resource).get("template")).get("spec")),)

    def selector(self, change: ObjectChange) -> RolloutPods:
        """Returns the labels of its selector."""
        match_labels = values.mapping(object_rules.spec(change.old or change.new), "selector", "matchLabels")
        return RolloutPods(change.key.namespace, tuple(match_labels.items()))

    def steps(self, spec: Mapping[str, Any], replicas: int) -> Steps:
        """Returns the steps of a workload that replaces one pod at a time."""
        return Steps(0, 1)

    def findings(self, change: ObjectChange, causes: tuple[Path, ...]) -> Iterator[Result]:
        """Notes fields of feature gates that are off: an API server drops them, so they restart no pod."""
        written = [object_rules.spec(resource).get("template") for resource in (change.old, change.new)]
        if not any(next(paths.find(template, _GATED), None) for template in written):
            return
        templates = [stored_templates.native(template) for template in written]
        for gate, patterns in stored_objects.GATES.items():
            old_fields, new_fields = (dict(paths.find(template, patterns)) for template in templates)
            path = next((path for path in (*new_fields, *old_fields) if new_fields.get(path) != old_fields.get(path)), None)
            if path:
                message = f"the feature gate {gate} is off by default, so an API server drops {path[-1]}, and the field restarts no pod"
                fix = "if your cluster switches the gate on, the pods restart"
                yield results.info(
                    codes.FIELD_OF_DISABLED_FEATURE_GATE, f"{message}; {fix}", results.ref(change.new or {}), (*_TEMPLATE, *path)
                )


def deployment_steps(strategy: Any, replicas: int) -> Steps:
    """Returns the steps of a Deployment's strategy, as Kubernetes rounds them (ResolveFenceposts): surge up, unavailable down.

    One pod may be missing if both are zero.

    >>> deployment_steps({"rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}}, 5)
    Steps(surge=2, unavailable=1, at_once=False, numbered=False)
    >>> deployment_steps({"rollingUpdate": {"maxSurge": 0, "maxUnavailable": "25%"}}, 1)
    Steps(surge=0, unavailable=1, at_once=False, numbered=False)
    """
    fields = values.mapping(strategy)
    if fields.get("type") == "Recreate":
        return Steps(0, replicas, at_once=True)
    update = values.mapping(fields, "rollingUpdate")
    surge = uniform_workloads.scale_step(update.get("maxSurge"), replicas, up=True)
    unavailable = uniform_workloads.scale_step(update.get("maxUnavailable"), replicas, up=False)
    return Steps(surge, min(unavailable if surge or unavailable else 1, replicas))


def deployment_choices(replicas: int) -> tuple[Choice, ...]:
    """Returns the other steps that the annotations of a service can choose for its Deployment, the cheapest first."""
    one = f'annotate the service with {labels.MAX_SURGE}: "0" and {labels.MAX_UNAVAILABLE}: "1"'
    recreate = f"annotate the service with {labels.STRATEGY}: Recreate"
    return (
        Choice(Steps(0, 1), one, "one replica stops at a time"),
        Choice(Steps(0, replicas, at_once=True), recreate, "all replicas stop at once"),
    )


class Deployment(TemplateWorkload):
    """Pods restart step by step, as the strategy says."""

    def waits(self, new: Resource) -> bool:
        """True while the Deployment is paused."""
        return bool(object_rules.spec(new).get("paused"))

    def steps(self, spec: Mapping[str, Any], replicas: int) -> Steps:
        """Returns the steps of its strategy."""
        return deployment_steps(spec.get("strategy"), replicas)


class StatefulSet(TemplateWorkload):
    """Pods restart one at a time, the last one first, down to the partition (updateStatefulSet in `stateful_set_control.go`)."""

    form = staticmethod(stored_templates.revision)

    def waits(self, new: Resource) -> bool:
        """True if no pod restarts by itself: with OnDelete, or if all pods are below the partition."""
        replicas = object_rules.replica_count(object_rules.spec(new).get("replicas"), 1)
        return super().waits(new) or 0 < replicas <= self.unchanged_units(new)

    def steps(self, spec: Mapping[str, Any], replicas: int) -> Steps:
        """Returns the steps of pods with numbers, one at a time."""
        return Steps(0, 1, numbered=True)

    def unchanged_units(self, new: Resource) -> int:
        """Returns the number of pods below the partition."""
        return object_rules.replica_count(values.mapping(_strategy(new), "rollingUpdate").get("partition"), 0)


class DaemonSet(TemplateWorkload):
    """Pods restart node by node (`pkg/controller/daemon/update.go`). Their number depends on the nodes, so their GPUs do not count."""

    def units(self, count: int) -> int:
        """Returns zero."""
        return 0


class ReplicaSet(TemplateWorkload):
    """Running pods keep their old template; only a new pod has the new one. The same holds for a ReplicationController."""

    def waits(self, new: Resource) -> bool:
        """True: a user deletes the pods."""
        return True


_IMAGES: tuple[Path, ...] = tuple(("spec", name, paths.EVERY, "image") for name in ("containers", "initContainers"))


class BarePod(UniformWorkload):
    """A container with another image restarts in its pod. A change of any other field restarts nothing, or is refused."""

    def causes(self, old: Resource, new: Resource) -> tuple[Path, ...]:
        """Returns the paths of the images that differ."""
        images = dict(paths.find(old, _IMAGES))
        return tuple(path for path, image in paths.find(new, _IMAGES) if images.get(path) != image)

    def demands(self, resource: Resource) -> tuple[Demand, ...]:
        """Returns the demand of the pod."""
        return (gpu_capacity.pod_demand(object_rules.spec(resource)),)

    def steps(self, spec: Mapping[str, Any], replicas: int) -> Steps:
        """Returns the steps of a pod that restarts in its place."""
        return Steps(0, 1, at_once=True)

    def selector(self, change: ObjectChange) -> RolloutPods:
        """Returns the labels of the pod."""
        pod_labels = values.mapping((change.old or change.new or {}).get("metadata"), "labels")
        return RolloutPods(change.key.namespace, tuple(pod_labels.items()))
