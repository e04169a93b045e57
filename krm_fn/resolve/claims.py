"""Reads the claims of a graph. Only v1alpha1 has the field; a v1beta1 graph that was converted keeps it in an annotation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from krm_fn.kube import quantity
from krm_fn.plan import Claim


def claims(spec: dict[str, Any]) -> Iterator[Claim]:
    """The PersistentVolumeClaims that a v1alpha1 graph declares."""
    for claim in spec.get("pvcs") or ():
        yield Claim(
            name=claim.get("name") or "",
            create=bool(claim.get("create")),
            size=quantity.canonical(claim["size"]) if claim.get("size") is not None else "",
            storage_class=claim.get("storageClass") or "",
            access_mode=claim.get("volumeAccessMode") or "",
        )
