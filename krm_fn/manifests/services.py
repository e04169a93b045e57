"""The Services of components. `krm_fn.manifests.model_services` makes the headless Services of models.

Follows the reference's `internal/controller/dynamocomponentdeployment_controller.go` generateService.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from krm_fn.kube import labels, merge, names
from krm_fn.records import NamedTuple

if TYPE_CHECKING:
    from krm_fn.kube.types import Labels, Resource
    from krm_fn.plan import ComponentPlan


class Face(NamedTuple):
    """The fields of a component's Services. The workload kind decides them.

    `services` holds the name of each Service, with the labels that this Service adds to `selector`. Each Service has the one `port`.
    """

    services: Mapping[str, Labels]
    port: dict[str, Any]
    selector: Labels
    labels: Labels
    annotations: Labels


def for_component(plan: ComponentPlan, face: Face) -> Iterator[Resource]:
    """The Services of a component."""
    for name, extra in face.services.items():
        yield {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": merge.present(
                name=name,
                namespace=plan.who.namespace,
                labels=dict(face.labels) or None,
                annotations=dict(face.annotations) or None,
            ),
            "spec": {"selector": {**face.selector, **extra}, "ports": [dict(face.port)]},
        }


def debuggable(plan: ComponentPlan) -> dict[str, Labels]:
    """The component's Service. In stealing-traffic debug mode, production pods and debug pods each get one more Service.

    The reference always makes all three Services.
    """
    name = plan.service_name
    sides = {names.production(name): {}, names.debug(name): {labels.TARGET_TYPE: "debug"}}
    return {name: {}, **(sides if plan.debugs(labels.STEALING_DEBUG) else {})}


def workload_labels(plan: ComponentPlan) -> Labels:
    """The labels of a component's objects: the component's own labels, and the hash of the model that it serves."""
    model = {labels.BASE_MODEL_HASH: names.model_hash(plan.edge.model)} if plan.edge.model else {}
    return {**plan.who.labels, **model}


def workload_annotations(plan: ComponentPlan) -> Labels:
    """The annotations of a component's objects: those of the service, those of the pods, and the name of the model."""
    if plan.behaviour.pod_metadata.inherited:
        return plan.who.annotations
    model = {labels.BASE_MODEL: plan.edge.model} if plan.edge.model else {}
    return {**plan.who.annotations, **plan.pod.annotations, **model}


def discovery_labels(backend: str, *, discoverable: bool) -> Labels:
    """The labels by which Kubernetes discovery finds a Service; empty for other discovery backends."""
    if backend != "kubernetes":
        return {}
    return {labels.DISCOVERY_BACKEND: "kubernetes", **({labels.DISCOVERY_ENABLED: "true"} if discoverable else {})}
