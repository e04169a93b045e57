"""All objects of one graph, and the annotations of the graph itself.

Follows the operator's `internal/controller/dynamographdeployment_controller.go` reconcileResources.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from krm_fn.base import report
from krm_fn.kubernetes import digest
from krm_fn.render import dynamo_api, labels, names, render_mark, workload_list
from krm_fn.render.manifests import component_defaults, ingress, pod_builder, rbac, services, volumes, workloads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from krm_fn.kubernetes.types import Labels, Resource
    from krm_fn.render.manifests.pod_builder import Pods
    from krm_fn.render.plan import ComponentPlan, GraphPlan
    from krm_fn.render.workload_list import WorkloadEntry


def pods(plan: GraphPlan) -> list[Pods]:
    """Returns the pods of each component, in the order of the spec. They are built once, for the checks and for the render."""
    return [pod_builder.pods(component, workloads.get(component.placement.workload).roles(component)) for component in plan.components]


def render(plan: GraphPlan, pods: Sequence[Pods]) -> list[Resource]:
    """Returns all objects of a graph or a standalone component, in the order of the spec. `pods` holds the pods of each component."""
    return list(_objects(plan, pods))


def _objects(plan: GraphPlan, pods: Sequence[Pods]) -> Iterator[Resource]:
    if not plan.standalone:
        yield from _shared_objects(plan)
    grouped = next((component for component in plan.components if component.placement.nodes > 1), None)
    if grouped and plan.release.engines.waits_for_leader and (not plan.standalone or _waits(grouped, pods)):
        from krm_fn.render.manifests import wait_for_leader  # noqa: PLC0415 - a render under the oldest release starts without it

        yield wait_for_leader.config_map(grouped)
    for workload, components in workloads.group_by_workload(pods).items():
        yield from workload.render(plan, components)
    for component in plan.components:
        if component.features.gpu_memory:
            from krm_fn.render.manifests import gpu_memory  # noqa: PLC0415 - few components share GPUs

            yield gpu_memory.claim_template(component, component.features.gpu_memory)
    for component in plan.components:
        yield from services.for_component(component, workloads.get(component.placement.workload).service_template(component))
        yield from ingress.of(component)
    yield from services.of_models(plan)
    yield from _inventory(plan)


def _waits(plan: ComponentPlan, pods: Sequence[Pods]) -> bool:
    """Returns true if a pod waits for its leader with the script of a standalone component. A graph always has the script."""
    script = names.wait_for_leader(plan.identity.graph)
    volumes_of_pods = (volume for component in pods for pod in component.roles for volume in pod.spec.get("volumes") or ())
    return any((volume.get("configMap") or {}).get("name") == script for volume in volumes_of_pods)


def _shared_objects(plan: GraphPlan) -> Iterator[Resource]:
    """Yields the objects that the components of a graph share. The operator makes none of them for a standalone component."""
    yield from volumes.claims(plan)
    yield from _adapters(plan)
    if plan.discovery == "kubernetes":
        yield from rbac.discovery(plan)
    for component in plan.components:
        yield from component_defaults.objects(component)


def _adapters(plan: GraphPlan) -> Iterator[Resource]:
    """Yields the scaling adapters of a graph.

    They have the API version of the graph. They have no replicas, so that an apply does not revert those of an autoscaler. The syncer
    writes the number of the graph into a new adapter.

    Rule scaling.adapter: A service with an enabled scaling adapter has a DynamoGraphDeploymentScalingAdapter, through which an autoscaler
    sets its replicas. (operator: internal/controller/dynamographdeployment_controller.go reconcileScalingAdapters)
    """
    for component in plan.components:
        if component.placement.autoscaled:
            yield {
                "apiVersion": plan.ref.api_version,
                "kind": "DynamoGraphDeploymentScalingAdapter",
                "metadata": {
                    "name": component.identity.name,
                    "namespace": plan.namespace,
                    "labels": {labels.GRAPH: plan.name, labels.COMPONENT: component.identity.service},
                },
                "spec": {
                    "dgdRef": {"name": plan.name, plan.word("dgdRef", "componentName"): component.identity.service},
                },
            }


def _inventory(plan: GraphPlan) -> Iterator[Resource]:
    """Yields the DynamoComponentDeployments of a graph.

    A plan holds an inventory if the configuration enables it.

    Rule components.inventory: With `components: true`, each component has a DynamoComponentDeployment for `kubectl get dcd`. (operator:
    internal/dynamo/graph.go GenerateDynamoComponentsDeployments)
    """
    for component in plan.components:
        if component.inventory is not None:
            yield {
                "apiVersion": f"{dynamo_api.GROUP}/{plan.release.reads}",
                "kind": "DynamoComponentDeployment",
                "metadata": {"name": component.identity.workload_name, "namespace": plan.namespace, "labels": component.identity.labels},
                "spec": component.inventory,
            }


def own_annotations(plan: GraphPlan, pods: Sequence[Pods], spec: Any) -> Labels:
    """Returns the annotations that a render writes on the graph itself. They depend on the input only, and contain no time.

    The origin version is one of them, so that the pods stay when the graph follows a newer release.

    Rule metadata.own-annotations: A rendered graph has annotations about its workloads, its size, its orchestrator and its render. (krm-fn)
    """
    origin = plan.annotations.get(labels.ORIGIN_VERSION)
    entries = [entry for component in pods for entry in _entries(plan, component)]
    return {
        labels.WORKLOADS: workload_list.write(entries),
        labels.SUMMARY: _summary(plan),
        labels.SPEC_HASH: digest.of_value(spec),
        labels.ORCHESTRATOR: plan.orchestrator,
        labels.RENDERED_BY: render_mark.write(plan.config, plan.release.name),
        **({labels.ORIGIN_VERSION: origin} if origin else {}),
        **({labels.RESTART: plan.config.restart} if plan.restart and plan.restart.id and plan.config.restart == "sync" else {}),
    }


def _entries(plan: GraphPlan, pods: Pods) -> Iterator[WorkloadEntry]:
    """Yields the entries of one component, with the facts that its status repeats from its pods."""
    facts = None
    if plan.release.reports_gpus:
        from krm_fn.render.manifests import status_facts  # noqa: PLC0415 - a render under the oldest release starts without it

        facts = status_facts.of_component(pods, plan.devices)
    for entry in workloads.get(pods.plan.placement.workload).entries(plan, pods.plan):
        yield entry._replace(facts=facts)


def _summary(plan: GraphPlan) -> str:
    """Returns the size of the graph for people: `2 services, 3 pods, 8 GPUs`.

    Rule metadata.summary: An annotation of a graph counts its services, pods and GPUs. (krm-fn)
    """
    pods = gpus = 0
    for component in plan.components:
        replicas = component.placement.replicas_or_one
        pods += replicas * component.placement.nodes * component.features.pods_per_node
        gpus += replicas * component.gpus
    return ", ".join(_pluralize(*entry) for entry in ((len(plan.components), "service"), (pods, "pod"), (gpus, "GPU")))


def _pluralize(number: int, what: str) -> str:
    """Returns a number with a noun in singular or plural.

    Rule metadata.summary: see `krm_fn.render.manifests.graph_objects`.
    """
    return report.pluralize(number, what)
