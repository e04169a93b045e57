"""`krm-fn request get` of a request of v1beta2: from the request over its Run and Candidates to the graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import click

from krm_fn.cli import command_output
from krm_fn.kubernetes import identity
from krm_fn.kubernetes.types import Resource
from krm_fn.render import dynamo_api
from krm_fn.review import search_results
from krm_fn.review.search_results import RankedCandidate, ResultError, UnfinishedError

_UNFINISHED = 3
"""The exit code if the search has not ended."""


class SearchOptions(NamedTuple):
    """The Candidate by its name or its rank, both None for the best one, and the name of its graph."""

    candidate: str | None
    rank: int | None
    graph_name: str


class _UnfinishedSearch(click.ClickException):
    exit_code = _UNFINISHED


def searched_graph(
    request: Resource,
    options: SearchOptions,
    resources: Iterable[Resource],
    default_namespace: str,
    fetch: Callable[[str, list[str]], list[Resource]],
) -> Resource:
    """Returns the graph of a Candidate, and prints notes about the choice. `fetch` reads objects of a kind that `resources` lack.

    Ends the program with the reason if there is no graph: with the exit code 3 if the search has not ended, otherwise with 1.
    """
    namespace = identity.key(request, default_namespace).namespace
    known = {identity.key(resource, default_namespace): resource for resource in resources}

    def find(kind: str, names: list[str]) -> list[Resource]:
        keys = [identity.ObjectKey(dynamo_api.GROUP, kind, namespace, name) for name in names]
        fetched = fetch(kind, [key.name for key in keys if key not in known])
        known.update({identity.key(resource, default_namespace): resource for resource in fetched})
        return [known.get(key, {}) for key in keys]

    try:
        return _graph(request, options, namespace, find)
    except UnfinishedError as problem:
        raise _UnfinishedSearch(str(problem)) from problem
    except ResultError as problem:
        raise click.ClickException(str(problem)) from problem


def _graph(request: Resource, options: SearchOptions, namespace: str, find: Callable[[str, list[str]], list[Resource]]) -> Resource:
    run_name = search_results.run_name(request)
    (run,) = find(dynamo_api.RUN, [run_name])
    if not run:
        raise ResultError(f"no {dynamo_api.RUN} {run_name} in namespace {namespace}; the request names it")
    candidate_names = search_results.candidate_names(run)
    ranked = zip(candidate_names, find(dynamo_api.CANDIDATE, candidate_names), strict=True)
    candidates = [RankedCandidate(rank, name, resource) for rank, (name, resource) in enumerate(ranked, 1)]
    chosen = search_results.choose(candidates, run, options.candidate, options.rank)
    graph = search_results.graph(chosen, options.graph_name, namespace)
    if search_results.is_outdated(request):
        _note("the request has changed since this search; the operator has not started the next one yet")
    if len(candidates) > 1:
        _note(f"this is Candidate {chosen.rank} of {len(candidates)}: {search_results.show_candidates(candidates)}")
    if fields := search_results.unknown_fields(graph):
        _note(f"this krm-fn does not know these fields: {', '.join(fields)}")
    return graph


def _note(message: str) -> None:
    command_output.print_line(f"note: {message}", err=True)
