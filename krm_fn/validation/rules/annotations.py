"""Rules about the values of Dynamo's annotations.

Follows the reference's `internal/webhook/validation/` for graphs, and the rules of its `config/crd/bases` for pod templates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn import results
from krm_fn.kube import labels, version
from krm_fn.schema import sentences

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krm_fn.manifests.assemblies import Pods
    from krm_fn.plan import ComponentPlan, GraphPlan
    from krm_fn.results import Result

_EXECUTORS = ("mp", "ray")
_GONE = (labels.DEBUG, labels.STEALING_DEBUG)
_WORDS = {
    labels.DISCOVERY_MODE: ("pod", "container"),
    labels.GROVE_UPDATE_STRATEGY: ("RollingRecreate", "OnDelete"),
    labels.WORKLOAD_PROVIDER: ("grove", "component"),
}


def check(plan: GraphPlan, made: Sequence[Pods]) -> Iterator[Result]:
    """Reports annotations of the graph and of pods whose value is not one of the known ones."""
    yield from _of_graph(plan)
    for each in made:
        yield from _of_pods(each.plan)


def _of_graph(plan: GraphPlan) -> Iterator[Result]:
    written = plan.annotations
    for key, words in _WORDS.items():
        if key in written and written[key] not in words:
            message = f"{written[key]!r} is not a known value; write {' or '.join(words)}"
            yield results.error("DYN456", message, plan.ref, ("metadata", "annotations", key))
    origin = written.get(labels.ORIGIN_VERSION)
    if origin is not None and version.core(origin) is None:
        message = f"{origin!r} is not a semantic version; write the version of the operator, for example 1.5.0, or remove the annotation"
        yield results.error("DYN456", message, plan.ref, ("metadata", "annotations", labels.ORIGIN_VERSION))
    if not _is_executor(written.get(labels.EXECUTOR_BACKEND)):
        yield sentences.error("DYN457", plan.ref, ("metadata", "annotations", labels.EXECUTOR_BACKEND))


def _of_pods(plan: ComponentPlan) -> Iterator[Result]:
    written = plan.pod.annotations
    if not _is_executor(written.get(labels.EXECUTOR_BACKEND)):
        yield sentences.error("DYN457", plan.ref, plan.at("pod.annotations", labels.EXECUTOR_BACKEND))
    limit = written.get(labels.POWER_LIMIT)
    if limit is None:
        return
    at = plan.at("pod.annotations", labels.POWER_LIMIT)
    if not (limit.isascii() and limit.isdigit() and int(limit) > 0):
        yield results.error("DYN458", f"{limit!r} is not a whole number of watts above 0; write for example 500", plan.ref, at)
    elif plan.features.gpu_memory or plan.pod.container.get("resources", {}).get("claims"):
        message = "the limit applies to GPUs that the container requests, and this component claims its GPUs; remove the annotation"
        yield results.error("DYN458", message, plan.ref, at)


def _is_executor(value: str | None) -> bool:
    return value is None or value.lower() in _EXECUTORS
