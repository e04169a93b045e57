"""Rules about the GPU memory service, about failover, which needs that service, and about checkpoints."""

from __future__ import annotations

from krm_fn.base import codes, results
from krm_fn.render import engines, labels
from krm_fn.render.schema import rule_messages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.base.results import Result
    from krm_fn.render.plan import CheckpointPlan, ComponentPlan, GPUMemory, GraphPlan


def check(plan: GraphPlan, component: ComponentPlan) -> Iterator[Result]:
    """Reports problems of the GPU memory service, of failover and of checkpoints of a component."""
    if component.features.gpu_memory:
        yield from _check_service(plan, component, component.features.gpu_memory)
    if component.features.failover:
        yield from list(_check_failover(plan, component)) or _without_controller(component)
    if component.features.checkpoint:
        yield from _check_checkpoint(component, component.features.checkpoint)


def _check_service(graph: GraphPlan, plan: ComponentPlan, memory: GPUMemory) -> Iterator[Result]:
    if not plan.type.runs_engine:
        message = (
            f"a component of type {plan.identity.type} runs no engine"
            if plan.identity.type
            else "a component without a type runs no engine"
        )
        yield results.error(
            codes.GPU_MEMORY_SERVICE_WITHOUT_GPUS,
            f"{message}; remove the GPU memory service",
            plan.ref,
            plan.at("experimental", "gpuMemoryService"),
        )
    elif plan.pod.gpus.number < 1:
        message = (
            "the GPU memory service needs the GPUs of the main container; set their number in its limits, for example nvidia.com/gpu: 1"
        )
        yield results.error(codes.GPU_MEMORY_SERVICE_WITHOUT_GPUS, message, plan.ref, plan.at("resources"))
    if not plan.config.dra:
        message = "the GPU memory service shares GPUs through Dynamic Resource Allocation, which the configuration switches off"
        message = f"{message}; set dra: true if the cluster has it, or remove the GPU memory service"
        yield results.error(codes.GPU_MEMORY_SERVICE_WITHOUT_DRA, message, plan.ref, plan.at("experimental", "gpuMemoryService"))
    if memory.client_pods:
        yield rule_messages.error(
            codes.GPU_MEMORY_CLIENTS_IN_OTHER_PODS, plan.ref, plan.at("experimental", "gpuMemoryService", "extraClientPods")
        )
    if memory.clients and memory.between_pods:
        yield rule_messages.error(
            codes.GPU_MEMORY_CLIENTS_BETWEEN_PODS, plan.ref, plan.at("experimental", "gpuMemoryService", "extraClientContainers", 0)[:-1]
        )
    else:
        yield from _check_clients(plan, memory.clients)
    if memory.between_pods and not engines.get(graph.features.framework).shares_gpu_memory:
        message = (
            f"a GPU memory service in separate pods supports {_engines()} only; set {graph.word('backendFramework')}, or use another mode"
        )
        yield results.error(codes.ENGINE_WITHOUT_GPU_MEMORY_SERVICE, message, plan.ref, plan.at("experimental", "gpuMemoryService", "mode"))


def _check_clients(plan: ComponentPlan, clients: tuple[str, ...]) -> Iterator[Result]:
    """Reports clients that are not other containers of the pod, or that are listed twice. Releases that ignore them get a warning."""
    report, effect = (results.error, "") if plan.release.refuses_unknown_clients else (results.warning, ", and the name has no effect")
    names = [name for name in plan.features.containers if name != "main"]
    for index, name in enumerate(clients):
        at = plan.at("experimental", "gpuMemoryService", "extraClientContainers", index)
        if name not in names:
            known = f"write one of {', '.join(names)}" if names else "add the container"
            yield report(
                codes.GPU_MEMORY_CLIENT_NOT_FOUND, f"the pod has no container {name} beside the main one{effect}; {known}", plan.ref, at
            )
        elif name in clients[:index]:
            yield report(codes.GPU_MEMORY_CLIENT_NOT_FOUND, f"{name} is listed twice{effect}; list each container once", plan.ref, at)


def _check_failover(graph: GraphPlan, plan: ComponentPlan) -> Iterator[Result]:
    memory, failover = plan.features.gpu_memory, plan.features.failover
    if failover is None:
        return
    if memory is None or memory.between_pods != failover.between_pods:
        service = plan.word("experimental", "gpuMemoryService")
        yield results.error(
            codes.FAILOVER_WITHOUT_GPU_MEMORY_SERVICE,
            f"failover needs {service} with the same mode; set it",
            plan.ref,
            plan.at("experimental", "failover"),
        )
    if not failover.between_pods and not engines.get(plan.engine).shares_gpu_memory:
        message = f"failover supports {_engines()} only, and this component runs another engine or none; remove failover"
        yield results.error(codes.FAILOVER_WITHOUT_GPU_MEMORY_SERVICE, message, plan.ref, plan.at("experimental", "failover"))
    if not failover.between_pods and graph.annotations.get(labels.DISCOVERY_MODE) != "container":
        message = f"two engines in one pod are discovered only with the annotation {labels.DISCOVERY_MODE}: container; set it on the graph"
        yield results.error(codes.FAILOVER_WITHOUT_CONTAINER_DISCOVERY, message, plan.ref, plan.at("experimental", "failover"))


def _without_controller(plan: ComponentPlan) -> Iterator[Result]:
    """Warns that engines in separate pods need a controller: a group works only if all of its engines restart together."""
    if plan.features.engine_pods > 1:
        message = (
            "a controller of Dynamo's operator deletes all engines of a group after one of them fails, and without it a failed pod stays; "
            "run the operator beside krm-fn, or remove failover"
        )
        yield results.warning(codes.FEATURE_NEEDS_CONTROLLER, message, plan.ref, plan.at("experimental", "failover"))


def _check_checkpoint(plan: ComponentPlan, checkpoint: CheckpointPlan) -> Iterator[Result]:
    if checkpoint.enabled:
        message = "only an operator with a checkpoint controller makes and restores checkpoints; remove the field, or set enabled: false"
        yield results.error(codes.CHECKPOINT_NEEDS_OPERATOR, message, plan.ref, plan.at("experimental", "checkpoint"))
    if checkpoint.job and checkpoint.reference:
        yield rule_messages.error(codes.CHECKPOINT_WITH_JOB_AND_REF, plan.ref, plan.at("experimental", "checkpoint", "job"))


def _engines() -> str:
    return ", ".join(name for name in engines.names() if engines.get(name).shares_gpu_memory)
