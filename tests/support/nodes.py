"""Builders for tests of multinode components: one worker, and the pods of its leader and its followers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.support import given

if TYPE_CHECKING:
    from krm_fn.base.results import Result
    from krm_fn.kubernetes.native_types import Container, PodSpec
    from krm_fn.kubernetes.types import Resource

LWS = {"LWS_LEADER_ADDRESS": "chat-worker-0-0.chat-worker-0.team", "LWS_GROUP_SIZE": "2", "LWS_WORKER_INDEX": "1"}
GROVE = {
    "GROVE_PCSG_NAME": "chat-0-worker",
    "GROVE_PCSG_INDEX": "0",
    "GROVE_HEADLESS_SERVICE": "chat-0.team.svc.cluster.local",
    "GROVE_PCLQ_POD_INDEX": "0",
}
_LEADER = "chat-0-worker-0-worker-ldr-0.chat-0.team.svc.cluster.local"
CARRIERS = ("deployment", "grove")
NEWER = ("deployment of 1.5", "grove of 1.5")
"""The same orchestrators, under the behaviour of release 1.5."""
ALL = (*CARRIERS, *NEWER)
_ORCHESTRATORS = {carrier: carrier.partition(" ")[0] for carrier in ALL}
LEADERS = {carrier: {"deployment": LWS["LWS_LEADER_ADDRESS"], "grove": _LEADER}[name] for carrier, name in _ORCHESTRATORS.items()}
VARIABLES = {carrier: {"deployment": LWS, "grove": GROVE}[name] for carrier, name in _ORCHESTRATORS.items()}

_MAIN = ("command", "args", "env", "name")


def worker(*, nodes: int = 2, gpus: str = "8", image: str = given.IMAGE, **fields: Any) -> Resource:
    """A multinode worker. `command`, `args`, `env`, `name` and `main` go into the main container, other fields into the service."""
    main = {"image": image, **{key: fields.pop(key) for key in _MAIN if key in fields}, **fields.pop("main", {})}
    limits: Resource = {"resources": {"limits": {"gpu": gpus}}} if gpus else {}
    return given.service("worker", main=main, **{"replicas": 1, "multinode": {"nodeCount": nodes}, **limits, **fields})


def pods(written: Resource, carrier: str = "deployment", **spec: Any) -> tuple[PodSpec, PodSpec]:
    """The pod specs of the leader and of a follower of the service `Worker`."""
    found = given.rendered(given.graph({"Worker": written}, **spec), **settings(carrier))
    if carrier.startswith("grove"):
        cliques = {clique["name"]: clique["spec"]["podSpec"] for clique in found["PodCliqueSet/chat"]["spec"]["template"]["cliques"]}
        return cliques["worker-ldr"], cliques["worker-wkr"]
    group = found["LeaderWorkerSet/chat-worker-0"]["spec"]["leaderWorkerTemplate"]
    return group["leaderTemplate"]["spec"], group["workerTemplate"]["spec"]


def mains(written: Resource, carrier: str = "deployment", **spec: Any) -> tuple[Container, Container]:
    """The main containers of the leader and of a follower."""
    leader, follower = (main(pod) for pod in pods(written, carrier, **spec))
    return leader, follower


def main(pod: PodSpec) -> Container:
    """The main container of a pod. Under release 0.9 it is the last one and may have another name."""
    return next((each for each in pod["containers"] if each["name"] == "main"), pod["containers"][-1])


def settings(carrier: str) -> dict[str, Any]:
    """The configuration of a carrier."""
    newer = {"behaviour": "v1.5", "worker_hash": "none"} if carrier in NEWER else {}
    return {"orchestrator": _ORCHESTRATORS[carrier], **newer}


def warned(written: Resource, carrier: str = "deployment", **spec: Any) -> list[tuple[str, str]]:
    """Code and field of each finding about a graph with this service."""
    return given.findings(said(written, carrier, **spec))


def said(written: Resource, carrier: str = "deployment", **spec: Any) -> list[Result]:
    """The findings about a graph with this service."""
    return given.expanded(given.graph({"Worker": written}, **spec), **settings(carrier)).results
