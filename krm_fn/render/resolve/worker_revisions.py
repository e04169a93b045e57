"""The generation of a graph's workers: the worker hash in their pods and in their names.

Follows the operator's `internal/controller/dgd_worker_rollout_reconciler.go`. The operator makes new objects for each generation. A build
cannot wait until they are ready before the old ones go, so here a generation gets new names only if the configuration asks for it.
"""

from __future__ import annotations

import re

from krm_fn.base import codes, results
from krm_fn.base.records import NamedTuple
from krm_fn.render import engines, labels
from krm_fn.render.convert.path_mapping import MAIN
from krm_fn.render.resolve import runtime_version
from krm_fn.render.resolve import worker_hash as hashing
from krm_fn.render.resolve.worker_hash import Worker

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from krm_fn.base.results import Path
    from krm_fn.render.resolve.graph_context import GraphContext
    from krm_fn.render.resolve.v1beta1_templates import ComponentTemplate, Graph

_UNNAMED = "legacy"
"""The hash of workers that the operator took over from a release before 1.0. Their names have no hash."""
_HASHED_SINCE = (1, 5, 0)
_MODES = ("pods", "names", "none")
_SHOWN = 40
_SUFFIX = r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"


class WorkerRevision(NamedTuple):
    """The hash in the labels and variables of workers, and the hash in their names. Each is empty if there is none."""

    pods: str = ""
    names: str = ""


def worker_revision(graph: Graph, workers: Sequence[ComponentTemplate], context: GraphContext) -> WorkerRevision:
    """Returns the generation of a graph's workers. Adds the findings about it to those of `context`.

    `workers` are the templates of the workers with `PLACEHOLDER` as the worker hash.

    A graph with the annotation of its operator keeps the names that the operator gave, whatever the configuration says. The annotation
    `config.dynamo.krm-fn.io/workerHash` of the graph has priority over the configuration.
    """
    if not workers:
        return WorkerRevision()
    mode, by_component = _mode(graph, context), context.per_component
    hash_v1, hash_v2 = (_given_hash(graph, context, key) for key in (labels.WORKER_HASH_V1, labels.WORKER_HASH_V2))
    running = "" if hash_v1 == _UNNAMED else hash_v1 or hash_v2
    if mode == "none":
        return WorkerRevision(running, running) if by_component else WorkerRevision()
    if not by_component and not context.release.grove.marks_generations:
        return WorkerRevision()
    computed = _compute_hashes(graph, workers, context, hash_v2)
    if not by_component:
        return WorkerRevision(computed.first)
    if not hash_v1 and not hash_v2:
        return _new(computed.first, context, mode)
    if not running:
        return WorkerRevision(computed.first)
    later = _later(hash_v1, hash_v2, computed, context)
    return WorkerRevision(later if later and mode == "pods" else running, running)


class _Computed(NamedTuple):
    """The computed hashes of the workers: the one of a new graph, and both versions. `v1` is empty in releases without version 1."""

    first: str
    v1: str
    v2: str


def _compute_hashes(graph: Graph, workers: Sequence[ComponentTemplate], context: GraphContext, given_v2: str) -> _Computed:
    """Computes the hashes of a release. Where version 1 names new graphs, version 2 is only for the comparison with `given_v2`."""
    if not context.release.hashes_v1alpha1:
        v2 = _worker_hash(workers, context, sidecar_mode=graph.sidecar_mode)
        return _Computed(v2, "", v2)
    from krm_fn.render.resolve import v1_worker_hash  # noqa: PLC0415 - only older releases have version 1

    v1 = v1_worker_hash.worker_hash(context.written, context.release)
    return _Computed(v1, v1, _worker_hash(workers, context, sidecar_mode=graph.sidecar_mode) if given_v2 else "")


def _later(hash_v1: str, hash_v2: str, computed: _Computed, context: GraphContext) -> str:
    """Returns the hash of the workers if they changed since the operator named them; empty if they did not, or if nothing says so.

    Rule worker-hash.later: If workers change, their pods get the version of the hash that changed. (operator:
    internal/controller/dynamographdeployment_rollingupdate.go workerHashForDCDGeneration)
    """
    for key, given, new in ((labels.WORKER_HASH_V1, hash_v1, computed.v1), (labels.WORKER_HASH_V2, hash_v2, computed.v2)):
        if given and new and given != new:
            _say_changed(given, new, context, key)
            return new
    if not hash_v2 and not computed.v1:
        _say_unknown(hash_v1, computed.v2, context)
    return ""


def _mode(graph: Graph, context: GraphContext) -> str:
    """Returns the setting `workerHash` of one graph: its annotation, otherwise the configuration."""
    text = graph.annotations.get(labels.WORKER_HASH_SETTING)
    if text in (None, *_MODES):
        return text or context.config.worker_hash
    message = f"{str(text)[:_SHOWN]!r} is not one of {', '.join(_MODES)}; use one of them, or remove the annotation"
    context.findings.append(results.error(codes.UNKNOWN_WORKER_HASH_SETTING, message, context.ref, _at(labels.WORKER_HASH_SETTING)))
    return context.config.worker_hash


def _worker_hash(workers: Sequence[ComponentTemplate], context: GraphContext, *, sidecar_mode: bool) -> str:
    """Returns the hash of workers. If the graph does not name its engine, the command lines of the workers tell it."""
    engine = context.framework or _detect_engine(workers)
    by_name = {template.name: _worker(template, engine, sidecar_mode=sidecar_mode) for template in workers}
    if not context.release.hashes_runtimes:
        by_name = {name: worker._replace(runtime_version="", role_versions={}) for name, worker in by_name.items()}
    return hashing.worker_hash(by_name)


def _worker(template: ComponentTemplate, engine: str, *, sidecar_mode: bool) -> Worker:
    """Returns the parts of a worker that the worker hash reads. `engine` is the backend framework.

    Rule worker-hash.worker: The worker hash reads the labels, annotations, runtime version and spec of a worker. (operator:
    internal/dynamo/hash.go)
    """
    spec = template.component
    roles = {name: _runtime(role.component, sidecar_mode=sidecar_mode) for name, role in template.roles.items()}
    versions = {name: version for name, version in roles.items() if version}
    if "roles" in spec or "providerOverride" in spec:
        from krm_fn.render.resolve import component_roles  # noqa: PLC0415 - few components have roles or an override

        spec = component_roles.hash_input(spec)
    runtime = _runtime(spec, sidecar_mode=sidecar_mode)
    hashed = {field: value for field, value in spec.items() if field in hashing.FIELDS}
    return Worker(template.labels, template.annotations, runtime, versions, {**hashed, "backendFramework": engine})


def _runtime(component: dict[str, Any], *, sidecar_mode: bool) -> str:
    """Returns the runtime version of a component as text; empty for an older or an unknown one.

    Rule worker-hash.runtime: The worker hash reads runtime versions from 1.5.0 on. (operator: internal/dynamo/hash.go)
    """
    version = runtime_version.of_component(component, sidecar_mode=sidecar_mode)
    return ".".join(map(str, version)) if version and version >= _HASHED_SINCE else ""


def _detect_engine(workers: Sequence[ComponentTemplate]) -> str:
    """Returns the engine that the first worker with an engine starts; empty if there is none.

    Rule worker-hash.engine: The worker hash reads the engine that the command lines of the workers start. (operator:
    internal/dynamo/graph.go detectBackendFrameworkFromArgs)
    """
    lines = [[*(main.get("command") or ()), *(main.get("args") or ())] for main in map(_main, workers)]
    return next((name for line in lines for name in engines.detect(line)), "")


def _main(template: ComponentTemplate) -> dict[str, Any]:
    leader = template.roles.get("leader") or template
    containers = ((leader.component.get("podTemplate") or {}).get("spec") or {}).get("containers") or ()
    return next((container for container in containers if container.get("name") == MAIN), {})


def _given_hash(graph: Graph, context: GraphContext, key: str) -> str:
    """Returns the hash in an annotation of the graph; empty if it is absent or cannot be part of a name."""
    text = graph.annotations.get(key) or ""
    if not text or re.fullmatch(_SUFFIX, text):
        return text
    message = f"{text[:_SHOWN]!r} is not valid at the end of a name; write the hash that the names of the workers end with, or remove it"
    context.findings.append(results.error(codes.INVALID_WORKER_HASH, message, context.ref, _at(key)))
    return ""


def _new(computed: str, context: GraphContext, mode: str) -> WorkerRevision:
    if mode != "names":
        return WorkerRevision(computed)
    message = (
        "names follow the worker hash: the next change of any worker replaces all workers of this graph, and Git prunes the old ones "
        "before the new ones are ready; use workerHash: pods"
    )
    context.findings.append(results.warning(codes.CHANGE_RENAMES_ALL_WORKERS, message, context.ref))
    return WorkerRevision(computed, computed)


def _say_changed(given: str, computed: str, context: GraphContext, key: str) -> None:
    message = (
        f"the worker hash is given as {given}, and the computed one is {computed}: the workers changed since the operator named them; "
        "their names stay, and they roll in place"
    )
    context.findings.append(results.warning(codes.WORKERS_CHANGED_SINCE_HASH, message, context.ref, _at(key)))


def _say_unknown(given: str, computed: str, context: GraphContext) -> None:
    message = (
        f"the worker hash {given} comes from an older formula, so krm-fn cannot detect a change of the workers; "
        f"if they have not changed since the operator named them, add {labels.WORKER_HASH_V2}: {computed!r}"
    )
    context.findings.append(results.info(codes.WORKER_HASH_OF_OLD_FORMULA, message, context.ref, _at(labels.WORKER_HASH_V1)))


def _at(annotation: str) -> Path:
    return ("metadata", "annotations", annotation)
