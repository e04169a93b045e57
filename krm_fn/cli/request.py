"""`krm-fn request`: the results of requests (DGDR)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from krm_fn import report, results
from krm_fn.cli import _extra, _formats, _options, _output, _requests
from krm_fn.files import sources
from krm_fn.kube import identity, names
from krm_fn.kube.admission import fields
from krm_fn.profiling.output import Output
from krm_fn.status import requests
from krm_fn.status.requests import generation, objects, profiling

if TYPE_CHECKING:
    from krm_fn.kube.types import Resource
    from krm_fn.status.requests import Request, Seen

_API = "/apis/nvidia.com/*/namespaces/{namespace}/dynamographdeploymentrequests/{name}"
_JOB = "/apis/batch/v1/namespaces/{namespace}/jobs/{name}"
_CONFIG_MAP = "/api/v1/namespaces/{namespace}/configmaps/{name}"


class _Given(NamedTuple):
    """The objects that were read. `home` is the namespace of those without one, `place` says where they were read."""

    resources: list[Resource]
    home: str
    place: str


def _name(_ctx: click.Context, _param: click.Parameter, name: str) -> str:
    if not fields.DNS_SUBDOMAIN.fullmatch(name):
        raise click.BadParameter(f"{name!r} is not the name of a request; use lower-case letters, digits, dashes and dots.")
    return name


@click.group()
def request() -> None:
    """Read the results of requests (DynamoGraphDeploymentRequest)."""


@request.command()
@click.argument("name", callback=_name)
@click.argument("paths", metavar="[PATH...]", nargs=-1, type=click.Path(exists=True, allow_dash=True))
@click.option("-n", "--namespace", metavar="NS", callback=_options.namespace, help="The namespace of the request.")
@click.option("--kubeconfig", metavar="FILE", type=click.Path(exists=True, dir_okay=False), help="The kubeconfig, without PATH.")
@click.option("--context", metavar="NAME", help="The context of the kubeconfig, without PATH.")
@click.option(
    "-o", "--output", "style", type=click.Choice(_output.FORMATS), default="yaml", help="Format; yaml by default, json is one List."
)
def get(  # noqa: PLR0913 - one for each option
    *, name: str, paths: tuple[str, ...], namespace: str | None, kubeconfig: str | None, context: str | None, style: str
) -> None:
    """Print the graph that profiling generated for the request NAME, to commit it.

    The graph has the name, the namespace, the labels and the annotations that the request gives it. ConfigMaps that the graph needs
    follow it. Commit both, and render the graph as any other.

    Without PATH, the request and its output are read from the cluster of the kubeconfig. PATH is a file, a folder or stdin (-) with the
    request and the ConfigMap dgdr-output-NAME, as kubectl prints them.

    The exit code is 1 if there is no graph to print; stderr then says why.

    \b
      krm-fn request get chat -n team-a > graph.yaml
      kubectl get dgdr,jobs,configmaps -n team-a -o json | krm-fn request get chat -
    """  # noqa: D301 - click reads the backspace
    if paths and (kubeconfig or context):
        raise click.UsageError("--kubeconfig and --context do not go together with PATH")
    given = _read(paths, namespace) if paths else _fetched(name, namespace, kubeconfig, context)
    asked = _find(given, name, namespace)
    seen = _requests.Around(given.resources, given.home).seen(asked, {})
    found = _usable(asked, seen)
    if not asked.place(asked.choose(found) or {}).name:
        raise click.ClickException(f"the generated graph has no name; set {asked.form.overrides}.name in the request")
    for note in found.notes:
        click.echo(f"note: {report.printable(note)}", err=True)
    _output.write(_output.resources([objects.graph(found, asked), *objects.config_maps(found, asked)], style))


def _read(paths: tuple[str, ...], namespace: str | None) -> _Given:
    """The objects of files and stdin. Ends the program with the findings if a file cannot be read."""
    loaded = sources.load(paths, namespace=namespace or "")
    if results.failed(loaded.results):
        checked = _formats.Checked(loaded.resources, loaded.results, loaded.stdin, colour=_output.colours(err=True))
        _output.write(_formats.write("text", checked), err=True)
        raise click.ClickException(f"no request is read: {report.count(loaded.results)}")
    return _Given(loaded.values, loaded.home, f"among {len(loaded.values)} objects")


def _fetched(name: str, namespace: str | None, kubeconfig: str | None, context: str | None) -> _Given:
    """The request, its Job and its output in a cluster."""
    with _extra.needed("request get without PATH"):
        from krm_fn.sync import once  # noqa: PLC0415
        from krm_fn.sync.access import kubeconfig as clusters  # noqa: PLC0415 - the extra may be missing
        from krm_fn.sync.access.cluster import ClusterError  # noqa: PLC0415
        from krm_fn.sync.client import ApiError, TransportError  # noqa: PLC0415
    try:
        cluster = clusters.find(Path(kubeconfig) if kubeconfig else None, context)
        home = namespace or cluster.namespace
        wanted = ((_API, name), (_JOB, names.profiling_job(name)), (_CONFIG_MAP, names.profiling_output(name)))
        found = once.objects(cluster, [path.format(namespace=home, name=each) for path, each in wanted])
    except (ApiError, TransportError, ClusterError) as problem:
        raise click.ClickException(str(problem)) from problem
    return _Given(found, home, f"in namespace {home} of {cluster.server}")


def _find(given: _Given, name: str, namespace: str | None) -> Request:
    """The request of a name. Ends the program if there is none, or more than one."""
    keys = [(identity.key(each, given.home), each) for each in given.resources]
    found = [each for key, each in keys if (key.group, key.kind, key.name) == (identity.DYNAMO_GROUP, identity.REQUEST, name)]
    asked = [read for read in (requests.read(each, given.home) for each in found) if namespace in (None, read.key.namespace)]
    if len(asked) > 1:
        raise click.ClickException(
            f"{len(asked)} requests are named {name}; choose one with -n {' or -n '.join(sorted(each.key.namespace for each in asked))}"
        )
    if not asked:
        raise click.ClickException(f"no {identity.REQUEST} {name} {given.place}")
    return asked[0]


def _usable(asked: Request, seen: Seen) -> Output:
    """The output, or an empty one if only the graph in the status can be used. Ends the program if there is no graph."""
    problem = generation.problem(asked, seen)
    if not problem and seen.output:
        return seen.output
    if asked.generated:
        return Output(notes=(f"this is the graph in the status of the request, without the ConfigMaps that may belong to it: {problem}",))
    step = profiling.step(asked, seen)
    raise click.ClickException(step.condition.message if seen.output is None and not step.done and step.condition else problem)


COMMAND = request
