"""`krm-fn check`: finds mistakes in resources and in changes, and prints no objects.

The rules are in `krm_fn.expand` (render), `krm_fn.builds` (finished builds) and `krm_fn.validation.updates` (changes).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from krm_fn import builds, expand, report
from krm_fn.cli import _formats, _options, _output
from krm_fn.files import locations, revisions, selection
from krm_fn.validation import releases, updates

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from krm_fn.cli._options import Inputs
    from krm_fn.cli._policy import Policy
    from krm_fn.files.reading import Source
    from krm_fn.files.revisions import Earlier
    from krm_fn.files.sources import Sources
    from krm_fn.results import Result, Severity

_ORPHAN = "DYN053"
_PRUNED = "DYN056"
_NO_NAMESPACE = "DYN057"
_BY_SETTINGS = ("DYN124", "DYN143", "DYN144", "DYN147", "DYN155", "DYN156", "DYN160", "DYN161", "DYN162", "DYN190", "DYN452")
"""Codes of rules that depend on the configuration of a render. Without a configuration, `check` reports them as warnings."""


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
    before = _before(old, given)
    loaded = given.load(tolerant=True)
    pairs = revisions.pairs(before, loaded.resources, loaded.home) if before else []
    severities = _severities(loaded, fixed_services=fixed_services)
    judged = [(_judged(group, loaded), group) for group in loaded.groups]
    orchestrator = loaded.config.orchestrator
    judged += [(updates.check([pair.old], [pair.new.value], loaded.home, orchestrator), [pair.new]) for pair in pairs]
    weighed = [result for each, group in judged for result in locations.of(_weighed(each, severities), group, root)]
    located = locations.of([*loaded.results, *_once(weighed), *(before.results if before else ())], loaded.resources, root)
    found = policy.kept(located, loaded.values)
    checked = _formats.Checked(loaded.resources, policy.shown(found), loaded.stdin, colour=_output.colours())
    _output.write(_formats.write(style, checked))
    if style == "text" and not policy.quiet:
        compared = f", {len(pairs)} compared with {old}" if before else ""
        click.echo(f"{_count(loaded)}{compared}: {report.count(found) or 'no findings'}{_skipped(loaded)}", err=True)
    ctx.exit(int(bool(policy.failing(found))))


def _before(old: str | None, given: Inputs) -> Earlier | None:
    with _options.reading_old():
        return None if old is None else revisions.read(old, given.paths, given.exclude)


def _judged(group: Iterable[Source], loaded: Sources) -> Iterator[Result]:
    """Findings about the resources of a group as they are now.

    Missing owners are not reported for objects that a later layer changed. Without a configuration, generated objects that a render would
    remove are not reported either, because the configuration of the build may need them.
    """
    values = [source.value for source in group]
    mismatches = list(builds.check(values))
    known = {mismatch.ref for mismatch in mismatches}
    for result in expand.expand(values, loaded.config).results:
        orphan = result.code == _ORPHAN and result.ref in known
        if not orphan and (loaded.configs or result.code != _PRUNED):
            yield result
    yield from releases.notes(values, loaded.config)
    yield from mismatches


def _once(found: Iterable[Result]) -> Iterable[Result]:
    """Each finding once. `check` judges a resource of several groups in each of them."""
    return {repr(result): result for result in found}.values()


def _severities(loaded: Sources, *, fixed_services: bool) -> dict[str, Severity]:
    """The severities of codes that depend on the options and on the configuration."""
    severities: dict[str, Severity] = {} if fixed_services else {updates.SERVICES: "warning"}
    if not loaded.configs:
        severities |= dict.fromkeys(_BY_SETTINGS, "warning")
        severities[_NO_NAMESPACE] = "info"
    return severities


def _weighed(found: Iterable[Result], severities: Mapping[str, Severity]) -> Iterator[Result]:
    for result in found:
        yield result._replace(severity=severities.get(result.code, result.severity))


def _count(loaded: Sources) -> str:
    count = len(loaded.resources)
    return f"{count} resource{'s' * (count != 1)}"


def _skipped(loaded: Sources) -> str:
    text = selection.summary(loaded.skipped)
    return f"; {text}" if text else ""


COMMAND = check
