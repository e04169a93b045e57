"""`krm-fn render`: the native objects that Dynamo resources stand for, on stdout or as files.

Not its business: how they are made (`krm_fn.expand`) or written into a folder (`krm_fn.files.output`).
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from krm_fn import expand, report, results
from krm_fn.cli import _formats
from krm_fn.files import locations, output, sources
from krm_fn.kube import labels, order
from krm_fn.yamlio import emitter

if TYPE_CHECKING:
    from krm_fn.kube.types import Resource

_INTERNAL = ("internal.config.kubernetes.io/", "internal.config.k8s.io/", "config.k8s.io/", "kustomize.config.k8s.io/")
_OURS_TO_DROP = (labels.FUNCTION, labels.LEGACY_PATH, labels.LEGACY_INDEX)


@click.command()
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(exists=True, allow_dash=True))
@click.option(
    "--config", "config_file", metavar="FILE", type=click.Path(exists=True, dir_okay=False), help="The DynamoRender, or a ConfigMap."
)
@click.option(
    "-o",
    "--output",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write one file per object instead; made if missing.",
)
@click.option("--prune", is_flag=True, help="With -o: remove files of earlier renders that this one does not write.")
@click.pass_context
def render(ctx: click.Context, paths: tuple[str, ...], config_file: str | None, output: Path | None, prune: bool) -> None:
    """Print the native objects that Dynamo resources stand for, in the order of applying.

    PATHs are files, folders and stdin (-), which may hold a ResourceList. In folders, *.yaml, *.yml and *.json are read; a
    Kustomization there is not built. Resources that are not Dynamo's are printed too, and so are the Dynamo resources
    themselves, unless the configuration says otherwise (source: drop). A DynamoRender among the inputs is the configuration.

    Findings go to stderr. With an error among them nothing is printed or written, and the exit code is 1.

    \b
      krm-fn render graph.yaml | kubectl apply -f -
      krm-fn render --config render.yaml graphs/ -o manifests --prune
    """  # noqa: D301 - click reads the backspace
    if prune and output is None:
        raise click.UsageError("--prune goes with --output")
    loaded = sources.load(paths, config_file, without=output)
    expansion = expand.expand(loaded.values, loaded.config)
    found = locations.of([*loaded.results, *expansion.results], loaded.resources)
    click.echo(_formats.write("text", _formats.Checked(loaded.resources, found, loaded.stdin)).encode(), nl=False, err=True)
    if results.failed(found):
        click.echo(f"nothing is rendered: {report.count(found)}", err=True)
        ctx.exit(1)
    rendered = order.sort(_for_the_cluster(resource) for resource in expansion.resources if not _is_local(resource))
    if output is None:
        click.echo("---\n".join(emitter.text(resource) for resource in rendered).encode(), nl=False)
    else:
        _write(output, rendered, prune=prune)


def _is_local(resource: Resource) -> bool:
    return labels.notes(resource).get(labels.LOCAL_CONFIG) == "true"


def _for_the_cluster(resource: Resource) -> Resource:
    """The resource without what kustomize and kpt note on it for themselves."""
    notes = labels.notes(resource)
    kept = {key: value for key, value in notes.items() if key not in _OURS_TO_DROP and not key.startswith(_INTERNAL)}
    if len(kept) == len(notes):
        return resource
    metadata = {key: value for key, value in resource["metadata"].items() if key != "annotations"}
    return {**resource, "metadata": {**metadata, "annotations": kept} if kept else metadata}


def _write(folder: Path, rendered: list[Resource], *, prune: bool) -> None:
    files = output.names(rendered)
    try:
        if strange := output.foreign(folder, files):
            raise click.ClickException(f"{folder / strange[0]} was not written by krm-fn; move it, or render into another folder")
        stale = sorted(output.ours(folder) - files.keys())
        output.write(folder, files)
        output.remove(folder, stale if prune else [])
    except OSError as problem:
        raise click.ClickException(f"cannot write to {folder}: {problem.strerror}") from problem
    click.echo(f"{len(files)} files in {folder}", err=True)
    if stale:
        said = "removed, as they are" if prune else "left from an earlier render, --prune removes what is"
        click.echo(f"{said} not rendered any more: {shlex.join(stale)}", err=True)


COMMAND = render
