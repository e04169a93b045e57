"""`krm-fn images`: the images that pods need, from the list to the mirror. The rules are in `krm_fn.review.images`."""

from __future__ import annotations

import difflib
from pathlib import Path

import click

from krm_fn.base import report, results
from krm_fn.cli import command_options, command_output, finding_formats
from krm_fn.origins.origin import FieldLocation
from krm_fn.repository.files import reading
from krm_fn.review.images import image_lock, image_references
from krm_fn.review.images.image_formats import FORMATS, ImageList
from krm_fn.review.images.image_uses import ImageUse
from krm_fn.review.inputs import Inputs, Policy, image_inputs, path_inputs


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
@command_options.build_root("Uses then show the lines of the files that kustomize (originAnnotations) or kpt names.")
@command_options.report_format(FORMATS)
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
    uses_by_part = [image_inputs.uses(part) for part in inputs.roots]
    uses = [use for part_uses in uses_by_part for use in part_uses]
    about = [*inputs.results, *(finding for part in inputs.roots for finding in part.errors(root))]
    digests, problems, new_lock = image_inputs.find_digests(uses, lock_file, resolve, is_complete=not results.has_errors(about))
    if lock_file and new_lock:
        _save(lock_file, new_lock)
    about_images = [*image_references.invalid(uses), *(image_references.conflicts(uses, digests) if style == "kustomize" else ())]
    about_images += image_lock.warn_of_unpinned(uses, digests) if image_format.fills_mirror else ()
    resources = inputs.resources
    located = [*about, *reading.locate([*about_images, *problems], resources, root)]
    findings = policy.without_ignored(located, [source.value for source in resources])
    finding_formats.print_text(resources, policy.visible_findings(findings), inputs.stdin)
    for line in () if policy.quiet else inputs.lines:
        command_output.print_line(line, err=True)
    failing = policy.failing(findings)
    if failing and image_format.needs_all:
        command_output.print_line(f"no list is printed, because it would not be complete: {report.count(failing)}", err=True)
    else:
        parts = zip(inputs.parts, uses_by_part, strict=True)
        located_uses = [use for part, part_uses in parts for use in image_inputs.locate_uses(part_uses, part, root)]
        shown_uses = located_uses if why is None else _uses_of(why, located_uses)
        command_output.write(image_format.write(ImageList(shown_uses, digests, findings)), style)
    ctx.exit(int(bool(failing)))


def _command(command: str | None) -> list[str] | None:
    try:
        return None if command is None else image_inputs.words(command)
    except ValueError as problem:
        raise click.BadParameter(str(problem)) from problem


def _save(file: str, text: str) -> None:
    """Writes a lock. Raises click.ClickException if the file cannot be written."""
    try:
        Path(file).write_text(text, encoding="utf-8", newline="\n")
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


TOPIC = "review"
COMMAND = images
