"""Writes and reads the annotation `dynamo.krm-fn.io/workloads`, which lists the workloads of a graph.

A render writes it; the check of finished builds and the status syncer read it. The list is compact JSON with one object per workload:
`service`, `apiVersion`, `kind`, `name`, `replicas` unless an autoscaler owns the count, and `graph` if `name` does not contain the name of
the graph. This module is the only writer and the only reader of that format.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from krm_fn.records import NamedTuple


class WorkloadEntry(NamedTuple):
    """A workload of a component (`service`). `replicas` is None if an autoscaler owns the count.

    `graph` is the name of the graph, if `name` does not contain it; otherwise empty.
    """

    service: str
    api_version: str
    kind: str
    name: str
    replicas: int | None = None
    graph: str = ""


_KEYS = {"service": "service", "apiVersion": "api_version", "kind": "kind", "name": "name"}


def write(entries: Iterable[WorkloadEntry]) -> str:
    """Writes the text of the annotation; the entries keep their order.

    >>> write([WorkloadEntry("Worker", "apps/v1", "Deployment", "chat-worker", 2)])
    '[{"service":"Worker","apiVersion":"apps/v1","kind":"Deployment","name":"chat-worker","replicas":2}]'
    """
    return json.dumps([_object(entry) for entry in entries], ensure_ascii=False, separators=(",", ":"))


def read(text: str) -> list[WorkloadEntry]:
    """Reads the entries of the annotation. Ignores unknown keys, because a newer render may add keys.

    Raises ValueError if the text does not have the format of `write`. The error message names the entry and the key.
    """
    try:
        listed = json.loads(text)
    except RecursionError as problem:
        raise ValueError("the annotation is nested too deeply") from problem
    except ValueError as problem:
        raise ValueError(f"the annotation is not JSON: {problem}") from problem
    _require(isinstance(listed, list), "the annotation is not a JSON list")
    return [_entry(index, value) for index, value in enumerate(listed)]


def _object(entry: WorkloadEntry) -> dict[str, Any]:
    texts = {key: getattr(entry, attribute) for key, attribute in _KEYS.items()}
    fields = texts if entry.replicas is None else {**texts, "replicas": entry.replicas}
    return {**fields, "graph": entry.graph} if entry.graph else fields


def _entry(index: int, value: Any) -> WorkloadEntry:
    _require(isinstance(value, dict), f"entry {index} is not a JSON object")
    for key in _KEYS:
        _require(isinstance(value.get(key), str), f"entry {index} has no text under {key}")
    replicas = value.get("replicas")
    _require(replicas is None or type(replicas) is int, f"entry {index} has no whole number under replicas")
    graph = value.get("graph", "")
    _require(isinstance(graph, str), f"entry {index} has no text under graph")
    return WorkloadEntry(**{attribute: value[key] for key, attribute in _KEYS.items()}, replicas=replicas, graph=graph)


def _require(condition: bool, otherwise: str) -> None:
    if not condition:
        raise ValueError(otherwise)
