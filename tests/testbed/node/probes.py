"""The probes of one life of a container.

Source of the rules: `pkg/kubelet/prober/worker.go`. The startup probe comes first; readiness and liveness begin when it has succeeded.
A failed startup or liveness probe is not asked again, but the readiness probe is asked until the process has ended: so a process that
hangs gets no more requests during its grace period.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.testbed.node.handlers import Asker
    from tests.testbed.node.process import Process
    from tests.testbed.node.state import State

Object = dict[str, Any]


class Probes:
    """Asks the probes of a container. `changed` is called when `started` or `ready` of the state has changed."""

    def __init__(self, state: State, process: Process, asker: Asker, changed: Callable[[], None], told: Callable[[str], None]) -> None:
        self._state = state
        self._process = process
        self._asker = asker
        self._changed = changed
        self._told = told
        self._begun = time.monotonic()
        self._started = asyncio.Event()

    async def failure(self) -> tuple[str, Object]:
        """Ask the startup probe and then the liveness probe until one has failed; returns its kind and the probe."""
        container = self._state.container
        if "startupProbe" in container and not await self._judge("Startup", container["startupProbe"]):
            return "Startup", container["startupProbe"]
        self._state.started = True
        self._state.ready = "readinessProbe" not in container
        self._changed()
        self._started.set()
        if "livenessProbe" not in container:
            await asyncio.Event().wait()  # nothing to ask
        while await self._judge("Liveness", container["livenessProbe"]):
            await self._pause(container["livenessProbe"])
        return "Liveness", container["livenessProbe"]

    async def follow_readiness(self) -> None:
        """Ask the readiness probe once the container has started, until cancelled."""
        probe = self._state.container.get("readinessProbe")
        await self._started.wait()
        while probe:
            ready = await self._judge("Readiness", probe)
            if ready != self._state.ready:
                self._state.ready = ready
                self._changed()
            await self._pause(probe)

    async def _judge(self, kind: str, probe: Object) -> bool:
        """The result of a probe: as many equal answers in a row as its threshold says."""
        limits = {True: probe.get("successThreshold", 1), False: probe.get("failureThreshold", 3)}
        await asyncio.sleep(max(0.0, self._begun + probe.get("initialDelaySeconds", 0) - time.monotonic()))
        last, run = None, 0
        while True:
            wrong = await self._asker.ask(probe, self._state.container, self._process, probe.get("timeoutSeconds", 1))
            good = wrong is None
            if wrong is not None:
                self._told(f"{kind} probe failed: {wrong}")
            run = run + 1 if good is last else 1
            last = good
            if run >= limits[good]:
                return good
            await self._pause(probe)

    @staticmethod
    async def _pause(probe: Object) -> None:
        await asyncio.sleep(probe.get("periodSeconds", 10))
