"""Builders for tests of multinode components: one worker, and the pods of its leader and its followers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.support import given

if TYPE_CHECKING:
    from krm_fn.kube.types import Container, PodSpec, Resource
    from krm_fn.results import Result

LWS = {"LWS_LEADER_ADDRESS": "chat-worker-0-0.chat-worker-0.team", "LWS_GROUP_SIZE": "2", "LWS_WORKER_INDEX": "1"}
GROVE = {
    "GROVE_PCSG_NAME": "chat-0-worker",
    "GROVE_PCSG_INDEX": "0",
    "GROVE_HEADLESS_SERVICE": "chat-0.team.svc.cluster.local",
    "GROVE_PCLQ_POD_INDEX": "0",
}
LEADERS = {"deployment": LWS["LWS_LEADER_ADDRESS"], "grove": "chat-0-worker-0-worker-ldr-0.chat-0.team.svc.cluster.local"}
VARIABLES = {"deployment": LWS, "grove": GROVE}
CARRIERS = tuple(VARIABLES)
_MAIN = ("command", "args", "env", "name")


def worker(*, nodes: int = 2, gpus: str = "8", image: str = given.IMAGE, **fields: Any) -> Resource:
    """A multinode worker. `command`, `args`, `env`, `name` and `main` go into the main container, other fields into the service."""
    main = {"image": image, **{key: fields.pop(key) for key in _MAIN if key in fields}, **fields.pop("main", {})}
    limits: Resource = {"resources": {"limits": {"gpu": gpus}}} if gpus else {}
    return given.service("worker", main=main, **{"replicas": 1, "multinode": {"nodeCount": nodes}, **limits, **fields})


def pods(written: Resource, carrier: str = "deployment", **spec: Any) -> tuple[PodSpec, PodSpec]:
    """The pod specs of the leader and of a follower of the service `Worker`."""
    found = given.rendered(given.graph({"Worker": written}, **spec), orchestrator=carrier)
    if carrier == "grove":
        cliques = {clique["name"]: clique["spec"]["podSpec"] for clique in found["PodCliqueSet/chat"]["spec"]["template"]["cliques"]}
        return cliques["worker-ldr"], cliques["worker-wkr"]
    group = found["LeaderWorkerSet/chat-worker-0"]["spec"]["leaderWorkerTemplate"]
    return group["leaderTemplate"]["spec"], group["workerTemplate"]["spec"]


def mains(written: Resource, carrier: str = "deployment", **spec: Any) -> tuple[Container, Container]:
    """The main containers of the leader and of a follower."""
    leader, follower = pods(written, carrier, **spec)
    return leader["containers"][-1], follower["containers"][-1]


def warned(written: Resource, carrier: str = "deployment", **spec: Any) -> list[tuple[str, str]]:
    """Code and field of each finding about a graph with this service."""
    return given.findings(said(written, carrier, **spec))


def said(written: Resource, carrier: str = "deployment", **spec: Any) -> list[Result]:
    """The findings about a graph with this service."""
    return given.expanded(given.graph({"Worker": written}, **spec), orchestrator=carrier).results
