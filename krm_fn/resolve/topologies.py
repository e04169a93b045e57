"""The ClusterTopologyBindings among the items: the levels of a cluster, from the widest to the narrowest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn import results

if TYPE_CHECKING:
    from collections.abc import Iterable

    from krm_fn.kube.types import Resource


def read(resources: Iterable[Resource]) -> dict[str, tuple[str, ...]]:
    """The domains of each ClusterTopologyBinding by its name. Broken levels are left out."""
    found: dict[str, tuple[str, ...]] = {}
    for resource in resources:
        address = results.ref(resource)
        if (address.api_version.partition("/")[0], address.kind) == ("grove.io", "ClusterTopologyBinding"):
            spec = resource.get("spec")
            levels = spec.get("levels") if isinstance(spec, dict) else None
            named = (level.get("domain") for level in levels if isinstance(level, dict)) if isinstance(levels, list) else ()
            found[address.name] = tuple(domain for domain in named if isinstance(domain, str))
    return found
