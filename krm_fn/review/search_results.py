"""The results of a search: the Run of a request of v1beta2, its Candidates in the order of their rank, and the graph of one of them. Pure.

Follows the operator's `api/v1beta2`: the condition `Completed` of a Run says that its Candidates are final, their order in
`status.candidateRefs` is their rank, and the condition `Valid` says whether a Candidate may be deployed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from krm_fn.base import codes, results
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import mapping, objects, text
from krm_fn.render import dynamo_api
from krm_fn.render.schema import schema_check
from krm_fn.syncer.status import conditions

_UNKNOWN_FIELDS = (codes.UNKNOWN_FIELD, codes.UNKNOWN_KUBERNETES_FIELD)
_EVALUATIONS = ("scheduled", "running", "feasible", "infeasible", "failed", "unsupported")
_MOST_FINDINGS = 3


class ResultError(Exception):
    """There is no graph to write. The argument is the reason, for people."""


class UnfinishedError(ResultError):
    """The search has not ended yet."""


class RankedCandidate(NamedTuple):
    """A Candidate with its rank from 1 on. `resource` is empty if the Candidate does not exist."""

    rank: int
    name: str
    resource: Resource

    @property
    def problem(self) -> str:
        """The reason why the Candidate must not be deployed, for people; empty if there is none."""
        if not self.resource:
            return "it does not exist"
        valid = conditions.find(mapping(self.resource.get("status")), "Valid")
        return f"it is not valid: {valid.message or valid.reason or 'without a reason'}" if valid.status == "False" else ""


def run_name(request: Resource) -> str:
    """Returns the name of the active Run of a request of v1beta2, or of its newest one.

    Raises UnfinishedError if there is none yet, and ResultError if the operator did not accept the request.
    """
    status = mapping(request.get("status"))
    newest = objects(status.get("recentRunRefs"))
    name = text(mapping(status.get("activeRunRef")).get("name")) or (text(newest[0].get("name")) if newest else "")
    if name:
        return name
    accepted = conditions.find(status, "Accepted")
    if accepted.status == "False":
        raise ResultError(f"the operator did not accept the request: {accepted.message or accepted.reason}")
    raise UnfinishedError("the request has no Run yet; an operator of Dynamo 1.7 or later starts one")


def is_outdated(request: Resource) -> bool:
    """Returns true if the request has changed since the operator last acted on it."""
    generation, observed = mapping(request.get("metadata")).get("generation"), mapping(request.get("status")).get("observedGeneration")
    return isinstance(generation, int) and isinstance(observed, int) and observed < generation


def candidate_names(run: Resource) -> list[str]:
    """Returns the names of the Candidates of a Run that is done, the best first. Raises UnfinishedError or ResultError."""
    status, name = mapping(run.get("status")), results.ref(run).name
    completed = conditions.find(status, "Completed")
    if status.get("phase") == "Failed":
        raise ResultError(f"the Run {name} failed: {completed.message or completed.reason or 'its status has no reason'}")
    if completed.status != "True":
        raise UnfinishedError(f"the Run {name} is not done: {_progress(status)}")
    names = [text(reference.get("name")) for reference in objects(status.get("candidateRefs"))]
    if not names:
        raise ResultError(f"the Run {name} found no Candidate")
    return names


def choose(candidates: Sequence[RankedCandidate], run: Resource, name: str | None, rank: int | None) -> RankedCandidate:
    """Returns the Candidate of a name or rank, otherwise the best one that may be deployed. Raises ResultError if there is none.

    The Candidates of a search for several metrics have no order, so without a name or rank there must be only one.
    """
    matches = [candidate for candidate in candidates if name in (None, candidate.name) and rank in (None, candidate.rank)]
    usable = [candidate for candidate in matches if not candidate.problem]
    if not matches:
        wanted = f"is named {name}" if name else f"has rank {rank}"
        raise ResultError(f"no Candidate of the Run {results.ref(run).name} {wanted}; it has {show_candidates(candidates)}")
    if not usable:
        raise ResultError(f"no Candidate can be deployed: {show_candidates(matches)}")
    is_ranked = mapping(run.get("spec"), "objective").get("mode") != "pareto"
    if name is None and rank is None and len(usable) > 1 and not is_ranked:
        raise ResultError(
            f"the Candidates of a search for several metrics have no order; choose one with --candidate: {show_candidates(usable)}"
        )
    return usable[0]


def show_candidates(candidates: Sequence[RankedCandidate]) -> str:
    """Returns the ranks and names of Candidates, with their problems."""
    return ", ".join(
        f"{candidate.rank} {candidate.name}{f' ({candidate.problem})' if candidate.problem else ''}" for candidate in candidates
    )


def graph(candidate: RankedCandidate, name: str, namespace: str) -> Resource:
    """Returns the graph of a Candidate with a new name, without the status, the owner, the labels and the annotations.

    Raises ResultError if the spec is not that of a graph.
    """
    spec = candidate.resource.get("spec")
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    written = {"apiVersion": dynamo_api.V1BETA1, "kind": dynamo_api.GRAPH, "metadata": metadata, "spec": spec}
    if not objects(mapping(spec).get("components")):
        raise ResultError(f"the spec of the Candidate {candidate.name} has no components, so it is not that of a graph")
    errors = [finding for finding in _findings(written) if finding.code not in _UNKNOWN_FIELDS]
    if errors:
        listed = "; ".join(f"{results.field(finding.path)}: {finding.message.partition(';')[0]}" for finding in errors[:_MOST_FINDINGS])
        raise ResultError(f"the spec of the Candidate {candidate.name} is not that of a graph: {listed}")
    return written


def unknown_fields(written: Resource) -> list[str]:
    """Returns the paths of the fields of a graph that this krm-fn does not know."""
    return [results.field(finding.path) for finding in _findings(written) if finding.code in _UNKNOWN_FIELDS]


def _findings(written: Resource) -> list[results.Result]:
    return results.errors_of(schema_check.resource(written))


def _progress(status: dict[str, Any]) -> str:
    """Returns the phase of a Run, and the rounds, evaluations and Candidates of each branch of its search."""
    branches = objects(mapping(status.get("progress")).get("branches"))
    return "; ".join([text(status.get("phase")) or "no phase yet", *(_branch(branch) for branch in branches)])


def _branch(branch: dict[str, Any]) -> str:
    rounds, evaluations, candidates = (mapping(branch.get(part)) for part in ("rounds", "evaluations", "candidates"))
    counts = [f"{evaluations[name]} {name}" for name in _EVALUATIONS if isinstance(evaluations.get(name), int)]
    parts = [f"{rounds.get('completed', 0)} of {rounds.get('total', '?')} rounds"]
    parts += [f"evaluations: {', '.join(counts)}"] if counts else []
    parts += [f"{candidates['published']} Candidates"] if isinstance(candidates.get("published"), int) else []
    return f"{text(branch.get('name')) or 'search'}: {', '.join(parts)}"
