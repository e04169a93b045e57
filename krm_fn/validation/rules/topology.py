"""Rules about the topology: where the pods of a graph stay, and between which workers a key-value cache moves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn import results
from krm_fn.manifests import workloads
from krm_fn.schema import sentences

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krm_fn.manifests.assemblies import Pods
    from krm_fn.plan import GraphPlan, KVTransfer
    from krm_fn.results import Result

_PREFIX_LIMIT = 253  # the domain of a label key


def check(plan: GraphPlan, made: Sequence[Pods]) -> Iterator[Result]:
    """The findings about the constraints of the graph and its components, and about the policy for key-value caches."""
    limited = [each.plan for each in made if each.plan.features.topology]
    if plan.features.topology is None and not plan.standalone:
        for component in limited:
            message = f"the graph has no {plan.word('topology')}, which names the ClusterTopology; set it"
            yield results.error("DYN470", message, plan.ref, component.at("topology"))
    elif plan.features.topology and not plan.features.topology.domain and not limited:
        message = f"neither the graph nor a component has a {plan.word('topology.domain')}; set one, for example rack"
        yield results.error("DYN471", message, plan.ref, plan.at("topology.domain"))
    if plan.features.kv_transfer:
        yield from list(_check_transfer(plan, plan.features.kv_transfer)) or _without_controller(plan, plan.features.kv_transfer)


def _check_transfer(plan: GraphPlan, policy: KVTransfer) -> Iterator[Result]:
    if bool(policy.label_key) == bool(policy.topology):
        yield sentences.error("DYN472", plan.ref, plan.at("kv_transfer"))
    if (policy.enforcement == "preferred") != (policy.weight is not None):
        yield sentences.error("DYN473", plan.ref, plan.at("kv_transfer.weight"))
    prefix, slash, _ = policy.label_key.partition("/")
    if slash and len(prefix) > _PREFIX_LIMIT:
        yield sentences.error("DYN474", plan.ref, plan.at("kv_transfer.label"))


def _without_controller(plan: GraphPlan, policy: KVTransfer) -> Iterator[Result]:
    """Without Grove, a policy that reads a topology is an error of its own (`krm_fn.validation.rules.grove_only`)."""
    if policy.topology and workloads.get(plan.orchestrator).per_component:
        return
    message = (
        "a controller of Dynamo's operator copies the labels of each node to its pods, and without it the workers do not know their place; "
        "run the operator beside krm-fn, or remove the policy"
    )
    yield results.warning("DYN435", message, plan.ref, plan.at("kv_transfer"))
