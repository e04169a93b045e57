"""Services: those of components, and the headless Services that select the pods of one base model, for LoRA adapters.

Follows the operator's `internal/controller/dynamocomponentdeployment_controller.go` generateService and
`internal/dynamo/model_service.go` ReconcileModelServicesForComponents.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import merge
from krm_fn.render import labels, names
from krm_fn.render.kinds import WHOLE_GRAPH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from krm_fn.kubernetes.types import Labels, Resource
    from krm_fn.render.plan import ComponentPlan, GraphPlan


class ServiceTemplate(NamedTuple):
    """The fields of a component's Services. The workload kind decides them.

    `services` holds the name of each Service, with the labels that this Service adds to `selector`. Each Service has the one `port`.
    """

    services: Mapping[str, Labels]
    port: dict[str, Any]
    selector: Labels
    labels: Labels
    annotations: Labels


def for_component(plan: ComponentPlan, template: ServiceTemplate) -> Iterator[Resource]:
    """Yields the Services of a component.

    Rule service.object: A component that others call has a Service. (operator: internal/controller/dynamocomponentdeployment_controller.go
    generateService)
    """
    for name, extra in template.services.items():
        yield {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": merge.present(
                name=name,
                namespace=plan.identity.namespace,
                labels=dict(template.labels) or None,
                annotations=dict(template.annotations) or None,
            ),
            "spec": {"selector": {**template.selector, **extra}, "ports": [dict(template.port)]},
        }


def debuggable(plan: ComponentPlan) -> dict[str, Labels]:
    """Returns the labels that each Service of a component adds to its selector, by the name of the Service.

    The operator always makes all three Services.

    Rule service.names: A component has one Service; in stealing-traffic debug mode, it has one more each for production pods and debug
    pods. (operator: internal/controller/dynamocomponentdeployment_controller.go createOrUpdateOrDeleteServices)
    """
    name = plan.service_name
    if not plan.debugs(labels.STEALING_DEBUG):
        return {name: {}}
    return {name: {}, names.production(name): {}, names.debug(name): {labels.TARGET_TYPE: "debug"}}


def workload_labels(plan: ComponentPlan) -> Labels:
    """Returns the labels of a component's objects: the component's own labels, and the hash of the model that it serves.

    Rule metadata.model: The objects of a component with a model have a label with a hash of the model's name. (operator:
    internal/dynamo/model_service.go)
    """
    model = {labels.BASE_MODEL_HASH: names.model_hash(plan.exposure.model)} if plan.exposure.model else {}
    return {**plan.identity.labels, **model}


def workload_annotations(plan: ComponentPlan) -> Labels:
    """Returns the annotations of a component's objects: those of the service, those of the pods, and the name of the model.

    Rule metadata.model-name: The objects of a component with a model have an annotation with the model's name. (operator:
    internal/dynamo/model_service.go)
    """
    if plan.release.pod_metadata.inherited:
        return plan.identity.annotations
    model = {labels.BASE_MODEL: plan.exposure.model} if plan.exposure.model else {}
    return {**plan.identity.annotations, **plan.pod.annotations, **model}


def discovery_labels(backend: str, *, discoverable: bool) -> Labels:
    """Returns the labels for discovery. They are empty for other discovery backends than `kubernetes`.

    Rule service.discovery: Kubernetes discovery finds Services, and in Dynamo 1.5 pods, by labels. (operator:
    internal/controller/dynamocomponentdeployment_controller.go generateService)
    """
    if backend != "kubernetes":
        return {}
    return {labels.DISCOVERY_BACKEND: "kubernetes", **({labels.DISCOVERY_ENABLED: "true"} if discoverable else {})}


def of_models(plan: GraphPlan) -> Iterator[Resource]:
    """Yields a Service for each base model that the components of a graph serve.

    Several services of the graph can serve the same model.

    Rule service.model: A headless Service selects the pods that serve one base model. (operator: internal/dynamo/model_service.go
    ReconcileModelServicesForComponents)
    """
    port = plan.release.ports.system
    shared = plan.features.annotations if plan.orchestrator in WHOLE_GRAPH and plan.release.services.annotated else {}
    for model in dict.fromkeys(component.exposure.model for component in plan.components if component.exposure.model):
        marks = {labels.BASE_MODEL_HASH: names.model_hash(model)}
        yield {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {
                "name": names.model_service(model),
                "namespace": plan.namespace,
                "labels": {**marks, labels.MODEL_MANAGED_BY: labels.OPERATOR},
                "annotations": {**shared, labels.BASE_MODEL: model},
            },
            "spec": {
                "clusterIP": "None",
                "selector": marks,
                "ports": [{"name": "system", "port": port, "targetPort": port, "protocol": "TCP"}],
            },
        }
