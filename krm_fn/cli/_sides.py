"""Reads the states that a review compares: the files of now, and an earlier state with the configuration of then."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from krm_fn import results
from krm_fn.cli import _options
from krm_fn.files import locations, reading, revisions, sources
from krm_fn.review.diff import sides
from krm_fn.review.diff.report import Spot

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from krm_fn.cli._options import Inputs
    from krm_fn.files.reading import Source
    from krm_fn.files.sources import Sources
    from krm_fn.results import Result
    from krm_fn.review.diff import Diff, Name, Origin, Side

_OLD = "DYN511"


class Loaded(NamedTuple):
    """One state with the places of its fields.

    `sources` has the files of `side.inputs` in the same order, and `settings` that of the configuration. `results` are all findings about
    the state, with their places. `name` is what texts call the state, and `stdin` the text that was read there.
    """

    name: str
    side: Side
    sources: list[Source]
    settings: Source | None = None
    results: list[Result] = []
    stdin: str = ""


class StoppedError(Exception):
    """A state cannot be read, so there is nothing to compare. `results` say why; `messages` are what a build printed about it."""

    def __init__(self, results: list[Result], messages: str = "") -> None:
        super().__init__()
        self.results = results
        self.messages = messages


def of_paths(given: Inputs) -> Loaded:
    """The state of the files. Its configuration is that of --config, or the one among the files."""
    loaded = given.load()
    return of_sources("the files", loaded)


def of_old(old: str, given: Inputs, now: Loaded) -> Loaded:
    """The earlier state: a file, a folder or a git revision. Its errors are warnings, because a change may repair them.

    The configuration of a revision is that of --config in the revision, else the one among its files. A file or folder without a
    configuration has that of now.
    """
    with _options.reading_old():
        files = [file for file, _ in revisions.files(old, given.paths, given.exclude)]
    named, default = ([], now.settings) if Path(old).exists() else configured(old, given, now)
    state = of_sources(old, sources.earlier(files, named, default, namespace=given.namespace or ""))
    nothing = [revisions.empty(old)] if Path(old).exists() and not (state.sources or state.results) else []
    return state._replace(results=[*nothing, *earlier(state.results)])


def configured(revision: str, given: Inputs, now: Loaded) -> tuple[list[Source], Source | None]:
    """The file of --config in a revision, and the default: the configuration of now if the file is in no repository."""
    try:
        files = [file for file, _ in revisions.files(revision, [given.config])] if given.config else []
    except revisions.UnreadableError:
        return [], now.settings
    return [source for file in files for source in file.sources], None


def of_sources(name: str, loaded: Sources) -> Loaded:
    """The state of resources that are read."""
    settings = loaded.configs[0] if loaded.configs else None
    side = sides.rendered(loaded.values, loaded.config, settings.value if settings else None)
    found = locations.of([*loaded.results, *side.findings], loaded.resources)
    side = sides.with_errors(side, loaded.results)
    return Loaded(name, side, loaded.resources, settings, found, loaded.stdin)


def earlier(found: Iterable[Result]) -> Iterator[Result]:
    """The errors about an earlier state as warnings. Its warnings and notes are no longer of interest."""
    for result in found:
        if result.severity == "error":
            yield result._replace(severity="warning", code=_OLD, message=f"the old state has the error {result.code}: {result.message}")


def news(now: Loaded, before: Loaded) -> list[Result]:
    """The findings about the new state, without warnings and notes that the old state has too."""
    known = {result[1:5] for result in before.side.findings}
    return [result for result in now.results if result.severity == "error" or result[1:5] not in known]


def spots(origins: Iterable[Origin], loaded: dict[Name, Loaded]) -> dict[Origin, Spot]:
    """The lines of the origins of changes. An origin without a file has none."""
    asked = []
    for origin in dict.fromkeys(origins):
        state = loaded[origin.side]
        source = state.settings if origin.number is None else state.sources[origin.number]
        if source:
            asked.append((origin, source))
    places = reading.places((source, origin.path) for origin, source in asked)
    return {origin: Spot(place["file"], place["line"]) for (origin, _), place in zip(asked, places, strict=True)}


def placed(found: Diff, spots: Mapping[Origin, Spot]) -> list[Result]:
    """The findings of the forecast, each at the line that makes the change. Objects are in no file."""
    done = []
    numbers = {results.ref(change.new or change.old or {}): number for number, change in enumerate(found.changes)}
    for result in found.forecast_findings:
        number = numbers.get(result.ref) if result.ref else None
        spot = _spot(found, number, result.path, spots) if number is not None else None
        done.append(result._replace(file=spot.file, line=spot.line) if spot else result)
    return sorted(done, key=results.order)


def _spot(found: Diff, number: int, path: results.Path, spots: Mapping[Origin, Spot]) -> Spot | None:
    """The line of the first change of an object at a path or below, otherwise of its first change."""
    change = found.changes[number]
    below = [index for index, field in enumerate(change.fields) if field.path[: len(path)] == path or path[: len(field.path)] == field.path]
    places = [(number, index) for index in (*below, None, *range(len(change.fields)))]
    listed = [spots[origin] for place in places for origin in found.origins.get(place, ()) if origin in spots]
    return listed[0] if listed else None
