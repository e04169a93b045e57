"""The option `--build`: the states that a build prints, in temporary copies of the old state and of the working tree."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import click

from krm_fn import report, results
from krm_fn.cli import compared_states
from krm_fn.cli.command_options import Inputs
from krm_fn.cli.compared_states import LoadedState, StoppedError
from krm_fn.files import checkouts, commands, reading, sources
from krm_fn.files.reading import File
from krm_fn.files.repository import RepositoryError
from krm_fn.review.diff import rendered_state

_OUTPUT = "<build>"
"""The name of the output in findings and origins."""


class BuildCommand(NamedTuple):
    """A command with its words, and the seconds after which it is killed."""

    text: str
    words: list[str]
    seconds: int


def read(text: str, seconds: int) -> BuildCommand:
    """Reads the option. Raises click.BadParameter for a text that is not a command."""
    try:
        return BuildCommand(text, commands.split(text), seconds)
    except ValueError as problem:
        raise click.BadParameter(f"{problem}; name a program and its arguments.", param_hint="--build") from problem


def build_states(build: BuildCommand, old: str | None, given: Inputs) -> tuple[LoadedState, LoadedState | None]:
    """Returns the new state, and the old state if it is named. Raises StoppedError if a build fails, or if its output cannot be used."""
    if len(given.paths) != 1 or not Path(given.paths[0]).is_dir():
        raise click.UsageError("--build takes one PATH: the folder in which the command runs")
    old_output = None
    try:
        with checkouts.opened(old, Path(given.paths[0])) as copies:
            if old is not None:
                with copies.old_state() as folder:
                    old_output = _run(build, folder, old)
            with copies.working_tree() as folder:
                output = _run(build, folder, "the working tree")
    except RepositoryError as problem:
        raise click.BadParameter(str(problem), param_hint="--old") from problem
    config = reading.read(given.config) if given.config else File("", [], [])
    namespace = given.namespace or ""
    files = sources.from_files([output], config.sources, namespace=namespace)
    rendered = rendered_state.render(files.values, files.config, files.settings_value, files.results)
    new_state = LoadedState("the working tree", rendered, files, [*config.results, *files.located(rendered.findings)])
    if old_output is None or old is None:
        return new_state, None
    named, default = ([], files.settings) if Path(old).is_dir() else sources.old_configuration(old, given.config, files.settings)
    return new_state, compared_states.render_old(old, sources.from_files([old_output], named, default, namespace=namespace))


def _run(build: BuildCommand, folder: Path, state: str) -> File:
    """Returns the output of the build.

    Paths of the copy are relative in its messages, because the copy is removed before a user reads them.
    """
    process = commands.run(build.words, folder, build.seconds)
    messages = "".join(f"{report.visible(line)}\n" for line in process.messages.replace(str(folder), ".").splitlines())
    if process.slow:
        message = f"the build of {state} {process.problem}; repair `{build.text}`, or allow more with --build-timeout"
        raise StoppedError([results.error("DYN518", message)], messages)
    if process.problem:
        message = f"the build of {state} {process.problem}; repair `{build.text}`"
        raise StoppedError([results.error("DYN516", message)], messages)
    file = reading.parse(process.data, _OUTPUT)
    error = next((finding for finding in file.results if finding.severity == "error"), None)
    problem = f"is not YAML ({error.code}: {error.message})" if error else "has no resource"
    if error or not any(source.address.kind for source in file.sources):
        message = f"the output of the build of {state} {problem}; let `{build.text}` print resources"
        raise StoppedError([results.error("DYN517", message)], messages)
    return file._replace(names_dynamo=True)
