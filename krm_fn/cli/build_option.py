"""The option `--build`: the states that a build prints, in temporary copies of the old state and of the working tree."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from krm_fn import report, results
from krm_fn.cli import compared_states
from krm_fn.cli.compared_states import StoppedError
from krm_fn.files import checkouts, commands, reading, sources
from krm_fn.files.reading import File
from krm_fn.files.repository import RepositoryError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from krm_fn.cli.command_options import Inputs
    from krm_fn.cli.compared_states import State
    from krm_fn.files.reading import Source


_OUTPUT = "<build>"
"""The name of the output in findings and origins."""


class BuildCommand(NamedTuple):
    """A command with its words, and the seconds after which it is ended."""

    text: str
    words: list[str]
    seconds: int


def read(text: str, seconds: int) -> BuildCommand:
    """Reads the option. Raises click.BadParameter for a text that is no command."""
    try:
        return BuildCommand(text, commands.split(text), seconds)
    except ValueError as problem:
        raise click.BadParameter(f"{problem}; name a program and its arguments.", param_hint="--build") from problem


def build_states(build: BuildCommand, old: str | None, given: Inputs) -> tuple[State, State | None]:
    """The new state, and the old one if it is named. Raises StoppedError if a build fails, or if its output cannot be used."""
    if len(given.paths) != 1 or not Path(given.paths[0]).is_dir():
        raise click.UsageError("--build takes one PATH: the folder in which the command runs")
    before = None
    try:
        with checkouts.opened(old, Path(given.paths[0])) as copies:
            if old is not None:
                with copies.before() as folder:
                    before = _run(build, folder, old)
            with copies.after() as folder:
                after = _run(build, folder, "the working tree")
    except RepositoryError as problem:
        raise click.BadParameter(str(problem), param_hint="--old") from problem
    config = reading.read(given.config) if given.config else File("", [], [])
    now = _loaded("the working tree", after, given, config.sources)
    now = now._replace(results=[*config.results, *now.results])
    if before is None or old is None:
        return now, None
    named, default = ([], now.settings) if Path(old).is_dir() else compared_states.old_configuration(old, given, now)
    then = _loaded(old, before, given, named, default)
    return now, then._replace(results=[*compared_states.old_findings(then.results)])


def _run(build: BuildCommand, folder: Path, state: str) -> File:
    """The output of the build. Paths of the copy are relative in its messages, because the copy is gone when somebody reads them."""
    ended = commands.run(build.words, folder, build.seconds)
    messages = "".join(f"{report.visible(line)}\n" for line in ended.messages.replace(str(folder), ".").splitlines())
    if ended.slow:
        message = f"the build of {state} {ended.problem}; repair `{build.text}`, or allow more with --build-timeout"
        raise StoppedError([results.error("DYN518", message)], messages)
    if ended.problem:
        message = f"the build of {state} {ended.problem}; repair `{build.text}`"
        raise StoppedError([results.error("DYN516", message)], messages)
    file = reading.parse(ended.data, _OUTPUT)
    broken = next((finding for finding in file.results if finding.severity == "error"), None)
    problem = f"is not YAML ({broken.code}: {broken.message})" if broken else "has no resource"
    if broken or not any(source.address.kind for source in file.sources):
        message = f"the output of the build of {state} {problem}; let `{build.text}` print resources"
        raise StoppedError([results.error("DYN517", message)], messages)
    return file._replace(names_dynamo=True)


def _loaded(name: str, file: File, given: Inputs, named: Sequence[Source], default: Source | None = None) -> State:
    loaded = sources.from_files([file], named, default, namespace=given.namespace or "")
    return compared_states.render_state(name, loaded)
