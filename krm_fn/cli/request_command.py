"""`krm-fn request`: the results of requests (DGDR)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from krm_fn import report, results
from krm_fn.cli import command_options, command_output, computed_status, finding_formats
from krm_fn.files import sources
from krm_fn.kube import identity, names
from krm_fn.kube.admission import name_formats
from krm_fn.profiling.profiler_output import ProfilerOutput
from krm_fn.status import cached_request, request_generation, request_profiling

if TYPE_CHECKING:
    from krm_fn.kube.types import Resource
    from krm_fn.status.cached_request import CachedRequest, RequestInputs

_API = "/apis/nvidia.com/*/namespaces/{namespace}/dynamographdeploymentrequests/{name}"
_JOB = "/apis/batch/v1/namespaces/{namespace}/jobs/{name}"
_CONFIG_MAP = "/api/v1/namespaces/{namespace}/configmaps/{name}"


class _Given(NamedTuple):
    """The objects of the input or of the cluster. `default_namespace` is that of objects without one; `source` names the input."""

    resources: list[Resource]
    default_namespace: str
    source: str


def _name(_ctx: click.Context, _param: click.Parameter, name: str) -> str:
    if not name_formats.DNS_SUBDOMAIN.fullmatch(name):
        raise click.BadParameter(f"{name!r} is not the name of a request; use lower-case letters, digits, dashes and dots.")
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
@click.option(
    "-o",
    "--output",
    "style",
    type=click.Choice(command_output.FORMATS),
    default="yaml",
    help="The format. The default is yaml; json prints one List.",
)
def get(  # noqa: PLR0913 - one for each option
    *, name: str, paths: tuple[str, ...], namespace: str | None, kubeconfig: str | None, context: str | None, style: str
) -> None:
    """Print the graph that profiling generated for the request NAME.

    The graph has the name, namespace, labels and annotations that the request sets. After the graph, krm-fn prints the ConfigMaps that the
    graph needs. Commit all of them, and render the graph like any other.

    Without PATH, krm-fn reads the request and its output from the cluster of the kubeconfig. PATH is a file, a folder or stdin (-) with the
    request and the ConfigMap dgdr-output-NAME, as printed by kubectl.

    Exit codes: 0 a graph is printed; 1 no graph, with the reason on stderr; 2 wrong usage.

    \b
      krm-fn request get chat -n team-a > graph.yaml
      kubectl get dgdr,jobs,configmaps -n team-a -o json | krm-fn request get chat -
    """  # noqa: D301 - click reads the backspace
    if paths and (kubeconfig or context):
        raise click.UsageError("--kubeconfig and --context do not go together with PATH")
    given = _read(paths, namespace) if paths else _fetched(name, namespace, kubeconfig, context)
    asked = _find(given, name, namespace)
    seen = computed_status.RequestObjects(given.resources, given.default_namespace).seen(asked, {})
    output = _usable(asked, seen)
    if not asked.graph_key(asked.usable_graph(output) or {}).name:
        raise click.ClickException(f"the generated graph has no name; set {asked.field_names.graph_metadata}.name in the request")
    for note in output.notes:
        click.echo(f"note: {report.printable(note)}", err=True)
    command_output.write(
        command_output.resources([request_generation.graph_to_deploy(output, asked), *request_generation.config_maps(output, asked)], style)
    )


def _read(paths: tuple[str, ...], namespace: str | None) -> _Given:
    """The objects of files and stdin. Ends the program with the findings if a file cannot be read."""
    loaded = sources.load(paths, namespace=namespace or "")
    if results.failed(loaded.results):
        checked = finding_formats.Checked(loaded.resources, loaded.results, loaded.stdin, colour=command_output.colours(err=True))
        command_output.write(finding_formats.write("text", checked), err=True)
        raise click.ClickException(f"no request is read: {report.count(loaded.results)}")
    return _Given(loaded.values, loaded.default_namespace, f"among {len(loaded.values)} objects")


def _fetched(name: str, namespace: str | None, kubeconfig: str | None, context: str | None) -> _Given:
    """The request, its Job and its output in a cluster."""
    with command_options.sync_extra("request get without PATH"):
        from krm_fn.sync import client  # noqa: PLC0415
        from krm_fn.sync.access import ClusterError  # noqa: PLC0415
        from krm_fn.sync.access import kubeconfig as clusters  # noqa: PLC0415 - the extra may be missing
        from krm_fn.sync.client import ApiError, TransportError  # noqa: PLC0415
    try:
        cluster = clusters.find(Path(kubeconfig) if kubeconfig else None, context)
        home = namespace or cluster.namespace
        wanted = ((_API, name), (_JOB, names.profiling_job(name)), (_CONFIG_MAP, names.profiling_output(name)))
        objects = client.read_objects(cluster, [path.format(namespace=home, name=name_) for path, name_ in wanted])
    except (ApiError, TransportError, ClusterError) as problem:
        raise click.ClickException(str(problem)) from problem
    return _Given(objects, home, f"in namespace {home} of {cluster.server}")


def _find(given: _Given, name: str, namespace: str | None) -> CachedRequest:
    """The request of a name. Ends the program if there is none, or more than one."""
    keys = [(identity.key(resource, given.default_namespace), resource) for resource in given.resources]
    matches = [resource for key, resource in keys if (key.group, key.kind, key.name) == (identity.DYNAMO_GROUP, identity.REQUEST, name)]
    asked = [
        read
        for read in (cached_request.read(resource, given.default_namespace) for resource in matches)
        if namespace in (None, read.key.namespace)
    ]
    if len(asked) > 1:
        choices = " or -n ".join(sorted(request.key.namespace for request in asked))
        raise click.ClickException(f"{len(asked)} requests are named {name}; choose one with -n {choices}")
    if not asked:
        raise click.ClickException(f"no {identity.REQUEST} {name} {given.source}")
    return asked[0]


def _usable(asked: CachedRequest, seen: RequestInputs) -> ProfilerOutput:
    """The output, or an empty one if only the graph in the status can be used. Ends the program if there is no graph."""
    problem = request_generation.output_problem(asked, seen)
    if not problem and seen.output:
        return seen.output
    if asked.generated:
        return ProfilerOutput(
            notes=(f"this is the graph in the status of the request, without the ConfigMaps that may belong to it: {problem}",)
        )
    step = request_profiling.step(asked, seen)
    raise click.ClickException(step.condition.message if seen.output is None and not step.done and step.condition else problem)


COMMAND = request
