"""What the status of a component repeats from its pods, where the operator of its release reports it: GPUs, model, and names.

The status syncer has no rights on pod templates of all kinds and none on claims, so a render writes these facts into the annotation
`dynamo.krm-fn.io/workloads`. Follows the operator's `internal/dynamo/gpu_shape.go`.
"""

from __future__ import annotations

from krm_fn.kubernetes import gpu_demand
from krm_fn.kubernetes.gpu_demand import GPUDemand
from krm_fn.render.manifests import pod_template
from krm_fn.render.workload_list import StatusFacts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.kubernetes.device_claims import Devices
    from krm_fn.render.manifests.pod_builder import Pod, Pods


def of_component(pods: Pods, devices: Devices | None) -> StatusFacts:
    """Returns the facts of one component, for releases whose operator reports GPUs.

    `devices` are the claims and classes among the items. If they do not show the GPUs of the claims, the claims stay in the facts, because
    the syncer can read them in the cluster.
    """
    try:
        engine = _of_engine(pods)
        replica = _of_replica(pods, engine)
    except ValueError as problem:
        facts = StatusFacts(gpu_problem=str(problem))
    else:
        namespace = pods.plan.identity.namespace
        facts = StatusFacts(_known_demand(engine, devices, namespace), _known_demand(replica, devices, namespace))
    return _with_names(facts, pods) if pods.plan.release.reports_names else facts


def _of_engine(pods: Pods) -> GPUDemand:
    """Returns the demand of the main containers of one replica, on all its nodes."""
    if not pods.plan.roles:
        return gpu_demand.of_container(pods.plan.pod.spec, pods.main, pods.plan.placement.nodes)
    mains = [({"containers": [pod.main], "resourceClaims": pod.spec.get("resourceClaims")}, pod.role.pods_in_replica) for pod in pods.roles]
    return gpu_demand.of_pods(mains)


def _of_replica(pods: Pods, engine: GPUDemand) -> GPUDemand:
    """Returns the demand of all pods of one replica.

    Rule status.gpus-per-replica: If the GPU memory service has pods of its own, a replica has the GPUs of its engine, which no pod
    requests. (operator: internal/dynamo/gpu_shape.go)
    """
    demand = gpu_demand.of_pods((pod.spec, pod.role.pods_in_replica) for pod in pods.roles if not pod.role.debug)
    return gpu_demand.add_demands(demand, engine) if pods.plan.features.memory_apart else demand


def _known_demand(demand: GPUDemand, devices: Devices | None, namespace: str) -> GPUDemand:
    """Returns the demand with numbers in place of the claims, if the items show them."""
    if not demand.claims or devices is None:
        return demand
    try:
        return GPUDemand(gpu_demand.resolve_demand(demand, devices._replace(counts_by_name=False), namespace))
    except ValueError:
        return demand


def _with_names(facts: StatusFacts, pods: Pods) -> StatusFacts:
    serving = next(_serving(pods), None)
    if serving is None:
        return facts
    from krm_fn.render.manifests import served_names  # noqa: PLC0415 - older releases do not report names

    annotations = pod_template.pod_annotations(pods.plan)
    names = served_names.of_pod(serving.spec, serving.main, annotations)
    return facts._replace(served_model=names.model, runtime_component=names.component, power_limit=names.watts)


def _serving(pods: Pods) -> Iterator[Pod]:
    """Yields the pods that serve, first the leader."""
    yield from sorted((pod for pod in pods.roles if not pod.role.serves_memory), key=lambda pod: pod.role.role != "leader")
