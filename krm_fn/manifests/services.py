"""Services in front of components.

Not its business: the headless Services of models (`krm_fn.manifests.model_services`). Follows the reference's
`internal/controller/dynamocomponentdeployment_controller.go` generateService.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from krm_fn.kube import labels, merge, names

if TYPE_CHECKING:
    from krm_fn.kube.types import Labels, Resource
    from krm_fn.plan import ComponentPlan

_DEBUG = {labels.TARGET_TYPE: "debug"}


def of(plan: ComponentPlan, port: dict[str, Any], *, entrance: bool) -> Iterator[Resource]:
    """The component's Service; while a debug Deployment steals traffic, also one for each side.

    The reference makes the latter two for every component, though nobody uses them.
    """
    if plan.placement.by_graph and plan.placement.graph_discovery != "kubernetes" and not entrance:
        return
    yield _service(plan, plan.who.name, port, {}, entrance=entrance)
    if not plan.placement.by_graph and plan.says(labels.STEALING_DEBUG):
        yield _service(plan, names.production(plan.who.name), port, {}, entrance=entrance)
        yield _service(plan, names.debug(plan.who.name), port, _DEBUG, entrance=entrance)


def _service(plan: ComponentPlan, name: str, port: dict[str, Any], extra: Labels, *, entrance: bool) -> Resource:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": merge.some(
            name=name,
            namespace=plan.who.namespace,
            labels={
                **(plan.who.service_labels if plan.placement.by_graph else workload_labels(plan)),
                **_discovery(plan, entrance=entrance),
            }
            or None,
            annotations=None if plan.placement.by_graph else workload_annotations(plan) or None,
        ),
        "spec": {"selector": {**_selector(plan), **extra}, "ports": [dict(port)]},
    }


def workload_labels(plan: ComponentPlan) -> Labels:
    """The labels on a component's objects: who it is, and which model it serves."""
    model = {labels.BASE_MODEL_HASH: names.model_hash(plan.edge.model)} if plan.edge.model else {}
    return {**plan.who.labels, **model}


def workload_annotations(plan: ComponentPlan) -> Labels:
    """The annotations on a component's objects: the service's, the pods', and the model's name."""
    model = {labels.BASE_MODEL: plan.edge.model} if plan.edge.model else {}
    return {**plan.who.annotations, **plan.pod.annotations, **model}


def _selector(plan: ComponentPlan) -> Labels:
    """All pods of this type in this Dynamo namespace; of a multinode group only the leader.

    The pods of a component alone carry the namespace only where the user wrote it, so that the reference's selector finds none of them.
    """
    leader = {labels.ROLE: "leader"} if plan.placement.nodes > 1 and not plan.placement.by_graph else {}
    wanted = {labels.COMPONENT_TYPE: plan.who.type, labels.NAMESPACE: plan.who.selected_namespace}
    carried = {**plan.who.labels, **({labels.COMPONENT_TYPE: plan.who.type} if plan.who.type else {}), **plan.pod.labels}
    kept = {key: value for key, value in wanted.items() if carried.get(key) == value}
    return {**(kept if plan.who.standalone and kept else wanted), **leader}


def _discovery(plan: ComponentPlan, *, entrance: bool) -> Labels:
    if (plan.placement.graph_discovery if plan.placement.by_graph else plan.placement.discovery) != "kubernetes":
        return {}
    hidden = entrance and not plan.placement.by_graph
    return {labels.DISCOVERY_BACKEND: "kubernetes", **({} if hidden else {labels.DISCOVERY_ENABLED: "true"})}
