"""Rendered objects of every example, of graphs on pages of the docs, of those that other tests run, and of those of `krm-fn new`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from krm_fn.render import dynamo_api, expand
from krm_fn.render.config import Config
from krm_fn.repository.new_graphs import graph_text
from tests.running import graphs, test_combinations, test_planner
from tests.support import build_checks, golden, markdown, new_graphs
from tests.testbed import programs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from krm_fn.kubernetes.types import Resource

_DOCS = programs.ROOT / "docs"
# These pages show mistakes.
_MISTAKES = (*(_DOCS / "errors").glob("*.md"), _DOCS / "arguments.md")
_PAGES = (programs.ROOT / "README.md", *sorted({*_DOCS.rglob("*.md")}.difference(_MISTAKES)))
_ADDRESSES = {"natsAddress": "nats_address", "etcdAddress": "etcd_address"}


class Rendered(NamedTuple):
    """The objects that a source renders."""

    source: str
    objects: list[Resource]


def examples() -> Iterator[Rendered]:
    """The recorded output of the command of each example; for the examples of pipelines, a render of their graphs."""
    for recording in golden.recordings():
        yield Rendered(f"examples/{recording.name}", build_checks.read(recording.expected.read_text()))
    package = [item for file in sorted(golden.RENDERED.rglob("*.yaml")) for item in build_checks.read(file.read_text())]
    yield Rendered(f"examples/{golden.RENDERED.parent.name}", package)
    for name in golden.PIPELINES:
        for file in sorted((golden.EXAMPLES / name).rglob("*.yaml")):
            yield from _graphs(_relative(file), build_checks.read(file.read_text()))


def pages() -> Iterator[Rendered]:
    """A render of the graphs in each block of each page, where a block is a whole resource without errors."""
    for page in _PAGES:
        for line, block in markdown.fenced(page.read_text(), "yaml"):
            yield from _graphs(f"{_relative(page)}:{line}", _documents(block))


def running() -> Iterator[Rendered]:
    """A render of the graphs that tests run with the real runtime, and of those with its planners."""
    for case in test_combinations.CASES:
        graph = getattr(graphs, case.version)("chat", case.release, *case.services, **case.variables)
        addresses = {_ADDRESSES[name]: "nats://nats:4222" for name in case.platform}
        settings = {"discovery_backend": case.discovery, **addresses}
        yield Rendered(case.name, _objects(graph, behaviour=case.behaviour, **settings))
    newer = graphs.planner("1.5.1", "dynamo.planner", "--config", json.dumps(test_planner.LOAD))
    older = graphs.planner("0.9.0", "dynamo.planner.planner_sla", *test_planner.THROUGHPUT)
    worker = graphs.worker(1, *test_planner.ENGINE, adapter=True)
    yield Rendered("planner of 1.5.1", _objects(graphs.v1beta1("chat", "1.5.1", worker, newer), behaviour="v1.5"))
    yield Rendered("planner of 0.9.0", _objects(graphs.v1alpha1("chat", "0.9.0", worker, older), behaviour="v0.9"))


def new() -> Iterator[Rendered]:
    """A render of the graphs that `krm-fn new` writes, of each engine with each topology."""
    for name, choices in new_graphs.choices().items():
        yield Rendered(f"krm-fn new, {name}", _objects(graph_text.resource(choices)))


def _relative(file: Path) -> str:
    return str(file.relative_to(programs.ROOT))


def _documents(block: str) -> list[Any]:
    try:
        return [*yaml.safe_load_all(block)]
    except yaml.YAMLError:  # a part of a file
        return []


def _graphs(source: str, documents: list[Any]) -> Iterator[Rendered]:
    for document in documents:
        if isinstance(document, dict) and document.get("kind") in (dynamo_api.GRAPH, dynamo_api.COMPONENT):
            objects = _objects(document)
            if len(objects) > 1:
                yield Rendered(source, objects)


def _objects(graph: Resource, **settings: Any) -> list[Resource]:
    return expand.expand([graph], Config(namespace="inference", **settings)).resources
