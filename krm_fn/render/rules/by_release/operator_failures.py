"""Notes about components for which an operator fails, although their pods can run. krm-fn makes these pods as newer operators do.

Follows the operator's `internal/controller/dynamocomponentdeployment_controller.go` and `internal/dynamo/graph.go` of releases 1.2 and 1.3.
"""

from __future__ import annotations

from krm_fn.base import codes, results
from krm_fn.kubernetes.values import mapping
from krm_fn.render.manifests import workloads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krm_fn.base.results import Path, Result
    from krm_fn.render.manifests.pod_builder import Pods
    from krm_fn.render.plan import ComponentPlan, GraphPlan

_GPUS = "nvidia.com/gpu"


def check(plan: GraphPlan, _pods: Sequence[Pods]) -> Iterator[Result]:
    """Yields a note for each component that the operator of the release makes no pods of."""
    for component in plan.components:
        for path, cause, fix in (*_without_gpus(component), *_of_cache(component), *_of_claims(component)):
            message = f"the operator {plan.release.name[1:]} makes no pods here, because {cause}, and krm-fn makes those of newer operators"
            yield results.info(codes.OPERATOR_FAILS, f"{message}; {fix}", plan.ref, path)


def _without_gpus(plan: ComponentPlan) -> Iterator[tuple[Path, str, str]]:
    limits = mapping(mapping(plan.pod.container.get("resources")).get("limits"))
    if workloads.get(plan.placement.workload).needs_gpus and _GPUS not in limits:
        yield plan.at("resources"), f"it needs {_GPUS} among the limits of a component on several nodes", "add this limit"


def _of_cache(plan: ComponentPlan) -> Iterator[tuple[Path, str, str]]:
    """Yields the compilation cache if it has no path, or if the main container mounts it too."""
    cache = plan.pod.cache
    if cache is None:
        return
    mounts = [mount.get("mountPath") for mount in plan.pod.container.get("volumeMounts") or () if mount.get("name") == cache.name]
    if "" in mounts:
        yield plan.at("compilationCache", "mountPath"), "it needs the path of the compilation cache", "set the path"
    elif cache.path in mounts:
        yield (
            plan.at("compilationCache", "mountPath"),
            "it mounts the compilation cache twice",
            "an operator of 1.4 or later mounts it once",
        )


def _of_claims(plan: ComponentPlan) -> Iterator[tuple[Path, str, str]]:
    """Yields the second mount of each claim, in releases that repeat its volume. The mount of the compilation cache is reported already."""
    known = {volume.get("name") for volume in plan.pod.spec.get("volumes") or ()} | ({plan.pod.cache.name} if plan.pod.cache else set())
    seen: set[str] = set()
    for index, mount in enumerate(plan.pod.container.get("volumeMounts") or () if plan.release.repeats_volumes else ()):
        name = mount.get("name") or ""
        if name in seen and name not in known:
            yield plan.at("main", "volumeMounts", index), "it writes the volume of the claim twice", "write the volume yourself"
        seen.add(name)
