"""The probes of one life of a container.

Source of the rules: `pkg/kubelet/prober/worker.go`. The startup probe comes first; readiness and liveness begin when it has succeeded.
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
    """Asks the probes of a container until cancelled. `changed` is called when `started` or `ready` of the state has changed."""

    def __init__(self, state: State, process: Process, asker: Asker, changed: Callable[[], None], told: Callable[[str], None]) -> None:
        self._state = state
        self._process = process
        self._asker = asker
        self._changed = changed
        self._told = told
        self._begun = time.monotonic()
        self._of_life: list[asyncio.Task[str]] = []

    async def run(self) -> str:
        """Ask until the container must be killed; returns why."""
        container = self._state.container
        if "startupProbe" in container and (why := await self._startup(container["startupProbe"])):
            return why
        self._state.started = True
        self._state.ready = "readinessProbe" not in container
        self._changed()
        tasks = []
        if "readinessProbe" in container:
            tasks.append(asyncio.ensure_future(self._readiness(container["readinessProbe"])))
        if "livenessProbe" in container:
            self._of_life = [asyncio.ensure_future(self._liveness(container["livenessProbe"]))]
        try:
            if self._of_life:
                return await self._of_life[0]
            await asyncio.Event().wait()
        finally:
            for task in (*tasks, *self._of_life):
                task.cancel()
        raise AssertionError

    async def _startup(self, probe: Object) -> str:
        """Ask until the probe succeeds; returns why the container must be killed, or an empty text."""
        good = await self._judge("Startup", probe)
        return "" if good else f"Container {self._state.name} failed startup probe"

    async def _liveness(self, probe: Object) -> str:
        while await self._judge("Liveness", probe):
            await self._pause(probe)
        return f"Container {self._state.name} failed liveness probe"

    async def _readiness(self, probe: Object) -> str:
        while True:
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
