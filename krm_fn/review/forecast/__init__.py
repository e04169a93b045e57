"""What a cluster does with changed objects: which pods restart, which GPUs that takes, and whether the rollouts can end.

Each file of this folder with a `KIND` forecasts the objects of one kind. The other kinds have the rules of `others`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from krm_fn.records import NamedTuple

if TYPE_CHECKING:
    from krm_fn.kube.identity import ObjectKey
    from krm_fn.results import Path, Result

Effect = Literal["same", "updated", "restarts", "created", "deleted", "refused"]
"""What happens to one object.

`same`: nothing. `updated`: the object changes, and its pods stay. `restarts`: the pods are replaced. `created` and `deleted`: the object
is in one state only. `refused`: the cluster refuses the change, so the object must be deleted and made again.
"""


class Gpus(NamedTuple):
    """Numbers of GPUs. `peak` is the largest number at one time, and `interrupted` the number held by old pods that are replaced.

    `needed` is the smallest number of free GPUs with which all rollouts end.
    """

    before: int = 0
    peak: int = 0
    after: int = 0
    interrupted: int = 0
    needed: int = 0


class Outcome(NamedTuple):
    """The forecast for one object. `service` is the name of its service, empty if the object belongs to none.

    `causes` are the fields of the new object, or of the old one, that replace the pods or that the cluster refuses. `stuck` is None if
    nothing is known about the nodes, and otherwise True if the rollout waits for GPUs for ever.
    """

    key: ObjectKey
    effect: Effect
    service: str = ""
    causes: tuple[Path, ...] = ()
    gpus: Gpus = Gpus()
    stuck: bool | None = None
    findings: tuple[Result, ...] = ()


class Forecast(NamedTuple):
    """The outcomes in the order of the changes, the GPUs of all of them together, and the number of GPUs of all nodes.

    `restarting` are the services with pods that are replaced, `services` all services of the new state. `available` is None if nothing is
    known about the nodes; otherwise it is the number of GPUs that the nodes offer to the forecast's own pods.
    """

    outcomes: tuple[Outcome, ...]
    gpus: Gpus
    restarting: tuple[str, ...]
    services: tuple[str, ...]
    available: int | None = None
    findings: tuple[Result, ...] = ()
