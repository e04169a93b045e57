"""How a probe is written, and how long a container may take to start.

Not its business: which probes a component has, which is in `krm_fn.manifests.components`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.kube import merge

if TYPE_CHECKING:
    from krm_fn.kube.types import Container, Probe

_DEADLINE = 600  # seconds: what Kubernetes gives a Deployment anyway
_SLACK = 300  # seconds to schedule a pod and pull its image


def http(path: str, port: str, *, period: int, timeout: int, failures: int, delay: int | None = None) -> Probe:  # noqa: PLR0913 - its fields
    """An HTTP probe on a named port; times in seconds."""
    return merge.some(
        httpGet={"path": path, "port": port},
        initialDelaySeconds=delay,
        periodSeconds=period,
        timeoutSeconds=timeout,
        failureThreshold=failures,
    )


def grpc(port: int, service: str, *, delay: int, period: int) -> Probe:
    """A gRPC health probe; times in seconds."""
    return {"grpc": {"port": port, "service": service}, "initialDelaySeconds": delay, "periodSeconds": period}


def progress_deadline(container: Container) -> int:
    """Seconds after which a Deployment counts as stuck: never before the startup probe gives up.

    The reference leaves Kubernetes' 600 seconds, within which a large model does not load.
    """
    probe = container.get("startupProbe") or {}
    if not probe:
        return _DEADLINE
    # Kubernetes' own defaults: a period of ten seconds, three failures
    delay, period, failures = probe.get("initialDelaySeconds") or 0, probe.get("periodSeconds") or 10, probe.get("failureThreshold") or 3
    return max(_DEADLINE, int(delay + period * failures + _SLACK))
