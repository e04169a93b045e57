"""`krm-fn images`: the images that pods need, from the list to the mirror. The rules are in `krm_fn.review.images`."""

from __future__ import annotations

import difflib
import shlex
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from krm_fn.base import report, results
from krm_fn.base.results import Result
from krm_fn.cli import author_locations, command_options, command_output, finding_formats
from krm_fn.origins.field_authors import FieldLocation
from krm_fn.render import expand
from krm_fn.repository.files import reading
from krm_fn.repository.files.sources import Sources
from krm_fn.review.images import image_lock, image_references, image_uses
from krm_fn.review.images.image_formats import FORMATS, ImageList
from krm_fn.review.images.image_lock import ImageLock
from krm_fn.review.images.image_uses import ImageUse
from krm_fn.review.inputs import Inputs, Policy, path_inputs
from krm_fn.review.inputs.path_inputs import LoadedRoots, PathPart

_IMAGE = "{}"
"""The word of a command that is replaced by the image."""

_SECONDS = 300
_SHOWN = 500  # characters of the output of a failing command


@click.command()
@command_options.inputs
@click.option(
    "--lock",
    "lock_file",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="The file with the digests of images. An image without a digest in it is an error.",
)
@click.option(
    "--resolve",
    metavar="CMD",
    callback=lambda _context, _option, command: _command(command),
    help="The command that finds a digest, for example 'crane digest {}'.",
)
@click.option("--why", metavar="IMAGE", help="Show only the uses of this image.")
@click.option(
    "--root",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The root folder of the build. Uses then show the lines of the files that kustomize (originAnnotations) or kpt names.",
)
@click.option("-o", "--output", "--format", "style", type=click.Choice([*FORMATS]), default="text", help="The format. The default is text.")
@command_options.policy
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

    {paths}

    The list has the images of containers, init containers and image volumes, in rendered objects and in other workload objects of the
    PATHs. For each use, the list shows the object and the line that sets the image.

    With --lock, an image without a digest in FILE is an error. With --resolve, krm-fn runs CMD for each image without a digest. It
    replaces {} in CMD by the image, starts no shell, and reads the digest from stdout. With both options, krm-fn writes new digests into
    FILE.

    The format kustomize pins images to their digests. The formats hauler and zarf list images for a mirror. With an error, krm-fn does not
    print these three formats.

    Exit codes: 0 no errors; 1 errors; 2 wrong usage.

    \b
      krm-fn images graphs/
      krm-fn images --why python:3.12-slim graphs/
      krm-fn images --lock images.lock --resolve 'crane digest {}' graphs/
      krm-fn images --lock images.lock --format kustomize graphs/ > images.yaml
    """  # noqa: D301 - click reads the backspace
    if style == "kustomize" and not lock_file and not resolve:
        raise click.UsageError("the format kustomize needs digests, from --lock or --resolve")
    image_format = FORMATS[style]
    inputs = path_inputs.load(given._replace(is_built=given.is_built and root is None))
    uses_by_part = [_uses(root) for root in inputs.roots]
    uses = [use for part_uses in uses_by_part for use in part_uses]
    about = _errors(inputs, root)
    digests, problems = _digests(uses, lock_file, resolve, is_complete=not results.failed(about))
    about_images = [*image_references.invalid(uses), *(image_references.conflicts(uses, digests) if style == "kustomize" else ())]
    about_images += image_lock.unpinned(uses, digests) if image_format.fills_mirror else ()
    resources = inputs.resources
    located = [*about, *reading.locate([*about_images, *problems], resources, root)]
    findings = policy.without_ignored(located, [source.value for source in resources])
    finding_formats.print_text(resources, policy.shown(findings), inputs.stdin)
    for line in () if policy.quiet else inputs.lines:
        command_output.print_line(line, err=True)
    failing = policy.failing(findings)
    if failing and image_format.needs_all:
        command_output.print_line(f"no list is printed, because it would not be complete: {report.count(failing)}", err=True)
    else:
        located_uses = [use for part, part_uses in zip(inputs.parts, uses_by_part, strict=True) for use in _located(part_uses, part, root)]
        shown_uses = located_uses if why is None else _uses_of(why, located_uses)
        command_output.write(image_format.write(ImageList(shown_uses, digests, findings)), style)
    ctx.exit(int(bool(failing)))


def _uses(root: PathPart) -> list[ImageUse]:
    """Returns the uses of images in a part. A build is rendered again with the settings that are on its graphs."""
    uses = []
    for render in root.renders():
        generated = [source.value for source in render.generated or ()]
        uses += image_uses.uses([*render.sources.values, *generated], render.sources.config)
    return list(dict.fromkeys(uses))


def _errors(inputs: LoadedRoots, root: Path | None) -> list[Result]:
    """The findings about the files, and the errors of the renders, with their locations."""
    findings = list(inputs.results)
    for part in inputs.roots:
        renders = [expand.expand(render.sources.values, render.sources.config) for render in part.renders()]
        errors = [finding for render in renders for finding in render.results if finding.severity == "error"]
        findings += reading.locate([*part.sources.results, *errors], part.sources.resources, root)
    return findings


def _command(command: str | None) -> list[str] | None:
    try:
        return None if command is None else _words(command)
    except ValueError as problem:
        raise click.BadParameter(str(problem)) from problem


def _digests(
    uses: list[ImageUse], file: str | None, command: list[str] | None, *, is_complete: bool
) -> tuple[dict[str, str], list[Result]]:
    """The digests of the images, and the findings about the lock. New digests are written only if the list of images is complete."""
    locked = _read_lock(file) if file else image_lock.ImageLock({}, [])
    if results.failed(locked.results):
        return {}, locked.results
    images = image_lock.wanted(uses)
    digests = image_lock.only(locked.digests, images)
    problems: list[Result] = []
    if command:
        new, problems = _resolve(command, [image for image in images if image not in digests])
        digests |= new
        if file and is_complete and digests != locked.digests:
            _save(file, digests)
    elif file:
        problems = list(image_lock.missing(uses, digests, file))
    return digests, problems


def _save(file: str, digests: dict[str, str]) -> None:
    """Writes a lock. Raises click.ClickException if the file cannot be written."""
    try:
        Path(file).write_text(image_lock.text(digests), encoding="utf-8", newline="\n")
    except OSError as problem:
        raise click.ClickException(f"cannot write {file}: {problem.strerror}") from problem


def _uses_of(image: str, uses: list[tuple[ImageUse, FieldLocation]]) -> list[tuple[ImageUse, FieldLocation]]:
    """The uses of one image. Raises click.BadParameter with the nearest image if no pod needs it."""
    matches = [(use, location) for use, location in uses if use.image == image]
    if not matches:
        near = difflib.get_close_matches(image, sorted({use.image for use, _ in uses}), n=1, cutoff=0.0)
        hint = f"; did you mean {report.printable(near[0])}?" if near else ""
        raise click.BadParameter(f"no pod needs {report.printable(image)}{hint}", param_hint="--why")
    return matches


def _words(command: str) -> list[str]:
    """Splits a command into words. Raises ValueError if its quotes are not closed, or if no word contains `{}`."""
    words = shlex.split(command)
    if not any(_IMAGE in word for word in words):
        raise ValueError(f"the command has no {_IMAGE}, which stands for the image")
    return words


def _resolve(command: list[str], images: Iterable[str]) -> tuple[dict[str, str], list[Result]]:
    """Runs the command once for each image, without a shell. Returns the digests, and an error for each image without one.

    The images must be valid references: these begin with a letter or a digit, so no program reads one as an option.
    """
    digests: dict[str, str] = {}
    findings: list[Result] = []
    for image in images:
        try:
            digests[image] = _digest([word.replace(_IMAGE, image) for word in command])
        except ValueError as problem:
            message = f"the digest of {image} was not found: {problem}; correct --resolve, or the image"
            findings.append(results.error("DYN559", message))
    return digests, findings


def _digest(command: list[str]) -> str:
    """Runs a command and reads the digest from its output. Raises ValueError if it fails or prints anything else."""
    try:
        process = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, check=False, timeout=_SECONDS)
    except subprocess.TimeoutExpired as problem:
        raise ValueError(f"{command[0]} did not finish within {_SECONDS} seconds") from problem
    except OSError as problem:
        raise ValueError(f"{command[0]} cannot be run: {problem.strerror}") from problem
    if process.returncode:
        raise ValueError(f"{command[0]} ended with code {process.returncode}: {_shown(process.stderr)}")
    digest = process.stdout.decode(errors="replace").strip()
    if not image_references.DIGEST.fullmatch(digest):
        raise ValueError(f"{command[0]} printed no digest but {_shown(process.stdout)!r}")
    return digest


def _shown(output: bytes) -> str:
    return report.printable(output.decode(errors="replace"))[:_SHOWN]


def _read_lock(path: str) -> ImageLock:
    """Reads the lock from a file; it has no digests if the file is missing. Never raises: a file that cannot be read is a finding."""
    if not Path(path).exists():
        return image_lock.ImageLock({}, [])
    file = reading.read(path)
    if results.failed(file.results):
        return image_lock.ImageLock({}, file.results)
    return image_lock.read(file.sources[0].value if file.sources else None, path)


def _located(uses: Sequence[ImageUse], loaded: Sources, root: Path | None) -> list[tuple[ImageUse, FieldLocation]]:
    """The uses with the locations of the fields that name their images, in the same order."""
    locations = author_locations.find((use.author for use in uses), loaded, root)
    return [(use, locations[use.author]) for use in uses]


COMMAND = images
