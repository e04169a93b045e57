"""The PersistentVolumeClaims into which the requests among the input items write."""

from __future__ import annotations

from collections.abc import Iterable

from krm_fn import results
from krm_fn.kube.types import Resource


def read(placed: Iterable[tuple[str, Resource]]) -> dict[tuple[str, str], tuple[str, ...]]:
    """Maps namespace and name of a claim to the requests that write into it. The requests may be malformed; those are left out."""
    found: dict[tuple[str, str], tuple[str, ...]] = {}
    for namespace, request in placed:
        spec = request.get("spec")
        profiling = spec.get("profilingConfig") if isinstance(spec, dict) else None
        claim = profiling.get("outputPVC") if isinstance(profiling, dict) else None
        if isinstance(claim, str) and claim:
            found[namespace, claim] = (*found.get((namespace, claim), ()), results.ref(request).name)
    return found
