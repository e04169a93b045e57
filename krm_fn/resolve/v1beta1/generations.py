"""The generation of a graph's workers: the worker hash in their pods and in their names.

Follows the reference's `internal/controller/dgd_worker_rollout_reconciler.go`. The operator makes new objects for each generation. A build
cannot wait until they are ready before the old ones go, so here a generation gets new names only if the configuration asks for it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from krm_fn import generation, results
from krm_fn.generation import Worker
from krm_fn.kube import labels, version
from krm_fn.manifests import backends
from krm_fn.records import NamedTuple
from krm_fn.resolve import pathway
from krm_fn.resolve.v1beta1 import templates
from krm_fn.resolve.v1beta1.fields import MAIN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from krm_fn.resolve.context import Shared
    from krm_fn.resolve.v1beta1.templates import Graph, Template
    from krm_fn.results import Path

_UNNAMED = "legacy"
"""The hash of workers that the operator took over from a release before 1.0. Their names have no hash."""
_HASHED_SINCE = (1, 5, 0)
_SHOWN = 40
_SUFFIX = r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"


class Generation(NamedTuple):
    """The hash in the labels and variables of workers, and the hash in their names. Each is empty if there is none."""

    pods: str = ""
    names: str = ""


def generation_of(graph: Graph, facts: Shared) -> Generation:
    """Returns the generation of a graph's workers. Adds the findings about it to those of `facts`.

    A graph with the annotation of its operator keeps the names that the operator gave, whatever the configuration says.
    """
    if not any(map(templates.is_worker, graph.spec.get("components") or ())):
        return Generation()
    mode, by_component = facts.config.worker_hash, pathway.per_component(facts)
    older, newer = (_given(graph, facts, key) for key in (labels.WORKER_HASH_V1, labels.WORKER_HASH_V2))
    running = "" if older == _UNNAMED else older or newer
    if mode == "none":
        return Generation(running, running) if by_component else Generation()
    computed = worker_hash(graph, facts.framework)
    if not by_component:
        return Generation(computed)
    if not older and not newer:
        return _new(computed, facts)
    changed = bool(newer) and newer != computed
    if changed:
        _say_changed(newer, computed, facts)
    elif running and not newer:
        _say_unknown(running, computed, facts)
    return Generation(computed if not running or (changed and mode == "pods") else running, running)


def worker_hash(graph: Graph, framework: str) -> str:
    """The hash of a graph's workers. `framework` is the graph's engine; if it is empty, the command lines of the workers tell it."""
    workers = [made for made in templates.templates(graph, generation.PLACEHOLDER) if templates.is_worker(made.component)]
    engine = framework or _detected(workers)
    return generation.worker_hash({made.name: _worker(made, engine) for made in workers})


def _worker(made: Template, engine: str) -> Worker:
    spec = made.component
    written = spec.get("runtimeVersionOverride")
    runtime = version.core(written) if written else version.of_image(_main(made).get("image") or "")
    hashed = runtime if runtime and runtime >= _HASHED_SINCE else ()
    return Worker(made.labels, made.annotations, ".".join(map(str, hashed)), {**spec, "backendFramework": engine})


def _detected(workers: Sequence[Template]) -> str:
    """The engine that the command lines of the workers start; empty without one. Rules report two different engines."""
    lines = [[*(main.get("command") or ()), *(main.get("args") or ())] for main in map(_main, workers)]
    return next((name for line in lines for name in backends.detect(line)), "")


def _main(made: Template) -> dict[str, Any]:
    containers = (made.component["podTemplate"].get("spec") or {}).get("containers") or ()
    return next((container for container in containers if container.get("name") == MAIN), {})


def _given(graph: Graph, facts: Shared, key: str) -> str:
    """The hash in an annotation of the graph; empty if it is absent or cannot be part of a name."""
    text = graph.annotations.get(key) or ""
    if not text or re.fullmatch(_SUFFIX, text):
        return text
    message = f"{text[:_SHOWN]!r} cannot end the name of an object; write the hash that the names of the workers end with, or remove it"
    facts.found.append(results.error("DYN418", message, facts.ref, _at(key)))
    return ""


def _new(computed: str, facts: Shared) -> Generation:
    if facts.config.worker_hash != "names":
        return Generation(computed)
    message = (
        "names follow the worker hash: the next change of any worker replaces all workers of this graph, and Git prunes the old ones "
        "before the new ones are ready; use workerHash: pods"
    )
    facts.found.append(results.warning("DYN416", message, facts.ref))
    return Generation(computed, computed)


def _say_changed(given: str, computed: str, facts: Shared) -> None:
    message = (
        f"the worker hash is given as {given}, and the computed one is {computed}: the workers changed since the operator named them; "
        "their names stay, and they roll in place"
    )
    facts.found.append(results.warning("DYN415", message, facts.ref, _at(labels.WORKER_HASH_V2)))


def _say_unknown(given: str, computed: str, facts: Shared) -> None:
    message = (
        f"the worker hash {given} is of an older formula, so a later change of the workers cannot be seen; if they have not changed since "
        f"the operator named them, add {labels.WORKER_HASH_V2}: {computed!r}"
    )
    facts.found.append(results.info("DYN419", message, facts.ref, _at(labels.WORKER_HASH_V1)))


def _at(annotation: str) -> Path:
    return ("metadata", "annotations", annotation)
