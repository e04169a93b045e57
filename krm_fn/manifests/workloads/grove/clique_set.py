"""The PodCliqueSet of a graph, and its scaling groups.

Follows the reference's `internal/dynamo/graph.go` GenerateGrovePodCliqueSet and buildGroveScalingGroupConfig.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.kube import duration, labels, merge, names
from krm_fn.manifests.workloads.grove import cliques, order, roles, scheduling, topology

if TYPE_CHECKING:
    from collections.abc import Sequence

    from krm_fn.kube.types import Resource
    from krm_fn.manifests.assemblies import Pods
    from krm_fn.plan import GraphPlan


def clique_set(graph: GraphPlan, made: Sequence[Pods]) -> Resource:
    """The PodCliqueSet of a graph. `made` holds the pods of each component."""
    features, update = graph.features, graph.annotations.get(labels.GROVE_UPDATE_STRATEGY)
    marks = {labels.GRAPH: graph.name} if graph.behaviour.grove.describes_sets else {}
    made_cliques = order.ordered(clique for component in made for clique in cliques.cliques(graph, component))
    explicit = any(clique["spec"].get("startsAfter") for clique in made_cliques)
    template = merge.present(
        headlessServiceConfig={"publishNotReadyAddresses": True},
        cliqueStartupType="CliqueStartupTypeExplicit" if explicit else "CliqueStartupTypeAnyOrder",
        terminationDelay=duration.text(graph.config.grove.termination_delay) or None,
        priorityClassName=features.priority_class or None,
        topologyConstraint=topology.of_graph(graph),
        cliques=made_cliques,
        podCliqueScalingGroups=[_scaling_group(graph, each) for each in made if roles.in_groups(each.plan)] or None,
        resourceClaimTemplates=[claim for each in made for claim in _claims(each)] or None,
    )
    return {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": merge.present(
            name=roles.set_name(graph),
            namespace=graph.namespace,
            labels={**features.labels, **marks} or None,
            annotations={**features.annotations, **scheduling.queue_annotation(graph)} or None,
        ),
        "spec": merge.present(
            replicas=1,
            updateStrategy={"type": update} if update and graph.behaviour.grove.describes_sets else None,
            template=template,
        ),
    }


def _scaling_group(graph: GraphPlan, made: Pods) -> dict[str, Any]:
    """The scaling group of a component. Each of its replicas has the pods of all cliques of the component."""
    plan = made.plan
    return merge.present(
        name=names.scaling_group(plan.who.service),
        cliqueNames=[roles.clique(each.role) for each in made.roles],
        replicas=plan.placement.replicas,
        minAvailable=plan.features.min_available or 1,
        topologyConstraint=topology.of_component(graph, plan),
        resourceSharing=_sharing(made) or None,
    )


def _claims(made: Pods) -> list[dict[str, Any]]:
    """The templates of claims for GPUs that several pods share."""
    if not made.plan.features.memory_apart:
        return []
    from krm_fn.manifests.gpu_memory import between_pods  # noqa: PLC0415 - few components share GPUs

    return between_pods.templates(made.plan, (each.role for each in made.roles))


def _sharing(made: Pods) -> list[dict[str, Any]]:
    """The cliques of a scaling group that share GPUs."""
    if not made.plan.features.memory_apart:
        return []
    from krm_fn.manifests.gpu_memory import between_pods  # noqa: PLC0415 - few components share GPUs

    return between_pods.sharing(made.plan, ((roles.clique(each.role), each.role) for each in made.roles))
