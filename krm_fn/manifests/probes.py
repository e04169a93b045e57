"""Default probes, and how long a container may take to start."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from krm_fn.behaviours import ProbeFigures
    from krm_fn.kube.types import Container, Probe

_DEADLINE = 600  # seconds: what Kubernetes gives a Deployment anyway
_SLACK = 300  # seconds to schedule a pod and pull its image


def written(figures: ProbeFigures) -> Probe:
    """A default probe as Kubernetes takes it."""
    probe: Probe = {"httpGet": {"path": figures.target, "port": figures.port}}
    if figures.handler == "grpc":
        probe = {"grpc": {"port": int(figures.port), "service": figures.target}}
    if figures.delay is not None:
        probe["initialDelaySeconds"] = figures.delay
    probe["periodSeconds"] = figures.period
    if figures.timeout is not None:
        probe["timeoutSeconds"] = figures.timeout
    if figures.failures is not None:
        probe["failureThreshold"] = figures.failures
    return probe


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
