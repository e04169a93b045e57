"""`krm-fn check`: what is wrong with resources, without rendering them for anybody.

Not its business: the rules, which are those of a render and, for finished builds, of `krm_fn.layers`.
"""

from __future__ import annotations

from pathlib import Path

import click

from krm_fn import expand, layers, report, results, sources
from krm_fn.cli import _findings

_ORPHAN = "DYN053"


@click.command()
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(exists=True, allow_dash=True))
@click.option(
    "--config", "config_file", metavar="FILE", type=click.Path(exists=True, dir_okay=False), help="The DynamoRender, or a ConfigMap."
)
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", show_default=True, help="How findings are printed.")
@click.option(
    "--root",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Where the build was made: finds the lines of the files that kustomize notes with originAnnotations, and kpt always.",
)
@click.pass_context
def check(ctx: click.Context, paths: tuple[str, ...], config_file: str | None, style: str, root: Path | None) -> None:
    """Print findings about files, folders and stdin (-), and nothing else.

    In folders, *.yaml, *.yml and *.json are read; a Kustomization there is not built. On the output of a build it also finds
    generated objects over which a later layer laid a namespace, a name prefix or a label, so that they name what is not there.

    Exits with 0 where nothing is an error, 1 where something is, and 2 on wrong usage.

    \b
      krm-fn check graph.yaml
      krm-fn check --config render.yaml base/ overlay/graph.yaml
      kustomize build --enable-alpha-plugins --enable-exec overlay | krm-fn check --format json -
    """  # noqa: D301 - click reads the backspace
    loaded = sources.load(paths, config_file)
    expansion = expand.expand(loaded.values, loaded.config)
    lies = list(layers.check(loaded.values))
    known = {lie.ref for lie in lies}
    judged = [result for result in expansion.results if not (result.code == _ORPHAN and result.ref in known)]
    found = sources.placed([*loaded.results, *judged, *lies], loaded.resources, root)
    if style == "json":
        click.echo(_findings.as_json(found).encode(), nl=False)
    else:
        click.echo(_findings.text(found, loaded.stdin).encode(), nl=False)
        count = len(loaded.resources)
        click.echo(f"{count} resource{'s' * (count != 1)}: {report.count(found) or 'no findings'}", err=True)
    ctx.exit(int(results.failed(found)))


COMMAND = check
