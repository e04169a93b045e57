"""`krm-fn request`: prints the results of requests (DGDR): of the profiler, and of searches."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import click

from krm_fn.base import report, results
from krm_fn.cli import command_options, command_output, finding_formats
from krm_fn.cli.search_graph import SearchOptions, searched_graph
from krm_fn.kubernetes import identity
from krm_fn.kubernetes.api_server import name_formats
from krm_fn.kubernetes.types import Resource
from krm_fn.render import dynamo_api, names
from krm_fn.render.convert import request_views
from krm_fn.repository.files import sources
from krm_fn.review.inputs import computed_status
from krm_fn.syncer.profiler_output import ProfilerOutput
from krm_fn.syncer.status import cached_request, request_generation, request_profiling
from krm_fn.syncer.status.cached_request import CachedRequest, RequestInputs

_API = "/apis/nvidia.com/*/namespaces/{namespace}/dynamographdeploymentrequests/{name}"
_SEARCHES = "/apis/nvidia.com/v1beta2/namespaces/{{namespace}}/{plural}/{{name}}"
_JOB = "/apis/batch/v1/namespaces/{namespace}/jobs/{name}"
_CONFIG_MAP = "/api/v1/namespaces/{namespace}/configmaps/{name}"


class _Objects(NamedTuple):
    """The objects of the input or of the cluster. `default_namespace` is that of objects without one; `source` names the input.

    `fetch` reads further objects of v1beta2 from a cluster: those of a kind with these names, in the default namespace.
    """

    resources: list[Resource]
    default_namespace: str
    source: str
    fetch: Callable[[str, list[str]], list[Resource]] = lambda _kind, _names: []


def _name(_ctx: click.Context, param: click.Parameter, name: str | None) -> str | None:
    if name is not None and not name_formats.DNS_SUBDOMAIN.fullmatch(name):
        what = "a request" if param.name == "name" else "a graph or a Candidate"
        raise click.BadParameter(f"{name!r} is not the name of {what}; use lower-case letters, digits, dashes and dots.")
    return name


@click.group()
def request() -> None:
    """Read the results of requests (DynamoGraphDeploymentRequest)."""


@request.command()
@click.argument("name", callback=_name)
@click.argument("paths", metavar="[PATH...]", nargs=-1, type=click.Path(exists=True, allow_dash=True))
@click.option("-n", "--namespace", metavar="NS", callback=command_options.namespace, help="The namespace of the request.")
@click.option("--kubeconfig", metavar="FILE", type=click.Path(exists=True, dir_okay=False), help="The kubeconfig. Only without PATH.")
@click.option("--context", metavar="NAME", help="The context of the kubeconfig. Only without PATH.")
@click.option("--candidate", metavar="NAME", callback=_name, help="The Candidate to print. Only for a request of v1beta2.")
@click.option("--rank", metavar="N", type=click.IntRange(1), help="The rank of the Candidate to print. Only for a request of v1beta2.")
@click.option("--graph-name", metavar="NAME", callback=_name, help="The name of the graph of a Candidate. The default is NAME.")
@command_options.output_format()
def get(  # noqa: PLR0913 - one for each option
    *,
    name: str,
    paths: tuple[str, ...],
    namespace: str | None,
    kubeconfig: str | None,
    context: str | None,
    candidate: str | None,
    rank: int | None,
    graph_name: str | None,
    style: str,
) -> None:
    """Print the graph that profiling or a search generated for the request NAME.

    The graph of a profiler has the name, namespace, labels and annotations that the request sets. After the graph, krm-fn prints the
    ConfigMaps that the graph needs. Commit all of them, and render the graph like any other.

    A request of v1beta2 has a Run with Candidates. When the Run is done, krm-fn prints the graph of the best Candidate that is valid, or of
    the one of --rank or --candidate. The graph has the name of the request, or --graph-name. After a search for several metrics, choose the
    Candidate.

    Without PATH, krm-fn reads the request and its output from the cluster of the kubeconfig. PATH is a file, a folder or stdin (-) with the
    request and the ConfigMap dgdr-output-NAME, or the Runs and the Candidates, as printed by kubectl.

    Exit codes: 0 a graph is printed; 1 no graph, with the reason on stderr; 2 wrong usage; 3 the search is not done, with its progress on
    stderr.

    \b
      krm-fn request get chat -n team-a > graph.yaml
      krm-fn request get chat -n team-a --rank 2 --graph-name chat-2 > graph.yaml
      kubectl get dgdr,jobs,configmaps -n team-a -o json | krm-fn request get chat -
    """  # noqa: D301 - click reads the backspace
    if paths and (kubeconfig or context):
        raise click.UsageError("--kubeconfig and --context do not go together with PATH")
    if candidate and rank:
        raise click.UsageError("--candidate and --rank do not go together")
    objects = _read(paths, namespace) if paths else _fetch(name, namespace, kubeconfig, context)
    resource = _native(_find(objects, name, namespace))
    if resource["apiVersion"] == dynamo_api.V1BETA2:
        options = SearchOptions(candidate, rank, graph_name or name)
        graph = searched_graph(resource, options, objects.resources, objects.default_namespace, objects.fetch)
        command_output.write(command_output.resources([graph], style), style)
        return
    if candidate or rank or graph_name:
        raise click.UsageError(f"--candidate, --rank and --graph-name are for requests of v1beta2, and {name} is none")
    cached = cached_request.read(resource, objects.default_namespace)
    inputs = computed_status.RequestObjects(objects.resources, objects.default_namespace).inputs(cached, {})
    output = _usable_output(cached, inputs)
    if not cached.graph_key(cached.usable_graph(output) or {}).name:
        raise click.ClickException(f"the generated graph has no name; set {cached.field_names.graph_metadata}.name in the request")
    for note in (*output.notes, *request_generation.adapter_notes(cached.usable_graph(output) or {})):
        command_output.print_line(f"note: {note}", err=True)
    resources = [request_generation.graph_to_deploy(output, cached), *request_generation.config_maps(output, cached)]
    command_output.write(command_output.resources(resources, style), style)


def _read(paths: tuple[str, ...], namespace: str | None) -> _Objects:
    """Reads the objects of files and stdin. Ends the program with the findings if a file cannot be read."""
    loaded = sources.load(paths, namespace=namespace or "")
    if results.has_errors(loaded.results):
        finding_formats.print_text(loaded.resources, loaded.results, loaded.stdin)
        raise click.ClickException(f"no request is read: {report.count(loaded.results)}")
    return _Objects(loaded.values, loaded.default_namespace, f"among {report.pluralize(len(loaded.values), 'object')}")


def _fetch(name: str, namespace: str | None, kubeconfig: str | None, context: str | None) -> _Objects:
    """Reads the request, its Job and its output from a cluster."""
    with command_options.sync_extra("request get without PATH"):
        from krm_fn.cluster import client  # noqa: PLC0415 - the extra may be missing
        from krm_fn.cluster.access import ClusterError  # noqa: PLC0415
        from krm_fn.cluster.access import kubeconfig as clusters  # noqa: PLC0415
        from krm_fn.cluster.client import ApiError, TransportError  # noqa: PLC0415
    try:
        cluster = clusters.find(Path(kubeconfig) if kubeconfig else None, context)
    except ClusterError as problem:
        raise click.ClickException(str(problem)) from problem
    default_namespace = namespace or cluster.namespace

    def read(objects: Iterable[tuple[str, str]]) -> list[Resource]:
        try:
            return client.read_objects(
                cluster, [path.format(namespace=default_namespace, name=object_name) for path, object_name in objects]
            )
        except (ApiError, TransportError, ClusterError) as problem:
            raise click.ClickException(str(problem)) from problem

    def fetch(kind: str, object_names: list[str]) -> list[Resource]:
        path = _SEARCHES.format(plural=f"{kind.lower()}s")
        return read((path, object_name) for object_name in object_names)

    resources = read([(_API, name)]) or fetch(dynamo_api.REQUEST, [name])
    if not any(_native(resource)["apiVersion"] == dynamo_api.V1BETA2 for resource in resources):
        resources += read([(_JOB, names.profiling_job(name)), (_CONFIG_MAP, names.profiling_output(name))])
    return _Objects(resources, default_namespace, f"in namespace {default_namespace} of {cluster.server}", fetch)


def _find(objects: _Objects, name: str, namespace: str | None) -> Resource:
    """Finds the request of a name. Ends the program if there is none, or more than one."""
    keys = [(identity.key(resource, objects.default_namespace), resource) for resource in objects.resources]
    matches = [(key, resource) for key, resource in keys if (key.group, key.kind, key.name) == (dynamo_api.GROUP, dynamo_api.REQUEST, name)]
    requests = [(key, resource) for key, resource in matches if namespace in (None, key.namespace)]
    if len(requests) > 1:
        choices = " or -n ".join(sorted(key.namespace for key, _ in requests))
        raise click.ClickException(f"{len(requests)} requests are named {name}; choose one with -n {choices}")
    if not requests:
        raise click.ClickException(f"no {dynamo_api.REQUEST} {name} {objects.source}")
    return requests[0][1]


def _native(request: Resource) -> Resource:
    """Returns the request in the version in which its author wrote it. Ends the program if it has two forms at once."""
    if not request_views.is_view(request):
        return request
    try:
        return request_views.to(request_views.view_field(request), request)
    except request_views.BothFormsError as problem:
        part = problem.args[0]
        raise click.ClickException(f"the {part} of the request has a view and fields of its own; krm-fn check names them") from problem


def _usable_output(cached: CachedRequest, inputs: RequestInputs) -> ProfilerOutput:
    """Returns the output, or an empty one if only the graph in the status can be used. Ends the program if there is no graph."""
    problem = request_generation.output_problem(cached, inputs)
    if not problem and inputs.output:
        return inputs.output
    if cached.generated:
        return ProfilerOutput(
            notes=(f"this is the graph in the status of the request, without the ConfigMaps that may belong to it: {problem}",)
        )
    step = request_profiling.step(cached, inputs)
    raise click.ClickException(step.condition.message if inputs.output is None and not step.done and step.condition else problem)


TOPIC = "operate"
COMMAND = request
