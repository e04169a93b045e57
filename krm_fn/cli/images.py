"""`krm-fn images`: the images that pods need, from the list to the mirror. The rules are in `krm_fn.review.images`."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import TYPE_CHECKING

import click

from krm_fn import expand, report, results
from krm_fn.cli import _digests, _formats, _image_places, _options, _output
from krm_fn.files import locations
from krm_fn.review.images import formats, found, lock, pins
from krm_fn.review.images.formats import Listing

if TYPE_CHECKING:
    from krm_fn.cli._options import Inputs
    from krm_fn.cli._policy import Policy
    from krm_fn.results import Result
    from krm_fn.review.images import Use


@click.command()
@_options.inputs
@click.option(
    "--lock", "lock_file", metavar="FILE", type=click.Path(dir_okay=False), help="The digests of images; finds images without one."
)
@click.option("--resolve", metavar="CMD", callback=lambda *given: _command(given[2]), help="Finds a digest, such as 'crane digest {}'.")
@click.option("--why", metavar="IMAGE", help="Only the uses of this image.")
@click.option(
    "--root", metavar="DIR", type=click.Path(exists=True, file_okay=False, path_type=Path), help="The folder of the build, as in check."
)
@click.option("-o", "--output", "--format", "style", type=click.Choice(formats.names()), default="text", help="Format; text by default.")
@_options.policy
@click.pass_context
def images(  # noqa: PLR0913 - one for each option
    ctx: click.Context,
    *,
    given: Inputs,
    policy: Policy,
    lock_file: str | None,
    resolve: list[str] | None,
    why: str | None,
    root: Path | None,
    style: str,
) -> None:
    """List the images that pods need.

    PATH is a file, a folder or stdin (-). The list has every image of containers, init containers and image volumes: of the objects that a
    render of the PATHs writes, and of other workload objects in the PATHs. Each use has its object and the line that names the image.

    With --lock, an image without a digest in FILE is an error. With --resolve, CMD finds the missing digests: {} in CMD stands for the
    image, CMD prints the digest, and no shell runs CMD. Together they write the new digests into FILE.

    The format kustomize pins images by their digests; hauler and zarf copy them into a mirror. With an error, these three are not printed.

    \b
      krm-fn images graphs/
      krm-fn images --why python:3.12-slim graphs/
      krm-fn images --lock images.lock --resolve 'crane digest {}' graphs/
      krm-fn images --lock images.lock --format kustomize graphs/ > images.yaml
    """  # noqa: D301 - click reads the backspace
    if style == "kustomize" and not lock_file and not resolve:
        raise click.UsageError("the format kustomize needs digests, from --lock or --resolve")
    loaded = given.load()
    uses = found.uses(loaded.values, loaded.config)
    expansion = expand.expand(loaded.values, loaded.config)
    about = [each for each in expansion.results if each.severity == "error"]
    known, problems = _known(uses, lock_file, resolve, sound=not results.failed([*loaded.results, *about]))
    about += [*lock.invalid(uses), *(pins.conflicts(uses, known) if style == "kustomize" else ())]
    about += lock.unpinned(uses, known) if formats.fills_mirror(style) else ()
    located = locations.of([*loaded.results, *about, *problems], loaded.resources, root)
    kept = policy.kept(located, loaded.values)
    shown = _formats.Checked(loaded.resources, policy.shown(kept), loaded.stdin, colour=_output.colours(err=True))
    _output.write(_formats.write("text", shown), err=True)
    failing = policy.failing(kept)
    if failing and formats.needs_all(style):
        click.echo(f"no list is printed, because it would not be complete: {report.count(failing)}", err=True)
    else:
        wanted = uses if why is None else _uses_of(why, uses)
        _output.write(formats.write(style, Listing(_image_places.of(wanted, loaded, root), known, kept)))
    ctx.exit(int(bool(failing)))


def _command(given: str | None) -> list[str] | None:
    try:
        return None if given is None else _digests.words(given)
    except ValueError as problem:
        raise click.BadParameter(str(problem)) from problem


def _known(uses: list[Use], file: str | None, command: list[str] | None, *, sound: bool) -> tuple[dict[str, str], list[Result]]:
    """The digests of the images, and the findings about the lock. New digests are written only if the list of images is `sound`."""
    locked = _digests.read(file) if file else lock.Lock({}, [])
    if results.failed(locked.results):
        return {}, locked.results
    wanted = lock.wanted(uses)
    known = lock.kept(locked.digests, wanted)
    problems: list[Result] = []
    if command:
        new, problems = _digests.resolve(command, [image for image in wanted if image not in known])
        known |= new
        if file and sound and known != locked.digests:
            _save(file, known)
    elif file:
        problems = list(lock.missing(uses, known, file))
    return known, problems


def _save(file: str, known: dict[str, str]) -> None:
    try:
        _digests.write(file, known)
    except OSError as problem:
        raise click.ClickException(f"cannot write {file}: {problem.strerror}") from problem


def _uses_of(image: str, uses: list[Use]) -> list[Use]:
    """The uses of one image. Raises click.BadParameter with the nearest image if no pod needs it."""
    wanted = [use for use in uses if use.image == image]
    if not wanted:
        near = difflib.get_close_matches(image, sorted({use.image for use in uses}), n=1, cutoff=0.0)
        hint = f"; did you mean {report.printable(near[0])}?" if near else ""
        raise click.BadParameter(f"no pod needs {report.printable(image)}{hint}", param_hint="--why")
    return wanted


COMMAND = images
