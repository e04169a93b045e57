"""Deployments for single-node components.

Follows the operator's `internal/controller/dynamocomponentdeployment_controller.go` generateDeployment.
"""

from __future__ import annotations

import re
from functools import lru_cache

from krm_fn.base import codes, results
from krm_fn.kubernetes import merge, paths
from krm_fn.render import labels, names
from krm_fn.render.manifests import pod_template, services
from krm_fn.render.manifests.workloads import Workload
from krm_fn.render.plan import RolePlan
from krm_fn.render.workload_list import WorkloadEntry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from krm_fn.base.results import Result
    from krm_fn.kubernetes.native_types import Container
    from krm_fn.kubernetes.types import Labels, Resource
    from krm_fn.render.manifests.pod_builder import Pod, Pods
    from krm_fn.render.plan import ComponentPlan, GraphPlan

_DEFAULT_STEP = "25%"
"""The steps of a rolling update without annotations.

Rule deployment.step: A rolling update replaces a quarter of the pods at a time, unless annotations set other figures. (operator:
internal/controller/dynamocomponentdeployment_controller.go generateDeployment)
"""
_INTEGER = re.compile(r"[+-]?[0-9]{1,10}")
_PERCENTAGE = re.compile(r"[0-9]{1,9}%")
_DEADLINE = 600  # seconds; the default of Kubernetes
"""The least progress deadline of a Deployment, in seconds.

Rule deployment.progress-deadline-least: The progress deadline of a Deployment is at least 600 seconds, which is Kubernetes' default.
(krm-fn)
"""
_SLACK = 300  # seconds for scheduling and image pull
"""The time for scheduling and image pulls in a progress deadline, in seconds.

Rule deployment.progress-deadline-slack: The progress deadline of a Deployment adds 300 seconds to the time of the startup probe. (krm-fn)
"""


class DeploymentWorkload(Workload):
    """Runs single-node components in deployment mode."""

    kinds = ("Deployment",)
    objects = (("apps", "Deployment"),)
    templates = paths.NATIVE_TEMPLATES

    def render(self, graph: GraphPlan, pods: Sequence[Pods]) -> list[Resource]:
        """Returns the Deployment, and in stealing-traffic debug mode a second one with a debugger."""
        return [_deployment(pod) for component in pods for pod in component.roles]

    def roles(self, plan: ComponentPlan) -> list[RolePlan]:
        """Returns one role. In stealing-traffic debug mode, a second role for the debug Deployment."""
        name = plan.identity.workload_name
        debug = [RolePlan(plan, names.debug(name), debug=True)] if plan.debugs(labels.STEALING_DEBUG) else []
        return [RolePlan(plan, name), *debug]

    def check(self, pods: Pods) -> Iterator[Result]:
        """Reports multinode components, and steps of a rolling update that an API server refuses."""
        plan = pods.plan
        if plan.placement.nodes > 1:
            message = "a multinode component needs LeaderWorkerSets or Grove"
            fix = "set leaderWorkerSet.enabled or orchestrator: grove in the configuration"
            yield results.error(codes.MULTINODE_WITHOUT_ORCHESTRATOR, f"{message}; {fix}", plan.ref, plan.at("multinode"))
        yield from check_steps(plan)

    def entries(self, graph: GraphPlan, plan: ComponentPlan) -> list[WorkloadEntry]:
        """Returns the main Deployment. The debug Deployment is not part of the service.

        Rule deployment.entry: The workload of a component on one node is its Deployment. (krm-fn)
        """
        replicas = None if plan.placement.autoscaled else plan.placement.replicas_or_one
        return [WorkloadEntry(plan.identity.service, "apps/v1", "Deployment", plan.identity.workload_name, replicas)]


def _deployment(pod: Pod) -> Resource:
    """Makes the Deployment of one role.

    Rule deployment.object: A component on one node has a Deployment. (operator: internal/controller/dynamocomponentdeployment_controller.go
    generateDeployment)
    """
    role, plan = pod.role, pod.role.component
    annotations = services.workload_annotations(plan)
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": merge.present(
            name=role.target,
            namespace=plan.identity.namespace,
            labels=services.workload_labels(plan),
            annotations=annotations or None,
        ),
        "spec": merge.present(
            replicas=1 if role.debug else None if plan.placement.autoscaled else plan.placement.replicas,
            selector={"matchLabels": {labels.SELECTOR: role.target}},
            strategy=_strategy(plan, annotations),
            progressDeadlineSeconds=_progress_deadline(pod.main),
            template=pod_template.template(pod),
        ),
    }


def _progress_deadline(container: Container) -> int:
    """Returns the progress deadline of a Deployment with this main container, in seconds.

    Rule deployment.progress-deadline: The progress deadline of a Deployment covers its startup probe, so that a model may load as long as
    the probe lets it. (krm-fn)
    """
    probe = container.get("startupProbe") or {}
    if not probe:
        return _DEADLINE
    # Kubernetes' defaults: a period of ten seconds, three failures
    delay, period, failures = probe.get("initialDelaySeconds") or 0, probe.get("periodSeconds") or 10, probe.get("failureThreshold") or 3
    return max(_DEADLINE, int(delay + period * failures + _SLACK))


def _strategy(plan: ComponentPlan, annotations: Labels) -> dict[str, Any]:
    """Returns the update strategy of a Deployment.

    The steps may also be annotations of the pods.

    Rule deployment.strategy: A Deployment replaces its pods by a rolling update, unless an annotation asks for another strategy. (operator:
    internal/controller/dynamocomponentdeployment_controller.go generateDeployment)
    """
    if recreates(plan):
        return {"type": "Recreate"}
    steps = {
        "maxSurge": _step(annotations.get(labels.MAX_SURGE, _DEFAULT_STEP)),
        "maxUnavailable": _step(annotations.get(labels.MAX_UNAVAILABLE, _DEFAULT_STEP)),
    }
    return {"type": "RollingUpdate", "rollingUpdate": steps}


def recreates(plan: ComponentPlan) -> bool:
    """Returns true if an annotation asks to stop all old pods before new ones start."""
    return plan.identity.annotations.get(labels.STRATEGY) == "Recreate"


def written_steps(plan: ComponentPlan) -> dict[str, int | str]:
    """Returns the steps of a rolling update that annotations set; empty if they set none, or ask for another strategy.

    Rule deployment.written-steps: The annotations `nvidia.com/deployment-rolling-update-max-surge` and `...-max-unavailable` set the steps.
    (operator: internal/controller/dynamocomponentdeployment_controller.go generateDeployment)
    """
    annotations = services.workload_annotations(plan)
    steps: dict[str, int | str] = _strategy(plan, annotations).get("rollingUpdate") or {}
    return steps if labels.MAX_SURGE in annotations or labels.MAX_UNAVAILABLE in annotations else {}


def check_steps(plan: ComponentPlan) -> Iterator[Result]:
    """Reports steps that an API server refuses."""
    steps = _strategy(plan, services.workload_annotations(plan)).get("rollingUpdate") or {}
    for field, key in (("maxSurge", labels.MAX_SURGE), ("maxUnavailable", labels.MAX_UNAVAILABLE)):
        if field in steps and _amount(steps[field]) is None:
            message = f"{steps[field]!r} is not a number of pods; write a number, or a percentage such as 25%"
            yield results.error(codes.INVALID_ROLLING_UPDATE, message, plan.ref, plan.annotation(key))
        elif steps and field == "maxUnavailable" and not any(_amount(step) for step in steps.values()):
            message = "no pod can be replaced, because maxSurge and maxUnavailable are both 0; write 1 for one of them"
            yield results.error(codes.INVALID_ROLLING_UPDATE, message, plan.ref, plan.annotation(key))


@lru_cache(maxsize=64)  # nearly all Deployments have the default steps
def _amount(step: int | str) -> int | None:
    """Returns the number or the percentage of pods; None for any other text."""
    if isinstance(step, int):
        return step if step >= 0 else None
    return int(step[:-1]) if _PERCENTAGE.fullmatch(step) else None


@lru_cache(maxsize=64)
def _step(text: str) -> int | str:
    """Returns the number in a text, or the text itself if it is no number (operator: intstr.Parse)."""
    if _INTEGER.fullmatch(text) and -(2**31) <= int(text) < 2**31:
        return int(text)
    return text


WORKLOAD = DeploymentWorkload()
