"""`krm-fn check`: what is wrong with resources, without rendering them for anybody.

Not its business: the rules, which are those of a render, for finished builds those of `krm_fn.builds`, and for changes those of
`krm_fn.validation.updates`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from krm_fn import builds, expand, report, results
from krm_fn.cli import _formats
from krm_fn.files import locations, revisions, sources
from krm_fn.resolve import cluster
from krm_fn.validation import updates

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

    from krm_fn.files.revisions import Earlier
    from krm_fn.files.sources import Sources
    from krm_fn.results import Result

_ORPHAN = "DYN053"
_BY_SETTINGS = ("DYN124", "DYN143", "DYN144", "DYN147", "DYN155", "DYN156", "DYN160", "DYN161", "DYN162")
"""What a render needs and an API server does not ask for. Without a configuration nobody says how this is rendered, or whether it is."""


@click.command()
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(exists=True, allow_dash=True))
@click.option(
    "--config", "config_file", metavar="FILE", type=click.Path(exists=True, dir_okay=False), help="The DynamoRender, or a ConfigMap."
)
@click.option(
    "--old",
    metavar="OLD",
    help="What was there before, a file, a folder or a git revision of the PATHs: names every change that a cluster would refuse.",
)
@click.option("--allow-topology", is_flag=True, help="With --old: services that come or go are warnings, for clusters that let them.")
@click.option(
    "--root",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Where the build was made: finds the lines of the files that kustomize notes with originAnnotations, and kpt always.",
)
@click.option("--format", "style", type=click.Choice(_formats.names()), default="text", show_default=True, help="How findings are printed.")
@click.pass_context
def check(  # noqa: PLR0913, PLR0917 - one for each option
    ctx: click.Context,
    paths: tuple[str, ...],
    config_file: str | None,
    old: str | None,
    allow_topology: bool,
    root: Path | None,
    style: str,
) -> None:
    """Print findings about files, folders and stdin (-), and nothing else.

    In folders, *.yaml, *.yml and *.json are read; a Kustomization there is not built. On the output of a build it also finds
    generated objects over which a later layer laid a namespace, a name prefix or a label, so that they name what is not there.

    Without a configuration, in a --config or among the PATHs, what only some renders need is a warning.

    Exits with 0 where nothing is an error, 1 where something is, and 2 on wrong usage.

    \b
      krm-fn check graph.yaml
      krm-fn check --config render.yaml base/ overlay/graph.yaml
      krm-fn check --old main graphs/
      kustomize build --enable-alpha-plugins --enable-exec overlay | krm-fn check --format json -
    """  # noqa: D301 - click reads the backspace
    if allow_topology and old is None:
        raise click.UsageError("--allow-topology goes with --old")
    before = _before(old, paths)
    loaded = sources.load(paths, config_file)
    lenient = (*(() if loaded.configs else _BY_SETTINGS), *((updates.SERVICES,) if allow_topology else ()))
    found = list(_eased([*_judged(loaded), *_changed(before, loaded)], lenient))
    found = locations.of([*loaded.results, *found, *(before.results if before else ())], loaded.resources, root)
    checked = _formats.Checked(loaded.resources, found, loaded.stdin)
    click.echo(_formats.write(style, checked).encode(errors="backslashreplace"), nl=False)
    if style == "text":
        click.echo(f"{_count(loaded, before, old)}: {report.count(found) or 'no findings'}", err=True)
    ctx.exit(int(results.failed(found)))


def _before(old: str | None, paths: tuple[str, ...]) -> Earlier | None:
    try:
        return None if old is None else revisions.read(old, paths)
    except revisions.UnreadableError as problem:
        raise click.BadParameter(str(problem), param_hint="--old") from problem


def _judged(loaded: Sources) -> Iterator[Result]:
    """What is wrong with what is there now. Where a later layer moved a whole build, nobody need hear that owners are missing."""
    mismatches = list(builds.check(loaded.values))
    known = {mismatch.ref for mismatch in mismatches}
    for result in expand.expand(loaded.values, loaded.config).results:
        if not (result.code == _ORPHAN and result.ref in known):
            yield result
    yield from mismatches


def _changed(before: Earlier | None, loaded: Sources) -> Iterator[Result]:
    if before:
        yield from updates.check(before.resources, loaded.values, _home(loaded))


def _home(loaded: Sources) -> str:
    return loaded.config.namespace or cluster.NAMESPACE


def _eased(found: Iterable[Result], lenient: Container[str]) -> Iterator[Result]:
    """Findings, those of some codes as warnings."""
    for result in found:
        yield result._replace(severity="warning") if result.code in lenient else result


def _count(loaded: Sources, before: Earlier | None, old: str | None) -> str:
    count = len(loaded.resources)
    text = f"{count} resource{'s' * (count != 1)}"
    return f"{text}, {updates.compared(before.resources, loaded.values, _home(loaded))} compared with {old}" if before else text


COMMAND = check
