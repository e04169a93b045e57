"""The CPU time of a render, of a check and of each key of the syncer grows with the size of what a tenant writes, and not faster.

`make test-all` runs four cases, and `KRM_FN_CPU_CASES=200` more. A failure names the number that reproduces it.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
from collections.abc import Callable
from math import log
from pathlib import Path
from random import Random
from time import thread_time
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner

from krm_fn import cli
from krm_fn.kubernetes import identity
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.render.config import Config
from krm_fn.render.krm import function
from krm_fn.syncer import controllers, graph_deployer, profiler_output
from krm_fn.syncer.controllers import Controller, ControllerContext
from krm_fn.syncer.event_recorder import EventRecorder
from krm_fn.syncer.informer_cache import InformerCache
from krm_fn.syncer.manager import Manager
from krm_fn.syncer.metrics import Metrics
from krm_fn.syncer.profiler_output import OutputConfigMap, ProfilerOutput
from krm_fn.syncer.status import SyncFeatures
from krm_fn.syncer.writer import RECEIVED, Retry, Writer
from tests.support import growth, tenant_requests, tenants
from tests.testbed import tier

pytestmark = pytest.mark.slow  # measures two sizes several times

CASES = range(tier.number(4, 2, "KRM_FN_CPU_CASES"))
SMALL, LARGE = 250, 1000
MOST_EXPONENT = 1.2
MOST_SECONDS = 0.5
ENOUGH = 0.03
"""Seconds from which two sizes are compared. Below, the parts that do not depend on the size count for too much."""
LIST = {"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList"}
FEATURES = SyncFeatures(**{name: name not in ("loras", "other_namespaces") for name in SyncFeatures._fields})  # they need a server
STATES = {"graphs": tenants.state, "requests": tenant_requests.state}


class Keys(NamedTuple):
    """A filled cache, and the controllers that read it. Each write is refused, because this process does not lead."""

    manager: Manager
    cache: InformerCache
    controllers: dict[str, Controller]


def filled(resources: list[Any]) -> Keys:
    """Fills the caches as the informers do it."""
    cache, metrics, client = InformerCache(), Metrics(), None
    manager = Manager(cache, metrics, lambda _namespace: True)
    events = EventRecorder(client, "test", metrics, enabled=False)  # type: ignore[arg-type]
    writer = Writer(client, lambda: False, metrics)  # type: ignore[arg-type]
    context = ControllerContext(
        cache, writer, events, FEATURES, manager.update_cache, Config(), lambda *_: "", lambda _kind: "v1alpha1", manager.budget
    )
    classes = controllers.enabled_controllers(FEATURES)
    watches = {watch.kind: watch for controller in classes.values() for watch in controller.watches(FEATURES)}
    manager.register({name: controller(context) for name, controller in classes.items()}, watches)
    for resource in resources:
        key = identity.key(resource)
        for kind, watch in watches.items():
            if (kind.group, kind.kind) == (key.group, key.kind) and kind.selects(resource):
                value = watch.project(resource)
                cache.store(kind).put(key, resource["metadata"]["uid"], "1", value)
                manager.handle_event(key, None, value)
    return Keys(manager, cache, manager._controllers)


def seconds(work: Callable[[], object]) -> float:
    """Returns the least CPU time of two runs."""
    times = []
    for _ in range(2):
        with growth.no_collector():
            began = thread_time()
            work()
            times.append(thread_time() - began)
    return min(times)


def reconciled(keys: Keys, controller: str, key: ObjectKey) -> Callable[[], object]:
    """A function that reconciles one key, up to the first write."""

    async def run() -> None:
        RECEIVED.set(0.0)
        with contextlib.suppress(Retry):
            await keys.controllers[controller].reconcile(key)

    return lambda: asyncio.run(run())


def slowest(keys: Keys, name: str) -> float:
    """Returns the CPU time of the slowest of three keys of a controller: the first, the last, and one in between."""
    listed = [*keys.cache.store(keys.controllers[name].kind).keys()]
    chosen = [listed[position] for position in sorted({0, len(listed) // 2, len(listed) - 1})] if listed else []
    return max((seconds(reconciled(keys, name, key)) for key in chosen), default=0.0)


def problem(what: str, measure: Callable[[], tuple[float, float]], ratio: float, most: float) -> str:
    """Names times that are too long or grow too fast; empty if they do not. `ratio` is that of the sizes.

    A busy machine disturbs a measurement, so the best of five counts. Only a measurement without a problem ends them early.
    """
    text = ""
    for _ in range(5):
        small, large = measure()
        exponent = log(max(large, 1e-6) / max(small, 1e-6)) / log(ratio)
        if large <= most and (large <= ENOUGH or exponent <= MOST_EXPONENT):
            return ""
        text = f"{what}: {small:.3f} s, and {large:.3f} s for {ratio:.1f} times as much: exponent {exponent:.2f}"
    return text


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("case", CASES)
def test_a_key_of_the_syncer(case, state):
    small, large = (filled(STATES[state](Random(case), size)) for size in (SMALL, LARGE))  # noqa: S311 - no secret
    problems = [
        problem(name, lambda: (slowest(small, name), slowest(large, name)), LARGE / SMALL, MOST_SECONDS)  # noqa: B023 - called at once
        for name in large.controllers
    ]
    assert [text for text in problems if text] == []


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("case", CASES)
def test_the_events_of_a_tenant(case, state):
    """The objects of a tenant enter the caches and the indexes. All of them together may take longer than a key."""
    small, large = (STATES[state](Random(case), size) for size in (SMALL, LARGE))  # noqa: S311 - no secret
    ratio = len(json.dumps(large)) / len(json.dumps(small))
    assert problem("events", lambda: (seconds(lambda: filled(small)), seconds(lambda: filled(large))), ratio, 10) == ""


@pytest.mark.parametrize("services", [1, 1000], ids=["one service", "many services"])
def test_all_adapters_of_one_graph(services):
    """After an event of the graph, all of them are reconciled. Each reads the graph, and none the other adapters or all workloads."""
    filled_by_size: dict[int, Keys] = {}

    def reconcile_all(size: int) -> None:
        if size not in filled_by_size:
            filled_by_size[size] = filled(tenants.adapters_of_one_graph(size, services))
        keys = filled_by_size[size]
        (graph,) = keys.cache.store(controllers.GRAPHS).keys()
        before = keys.cache.cached_object(graph)
        assert before
        affected = keys.cache.update_indexes(graph, before, before._replace(idle=("changed",)))
        adapters = [key for key in affected if key.kind == controllers.ADAPTERS.kind]
        assert len(adapters) == size
        for key in adapters:
            reconciled(keys, "adapters", key)()

    assert growth.is_linear(reconcile_all, 250)


def rendered(text: bytes) -> None:
    """Runs the function on a ResourceList."""
    err = io.StringIO()
    function.run(io.BytesIO(text), io.BytesIO(), err)
    assert "DYN019" not in err.getvalue()


def checked(file: Path) -> None:
    """Runs `krm-fn check` on a file."""
    result = CliRunner().invoke(cli.group, ["check", str(file)])
    assert "DYN019" not in result.output
    assert result.exit_code in (0, 1), result.output


SUBJECTS = [(tenants.graph, way) for way in tenants.WAYS] + [(tenant_requests.request, way) for way in tenant_requests.WAYS]


@pytest.mark.parametrize(("resource", "way"), SUBJECTS, ids=[f"{resource.__name__}: {way}" for resource, way in SUBJECTS])
def test_a_render_and_a_check(resource, way, tmp_path):
    resources = [resource(way, size) for size in (SMALL, LARGE)]
    small, large = (json.dumps({**LIST, "items": [each]}).encode() for each in resources)
    files = [tmp_path / "small.json", tmp_path / "large.json"]
    for file, each in zip(files, resources, strict=True):
        file.write_text(json.dumps(each))
    growth = len(large) / len(small)
    renders = problem("render", lambda: (seconds(lambda: rendered(small)), seconds(lambda: rendered(large))), growth, 5)
    checks = problem("check", lambda: (seconds(lambda: checked(files[0])), seconds(lambda: checked(files[1]))), growth, 5)
    assert (renders, checks) == ("", "")


@pytest.mark.parametrize("way", tenants.WAYS)
def test_the_deployment_of_a_request(way):
    """The output of its profiler is read, and its graph rendered, each in a thread with the budget of a key."""
    small, large = (_output(tenants.graph(way, size)) for size in (SMALL, LARGE))
    growth = len(json.dumps(large.texts)) / len(json.dumps(small.texts))
    reads = problem("read", lambda: (seconds(lambda: _read(small)), seconds(lambda: _read(large))), growth, MOST_SECONDS)
    graphs = _read(small).graph, _read(large).graph
    renders = problem("render", lambda: (_deployment(graphs[0]), _deployment(graphs[1])), growth, MOST_SECONDS)
    assert (reads, renders) == ("", "")


def _output(graph: dict[str, Any]) -> OutputConfigMap:
    """The ConfigMap of a profiler with a graph, and ConfigMaps of the same size beside it."""
    beside = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"x": "y" * len(json.dumps(graph))}}
    key = ObjectKey("", "ConfigMap", tenants.NAMESPACE, "output")
    return OutputConfigMap(key, {profiler_output.CONFIG: tenant_requests.output([beside, graph])})


def _read(output: OutputConfigMap) -> ProfilerOutput:
    return profiler_output.read(output, mocker=False)


def _deployment(graph: dict[str, Any] | None) -> float:
    """Returns the CPU time of the render of a graph; 0 without one, because the output is refused."""
    return seconds(lambda: graph_deployer.render(graph, [], Config(), "krm-fn check")) if graph else 0.0
