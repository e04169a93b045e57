"""Rules about searches for a graph, since Dynamo 1.7: requests of v1beta2 and their views, Runs and Candidates.

A render makes no objects for them. Follows the operator's `api/v1beta2` and the validation rules in its definitions.
"""

from __future__ import annotations

from krm_fn.base import codes, results
from krm_fn.kubernetes.values import mapping
from krm_fn.render import dynamo_api
from krm_fn.render.convert import request_views
from krm_fn.render.schema import search_schema

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from krm_fn.base.results import Path, Ref, Result
    from krm_fn.kubernetes.types import Resource

    _CheckGraph = Callable[[Resource], list[Result]]

_NATIVE = ("modelRef", "backends", "hardware", "workload", "objective", "search")
"""The fields that a request of v1beta2 needs."""
_LOADS = ("requestRate", "concurrency", "kvLoadRatio")
_GET = "krm-fn request get"


def check(resource: Resource, check_graph: _CheckGraph) -> list[Result]:
    """Returns the findings about a search. `check_graph` returns those about the graph in a Candidate."""
    ref = results.ref(resource)
    if ref.kind == dynamo_api.RUN:
        message = f"the operator writes a Run as the record of a search; remove it from Git, because {_GET} reads it from the cluster"
        return [results.warning(codes.SEARCH_RECORD, message, ref, ("kind",))]
    if ref.kind == dynamo_api.CANDIDATE:
        return [*_check_candidate(resource, ref, check_graph)]
    return [*_check_request(resource, ref)]


def graph_of(candidate: Resource) -> Resource:
    """Returns the graph that a Candidate holds, with the name of the Candidate and without its other metadata."""
    metadata = {key: value for key, value in mapping(candidate.get("metadata")).items() if key in ("name", "namespace")}
    return {"apiVersion": dynamo_api.V1BETA1, "kind": dynamo_api.GRAPH, "metadata": metadata, "spec": candidate.get("spec")}


def _check_candidate(candidate: Resource, ref: Ref, check_graph: _CheckGraph) -> Iterator[Result]:
    message = f"nothing deploys a Candidate, and a render makes no objects for it; write its graph with {_GET}"
    yield results.info(codes.UNDEPLOYED_CANDIDATE, message, ref, ("kind",))
    for finding in check_graph(graph_of(candidate)):
        if finding.path[:1] == ("spec",) or not finding.path:
            yield finding._replace(ref=ref)


def check_forms(request: Resource) -> list[Result]:
    """Returns errors about a request of which it is not certain whether its fields or its view are the request."""
    ref, field, findings = results.ref(request), request_views.view_field(request), []
    for part in ("spec", "status"):
        if beside := request_views.beside_view(request, part):
            message = f"{part} has the view {field} and fields of its own, {', '.join(beside)}; keep one of the two forms"
            findings.append(results.error(codes.REJECTED_V1BETA2_REQUEST, message, ref, (part, field)))
        elif field in (fields := mapping(request.get(part))) and not isinstance(fields[field], dict):
            message = f"a view holds the whole {part} of a request in {field}; write an object"
            findings.append(results.error(codes.REJECTED_V1BETA2_REQUEST, message, ref, (part, field)))
    return findings


def _check_request(request: Resource, ref: Ref) -> Iterator[Result]:
    spec = request.get("spec")
    if findings := check_forms(request):
        yield from findings
    elif request_views.is_view(request):
        version = request_views.view_field(request)
        message = f"this is the read-only view of a request that is written in {version}; edit it in {dynamo_api.GROUP}/{version}, which"
        yield results.info(codes.VIEW_OF_OTHER_VERSION, f"{message} krm-fn convert --to {version} writes", ref, ("spec", version))
    elif not isinstance(spec, dict):
        yield results.error(codes.REJECTED_V1BETA2_REQUEST, f"a request needs {', '.join(_NATIVE)} in spec; write them", ref, ("spec",))
    else:
        message = f"a render runs no search, and makes no objects for this request; the operator runs it, and {_GET} writes the graph"
        yield results.info(codes.SEARCH_REQUEST, message, ref, ("spec",))
        yield from search_schema.check(spec, search_schema.SPEC, ref, ("spec",))
        yield from _check_spec(spec, ref)


def _check_spec(spec: dict[str, Any], ref: Ref) -> Iterator[Result]:
    """Reports violations of the rules that an API server has about a native spec."""
    for name in _NATIVE:
        if spec.get(name) is None:
            yield results.error(codes.REJECTED_V1BETA2_REQUEST, f"a request of v1beta2 needs {name}; write it", ref, ("spec", name))
    objective = mapping(spec.get("objective"))
    workload = spec.get("workload")
    if isinstance(workload, dict):
        yield from _check_one_of(workload, ("static", "trace"), ref, ("spec", "workload"))
    if isinstance(static := mapping(workload).get("static"), dict):
        yield from _check_one_of(static, _LOADS, ref, ("spec", "workload", "static"))
        yield from _check_ratios(static, objective, ref)
    if isinstance(source := mapping(workload, "trace").get("source"), dict):
        yield from _check_one_of(source, ("pvc", "uri"), ref, ("spec", "workload", "trace", "source"))
    yield from _check_objective(objective, ref)


def _check_one_of(fields: dict[str, Any], names: tuple[str, ...], ref: Ref, path: Path) -> Iterator[Result]:
    used = [name for name in names if fields.get(name) is not None]
    if len(used) != 1:
        amount = f"has {' and '.join(used)}" if used else "has none of them"
        message = f"{path[-1]} needs exactly one of {', '.join(names)}, and {amount}; {'keep' if used else 'write'} one"
        yield results.error(codes.REJECTED_V1BETA2_REQUEST, message, ref, path)


def _check_ratios(static: dict[str, Any], objective: dict[str, Any], ref: Ref) -> Iterator[Result]:
    ratios = static.get("kvLoadRatio")
    most = 2 if objective.get("mode") == "pareto" else 1
    if isinstance(ratios, list) and len(ratios) > most:
        message = f"kvLoadRatio has {len(ratios)} numbers, and at most {most} with this objective.mode; remove the others"
        yield results.error(codes.REJECTED_V1BETA2_REQUEST, message, ref, ("spec", "workload", "static", "kvLoadRatio"))


def _check_objective(objective: dict[str, Any], ref: Ref) -> Iterator[Result]:
    path: Path = ("spec", "objective")
    mode = objective.get("mode")
    if mode in ("optimize", "pareto"):
        needed, other = ("metric", "metrics") if mode == "optimize" else ("metrics", "metric")
        if objective.get(needed) is None:
            yield results.error(codes.REJECTED_V1BETA2_REQUEST, f"mode {mode} needs {needed}; write it", ref, (*path, needed))
        if objective.get(other) is not None:
            yield results.error(codes.REJECTED_V1BETA2_REQUEST, f"mode {mode} has no {other}; remove it", ref, (*path, other))
    sla = objective.get("sla")
    if isinstance(sla, dict):
        used = {name for name in ("e2eMs", "ttftMs", "itlMs") if sla.get(name) is not None}
        if used not in ({"e2eMs"}, {"ttftMs", "itlMs"}):
            message = "an sla has either e2eMs alone, or ttftMs and itlMs; write one of these forms"
            yield results.error(codes.REJECTED_V1BETA2_REQUEST, message, ref, (*path, "sla"))
