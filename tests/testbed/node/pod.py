"""One pod on the node: its sandbox, its volumes, its containers in order, its status, and its end."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from tests.testbed.node import handlers, network, plan, sandbox, state, supported, volumes
from tests.testbed.node.container import Container
from tests.testbed.node.plan import Surroundings

if TYPE_CHECKING:
    from pathlib import Path

    from tests.testbed.node.ground import Ground
    from tests.testbed.node.sandbox import Sandbox

Object = dict[str, Any]

_RETRY = 0.5  # seconds between two tries to make the volumes


class Pod:
    """A pod that was bound to the node. `object` is its newest form; `problem` says why it cannot run here, if so."""

    def __init__(self, found: Object, ground: Ground) -> None:
        self.object = found
        self.name = f"{found['metadata']['namespace']}_{found['metadata']['name']}"
        self.address = ""
        self.problem = ""
        self.waits = ""
        self.containers: dict[str, Container] = {}
        self.folder = ground.folder / f"{self.name}-{found['metadata']['uid'][:8]}"
        self._ground = ground
        self._pod = volumes.with_token(found)
        self.states = [state.State(each, init=index < len(self._inits())) for index, each in enumerate(supported.containers(self._pod))]
        self._sandbox: Sandbox | None = None
        self._conditions: list[Object] = []
        self._dirty = asyncio.Event()
        self._deleted = asyncio.Event()
        self._facts: Object = {"startTime": state.now(), "hostIP": network.GATEWAY, "hostIPs": [{"ip": network.GATEWAY}]}
        for each in self.states:
            each.wait("PodInitializing" if self._inits() else "ContainerCreating")

    def see(self, found: Object) -> None:
        """Take a newer form of the object."""
        self.object = found
        self._dirty.set()
        if "deletionTimestamp" in found["metadata"]:
            self._deleted.set()

    def forget(self) -> None:
        """The object is gone without a grace period."""
        self._deleted.set()

    async def run(self) -> None:
        """Run the pod until it has ended and is deleted."""
        writer = asyncio.ensure_future(self._write())
        work = asyncio.ensure_future(self._work())
        deleted = asyncio.ensure_future(self._deleted.wait())
        try:
            await asyncio.wait([work, deleted], return_when=asyncio.FIRST_COMPLETED)
            if not deleted.done():
                await self._release()  # all containers have ended for good
            await deleted
            await self._terminate(work)
        finally:
            for task in (writer, work, deleted):
                task.cancel()
            await asyncio.gather(writer, work, deleted, return_exceptions=True)
            await self._release()

    def status(self) -> Object:
        """The status as it should be now. The conditions that were written last are the base for the times."""
        ready = {"status": "True" if self.address else "False"}
        own = {"PodScheduled": {"status": "True"}, "PodReadyToStartContainers": ready}
        found = state.status(self.object, self.states, self._facts, own, self._conditions)
        self._conditions = found["conditions"]
        return found

    async def _work(self) -> None:
        """Everything from the volumes to the last container's end. What goes wrong becomes `problem`."""
        try:
            supported.check(self._pod)
            await self._ground.cluster.synced()
            places = await self._prepare()
            assert self._sandbox
            async with handlers.open_asker(self._ground.network, self.address) as asker:
                plan.write_files(self._pod, self.folder, self.address)
                own = self._pod, self.folder, self._sandbox.pid, self.address
                await self._run_containers(Surroundings(self._ground, *own, places, asker, self._dirty.set))
        except Exception as problem:  # noqa: BLE001 - whatever it is, the test must see it, and the pod must end when it is deleted
            self.problem = f"the node of the test bed cannot run this pod: {problem}"
            self._wait(self.problem)

    async def _run_containers(self, around: Surroundings) -> None:
        """Run the init containers in order, then the others together, until these have ended for good; then end the sidecars."""
        tasks: dict[str, asyncio.Task[None]] = {}
        try:
            for each in self.states:
                if self._deleted.is_set():
                    break
                own = self.containers[each.name] = Container(each, around)
                tasks[each.name] = asyncio.ensure_future(own.keep())
                if each.sidecar:
                    await own.begun.wait()
                elif each.init:
                    await tasks[each.name]
                    if not each.ready:
                        break
            await asyncio.gather(*(tasks[each.name] for each in self.states if each.name in tasks and not each.sidecar))
            await self._stop_sidecars(around.pod["spec"].get("terminationGracePeriodSeconds", 30))
            await asyncio.gather(*tasks.values())
        finally:
            for task in tasks.values():
                task.cancel()
            await asyncio.gather(*tasks.values(), return_exceptions=True)

    async def _prepare(self) -> dict[str, Path]:
        """Sandbox, network and volumes. Waits for ConfigMaps and Secrets that do not exist yet."""
        folder = self.folder / "volumes"
        folder.mkdir(parents=True)
        steps = volumes.memory(self._pod, folder)
        self._sandbox = await sandbox.start(self.name, *steps)
        self.address = self._ground.network.address()
        await self._ground.network.plug(self._sandbox, self.address)
        self._facts |= {"podIP": self.address, "podIPs": [{"ip": self.address}]}
        while True:
            try:
                places = await volumes.fill(self._pod, folder, self._ground)
            except volumes.MissingError as missing:
                self._wait(f"MountVolume.SetUp failed: {missing}")
                await asyncio.sleep(_RETRY)
                continue
            self._wait("")
            return places

    async def _terminate(self, work: asyncio.Task[None]) -> None:
        """End all containers within the grace period, write the last status, and delete the object."""
        metadata = self.object["metadata"]
        seconds = metadata.get("deletionGracePeriodSeconds", 0)
        plain = [each for each in self.containers.values() if not each.state.sidecar]
        begun = asyncio.get_running_loop().time()
        await asyncio.gather(*(each.stop(seconds) for each in plain))
        await self._stop_sidecars(max(0, seconds - (asyncio.get_running_loop().time() - begun)))
        if not self.containers:
            work.cancel()
        await asyncio.wait([work])
        await self._put()
        path = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}"
        await self._ground.cluster.request("DELETE", path, {"gracePeriodSeconds": 0, "preconditions": {"uid": metadata["uid"]}})

    async def _stop_sidecars(self, seconds: float) -> None:
        for each in reversed([each for each in self.containers.values() if each.state.sidecar]):
            await each.stop(seconds)

    async def _release(self) -> None:
        """Let the namespaces and the address go, and kill what still runs."""
        for each in self.containers.values():
            if each.process:
                await each.process.stop(0)
        if self._sandbox:
            held, self._sandbox = self._sandbox, None
            await held.end()
            await self._ground.network.unplug(self.address)

    def _wait(self, message: str) -> None:
        self.waits = message
        for each in self.states:
            if message and "waiting" in each.current:
                each.current["waiting"]["message"] = message
            elif "waiting" in each.current:
                each.current["waiting"].pop("message", None)
        self._dirty.set()

    async def _write(self) -> None:
        """Write the status whenever it has changed."""
        written = None
        while True:
            self._dirty.clear()
            found = self.status()
            if found != written:
                await self._put()
                written = found
            await self._dirty.wait()

    async def _put(self) -> None:
        metadata = self.object["metadata"]
        path = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}/status"
        await self._ground.cluster.request("PATCH", path, {"metadata": {"uid": metadata["uid"]}, "status": self.status()})

    def _inits(self) -> list[Object]:
        return list(self.object["spec"].get("initContainers") or ())
