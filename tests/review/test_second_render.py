"""Each field of a build that depends on the name or the namespace of its graph is compared, and no field that does not."""

from __future__ import annotations

import copy
import functools
from collections.abc import Iterator
from typing import Any

import pytest

from krm_fn.base import results
from krm_fn.render import expand, labels
from krm_fn.render.config import Config
from krm_fn.review import finished_builds
from tests.support import beta, given
from tests.support.cases import cases
from tests.testbed import tier

GPU = {"resources": {"limits": {"nvidia.com/gpu": "1"}}}
VLLM = {"command": ["python3", "-m", "dynamo.vllm"], "args": ["--model", "m"]}
MESH = Config().service_mesh._replace(enabled=True)
PICKER = {"plugins": [{"type": "queue"}], "schedulingProfiles": [{"name": "a", "plugins": [{"pluginRef": "queue"}]}]}


_OWN = [("metadata", "name"), ("metadata", "namespace"), ("metadata", "annotations", labels.OWNER)]
"""What a build tool changes, or what the names of the objects decide."""


def newer(name: str, namespace: str) -> dict[str, Any]:
    parts = (
        beta.component("Frontend", "frontend"),
        beta.component("Worker", main={**VLLM, **GPU}, scalingAdapter={}),
        beta.component("Decode", "decode", main={**VLLM, **GPU}, multinode={"nodeCount": 2}),
        beta.component("Picker", "epp", main={"image": given.CONFIGURED_PICKER}, eppConfig={"config": PICKER}),
    )
    return beta.graph(*parts, name=name, namespace=namespace, backendFramework="vllm")


def older(name: str, namespace: str) -> dict[str, Any]:
    services = {
        "Frontend": given.service("frontend"),
        "Worker": given.service("worker", envs=[{"name": "MINE", "value": "before"}], modelRef={"name": "m"}),
        "Decode": given.service("worker", main=VLLM, multinode={"nodeCount": 2}, resources={"limits": {"gpu": "1"}}),
        "Planner": given.service("planner"),
    }
    graph = given.graph(services)
    return {**graph, "metadata": {"name": name, "namespace": namespace}}


RENDERS = [
    ("v1alpha1, release 0.9", older, Config()),
    ("v1alpha1, release 0.9, Grove", older, Config(orchestrator="grove")),
    ("v1beta1", newer, Config(service_mesh=MESH)),
    ("v1beta1, Grove", newer, Config(orchestrator="grove")),
    ("v1beta1, hashes in names", newer, Config(worker_hash="names")),
]


def build(graph: dict[str, Any], config: Config) -> dict[tuple[str, str], dict[str, Any]]:
    """The items of a render by kind and name, without the name of the graph and the worker hash."""
    done = expand.expand([graph], config)
    assert not results.has_errors(done.results), done.results
    prefix = graph["metadata"]["name"]
    hashes = [labels.of(item).get(labels.WORKER_HASH, "") for item in done.resources]
    names = [item["metadata"]["name"].removeprefix(prefix) for item in done.resources]
    short = [functools.reduce(lambda name, each: name.replace(each or "-", "" if each else "-"), hashes, name) for name in names]
    return {(item["kind"], name): copy.deepcopy(item) for item, name in zip(done.resources, short, strict=True)}


def texts(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], str]]:
    if isinstance(value, str):
        yield path, value
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in steps:
        yield from texts(inner, (*path, step))


def put(value: Any, path: tuple[Any, ...], text: str) -> None:
    for step in path[:-1]:
        value = value[step]
    value[path[-1]] = text


def stale(before: Any, after: Any) -> Iterator[tuple[tuple[str, str], tuple[Any, ...], str]]:
    """Each text of a generated object in the first build that is another one in the second: what a later layer can leave behind.

    Worker hashes depend on images, too, which a later layer may change.
    """
    hashes = {text for item in before.values() for path, text in texts(item) if path[-1] == labels.WORKER_HASH}
    for key, item in after.items():
        old = dict(texts(before[key]))
        for path, text in texts(item) if labels.OWNER in labels.annotations(item) else ():
            has_hash = any(worker_hash in old.get(path, "") for worker_hash in hashes)
            if path not in _OWN and not has_hash and old.get(path, text) != text:
                yield key, path, old[path]


SOME = RENDERS[: tier.number(len(RENDERS), 2)]


@cases(("graph", "config"), SOME)
@pytest.mark.parametrize(("name", "namespace"), [("chat", "before"), ("eu-chat", "after")], ids=["namespace", "name"])
def test_each_text_that_still_has_the_old_name_or_namespace_is_found(graph, config, name, namespace):
    before, after = build(graph(name, namespace), config), build(graph("chat", "after"), config)
    left_behind = list(stale(before, after))
    assert left_behind
    for key, path, text in left_behind:
        changed = copy.deepcopy(after)
        put(changed[key], path, text)
        codes = {result.code for result in finished_builds.check(list(changed.values()), config)}
        assert codes & {"DYN060", "DYN061", "DYN062"}, (key, path, text)


@cases(("graph", "config"), RENDERS)
def test_a_text_that_depends_on_neither_may_be_changed(graph, config):
    """Users set the fields of their objects in a later layer as they like. Only other images need another worker hash."""
    after = build(graph("chat", "after"), config)
    others = (build(graph(*other), config) for other in (("chat", "before"), ("eu-chat", "after")))
    dependent = {(key, path) for other in others for key, path, _ in stale(other, after)}
    for key, item in after.items():
        changed = copy.deepcopy(after)
        free = [path for path, _ in texts(item) if (key, path) not in dependent and path[0] == "spec" and path[-1] != "name"]
        for path in free if labels.OWNER in labels.annotations(item) else ():
            if path[-2:-1] not in [("selector",), ("matchLabels",)]:
                put(changed[key], path, "mine")
        assert [result for result in finished_builds.check(list(changed.values()), config) if result.code != "DYN503"] == [], key
