"""The facts that the reader of a component gets from the resource that contains the component."""

from __future__ import annotations

from krm_fn import behaviours
from krm_fn.behaviours import Behaviour
from krm_fn.config import Config
from krm_fn.kube.types import EnvVar
from krm_fn.records import NamedTuple
from krm_fn.resolve.cluster import ClusterFacts
from krm_fn.results import Ref, Result


class Shared(NamedTuple):
    """The facts that all components of one resource share. Findings are added to `found`. `name` is the graph's name, or empty."""

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
    """The release of the reference that a render follows. No other function chooses it."""
    return behaviours.get("v0_9")
