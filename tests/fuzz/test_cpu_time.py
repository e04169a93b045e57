"""The CPU time of a render, of a check and of each key of the syncer grows with the size of what a tenant writes, and not faster.

`make test` runs a few cases; `KRM_FN_CPU_CASES=200` runs more. A failure names the number of the case, which reproduces it.
"""

from __future__ import annotations

import asyncio
import io
import json
import os
from collections.abc import Callable, Iterator
from math import log
from random import Random
from time import thread_time
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner

from krm_fn import cli
from krm_fn.config import Config
from krm_fn.krm import function
from krm_fn.kube import identity
from krm_fn.kube.identity import ObjectKey
from krm_fn.status import SyncFeatures
from krm_fn.sync import controllers
from krm_fn.sync.controllers import Controller, ControllerContext
from krm_fn.sync.event_recorder import EventRecorder
from krm_fn.sync.informer_cache import InformerCache
from krm_fn.sync.manager import Manager
from krm_fn.sync.metrics import Metrics
from krm_fn.sync.writer import RECEIVED, Retry, Writer
from tests.support import tenants

CASES = range(int(os.environ.get("KRM_FN_CPU_CASES", "6")))
SMALL, LARGE = 250, 1000
MOST_EXPONENT = 1.2
MOST_SECONDS = 0.5
ENOUGH = 0.03
"""Seconds from which two sizes are compared. Below, the parts that do not depend on the size count for too much."""
FEATURES = SyncFeatures(
    **{name: name not in ("requests", "loras", "auto_apply", "other_namespaces") for name in SyncFeatures._fields}  # they need a server
)


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
        cache, writer, events, FEATURES, manager.update_cache, Config(), lambda *_: "", lambda _kind: "nvidia.com/v1alpha1"
    )
    classes = controllers.enabled_controllers(FEATURES)
    watches = {watch.kind: watch for controller in classes.values() for watch in controller.watches(FEATURES)}
    by_kind = {(kind.group, kind.kind): watch for kind, watch in watches.items()}
    manager.register({name: controller(context) for name, controller in classes.items()}, watches)
    for resource in resources:
        key = identity.key(resource)
        watch = by_kind.get((key.group, key.kind))
        if watch is None:
            continue
        value = watch.project(resource)
        cache.store(watch.kind).put(key, resource["metadata"]["uid"], "1", value)
        manager.handle_event(key, None, value)
    return Keys(manager, cache, manager._controllers)


def seconds(work: Callable[[], object]) -> float:
    """Returns the least CPU time of three runs."""
    times = []
    for _ in range(3):
        began = thread_time()
        work()
        times.append(thread_time() - began)
    return min(times)


def reconciled(keys: Keys, controller: str, key: ObjectKey) -> Callable[[], object]:
    """A function that reconciles one key, up to the first write."""

    async def run() -> None:
        RECEIVED.set(0.0)
        try:
            await keys.controllers[controller].reconcile(key)
        except Retry:
            pass

    return lambda: asyncio.run(run())


def some_keys(keys: Keys) -> Iterator[tuple[str, ObjectKey]]:
    """Yields three keys of each controller: the first, the last, and one in between."""
    for name, controller in keys.controllers.items():
        listed = [*keys.cache.store(controller.kind).keys()]
        for position in sorted({0, len(listed) // 2, len(listed) - 1} if listed else ()):
            yield name, listed[position]


def slowest(keys: Keys) -> dict[str, float]:
    """Returns the CPU time of the slowest of these keys by controller."""
    times: dict[str, float] = {}
    for name, key in some_keys(keys):
        times[name] = max(times.get(name, 0.0), seconds(reconciled(keys, name, key)))
    return times


def problem(what: str, small: float, large: float, most: float = MOST_SECONDS, growth: float = LARGE / SMALL) -> str:
    """Names a time that is too long or grows too fast; empty if it does not. `growth` is the ratio of the sizes."""
    exponent = log(large / max(small, 1e-6)) / log(growth)
    if large > most or (large > ENOUGH and exponent > MOST_EXPONENT):
        return f"{what}: {small:.3f} s, and {large:.3f} s for {growth:.1f} times as much: exponent {exponent:.2f}"
    return ""


@pytest.mark.parametrize("case", CASES)
def test_a_key_of_the_syncer(case):
    small, large = (slowest(filled(tenants.state(Random(case), size))) for size in (SMALL, LARGE))  # noqa: S311 - no secret
    assert [text for name in large if (text := problem(name, small.get(name, 0.0), large[name]))] == []


@pytest.mark.parametrize("case", CASES)
def test_the_events_of_a_tenant(case):
    """The objects of a tenant enter the caches and the indexes. All of them together may take longer than a key."""
    sizes = [tenants.state(Random(case), size) for size in (SMALL, LARGE)]  # noqa: S311 - no secret
    small, large = (seconds(lambda: filled(resources)) for resources in sizes)  # noqa: B023 - called at once
    before, after = (len(json.dumps(resources)) for resources in sizes)
    assert problem("events", small, large, most=10, growth=after / before) == ""


def rendered(text: bytes) -> None:
    """Runs the function on a ResourceList."""
    err = io.StringIO()
    function.run(io.BytesIO(text), io.BytesIO(), err)
    assert "DYN019" not in err.getvalue()


@pytest.mark.parametrize("way", tenants.WAYS)
def test_a_render_and_a_check(way, tmp_path):
    graphs = [tenants.graph(way, size) for size in (SMALL, LARGE)]
    texts = [json.dumps({"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": [graph]}).encode() for graph in graphs]
    files = [tmp_path / f"{number}.json" for number in range(len(graphs))]
    for file, graph in zip(files, graphs, strict=True):
        file.write_text(json.dumps(graph))
    growth = len(texts[1]) / len(texts[0])
    renders = [seconds(lambda: rendered(text)) for text in texts]  # noqa: B023 - called at once
    checks = [seconds(lambda: CliRunner().invoke(cli.group, ["check", str(file)])) for file in files]  # noqa: B023 - called at once
    problems = [problem("render", *renders, most=5, growth=growth), problem("check", *checks, most=5, growth=growth)]
    assert problems == ["", ""]
