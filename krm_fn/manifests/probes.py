"""Default probes, and the progress deadline of Deployments."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from krm_fn.behaviours import ProbeFigures
    from krm_fn.kube.types import Container, Probe

_DEADLINE = 600  # seconds; the default of Kubernetes
_SLACK = 300  # seconds for scheduling and image pull


def written(figures: ProbeFigures) -> Probe:
    """A default probe in Kubernetes' form."""
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
    """The progress deadline of a Deployment in seconds. It is never shorter than the time that the startup probe allows.

    The reference keeps Kubernetes' default of 600 seconds, in which a large model cannot load.
    """
    probe = container.get("startupProbe") or {}
    if not probe:
        return _DEADLINE
    # Kubernetes' defaults: a period of ten seconds, three failures
    delay, period, failures = probe.get("initialDelaySeconds") or 0, probe.get("periodSeconds") or 10, probe.get("failureThreshold") or 3
    return max(_DEADLINE, int(delay + period * failures + _SLACK))
