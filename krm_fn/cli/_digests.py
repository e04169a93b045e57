"""Finds the digests of images with a command of the user, and reads and writes the lock."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from krm_fn import report, results
from krm_fn.files import reading
from krm_fn.review.images import lock, reference

if TYPE_CHECKING:
    from collections.abc import Iterable

    from krm_fn.results import Result
    from krm_fn.review.images.lock import Lock

IMAGE = "{}"
"""Stands for the image in the words of a command."""

_SECONDS = 300
_SHOWN = 500  # characters of what a failing command says


def words(command: str) -> list[str]:
    """The words of a command. Raises ValueError if its quotes are not closed, or if no word has a place for the image."""
    found = shlex.split(command)
    if not any(IMAGE in word for word in found):
        raise ValueError(f"the command has no {IMAGE}, which stands for the image")
    return found


def resolve(command: list[str], images: Iterable[str]) -> tuple[dict[str, str], list[Result]]:
    """Runs the command once for each image, without a shell. Returns the digests, and an error for each image without one.

    The images must be valid references: these begin with a letter or a digit, so no program reads one as an option.
    """
    digests: dict[str, str] = {}
    found: list[Result] = []
    for image in images:
        try:
            digests[image] = _digest([word.replace(IMAGE, image) for word in command])
        except ValueError as problem:
            message = f"the digest of {image} was not found: {problem}; correct --resolve, or the image"
            found.append(results.error("DYN559", message))
    return digests, found


def _digest(command: list[str]) -> str:
    """The digest that a command prints. Raises ValueError if it fails or prints anything else."""
    try:
        done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, check=False, timeout=_SECONDS)
    except subprocess.TimeoutExpired as problem:
        raise ValueError(f"{command[0]} did not end in {_SECONDS} seconds") from problem
    except OSError as problem:
        raise ValueError(f"{command[0]} cannot be run: {problem.strerror}") from problem
    if done.returncode:
        raise ValueError(f"{command[0]} ended with code {done.returncode}: {_shown(done.stderr)}")
    digest = done.stdout.decode(errors="replace").strip()
    if not reference.DIGEST.fullmatch(digest):
        raise ValueError(f"{command[0]} printed no digest but {_shown(done.stdout)!r}")
    return digest


def _shown(output: bytes) -> str:
    return report.printable(output.decode(errors="replace"))[:_SHOWN]


def read(path: str) -> Lock:
    """The lock in a file, without digests if the file is missing. Never raises: a file that cannot be read is a finding."""
    if not Path(path).exists():
        return lock.Lock({}, [])
    file = reading.read(path)
    if results.failed(file.results):
        return lock.Lock({}, file.results)
    return lock.read(file.sources[0].value if file.sources else None, path)


def write(path: str, digests: dict[str, str]) -> None:
    """Writes a lock. Raises OSError."""
    Path(path).write_text(lock.text(digests), encoding="utf-8", newline="\n")
