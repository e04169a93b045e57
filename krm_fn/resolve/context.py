"""What the reader of a component is told by the resource it stands in."""

from __future__ import annotations

from krm_fn import behaviours
from krm_fn.behaviours import Behaviour
from krm_fn.config import Config
from krm_fn.kube.types import EnvVar
from krm_fn.records import NamedTuple
from krm_fn.resolve.cluster import ClusterFacts
from krm_fn.results import Ref, Result


class Shared(NamedTuple):
    """What every component of one resource shares; findings go to `found`. `name` is the graph's, empty without one."""

    name: str
    namespace: str
    ref: Ref
    config: Config
    behaviour: Behaviour
    cluster: ClusterFacts
    orchestrator: str
    framework: str
    envs: list[EnvVar]
    discovery: str
    found: list[Result]


def behaviour() -> Behaviour:
    """The release of the reference whose output a resource becomes: the one place that chooses it."""
    return behaviours.get("v0_9")
