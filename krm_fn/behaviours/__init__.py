"""What a release of the reference decides: a file here is a release, its `BEHAVIOUR` holds the facts as data.

`resolve` chooses one for each resource. Below it, modules read facts and never compare releases.
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
    """What the main container of a component type gets: named ports, variables, and probes by the name of their field."""

    ports: tuple[tuple[str, int], ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    probes: tuple[tuple[ProbeName, ProbeFigures], ...] = ()
    grace_period: int = 60


class Behaviour(NamedTuple):
    """The facts of one release. `types` has an entry for each component type that gets more than the neutral figures.

    `picker_args` are the arguments of an endpoint picker, with `{pool}` and `{namespace}` for those of the graph.
    """

    ports: Ports
    types: Mapping[str, TypeFigures]
    shared_memory: str
    picker_args: tuple[str, ...]


def get(release: str) -> Behaviour:
    """The facts of one release, by the name of its file. Raises KeyError for an unknown one."""
    behaviour: Behaviour = registry.get(sys.modules[__name__], release).BEHAVIOUR
    return behaviour
