"""Loads what `krm-fn images` lists: the images of each part, with their lines, and their digests, from the lock or from a command.

The rules are in `krm_fn.review.images`.
"""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from krm_fn.base import codes, report, results
from krm_fn.base.results import Result
from krm_fn.origins.origin import FieldLocation
from krm_fn.repository.files import reading
from krm_fn.repository.files.sources import Sources
from krm_fn.review.images import image_lock, image_references, image_uses
from krm_fn.review.images.image_lock import ImageLock
from krm_fn.review.images.image_uses import ImageUse
from krm_fn.review.inputs import origin_locations
from krm_fn.review.inputs.path_inputs import PathPart

_IMAGE = "{}"
"""The word of a command that is replaced by the image."""

_SECONDS = 300
_SHOWN = 500  # characters of the output of a failing command


class ImageDigests(NamedTuple):
    """The digests of the images, and the findings about the lock. `new_lock` is the text to write into the lock; empty for none."""

    digests: dict[str, str]
    results: list[Result]
    new_lock: str = ""


def uses(part: PathPart) -> list[ImageUse]:
    """Returns the uses of images in a part. A build is rendered again with the settings that are on its graphs."""
    found = []
    for render in part.renders():
        generated = [source.value for source in render.generated or ()]
        found += image_uses.uses([*render.sources.values, *generated], render.sources.config)
    return list(dict.fromkeys(found))


def locate_uses(uses: Sequence[ImageUse], loaded: Sources, root: Path | None) -> list[tuple[ImageUse, FieldLocation]]:
    """Returns the uses with the locations of the fields that name their images, in the same order. `root` is the root folder of a build."""
    locations = origin_locations.of_authors((use.author for use in uses), loaded, root)
    return [(use, locations[use.author]) for use in uses]


def find_digests(uses: Sequence[ImageUse], file: str | None, command: Sequence[str] | None, *, is_complete: bool) -> ImageDigests:
    """Returns the digests of all images. `file` is the path of the lock, and `command` finds the digests that the lock does not have.

    A lock gets new digests only if the list of images `is_complete`.
    """
    locked = _read_lock(file) if file else ImageLock({}, [])
    if results.has_errors(locked.results):
        return ImageDigests({}, locked.results)
    images = image_lock.images_without_digest(uses)
    digests = image_lock.only(locked.digests, images)
    if not command:
        return ImageDigests(digests, list(image_lock.missing(uses, digests, file)) if file else [])
    new, problems = _resolve(command, [image for image in images if image not in digests])
    digests |= new
    is_new = bool(file) and is_complete and digests != locked.digests
    return ImageDigests(digests, problems, image_lock.text(digests) if is_new else "")


def _read_lock(path: str) -> ImageLock:
    """Reads the lock from a file; it has no digests if the file is missing. Never raises: a file that cannot be read is a finding."""
    if not Path(path).exists():
        return ImageLock({}, [])
    file = reading.read(path)
    if results.has_errors(file.results):
        return ImageLock({}, file.results)
    return image_lock.read(file.sources[0].value if file.sources else None, path)


def words(command: str) -> list[str]:
    """Splits a command into words. Raises ValueError if its quotes are not closed, or if no word contains `{}`."""
    listed = shlex.split(command)
    if not any(_IMAGE in word for word in listed):
        raise ValueError(f"the command has no {_IMAGE}, which stands for the image")
    return listed


def _resolve(command: Sequence[str], images: Iterable[str]) -> tuple[dict[str, str], list[Result]]:
    """Runs the command once for each image, without a shell. Returns the digests, and an error for each image without one.

    The images must be valid references: these begin with a letter or a digit, so no program reads one as an option.
    """
    digests: dict[str, str] = {}
    findings: list[Result] = []
    for image in images:
        try:
            digests[image] = _run([word.replace(_IMAGE, image) for word in command])
        except ValueError as problem:
            message = f"the digest of {image} was not found: {problem}; correct --resolve, or the image"
            findings.append(results.error(codes.DIGEST_NOT_FOUND, message))
    return digests, findings


def _run(command: list[str]) -> str:
    """Runs a command and reads the digest from its output. Raises ValueError if it fails or prints anything else."""
    try:
        process = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, check=False, timeout=_SECONDS)
    except subprocess.TimeoutExpired as problem:
        raise ValueError(f"{command[0]} did not finish within {_SECONDS} seconds") from problem
    except OSError as problem:
        raise ValueError(f"{command[0]} cannot be run: {problem.strerror}") from problem
    if process.returncode:
        raise ValueError(f"{command[0]} ended with code {process.returncode}: {_show_output(process.stderr)}")
    digest = process.stdout.decode(errors="replace").strip()
    if not image_references.DIGEST.fullmatch(digest):
        raise ValueError(f"{command[0]} printed no digest but {_show_output(process.stdout)!r}")
    return digest


def _show_output(output: bytes) -> str:
    return report.printable(output.decode(errors="replace"))[:_SHOWN]
