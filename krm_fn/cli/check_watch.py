"""The option `--watch` of `krm-fn check`: the check again after each save of a file, until Ctrl-C."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import click

from krm_fn.base import report
from krm_fn.cli import command_output
from krm_fn.repository.files import reading, selection
from krm_fn.repository.tree import KPTFILE
from krm_fn.review.inputs import Inputs, revision_path

_SECONDS = 0.1
"""The time between two looks at the files, in seconds."""
_SHOWN = 3
"""The largest number of changed files in the line between two checks."""
FileStates = dict[str, tuple[int, int, int]]
"""The inode, the size and the time of the last write, in nanoseconds, of each file."""


def option(command: Callable[..., object]) -> Callable[..., object]:
    """Adds `--watch`; the command receives it as `watch`."""
    return click.option("--watch", is_flag=True, help="Check again after each save of a file, until Ctrl-C.")(command)


def require_files(given: Inputs, *, is_fixed: bool) -> None:
    """Raises click.UsageError for inputs that nobody saves, and for a check that saves files itself."""
    if is_fixed:
        raise click.UsageError("--watch and --fix do not go together; run --fix once, or watch without it")
    if any(path == reading.STDIN or revision_path(path) for path in given.paths):
        raise click.UsageError("--watch needs files and folders, not stdin or a revision")


class Run(NamedTuple):
    """The exit code of a check, and the files that it read."""

    code: int
    files: frozenset[str]


def repeat(check: Callable[[], Run], given: Inputs) -> int:
    """Runs a check now and after each change of its files, and returns the exit code of the last run after Ctrl-C.

    The files are those of the paths, and those beside the files that the last run read: a base can be outside of the paths.
    """
    run = Run(0, frozenset())
    try:
        while True:
            before = _states(given, run.files)
            run = check()
            changed = _wait(given, run.files, {**_states(given, run.files), **before})
            names = report.list_first([report.visible(name) for name in changed], _SHOWN)
            command_output.print_line(f"--- changed: {names}", err=True)
    except KeyboardInterrupt:
        return run.code


def _wait(given: Inputs, read: Iterable[str], before: FileStates) -> list[str]:
    """Waits until files differ from their states before the check, and returns their names."""
    while True:
        states = _states(given, read)
        changed = [name for name in sorted({**before, **states}) if states.get(name) != before.get(name)]
        if changed:
            return changed
        pause()


def pause() -> None:
    """Waits until the next look at the files."""
    time.sleep(_SECONDS)


def _states(given: Inputs, read: Iterable[str]) -> FileStates:
    beside = {os.path.dirname(name) for name in read}  # noqa: PTH120 - ten times faster, ten times a second
    names = {*_watched_files(given), *(os.path.join(folder, name) for folder in beside for name in _list_folder(folder) if _is_read(name))}  # noqa: PTH118
    return {name: state for name in map(os.path.normpath, names) if (state := _state(name))}


def _list_folder(folder: str) -> list[str]:
    try:
        return os.listdir(folder or ".")  # noqa: PTH208 - as above
    except OSError:
        return []


def _is_read(name: str) -> bool:
    return selection.is_read(name) or name == KPTFILE


def _watched_files(given: Inputs) -> Iterator[str]:
    """Yields the files of the paths, and the configuration."""
    yield from filter(None, (given.config, given.default_config))
    for path in given.paths:
        if not Path(path).is_dir():
            yield path
        for folder, folders, files in os.walk(path):
            folders[:] = [name for name in folders if selection.is_read(name, folder=True)]
            yield from (os.path.join(folder, name) for name in files if _is_read(name))  # noqa: PTH118 - as above


def _state(name: str) -> tuple[int, int, int] | None:
    try:
        status = Path(name).stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns
