"""Measures how long the status of a graph stays wrong after a change of its workload, while another tenant writes."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import random

    from tests.testbed.fleet import Fleet, Graph
    from tests.testbed.largest_tenant import WorstTenant

_RATE = 10
"""Changes of the fleet in a second, and as many of the other tenant."""
_POLL = 0.02
READY, WAITING = "successful", "pending"


class Latencies(NamedTuple):
    """The seconds from each change of a workload until the stored status of its graph is right, the shortest first."""

    seconds: tuple[float, ...]

    @property
    def longest(self) -> float:
        """The longest of them."""
        return self.seconds[-1]

    def percentile(self, share: float) -> float:
        """The least number of seconds within which this share of the statuses is right."""
        return self.seconds[math.ceil(share * len(self.seconds)) - 1]

    def __str__(self) -> str:
        shares = ", ".join(f"{share:.0%} within {self.percentile(share):.2f} s" for share in (0.5, 0.9, 0.99))
        return f"{len(self.seconds)} changes: right {shares}, all within {self.longest:.2f} s"


def beside(fleet: Fleet, worst: WorstTenant, chance: random.Random, seconds: float, limit: float) -> Latencies:
    """Turns graphs at a constant rate while another tenant writes, and waits for each status.

    A slow status delays no change, so the changes after it count with their own times. Raises TimeoutError with the name of the graph if
    a status is wrong for more than `limit` seconds.
    """
    expected: dict[Graph, tuple[str, float]] = {}
    latencies: list[float] = []
    began, turns = time.monotonic(), 0
    while expected or time.monotonic() < began + seconds:
        if time.monotonic() < began + seconds and time.monotonic() >= began + turns / _RATE:
            turns += 1
            worst.stir(chance)
            settled = [graph for graph in fleet.graphs if graph not in expected]
            if settled:
                _turn(chance.choice(settled), expected)
        for graph, (state, since) in list(expected.items()):
            if graph.state() == state:
                latencies.append(time.monotonic() - since)
                del expected[graph]
            elif time.monotonic() > since + limit:
                message = f"{graph.place.namespace}/{graph.name} is not {state} {limit:.0f} s after its Deployment changed"
                raise TimeoutError(message)
        time.sleep(_POLL)
    return Latencies(tuple(sorted(latencies)))


def _turn(graph: Graph, expected: dict[Graph, tuple[str, float]]) -> None:
    """Changes the Deployment of a graph, so that the graph has another state."""
    is_ready = graph.state() == READY
    since = time.monotonic()
    graph.turn(ready=not is_ready)
    expected[graph] = (WAITING if is_ready else READY, since)
