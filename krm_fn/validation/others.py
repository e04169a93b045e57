"""Rules over kinds that no plan is made of: models and requests.

Follows the reference's `internal/webhook/validation/dynamomodel.go` and `dynamographdeploymentrequest.go`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from krm_fn import results

if TYPE_CHECKING:
    from krm_fn.config import Config
    from krm_fn.results import Path, Ref, Result

_SOURCES = ("s3://", "hf://")
_OVERWRITTEN = (("engine", "backend"), ("deployment", "model"))
"""What the profiler is told by the request itself: the last word is the field of the spec."""


def check_model(spec: dict[str, Any], ref: Ref) -> Iterator[Result]:
    """An adapter says from where it is loaded."""
    if spec.get("modelType") != "lora":
        return
    source = spec.get("source")
    if source is None:
        message = f"is required for a LoRA adapter; write its uri, which begins with {' or '.join(_SOURCES)}"
        yield results.error("DYN170", message, ref, ("spec", "source"))
    elif not (source.get("uri") or "").startswith(_SOURCES):
        uri = source.get("uri") or ""
        message = f"{uri!r} does not begin with {' or '.join(_SOURCES)}, from where adapters are loaded; write such a uri"
        yield results.error("DYN171", message, ref, ("spec", "source", "uri"), current=uri)


def check_request(spec: dict[str, Any], ref: Ref, config: Config) -> Iterator[Result]:
    """The profiler's settings, and what profiling may look at."""
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
            "rbac.profilingRole is empty in the configuration, so that profiling may not look at nodes; remove this, and describe them "
            f"under hardware in {'.'.join(map(str, at))}"
        )
        yield results.error("DYN181", message, ref, ("spec", "enableGpuDiscovery"))
