"""What is known of a component before its own fields are read."""

from __future__ import annotations

from typing import NamedTuple

from krm_fn.config import Config
from krm_fn.kube.types import EnvVar, Labels
from krm_fn.resolve.cluster import ClusterFacts
from krm_fn.results import Path, Ref, Result


class Shared(NamedTuple):
    """What every component of one resource shares; findings go to `found`. `name` is the graph's, empty without one."""

    name: str
    namespace: str
    ref: Ref
    config: Config
    around: ClusterFacts
    orchestrator: str
    framework: str
    envs: list[EnvVar]
    discovery: str
    found: list[Result]


class Identity(NamedTuple):
    """Who a component is, as its graph or its own metadata decides. `dynamo_namespace` is the one its Service selects by."""

    service: str
    name: str
    path: Path
    dynamo_namespace: str
    labels: Labels
    annotations: Labels
    metrics: bool
    graph_label: str
    alone: bool = False
