"""The PodCliqueSet of a graph, and its scaling groups.

Follows the operator's `internal/dynamo/graph.go` GenerateGrovePodCliqueSet and buildGroveScalingGroupConfig.
"""

from __future__ import annotations

from krm_fn.kubernetes import duration, merge
from krm_fn.render import labels, names
from krm_fn.render.manifests.workloads.grove import clique_roles, cliques, grove_schedulers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from krm_fn.kubernetes.types import Resource
    from krm_fn.render.manifests.pod_builder import Pods
    from krm_fn.render.plan import GraphPlan


def clique_set(graph: GraphPlan, pods: Sequence[Pods]) -> Resource:
    """Makes the PodCliqueSet of a graph.

    `pods` holds the pods of each component.

    Rule grove.clique-set: With Grove, one PodCliqueSet holds the whole graph. (operator: internal/dynamo/graph.go
    GenerateGrovePodCliqueSet)
    """
    features, update = graph.features, graph.annotations.get(labels.GROVE_UPDATE_STRATEGY)
    marks = {labels.GRAPH: graph.name} if graph.release.grove.describes_sets else {}
    templates = clique_roles.sort_cliques(clique for component in pods for clique in cliques.cliques(graph, component))
    explicit = any(clique["spec"].get("startsAfter") for clique in templates)
    template = merge.present(
        headlessServiceConfig={"publishNotReadyAddresses": True},
        cliqueStartupType="CliqueStartupTypeExplicit" if explicit else "CliqueStartupTypeAnyOrder",
        terminationDelay=duration.text(graph.config.grove.termination_delay) or None,
        priorityClassName=features.priority_class or None,
        topologyConstraint=cliques.graph_topology(graph),
        cliques=templates,
        podCliqueScalingGroups=[_scaling_group(graph, component) for component in pods if clique_roles.in_groups(component.plan)] or None,
        resourceClaimTemplates=[claim for component in pods for claim in _claims(component)] or None,
    )
    return {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": merge.present(
            name=clique_roles.set_name(graph),
            namespace=graph.namespace,
            labels={**features.labels, **marks} or None,
            annotations={**features.annotations, **grove_schedulers.queue_annotation(graph)} or None,
        ),
        "spec": merge.present(
            replicas=1,
            updateStrategy={"type": update} if update and graph.release.grove.writes_strategy else None,
            template=template,
        ),
    }


def _scaling_group(graph: GraphPlan, pods: Pods) -> dict[str, Any]:
    """Makes the scaling group of a component on several nodes.

    Rule grove.scaling-group: The cliques of a component on several nodes form a scaling group. (operator: internal/dynamo/graph.go
    buildGroveScalingGroupConfig)
    """
    plan = pods.plan
    return merge.present(
        name=names.scaling_group(plan.identity.service),
        cliqueNames=[clique_roles.clique(pod.role) for pod in pods.roles],
        replicas=plan.placement.replicas,
        minAvailable=plan.features.least_replicas,
        topologyConstraint=cliques.component_topology(graph, plan),
        resourceSharing=_sharing(pods) or None,
    )


def _claims(pods: Pods) -> list[dict[str, Any]]:
    """Returns the templates of claims for GPUs that several pods share."""
    if not pods.plan.features.memory_apart:
        return []
    from krm_fn.render.manifests.gpu_memory import between_pods  # noqa: PLC0415 - few components share GPUs

    return between_pods.templates(pods.plan, (pod.role for pod in pods.roles))


def _sharing(pods: Pods) -> list[dict[str, Any]]:
    """Returns the cliques of a scaling group that share GPUs."""
    if not pods.plan.features.memory_apart:
        return []
    from krm_fn.render.manifests.gpu_memory import between_pods  # noqa: PLC0415 - few components share GPUs

    return between_pods.sharing(pods.plan, ((clique_roles.clique(pod.role), pod.role) for pod in pods.roles))
