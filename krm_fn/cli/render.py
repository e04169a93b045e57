"""`krm-fn render`: the native objects of Dynamo resources, on stdout or as files."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

from krm_fn import expand, report
from krm_fn.cli import _formats, _options, _output
from krm_fn.files import locations, output
from krm_fn.kube import applied, order

if TYPE_CHECKING:
    from pathlib import Path

    from krm_fn.cli._options import Inputs
    from krm_fn.cli._policy import Policy
    from krm_fn.files.sources import Sources
    from krm_fn.kube.types import Resource
    from krm_fn.results import Result


@click.command()
@_options.inputs
@click.option("-o", "--output", "style", type=click.Choice(_output.FORMATS), help="Format; yaml by default, json is one List.")
@click.option("--output-dir", "folder", metavar="DIR", type=_options.Folder(), help="Write one YAML file per object; makes a missing DIR.")
@click.option("--prune", is_flag=True, help="With --output-dir: remove files of earlier renders that this one does not write.")
@_options.policy
@click.pass_context
def render(  # noqa: PLR0913 - one for each option
    ctx: click.Context, *, given: Inputs, policy: Policy, style: str | None, folder: Path | None, prune: bool
) -> None:
    """Print the native objects that Dynamo resources expand to.

    PATH is a file, a folder or stdin (-), which may hold a ResourceList. In a folder, *.yaml, *.yml and *.json are read; a Kustomization
    in it is not built. Objects are printed in the order in which they can be applied. Other resources are printed too, and so are the
    Dynamo resources, unless the configuration sets source: drop. A DynamoRender among the PATHs is the configuration.

    Findings go to stderr. With an error, no object is printed or written, and the exit code is 1.

    \b
      krm-fn render graph.yaml | kubectl apply -f -
      krm-fn render --config render.yaml graphs/ --output-dir manifests --prune
    """  # noqa: D301 - click reads the backspace
    if prune and not folder:
        raise click.UsageError("--prune needs --output-dir")
    if folder and style == "json":
        raise click.UsageError("--output-dir writes YAML; leave -o json out")
    loaded = given.load(without=folder)
    expansion = expand.expand(loaded.values, loaded.config)
    found = policy.kept(locations.of([*loaded.results, *expansion.results], loaded.resources), loaded.values)
    _report(policy.shown(found), loaded)
    if failing := policy.failing(found):
        click.echo(f"nothing is rendered: {report.count(failing)}", err=True)
        ctx.exit(1)
    rendered = order.sort(applied.without_annotations(resource) for resource in expansion.resources if not applied.is_local(resource))
    if folder:
        said = _written(folder, rendered, prune=prune)
        click.echo("" if policy.quiet else said, err=True, nl=False)
    else:
        _output.write(_output.resources(rendered, style or "yaml"))


def _report(found: list[Result], loaded: Sources) -> None:
    checked = _formats.Checked(loaded.resources, found, loaded.stdin, colour=_output.colours(err=True))
    _output.write(_formats.write("text", checked), err=True)


def _written(folder: Path, rendered: list[Resource], *, prune: bool) -> str:
    """Writes the files and returns a summary. Raises click.ClickException if a file cannot be written."""
    files = output.names(rendered)
    try:
        if strange := output.foreign(folder, files):
            raise click.ClickException(f"{folder / strange[0]} was not written by krm-fn; move it, or render into another folder")
        stale = sorted(output.ours(folder) - files.keys())
        output.write(folder, files)
        output.remove(folder, stale if prune else [])
    except OSError as problem:
        raise click.ClickException(f"cannot write to {folder}: {problem.strerror}") from problem
    done = f"{len(files)} files in {folder}\n"
    if stale:
        done += f"{'removed' if prune else 'no longer rendered, --prune removes them'}: {shlex.join(stale)}\n"
    return done


COMMAND = render
