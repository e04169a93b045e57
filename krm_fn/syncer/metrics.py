"""The metrics of the syncer. Gauges of caches and resources are computed at each scrape, so no series outlives its objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info, ProcessCollector, disable_created_metrics, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

import krm_fn
from krm_fn.cluster.reflector import Listener
from krm_fn.syncer.memory_limit import MemoryUse

_PREFIX = "krm_fn_sync_"
EVENT_RESULTS = ("written", "limited", "gone", "dropped", "forbidden", "error")
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_CPU_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5)


class Snapshot(NamedTuple):
    """The values of one scrape: the queue, the caches by kind, and the number of resources by kind, namespace and state.

    `installation` is the namespace and the name of the Lease that all replicas share. `serves` is true for a process that writes. `members`
    is the number of live members that share the namespaces, and `moves` counts the namespaces that this process gained and lost; None
    without `--shards`.
    """

    installation: str
    serves: bool
    members: int | None = None
    moves: dict[str, int] = {}
    queue_depth: int = 0
    queue_retries: int = 0
    queue_aside: int = 0
    queue_age: float = 0.0
    cached: dict[str, int] = {}
    last_event: dict[str, float] = {}
    """Seconds since the last answer of the server, by kind, for the kinds that it serves."""
    resources: dict[tuple[str, str, str], int] = {}
    memory: MemoryUse | None = None
    """None without a memory limit."""


class Metrics(Listener):
    """The metrics, in a registry of their own. As a listener, counts the events of reflectors."""

    def __init__(self) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]
        registry = self.registry = CollectorRegistry(auto_describe=True)
        self.status_lag = Histogram(
            _PREFIX + "status_lag_seconds",
            "Time from the event that changed a resource to the end of the write of its status.",
            registry=registry,
            buckets=_SECONDS,
        )
        self.reconciles = Histogram(
            _PREFIX + "reconcile_duration_seconds",
            "Duration of one reconcile.",
            ("kind", "result"),
            registry=registry,
            buckets=_SECONDS,
        )
        self.cpu = Histogram(
            _PREFIX + "reconcile_cpu_seconds",
            "CPU time of one reconcile that ended.",
            ("kind",),
            registry=registry,
            buckets=_CPU_SECONDS,
        )
        self.errors = Counter(_PREFIX + "reconcile_errors", "Reconciles that failed.", ("kind", "error"), registry=registry)
        self.put_aside = Counter(
            _PREFIX + "put_aside", "Reconciles that needed too much CPU time, so that their resource waits.", ("kind",), registry=registry
        )
        self.writes = Counter(_PREFIX + "writes", "Writes to resources.", ("kind", "result"), registry=registry)
        self.events = Counter(_PREFIX + "events", "Kubernetes events.", ("result",), registry=registry)
        for result in EVENT_RESULTS:  # Prometheus sees an increase only if a series begins with 0
            self.events.labels(result)
        self.restarts = Counter(_PREFIX + "watch_restarts", "Watches that ended.", ("kind", "reason"), registry=registry)
        self.relists = Counter(_PREFIX + "relists", "Complete lists of a kind.", ("kind",), registry=registry)
        self.rejects = Counter(
            _PREFIX + "foreign_objects",
            "Objects of other members that the server sent, and that were dropped.",
            ("kind",),
            registry=registry,
        )
        self.lora_operations = Counter(
            _PREFIX + "lora_operations",
            "Requests to workers that load or unload a LoRA adapter.",
            ("operation", "result"),
            registry=registry,
        )
        self.lora_requests = Gauge(_PREFIX + "lora_operations_in_flight", "LoRA operations in progress.", registry=registry)
        Info(_PREFIX.rstrip("_"), "Version of the syncer.", registry=registry).info({"version": krm_fn.__version__})
        ProcessCollector(registry=registry)

    def restarted(self, kind: str, reason: str) -> None:
        """Counts the end of a watch."""
        self.restarts.labels(kind, reason).inc()

    def relisted(self, kind: str) -> None:
        """Counts a complete list of a kind."""
        self.relists.labels(kind).inc()

    def rejected(self, kind: str) -> None:
        """Counts an object of another member."""
        self.rejects.labels(kind).inc()

    def watch(self, snapshot: Callable[[], Snapshot]) -> None:
        """Adds the gauges. `snapshot` is called at each scrape."""
        self.registry.register(_Gauges(snapshot))

    def text(self) -> bytes:
        """Returns all metrics in the text format of Prometheus."""
        return generate_latest(self.registry)


class _Gauges:
    def __init__(self, snapshot: Callable[[], Snapshot]) -> None:
        self._snapshot = snapshot

    def describe(self) -> Iterable[Metric]:
        return ()

    def collect(self) -> Iterator[Metric]:
        snapshot = self._snapshot()
        yield GaugeMetricFamily(_PREFIX + "queue_depth", "Resources in the work queue.", value=snapshot.queue_depth)
        yield GaugeMetricFamily(
            _PREFIX + "queue_retries", "Resources that wait for another attempt after a failure.", value=snapshot.queue_retries
        )
        yield GaugeMetricFamily(
            _PREFIX + "queue_aside", "Resources that wait because they need too much CPU time.", value=snapshot.queue_aside
        )
        yield GaugeMetricFamily(
            _PREFIX + "queue_age_seconds",
            "Time since the oldest change of a resource that was not processed with success yet.",
            value=snapshot.queue_age,
        )
        labels, installation = ("installation",), (snapshot.installation,)
        yield _family(
            "leader", "1 if this process writes: it is the leader, or a live member of shards.", labels, {installation: snapshot.serves}
        )
        if snapshot.members is not None:
            yield _family(
                "members", "Live members that share the namespaces, as this process sees them.", labels, {installation: snapshot.members}
            )
        namespaces = len({namespace for _, namespace, _ in snapshot.resources})
        yield GaugeMetricFamily(_PREFIX + "namespaces", "Namespaces with Dynamo resources in the caches.", value=namespaces)
        moves = CounterMetricFamily(_PREFIX + "moves", "Namespaces that this process gained or lost.", labels=("direction",))
        for direction, count in snapshot.moves.items():
            moves.add_metric((direction,), count)
        yield moves
        yield _family("cached_objects", "Objects in the caches.", ("kind",), {(kind,): count for kind, count in snapshot.cached.items()})
        yield _family(
            "last_event_seconds",
            "Time since the last answer of the API server, for each kind that it serves.",
            ("kind",),
            {(kind,): age for kind, age in snapshot.last_event.items()},
        )
        memory = snapshot.memory
        yield _family("memory_limit_bytes", "Memory limit of the process's cgroup.", (), {(): memory.limit} if memory else {})
        yield _family("memory_used_ratio", "Used part of the memory limit.", (), {(): memory.part} if memory else {})
        yield _family("resources", "Dynamo resources by state.", ("kind", "namespace", "state"), snapshot.resources)


def _family(name: str, text: str, labels: tuple[str, ...], values: Mapping[Any, float]) -> Metric:
    family = GaugeMetricFamily(_PREFIX + name, text, labels=labels)
    for key, value in sorted(values.items()):
        family.add_metric(key, value)
    return family
