"""Rules about features of Grove: the topology of pods and of key-value caches, and fields that other orchestrators ignore."""

from __future__ import annotations

from krm_fn.base import codes, results
from krm_fn.render.kinds import WHOLE_GRAPH
from krm_fn.render.schema import rule_messages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krm_fn.base.results import Path, Result
    from krm_fn.render.manifests.pod_builder import Pods
    from krm_fn.render.plan import ComponentPlan, GraphPlan, KVTransfer

_PREFIX_LIMIT = 253  # the domain of a label key


def check(plan: GraphPlan, _pods: Sequence[Pods]) -> Iterator[Result]:
    """Reports problems of topology constraints and of the policy for key-value caches, and fields that need Grove."""
    yield from _check_topology(plan)
    if plan.orchestrator not in WHOLE_GRAPH:
        yield from _check_orchestrator(plan)
    if plan.features.kv_transfer:
        yield from list(_check_transfer(plan, plan.features.kv_transfer)) or _without_controller(plan, plan.features.kv_transfer)


def _check_topology(plan: GraphPlan) -> Iterator[Result]:
    limited = [component for component in plan.components if component.features.topology]
    if plan.features.topology is None and not plan.standalone:
        for component in limited:
            message = f"the graph has no {plan.word('topologyConstraint')}, which names the ClusterTopology; set it"
            yield results.error(codes.TOPOLOGY_CONSTRAINT_WITHOUT_TOPOLOGY, message, plan.ref, component.at("topologyConstraint"))
    elif plan.features.topology and not plan.features.topology.domain and not limited:
        message = f"neither the graph nor a component has a {plan.word('topologyConstraint', 'packDomain')}; set one, for example rack"
        yield results.error(codes.TOPOLOGY_CONSTRAINT_WITHOUT_LEVEL, message, plan.ref, plan.at("topologyConstraint", "packDomain"))


def _check_transfer(plan: GraphPlan, policy: KVTransfer) -> Iterator[Result]:
    if bool(policy.label_key) == bool(policy.topology):
        yield rule_messages.error(codes.TRANSFER_POLICY_SOURCES, plan.ref, plan.at("experimental", "kvTransferPolicy"))
    if (policy.enforcement == "preferred") != (policy.weight is not None):
        yield rule_messages.error(codes.TRANSFER_POLICY_WEIGHT, plan.ref, plan.at("experimental", "kvTransferPolicy", "preferredWeight"))
    prefix, slash, _ = policy.label_key.partition("/")
    if slash and len(prefix) > _PREFIX_LIMIT:
        yield rule_messages.error(codes.LABEL_DOMAIN_TOO_LONG, plan.ref, plan.at("experimental", "kvTransferPolicy", "labelKey"))


def _without_controller(plan: GraphPlan, policy: KVTransfer) -> Iterator[Result]:
    """Warns of a policy whose labels nothing sets. Without Grove, `_check_orchestrator` reports a policy that reads a topology."""
    if policy.topology and plan.orchestrator not in WHOLE_GRAPH:
        return
    message = (
        "a controller of Dynamo's operator copies the labels of each node to its pods, and without it the workers do not know their "
        "topology domain; run the operator beside krm-fn, or remove the policy"
    )
    yield results.warning(codes.FEATURE_NEEDS_CONTROLLER, message, plan.ref, plan.at("experimental", "kvTransferPolicy"))


def _check_orchestrator(plan: GraphPlan) -> Iterator[Result]:
    """Reports the fields of a graph, and of its components, that need Grove."""
    paths = [*_of_graph(plan), *(path for component in plan.components for path in _of_component(component))]
    for path in paths:
        message = f"only Grove acts on {path[-1]}; remove it, or set orchestrator: grove in the configuration"
        yield results.error(codes.FIELD_NEEDS_GROVE, message, plan.ref, path)
    if plan.features.topology and not plan.standalone:
        message = "only Grove places pods by their topology, so this constraint has no effect; remove it, or set orchestrator: grove"
        yield results.warning(codes.TOPOLOGY_WITHOUT_GROVE, f"{message} in the configuration", plan.ref, plan.at("topologyConstraint"))


def _of_graph(plan: GraphPlan) -> Iterator[Path]:
    if plan.features.priority_class:
        yield plan.at("priorityClassName")
    if plan.features.kv_transfer and plan.features.kv_transfer.topology:
        yield plan.at("experimental", "kvTransferPolicy", "clusterTopologyName")
    if plan.features.override:
        yield plan.at("providerOverride")


def _of_component(plan: ComponentPlan) -> Iterator[Path]:
    features = plan.features
    if features.min_available is not None:
        yield plan.at("minAvailable")
    if features.grouped:
        yield plan.at("experimental", "grove", "forceScalingGroup")
    if features.gpu_memory and features.gpu_memory.between_pods:
        yield plan.at("experimental", "gpuMemoryService", "mode")
    if features.override and not plan.identity.standalone:
        yield plan.at("providerOverride")
    for role in features.roles:
        if role.override:
            yield (*plan.at("roles"), role.position, "providerOverride")
