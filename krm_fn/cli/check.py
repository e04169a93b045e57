"""`krm-fn check`: finds mistakes in resources and in changes, and prints no objects.

The rules live elsewhere: those of a render in `krm_fn.expand`, of finished builds in `krm_fn.builds`, of changes in
`krm_fn.validation.updates`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from krm_fn import builds, expand, report
from krm_fn.cli import _formats, _options, _output
from krm_fn.files import locations, revisions
from krm_fn.resolve import cluster
from krm_fn.validation import updates

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from krm_fn.cli._options import Inputs
    from krm_fn.cli._policy import Policy
    from krm_fn.files.revisions import Earlier
    from krm_fn.files.sources import Sources
    from krm_fn.results import Result, Severity

_ORPHAN = "DYN053"
_NO_NAMESPACE = "DYN057"
_BY_SETTINGS = ("DYN124", "DYN143", "DYN144", "DYN147", "DYN155", "DYN156", "DYN160", "DYN161", "DYN162")
"""Rules of a render that an API server does not have. Without a configuration, `check` does not know how the resources are rendered."""


@click.command()
@_options.inputs
@click.option("--old", metavar="OLD", help="Earlier state: a file, a folder or a git revision. Finds changes that a cluster refuses.")
@click.option("--fixed-services", is_flag=True, help="With --old: added and removed services are errors, not warnings.")
@click.option(
    "--root",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder of the build: finds the lines of the files that kustomize (originAnnotations) or kpt names.",
)
@click.option("-o", "--output", "--format", "style", type=click.Choice(_formats.names()), default="text", help="Format; text by default.")
@_options.policy
@click.pass_context
def check(  # noqa: PLR0913 - one for each option
    ctx: click.Context, *, given: Inputs, policy: Policy, old: str | None, fixed_services: bool, root: Path | None, style: str
) -> None:
    """Find mistakes in resources.

    PATH is a file, a folder or stdin (-). In a folder, *.yaml, *.yml and *.json are read; a Kustomization in it is not built. In the
    output of a build, check also finds namespaces, name prefixes and labels that a later layer changed on generated objects.

    Without a configuration, from --config or among the PATHs, rules that apply to some configurations only are warnings.

    The exit code is 0 without errors, 1 with errors, and 2 for wrong usage.

    \b
      krm-fn check graph.yaml
      krm-fn check --config render.yaml base/ overlay/graph.yaml
      krm-fn check --old main graphs/
      kustomize build --enable-alpha-plugins --enable-exec overlay | krm-fn check -o json -
    """  # noqa: D301 - click reads the backspace
    if fixed_services and old is None:
        raise click.UsageError("--fixed-services needs --old")
    before = _before(old, given.paths)
    loaded = given.load()
    weighed = _weighed([*_judged(loaded), *_changed(before, loaded)], _severities(loaded, fixed_services=fixed_services))
    located = locations.of([*loaded.results, *weighed, *(before.results if before else ())], loaded.resources, root)
    found = policy.kept(located, loaded.values)
    checked = _formats.Checked(loaded.resources, policy.shown(found), loaded.stdin, colour=_output.colours())
    _output.write(_formats.write(style, checked))
    if style == "text" and not policy.quiet:
        click.echo(f"{_count(loaded, before, old)}: {report.count(found) or 'no findings'}", err=True)
    ctx.exit(int(bool(policy.failing(found))))


def _before(old: str | None, paths: tuple[str, ...]) -> Earlier | None:
    try:
        return None if old is None else revisions.read(old, paths)
    except revisions.UnreadableError as problem:
        raise click.BadParameter(str(problem), param_hint="--old") from problem


def _judged(loaded: Sources) -> Iterator[Result]:
    """Findings about the resources as they are now, without a missing owner where a mismatch with a later layer explains it."""
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


def _severities(loaded: Sources, *, fixed_services: bool) -> dict[str, Severity]:
    """The severity of codes whose rules do not apply to everybody."""
    severities: dict[str, Severity] = {} if fixed_services else {updates.SERVICES: "warning"}
    if not loaded.configs:
        severities |= dict.fromkeys(_BY_SETTINGS, "warning")
        severities[_NO_NAMESPACE] = "info"
    return severities


def _weighed(found: Iterable[Result], severities: Mapping[str, Severity]) -> Iterator[Result]:
    for result in found:
        yield result._replace(severity=severities.get(result.code, result.severity))


def _count(loaded: Sources, before: Earlier | None, old: str | None) -> str:
    count = len(loaded.resources)
    text = f"{count} resource{'s' * (count != 1)}"
    return f"{text}, {updates.compared(before.resources, loaded.values, _home(loaded))} compared with {old}" if before else text


COMMAND = check
