"""One pod on the node: its sandbox, its volumes, its containers in order, its status, and its end."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.testbed.node import container, handlers, network, sandbox, state, volumes
from tests.testbed.node.container import Container
from tests.testbed.node.environment import Sources
from tests.testbed.node.process import Mount

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.testbed.node.cluster import Cluster
    from tests.testbed.node.image import Image
    from tests.testbed.node.network import Network
    from tests.testbed.node.sandbox import Sandbox

Object = dict[str, Any]

_RETRY = 0.5  # seconds between two tries to make the volumes
_LAST = 10  # messages of a container that are kept for the story


class Ground(NamedTuple):
    """What all pods share. `resolver` is the text of resolv.conf for a namespace."""

    folder: Path
    cluster: Cluster
    network: Network
    images: Mapping[str, Image]
    volumes: volumes.Surroundings
    host: str
    allocatable: Mapping[str, str]
    backoff: float
    resolver: str


class Pod:
    """A pod that was bound to the node. `object` is its newest form; `problem` says why it cannot run here, if so."""

    def __init__(self, found: Object, ground: Ground) -> None:
        self.object = found
        self.address = ""
        self.problem = ""
        self.waits = ""
        self.containers: dict[str, Container] = {}
        self.folder = ground.folder / f"{_key(found)}-{found['metadata']['uid'][:8]}"
        self._ground = ground
        self._pod = volumes.with_token(found)
        self._states = [state.State(each, init=index < len(self._inits())) for index, each in enumerate(volumes.containers(self._pod))]
        self._sandbox: Sandbox | None = None
        self._dirty = asyncio.Event()
        self._deleted = asyncio.Event()
        self._facts: Object = {"startTime": state.now(), "hostIP": ground.host, "hostIPs": [{"ip": ground.host}]}
        for each in self._states:
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

    def story(self) -> str:
        """What people need to know about a pod that is not ready: its states, the last messages, the ends of its logs."""
        lines = [f"pod {_key(self.object)} {self.address}: {self._status()['phase']}"]
        lines += [f"  {text}" for text in (self.problem, self.waits) if text]
        for each in self._states:
            (kind, detail), *_ = each.current.items()
            lines.append(f"  container {each.name}: {kind} {detail.get('reason', '')} {detail.get('message', '')}".rstrip())
            lines[-1] += f", {each.restarts} restarts" + ("" if each.ready else ", not ready")
            if running := self.containers.get(each.name):
                lines += [f"    {text}" for text in running.told[-_LAST:]]
                log = running.log(each.restarts)
                lines += [f"    | {text}" for text in (log.read_text(errors="replace").splitlines()[-20:] if log.exists() else ())]
        return "\n".join(lines)

    async def _work(self) -> None:
        """Everything from the volumes to the last container's end. What goes wrong becomes `problem`."""
        try:
            volumes.check(self._pod)
            _check(self._pod)
            await self._ground.cluster.synced()
            places = await self._prepare()
            async with handlers.open_asker(self._ground.network, self.address) as asker:
                await self._run_containers(self._surroundings(places, asker))
        except Exception as problem:  # noqa: BLE001 - whatever it is, the test must see it, and the pod must end when it is deleted
            self.problem = f"the node of the test bed cannot run this pod: {problem}"
            self._wait(self.problem)

    def _surroundings(self, places: dict[str, Path], asker: handlers.Asker) -> container.Surroundings:
        assert self._sandbox
        return container.Surroundings(
            pod=self._pod,
            folder=self.folder / "containers",
            sandbox=self._sandbox.pid,
            address=self.address,
            images=self._ground.images,
            places=places,
            mounts=self._own_files(),
            sources=self._sources,
            asker=asker,
            backoff=self._ground.backoff,
            changed=self._dirty.set,
        )

    async def _run_containers(self, around: container.Surroundings) -> None:
        """Run the init containers in order, then the others together, until these have ended for good; then end the sidecars."""
        tasks: dict[str, asyncio.Task[None]] = {}
        try:
            for each in self._states:
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
            await asyncio.gather(*(tasks[each.name] for each in self._states if each.name in tasks and not each.sidecar))
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
        self._sandbox = await sandbox.start(_key(self.object), *steps)
        self.address = self._ground.network.address()
        await self._ground.network.plug(self._sandbox, self.address)
        self._facts |= {"podIP": self.address, "podIPs": [{"ip": self.address}]}
        while True:
            try:
                places = await volumes.fill(self._pod, folder, self._ground.volumes)
            except volumes.MissingError as missing:
                self._wait(f"MountVolume.SetUp failed: {missing}")
                await asyncio.sleep(_RETRY)
                continue
            self._wait("")
            return places

    def _own_files(self) -> list[Mount]:
        """The files that a kubelet makes for every container."""
        namespace, name = self.object["metadata"]["namespace"], container.hostname(self.object)
        subdomain = self.object["spec"].get("subdomain")
        whole = f"{name}.{subdomain}.{namespace}.svc.cluster.local\t{name}" if subdomain else name
        texts = {
            "hosts": f"127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n{self.address}\t{whole}\n",
            "hostname": f"{name}\n",
            "resolv.conf": self._ground.resolver.format(namespace=namespace, server=network.DNS),
        }
        for file, text in texts.items():
            (self.folder / file).write_text(text)
        return [Mount(self.folder / file, f"/etc/{file}") for file in texts]

    async def _sources(self, of: Object) -> Sources:
        """The ConfigMaps and Secrets that the variables of a container refer to, as they are now."""
        cluster, namespace = self._ground.cluster, self.object["metadata"]["namespace"]
        found: dict[str, dict[str, Object | None]] = {"configMap": {}, "secret": {}}
        sources = [*(of.get("envFrom") or ()), *(entry["valueFrom"] for entry in of.get("env") or () if entry.get("valueFrom"))]
        for source in sources:
            for kind, names in found.items():
                for part in (f"{kind}Ref", f"{kind}KeyRef"):
                    if part in source:
                        name = source[part]["name"]
                        names[name] = await cluster.get(f"{kind.lower()}s", namespace, name)
        services = list(cluster.objects["services"].values())
        return Sources(found["configMap"], found["secret"], services, self._ground.host, self._ground.allocatable)

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
        for each in self._states:
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
            found = self._status()
            if found != written:
                await self._put()
                written = found
            await self._dirty.wait()

    async def _put(self) -> None:
        metadata = self.object["metadata"]
        path = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}/status"
        await self._ground.cluster.request("PATCH", path, {"metadata": {"uid": metadata["uid"]}, "status": self._status()})

    def _status(self) -> Object:
        ready = {"status": "True" if self.address else "False"}
        return state.status(
            self.object, self._states, self._facts, {"PodScheduled": {"status": "True"}, "PodReadyToStartContainers": ready}
        )

    def _inits(self) -> list[Object]:
        return list(self.object["spec"].get("initContainers") or ())


def _key(pod: Object) -> str:
    return f"{pod['metadata']['namespace']}_{pod['metadata']['name']}"


def _check(pod: Object) -> None:
    """Raises UnsupportedError for fields that this node does not have."""
    for name in ("hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace", "resourceClaims"):
        if pod["spec"].get(name):
            raise volumes.UnsupportedError(f"{name} is set, which the node of the test bed does not have")
    for each in volumes.containers(pod):
        for name in ("startupProbe", "readinessProbe", "livenessProbe"):
            if name in each:
                handlers.check(f"{name} of {each['name']}", each[name])
        hooks = each.get("lifecycle") or {}
        if "postStart" in hooks:
            raise volumes.UnsupportedError(f"container {each['name']!r} has a postStart hook, which the node of the test bed does not have")
        if "preStop" in hooks:
            handlers.check(f"preStop of {each['name']}", hooks["preStop"])
