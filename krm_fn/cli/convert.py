"""`krm-fn convert`: Dynamo resources in another version of the API, on stdout or in their files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import click

from krm_fn import report, results
from krm_fn.cli import _formats, _native, _options, _output
from krm_fn.config import Config
from krm_fn.convert import findings, native, older_forms, versions
from krm_fn.files import listing, locations, reading, rewriting, sources
from krm_fn.files.rewriting import Change
from krm_fn.resolve import cluster
from krm_fn.schema import check

if TYPE_CHECKING:
    from krm_fn.cli._options import Inputs
    from krm_fn.cli._policy import Policy
    from krm_fn.convert.older_forms import Images
    from krm_fn.files.reading import File, Source
    from krm_fn.kube.types import Resource
    from krm_fn.results import Result

_MISSING = "DYN022"  # a patch of an overlay has some fields of a resource only


class _Wanted(NamedTuple):
    """What to convert to, and what the conversion of one resource needs to know of the other resources."""

    version: str
    native: bool
    config: Config
    images: Images


@click.command()
@click.option(
    "--to",
    "version",
    type=click.Choice((versions.V1ALPHA1, versions.V1BETA1)),
    default=versions.V1BETA1,
    help="The version to write; v1beta1 by default.",
)
@click.option("-w", "--write", "in_place", is_flag=True, help="Rewrite the files, instead of printing them.")
@click.option("--native", "as_native", is_flag=True, help="Keep nothing in annotations: write claims and Ingresses as resources.")
@_options.inputs
@_options.policy
@click.pass_context
def convert(  # noqa: PLR0913 - one for each option
    ctx: click.Context, *, given: Inputs, policy: Policy, version: str, in_place: bool, as_native: bool
) -> None:
    """Rewrite Dynamo resources in another version of the API.

    PATH is a file, a folder or stdin (-). In a folder, *.yaml, *.yml and *.json are read. Graphs, components, adapters and requests of the
    other version are converted. All other documents, and the comments outside of converted documents, stay as they are.

    What the new version has no field for goes into an annotation, as the operator keeps it, so that a conversion back restores it.
    With --native, claims and Ingresses become resources of their own, labels and annotations of services go into pod templates, and a
    warning names every other field.

    Findings go to stderr. With an error, nothing is printed or written, and the exit code is 1.

    \b
      krm-fn convert graph.yaml
      krm-fn convert -w graphs/
      krm-fn convert --to v1alpha1 --native -w graph.yaml
    """  # noqa: D301 - click reads the backspace
    if in_place and reading.STDIN in given.paths:
        raise click.UsageError("--write needs files; leave it out to print what stdin becomes")
    files, found = _read(given)
    config, wrong = sources.configuration(given.config) if given.config else (Config(), [])
    if given.namespace:
        config = config._replace(namespace=given.namespace)
    listed = [source for _, file in files for source in file.sources if isinstance(source.value, dict)]
    images, _ = older_forms.images([source.value for source in listed], config.namespace or cluster.NAMESPACE)
    wanted = _Wanted(version, as_native, config, images)
    done = [(path, file, [_changed(source, wanted) for source in file.sources]) for path, file in files]
    located = locations.located([(source, each) for _, file, made in done for source, (_, about) in _pairs(file, made) for each in about])
    kept = policy.kept([*found, *wrong, *located], [source.value for source in listed])
    shown = _formats.Checked(listed, policy.shown(sorted(kept, key=results.order)), colour=_output.colours(err=True))
    _output.write(_formats.write("text", shown), err=True)
    if failing := policy.failing(kept):
        click.echo(f"nothing is converted: {report.count(failing)}", err=True)
        ctx.exit(1)
    changed = [(path, file, [change for change, _ in made if change]) for path, file, made in done]
    texts = [(path, rewriting.rewritten(file.text, changes), len(changes)) for path, file, changes in changed]
    if in_place:
        _save(texts, quiet=policy.quiet)
    else:
        _output.write(rewriting.joined(text for _, text, _ in texts))


def _read(given: Inputs) -> tuple[list[tuple[str, File]], list[Result]]:
    """The files with their paths, and the findings about them. A link that leads out of a folder is left out."""
    files = [(each.path, reading.read(each.path)) for each in listing.listed(given.paths, None, given.exclude).files if not each.leads_out]
    return files, [result for _, file in files for result in file.results]


def _pairs(file: File, made: list[Any]) -> list[tuple[Source, Any]]:
    return [*zip(file.sources, made, strict=True)]


def _changed(source: Source, wanted: _Wanted) -> tuple[Change | None, list[Result]]:
    """The change of one resource, None if it stays as it is, and the findings about it."""
    if not isinstance(source.value, dict) or versions.to(wanted.version, source.value) is source.value:
        return None, []
    resource, deprecated = older_forms.convert(source.value, wanted.images)
    found = [each for each in deprecated if each.severity == "error"]  # the others say what the command writes anyway
    errors = [each for each in check.resource(resource, unknown="warning") if each.severity == "error" and each.code != _MISSING]
    if errors or found:
        return None, [*found, *errors]
    converted, about = _converted(resource, wanted)
    return Change(source, converted), [*found, *about]


def _converted(resource: Resource, wanted: _Wanted) -> tuple[list[Resource], list[Result]]:
    """The resources that take the place of one, and the findings about the conversion."""
    if not wanted.native:
        converted = versions.to(wanted.version, resource)
        return [converted], findings.of_conversion(resource, wanted.version, converted)
    converted, missing = native.to(wanted.version, resource)
    made = _native.make(resource, wanted.config) if wanted.version == versions.V1BETA1 else _native.Made([], [])
    return [converted, *made.objects], findings.of_native_conversion(resource, wanted.version, converted, [*missing, *made.missing])


def _save(texts: list[tuple[str, str, int]], *, quiet: bool) -> None:
    """Writes the files that changed. Raises click.ClickException if one cannot be written."""
    changed = [(path, text, number) for path, text, number in texts if number]
    for path, text, _ in changed:
        try:
            rewriting.save(path, text)
        except OSError as problem:
            raise click.ClickException(f"cannot write {path}: {problem.strerror}") from problem
    if not quiet:
        number = sum(number for _, _, number in changed)
        said = f"{_counted(number, 'resource')} in {_counted(len(changed), 'file')}" if number else "no resource needs it"
        click.echo(f"converted: {said}", err=True)


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


COMMAND = convert
