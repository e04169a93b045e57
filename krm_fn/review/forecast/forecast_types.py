"""The types of a forecast."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from krm_fn.records import NamedTuple

if TYPE_CHECKING:
    from krm_fn.kube.identity import ObjectKey
    from krm_fn.results import Path, Result

Effect = Literal["same", "updated", "restarts", "created", "deleted", "refused"]
"""The effect of a change on one object.

`same`: nothing. `updated`: the object changes, and its pods stay. `restarts`: the pods are replaced. `created` and `deleted`: the object
is in one state only. `refused`: the cluster refuses the change, so the object must be deleted and made again.
"""


class Service(NamedTuple):
    """One service of one graph. `graph` is empty for a component without a graph."""

    namespace: str
    graph: str
    name: str


class Gpus(NamedTuple):
    """Numbers of GPUs. `peak` is the largest number at one time, and `interrupted` the number held by old pods that are replaced."""

    before: int = 0
    peak: int = 0
    after: int = 0
    interrupted: int = 0


class ObjectForecast(NamedTuple):
    """The forecast for one object. `services` are the services whose pods it makes, and `restarting` those whose pods are replaced.

    `causes` are the paths of the fields of the new object, or of the old one, that replace the pods or that the cluster refuses. `stuck`
    is None if nothing is known about the nodes, and otherwise True if the rollout waits for GPUs for ever. `shares` are the GPUs of each
    service of both states.
    """

    key: ObjectKey
    effect: Effect
    services: tuple[Service, ...] = ()
    restarting: tuple[Service, ...] = ()
    causes: tuple[Path, ...] = ()
    gpus: Gpus = Gpus()
    stuck: bool | None = None
    findings: tuple[Result, ...] = ()
    shares: tuple[tuple[Service, Gpus], ...] = ()


class Forecast(NamedTuple):
    """The outcomes in the order of the changes, and the GPUs of all objects together.

    `services` are all services of the new state, and `restarting` those with pods that are replaced. `needed` is the smallest number of
    free GPUs with which all rollouts end, if all free GPUs were on one node. `free` is the number of GPUs that the nodes have free
    while the old pods run; it is None if nothing is known about the nodes.
    """

    outcomes: tuple[ObjectForecast, ...]
    gpus: Gpus
    services: tuple[Service, ...]
    restarting: tuple[Service, ...]
    needed: int = 0
    free: int | None = None
    findings: tuple[Result, ...] = ()
