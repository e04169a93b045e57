"""Rules about a DynamoGraphDeploymentRequest.

Follows the reference's `internal/webhook/validation/dynamographdeploymentrequest.go`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from krm_fn import results

if TYPE_CHECKING:
    from krm_fn.config import Config
    from krm_fn.results import Path, Ref, Result

_OVERWRITTEN = (("engine", "backend"), ("deployment", "model"))
"""Settings of the profiler that a field of the spec overwrites. The second word is the name of that field."""


def check_request(spec: dict[str, Any], ref: Ref, config: Config) -> Iterator[Result]:
    """Warns of overwritten profiler settings, and refuses GPU discovery without a ClusterRole for profiling."""
    at: Path = ("spec", "profilingConfig", "config")
    settings = (spec.get("profilingConfig") or {}).get("config") or {}
    for group, field in _OVERWRITTEN:
        inner = settings.get(group)
        written, wins = inner.get(field) if isinstance(inner, dict) else None, spec.get(field) or ""
        if isinstance(written, str) and written and written != wins:
            message = f"{written!r} is overwritten by spec.{field}, {wins!r}; remove it"
            yield results.warning("DYN180", message, ref, (*at, group, field), current=written, proposed=wins or None)
    if spec.get("enableGpuDiscovery") and not config.rbac.profiling_role:
        message = (
            "enableGpuDiscovery needs a role that may read nodes, but rbac.profilingRole is empty in the configuration; remove the field, "
            f"and describe the nodes under hardware in {'.'.join(map(str, at))}"
        )
        yield results.error("DYN181", message, ref, ("spec", "enableGpuDiscovery"))
