"""The back-off of container restarts and image pulls: the first wait, doubled up to five minutes, forgotten after ten quiet minutes.

Source of the rules: `doBackOff` in `pkg/kubelet/kuberuntime/kuberuntime_manager.go`, `client-go/util/flowcontrol/backoff.go`. The first
restart comes at once; from the second on, the container waits.
"""

from __future__ import annotations

LONGEST = 300.0
_QUIET = 2 * LONGEST


class Backoff:
    """The waits of one container. `first` is the first wait in seconds (Kubernetes: 10)."""

    def __init__(self, first: float) -> None:
        self._first = first
        self._wait = 0.0
        self._updated = 0.0

    def wait(self, ended: float) -> float:
        """The seconds from its end after which a container that ended at a time (of one clock) starts again; 0 for at once."""
        return 0.0 if ended - self._updated > _QUIET else self._wait

    def restarted(self, ended: float, now: float) -> None:
        """Note a restart of a container that ended before: the next wait is longer."""
        fresh = not self._wait or ended - self._updated > _QUIET
        self._wait = self._first if fresh else min(2 * self._wait, LONGEST)
        self._updated = now
