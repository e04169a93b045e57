"""The GPUs of a v1beta1 component: those of the resources of its main container, and those of its device claims.

Follows the operator's `internal/dra` ResolveGPUCount, and `internal/dynamo/backend_vllm.go` for releases before it.
"""

from __future__ import annotations

import re

from krm_fn.base import codes, results
from krm_fn.kubernetes import quantity
from krm_fn.render.plan import GPUs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from krm_fn.kubernetes.native_types import Container
    from krm_fn.render.kinds.releases import Release
    from krm_fn.render.plan import PodFacts, SourcePaths
    from krm_fn.render.resolve.graph_context import GraphContext

_OLDER_NAMES = re.compile(r"gpu|.*/gpu|.*\.com/gpu.*|(.*/)?mig-.*", re.DOTALL)
"""The names of resources that mean GPUs, in releases that do not count devices.

Rule container.gpu-names: Before Dynamo 1.5, a resource means GPUs if its name is `gpu`, or is that of NVIDIA's or AMD's GPUs, or of parts
of a GPU. (operator: internal/dynamo/backend_vllm.go)
"""


def of_resources(container: Container, release: Release) -> GPUs:
    """Returns the GPUs in the resources: the first name of GPUs among the limits, otherwise among the requests.

    Rule container.gpu-number: A pod has the GPUs among the limits of its main container, or otherwise those among the requests. (krm-fn)
    """
    sides = container.get("resources") or {}
    for amounts in (sides.get("limits") or {}, sides.get("requests") or {}):
        name = _gpu_name(amounts, release) if amounts else None
        if name is not None:
            amount = f"{amounts[name]}"
            return GPUs(quantity.value(amount) // quantity.UNIT, amount, amount)
    return GPUs(0, "", "")


def _gpu_name(names: Iterable[str], release: Release) -> str | None:
    if release.engines.counts_devices:
        return quantity.gpu_resource(names)
    return min((name for name in names if _OLDER_NAMES.fullmatch(name)), default=None)


def with_claims(context: GraphContext, pod: PodFacts, paths: SourcePaths, *, needed: bool) -> GPUs:
    """Returns the GPUs of a pod, also those of its claims. If they are `needed` and the items do not tell them, adds a finding."""
    claims = (pod.container.get("resources") or {}).get("claims")
    if pod.gpus.number or not claims or not context.release.engines.counts_devices:
        return pod.gpus
    from krm_fn.kubernetes import device_claims  # noqa: PLC0415 - few components claim devices

    try:
        number = device_claims.count(context.cluster.devices or device_claims.Devices(), context.namespace, pod.spec, pod.container)
    except ValueError as problem:
        if needed:
            message = f"the engine needs the number of GPUs of a node, and {problem}; add the claim to the items, or request GPUs in limits"
            context.findings.append(results.error(codes.UNKNOWN_CLAIMED_GPUS, message, context.ref, paths.at("resources", "claims")))
        return pod.gpus
    return GPUs(number, f"{number}", f"{number}") if number else pod.gpus
