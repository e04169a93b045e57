"""Rules about sidecar mode: an init container `runtime` that runs Dynamo beside an engine.

Follows the operator's `internal/webhook/validation/shared_v1beta1.go`.
"""

from __future__ import annotations

from krm_fn.base import codes, results
from krm_fn.render import names
from krm_fn.render.kinds import types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from krm_fn.base.results import Path, Result
    from krm_fn.render.manifests.pod_builder import Pods
    from krm_fn.render.plan import ComponentPlan, GraphPlan

_LATER = "is not available with an init container runtime in this release of Dynamo"
_ON_NODES = ("vllm",)
"""The engines that have sidecar mode on several nodes in Dynamo 1.7.0, by its documentation. No file of its operator was read."""
_UNKNOWN_PODS = (
    "is not available with an init container runtime in Dynamo 1.6; Dynamo 1.7.0 has this for vLLM, but krm-fn does not know its pods, so"
)


def check(plan: GraphPlan, _pods: Sequence[Pods]) -> Iterator[Result]:
    """Reports init containers `runtime` that an operator refuses, and containers that look like them."""
    for template in (template for component in plan.components for template in component.templates):
        for index, container in enumerate(template.pod.spec.get("initContainers") or ()):
            if container.get("name") == names.RUNTIME:
                yield from _check_runtime(template, container, template.at("pod", "initContainers", index))
        for container in template.pod.spec.get("containers") or ():
            if container.get("name") == names.RUNTIME:
                yield _beside_main(template)


def _check_runtime(plan: ComponentPlan, container: Mapping[str, Any], path: Path) -> Iterator[Result]:
    if not plan.release.sidecar_mode:
        if container.get("restartPolicy") == "Always":
            message = (
                f"{plan.release.name} adds nothing of Dynamo to this container, because sidecar mode came with Dynamo 1.6; use images of "
                "1.6 or later, set behaviour: v1.6 in the configuration, or rename the container"
            )
            yield results.warning(codes.NOT_IN_SIDECAR_MODE, message, plan.ref, (*path, "name"))
        return
    if not plan.type.runs_engine:
        kinds = ", ".join(name for name in types.names() if types.get(name).runs_engine)
        message = f"only components of the types {kinds} can have an init container runtime; rename it"
        yield results.error(codes.REFUSED_SIDECAR_MODE, message, plan.ref, (*path, "name"))
        return
    if container.get("restartPolicy") != "Always":
        message = "the container runs Dynamo beside the engine until the pod ends; write restartPolicy: Always"
        yield results.error(codes.REFUSED_SIDECAR_MODE, message, plan.ref, (*path, "restartPolicy"))
    yield from _check_features(plan)


def _check_features(plan: ComponentPlan) -> Iterator[Result]:
    """Reports features that sidecar mode does not have."""
    features = plan.features
    used = {
        plan.at("multinode"): plan.placement.nodes > 1,
        plan.at("experimental", "checkpoint"): features.checkpoint is not None and features.checkpoint.enabled,
        plan.at("experimental", "gpuMemoryService"): features.gpu_memory is not None,
        plan.at("experimental", "failover"): features.failover is not None,
    }
    for path, is_used in used.items():
        if is_used:
            is_supported_later = path[-1] == "multinode" and plan.engine in _ON_NODES
            problem = f"{_UNKNOWN_PODS} remove one of the two" if is_supported_later else f"{_LATER}; remove one of the two"
            yield results.error(codes.REFUSED_SIDECAR_MODE, f"{path[-1]} {problem}", plan.ref, path)


def _beside_main(plan: ComponentPlan) -> Result:
    message = (
        f"a container {names.RUNTIME} beside main gets nothing of Dynamo; for sidecar mode, move it to initContainers with "
        "restartPolicy: Always, otherwise give it another name"
    )
    return results.warning(codes.NOT_IN_SIDECAR_MODE, message, plan.ref, plan.at("podTemplate", "spec", "containers"))
