"""Deployments for single-node components.

Follows the reference's `internal/controller/dynamocomponentdeployment_controller.go` generateDeployment.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from krm_fn import results
from krm_fn.kube import labels, merge, names
from krm_fn.kube import templates as pod_templates
from krm_fn.manifests import pod, probes, services
from krm_fn.manifests.workloads import Workload
from krm_fn.plan import RolePlan
from krm_fn.workload_list import Entry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krm_fn.kube.types import Resource
    from krm_fn.manifests.assemblies import Pod, Pods
    from krm_fn.plan import ComponentPlan, GraphPlan
    from krm_fn.results import Result

_DEFAULT_STEP = "25%"
_INTEGER = re.compile(r"[+-]?[0-9]{1,10}")
_PERCENTAGE = re.compile(r"[0-9]{1,9}%")


class Deployment(Workload):
    """Runs single-node components in deployment mode."""

    kinds = ("Deployment",)
    objects = (("apps", "Deployment"),)
    templates = pod_templates.NATIVE

    def render(self, graph: GraphPlan, made: Sequence[Pods]) -> Iterator[Resource]:
        """The Deployment, and in stealing-traffic debug mode a second one with a debugger."""
        for component in made:
            placement = component.plan.placement
            for each in component.roles:
                yield _deployment(each, 1 if each.role.debug else None if placement.autoscaled else placement.replicas)

    def roles(self, plan: ComponentPlan) -> Iterator[RolePlan]:
        """One role. In stealing-traffic debug mode, a second role for the debug Deployment."""
        yield RolePlan(plan, plan.who.workload_name)
        if plan.debugs(labels.STEALING_DEBUG):
            yield RolePlan(plan, names.debug(plan.who.workload_name), debug=True)

    def check(self, made: Pods) -> Iterator[Result]:
        """Reports multinode components, and steps of a rolling update that an API server refuses."""
        plan = made.plan
        if plan.placement.nodes > 1:
            message = "a multinode service needs LeaderWorkerSets or Grove"
            mend = "set leaderWorkerSet.enabled or orchestrator: grove in the configuration"
            yield results.error("DYN144", f"{message}; {mend}", plan.ref, plan.at("nodes"))
        yield from _check_steps(plan)

    def entries(self, graph: GraphPlan, plan: ComponentPlan) -> Iterator[Entry]:
        """The main Deployment. The debug Deployment is not part of the service."""
        replicas = None if plan.placement.autoscaled else plan.placement.replicas_or_one
        yield Entry(plan.who.service, "apps/v1", "Deployment", plan.who.workload_name, replicas)


def _deployment(made: Pod, replicas: int | None) -> Resource:
    role, plan = made.role, made.role.component
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": merge.present(
            name=role.target,
            namespace=plan.who.namespace,
            labels=services.workload_labels(plan),
            annotations=services.workload_annotations(plan) or None,
        ),
        "spec": merge.present(
            replicas=replicas,
            selector={"matchLabels": {labels.SELECTOR: role.target}},
            strategy=_strategy(plan),
            progressDeadlineSeconds=probes.progress_deadline(made.main),
            template=pod.template(made),
        ),
    }


def _strategy(plan: ComponentPlan) -> dict[str, Any]:
    """The update strategy. Its type is an annotation of the service. The steps may also be annotations of the pods."""
    if plan.who.annotations.get(labels.STRATEGY) == "Recreate":
        return {"type": "Recreate"}
    written = services.workload_annotations(plan)
    steps = {
        "maxSurge": _step(written.get(labels.MAX_SURGE, _DEFAULT_STEP)),
        "maxUnavailable": _step(written.get(labels.MAX_UNAVAILABLE, _DEFAULT_STEP)),
    }
    return {"type": "RollingUpdate", "rollingUpdate": steps}


def _check_steps(plan: ComponentPlan) -> Iterator[Result]:
    """Reports steps that an API server refuses."""
    steps = _strategy(plan).get("rollingUpdate") or {}
    for field, key in (("maxSurge", labels.MAX_SURGE), ("maxUnavailable", labels.MAX_UNAVAILABLE)):
        at = plan.annotation(key)
        if field in steps and _amount(steps[field]) is None:
            message = f"{steps[field]!r} is not a number of pods; write a number, or a percentage such as 25%"
            yield results.error("DYN159", message, plan.ref, at)
        elif steps and field == "maxUnavailable" and not any(_amount(step) for step in steps.values()):
            message = "no pod can be replaced, because maxSurge and maxUnavailable are both 0; write 1 for one of them"
            yield results.error("DYN159", message, plan.ref, at)


@lru_cache(maxsize=64)  # nearly all Deployments have the default steps
def _amount(step: int | str) -> int | None:
    """The number or the percentage of pods; None for any other text."""
    if isinstance(step, int):
        return step if step >= 0 else None
    return int(step[:-1]) if _PERCENTAGE.fullmatch(step) else None


@lru_cache(maxsize=64)
def _step(text: str) -> int | str:
    """The number in a text, or the text itself if it is no number (reference: intstr.Parse)."""
    if _INTEGER.fullmatch(text) and -(2**31) <= int(text) < 2**31:
        return int(text)
    return text


WORKLOAD = Deployment()
