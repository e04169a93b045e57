"""The facts that differ between releases of the reference: each file is a release, and its `BEHAVIOUR` holds the facts as data.

`resolve` chooses the release of each resource. The layers below it read facts and never compare releases.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from krm_fn import registry
from krm_fn.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from krm_fn.kube.types import ProbeName


class Ports(NamedTuple):
    """The ports on which components listen."""

    http: int
    system: int
    planner_metrics: int
    picker: int
    picker_health: int
    picker_metrics: int


class ProbeFigures(NamedTuple):
    """A default probe; times in seconds. `target` is the path of an HTTP probe, or the service of a gRPC probe."""

    handler: str
    target: str
    port: str | int
    period: int
    delay: int | None = None
    timeout: int | None = None
    failures: int | None = None


class TypeFigures(NamedTuple):
    """The defaults of a component type: ports, variables and probes of its main container, and the grace period of its pod in seconds."""

    ports: tuple[tuple[str, int], ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    probes: tuple[tuple[ProbeName, ProbeFigures], ...] = ()
    grace_period: int = 60


class Behaviour(NamedTuple):
    """The facts of one release. A component type without an entry in `types` has the default `TypeFigures`.

    `reads` is the API version whose fields decide; a resource of the other version is converted first. `assembly` names the way in which
    the parts of a pod are joined (`krm_fn.manifests.assemblies`), and `multinode_workload` the workload kind of multinode components
    without Grove (`krm_fn.manifests.workloads`). `picker_args` are the arguments of an endpoint picker; `{pool}` and `{namespace}` in them
    stand for the graph's pool and namespace. `rules` names the groups of rules that only some releases have (`krm_fn.validation.rules`).
    """

    reads: str
    assembly: str
    multinode_workload: str
    ports: Ports
    types: Mapping[str, TypeFigures]
    shared_memory: str
    picker_args: tuple[str, ...]
    rules: tuple[str, ...] = ()


def get(release: str) -> Behaviour:
    """The facts of a release. `release` is the name of its file. Raises KeyError for an unknown release."""
    behaviour: Behaviour = registry.get(sys.modules[__name__], release).BEHAVIOUR
    return behaviour
