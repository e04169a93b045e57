"""The second step of a request: the graph that the profiler generated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.kube import size, values
from krm_fn.status.conditions import Condition
from krm_fn.status.requests import FAILED, PENDING, READY, Step, profiling

if TYPE_CHECKING:
    from krm_fn.kube.types import Resource
    from krm_fn.profiling.output import Output
    from krm_fn.status.requests import Request, Seen

TYPE = "SpecGenerated"
LIMIT = 250_000
"""The most bytes of a graph in the status. etcd stores 1.5 MiB for an object, and the names of all fields a second time."""
GENERATED, UNSUCCESSFUL = "SpecGenerated", "GenerationFailed"


def step(request: Request, seen: Seen, profiled: Step) -> Step:
    """The graph of the output. A graph that was generated before stays, even if the output is lost or was changed since."""
    output, stored = seen.output, request.generated
    wrong = problem(request, seen)
    if profiled.done and output and output.graph and not wrong:
        wrong = _too_large(request, output.graph, output.beside)
        if not wrong:
            return _generated(request, output.graph, [*output.notes, *_place(request, output.graph)])
    if stored:
        lost = output and profiled.done and not profiling.changed(request, seen)
        return _generated(request, stored, [f"the output cannot be used any more, and the graph of before stays: {wrong}"] if lost else [])
    if not profiled.done:
        return Step(PENDING)
    return Step(FAILED, Condition(TYPE, False, UNSUCCESSFUL, wrong), stalled=True)


def _generated(request: Request, graph: Resource, notes: list[str]) -> Step:
    here = f"Generated spec is available in {request.form.place}"
    said = "DynamoGraphDeployment spec generated successfully" if request.auto_apply else here
    return Step(READY, Condition(TYPE, True, GENERATED, "; ".join([said, *notes])), done=True, value=graph)


def problem(request: Request, seen: Seen) -> str:
    """Why the output cannot be used, and what to do; empty if it can."""
    output, name = seen.output, request.output.name
    if output is None:
        return f"output ConfigMap {name} not found - profiling may not have completed yet; {_again(request)}"
    if not _profiled(request, seen, output):
        return f"the ConfigMap {name} is from a run with other settings; {_again(request)}"
    if output.edited:
        return f"the ConfigMap {name} was changed after the profiler wrote it; restore its text, or {_again(request)}"
    return f"{output.problem}; correct the profiler or its configuration, then {_again(request)}" if output.problem else ""


def _profiled(request: Request, seen: Seen, output: Output) -> bool:
    """True if the output can be that of the Job or of the settings of now. An output without a hash counts."""
    known = [request.profile_hash, seen.job.profile_hash if seen.job and profiling.is_ours(request, seen.job) else ""]
    return not output.profile_hash or not any(known) or output.profile_hash in known


def _too_large(request: Request, graph: Resource, beside: int) -> str:
    """Why a graph, or the objects beside it, are too large for a request; empty if they are not.

    The reference keeps the objects beside the graph in an annotation. With its limit, a request is accepted by both or by none.
    """
    commit = f"commit what `krm-fn request get {request.key.name} -n {request.key.namespace}` prints"
    if size.of(graph, LIMIT) > LIMIT:
        return f"the generated graph is larger than {LIMIT} bytes, and the status cannot hold it; {commit}"
    return f"the objects beside the generated graph are larger than {LIMIT} bytes; {commit}" if beside > LIMIT else ""


def _again(request: Request) -> str:
    return f"delete the Job {request.job.name} and the ConfigMap, and apply the Job again to profile once more"


def _place(request: Request, graph: Resource) -> list[str]:
    """Says where a graph does not go, or why it cannot go anywhere."""
    target, written = request.place(graph), values.text(values.mapping(graph, "metadata").get("namespace"))
    found = []
    if written and written != target.namespace:
        found.append(f"the namespace {written} of the generated graph is not used; the graph goes to {target.namespace}")
    if not target.name:
        found.append(f"the generated graph has no name; set {request.form.overrides}.name")
    return found
