"""Reads the states that a review compares: the files of now, and an earlier state with the configuration of then."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from krm_fn import results
from krm_fn.cli import command_options
from krm_fn.files import locations, reading, revisions, sources
from krm_fn.review.diff import live_side, sides
from krm_fn.review.diff.diff_report import Spot
from krm_fn.review.live import cluster_export

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from krm_fn.cli.command_options import Inputs
    from krm_fn.files.reading import Source
    from krm_fn.files.sources import Sources
    from krm_fn.kube.types import Resource
    from krm_fn.results import Result
    from krm_fn.review.diff import ChangeOrigin, Diff, Name, Side


_OLD = "DYN511"


class State(NamedTuple):
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


def load_paths(given: Inputs) -> State:
    """The state of the files. Its configuration is that of --config, or the one among the files."""
    loaded = given.load()
    return render_state("the files", loaded)


def load_old(old: str, given: Inputs, now: State) -> State:
    """The earlier state: a file, a folder or a git revision. Its errors are warnings, because a change may repair them.

    The configuration of a revision is that of --config in the revision, else the one among its files. A file or folder without a
    configuration has that of now.
    """
    with command_options.reading_old():
        files = [file for file, _ in revisions.files(old, given.paths, given.exclude)]
    named, default = ([], now.settings) if Path(old).exists() else old_configuration(old, given, now)
    state = render_state(old, sources.from_files(files, named, default, namespace=given.namespace or ""))
    nothing = [revisions.empty(old)] if Path(old).exists() and not (state.sources or state.results) else []
    return state._replace(results=[*nothing, *old_findings(state.results)])


def old_configuration(revision: str, given: Inputs, now: State) -> tuple[list[Source], Source | None]:
    """The file of --config in a revision, and the default: the configuration of now if the file is in no repository."""
    try:
        files = [file for file, _ in revisions.files(revision, [given.config])] if given.config else []
    except revisions.RepositoryError:
        return [], now.settings
    return [source for file in files for source in file.sources], None


def render_state(name: str, loaded: Sources) -> State:
    """The state of resources that are read."""
    settings = loaded.configs[0] if loaded.configs else None
    side = sides.rendered(loaded.values, loaded.config, settings.value if settings else None)
    findings = locations.of([*loaded.results, *side.findings], loaded.resources)
    side = sides.with_errors(side, loaded.results)
    return State(name, side, loaded.resources, settings, findings, loaded.stdin)


def old_findings(findings: Iterable[Result]) -> Iterator[Result]:
    """The errors about an earlier state as warnings. Its warnings and notes are no longer of interest."""
    for result in findings:
        if result.severity == "error":
            yield result._replace(severity="warning", code=_OLD, message=f"the old state has the error {result.code}: {result.message}")


def new_findings(now: State, before: State) -> list[Result]:
    """The findings about the new state, without warnings and notes that the old state has too."""
    known = {result[1:5] for result in before.side.findings}
    return [result for result in now.results if result.severity == "error" or result[1:5] not in known]


def origin_locations(origins: Iterable[ChangeOrigin], loaded: dict[Name, State]) -> dict[ChangeOrigin, Spot]:
    """The lines of the origins of changes. An origin without a file has none."""
    asked = []
    for origin in dict.fromkeys(origins):
        state = loaded[origin.side]
        source = state.settings if origin.number is None else state.sources[origin.number]
        if source:
            asked.append((origin, source))
    locations = reading.field_locations((source, origin.path) for origin, source in asked)
    return {origin: Spot(location["file"], location["line"]) for (origin, _), location in zip(asked, locations, strict=True)}


def located_forecast(comparison: Diff, locations: Mapping[ChangeOrigin, Spot]) -> list[Result]:
    """The findings of the forecast, each at the line that makes the change. Objects are in no file."""
    done = []
    numbers = {results.ref(change.new or change.old or {}): number for number, change in enumerate(comparison.changes)}
    for result in comparison.forecast_findings:
        number = numbers.get(result.ref) if result.ref else None
        location = _change_location(comparison, number, result.path, locations) if number is not None else None
        done.append(result._replace(file=location.file, line=location.line) if location else result)
    return sorted(done, key=results.order)


def _change_location(comparison: Diff, number: int, path: results.Path, locations: Mapping[ChangeOrigin, Spot]) -> Spot | None:
    """The line of the first change of an object at a path or below, otherwise of its first change."""
    change = comparison.changes[number]
    below = [index for index, field in enumerate(change.fields) if field.path[: len(path)] == path or path[: len(field.path)] == field.path]
    change_paths = [(number, index) for index in (*below, None, *range(len(change.fields)))]
    listed = [
        locations[origin] for change_path in change_paths for origin in comparison.origins.get(change_path, ()) if origin in locations
    ]
    return listed[0] if listed else None


EXPORT = click.Path(exists=True, dir_okay=False, allow_dash=True)


def read_export(path: str) -> tuple[list[Any], list[Result]]:
    """The values of an export, and the errors about the file. A finding never shows a line of an export: it may belong to a Secret."""
    file = reading.read(path)
    return [source.value for source in file.sources], [finding for finding in file.results if finding.severity == "error"]


def with_live(path: str, now: State) -> tuple[State, State]:
    """The state of the cluster, and the new state with the objects that can be compared with it.

    Raises StoppedError if the export cannot be used.
    """
    values, broken = read_export(path)
    exported = cluster_export.read(values)
    _stop([*broken, *exported.results], path)
    sides = live_side.sides(exported, now.side)
    _stop(sides.results, path)
    findings = [finding._replace(file=reading.name(path)) for finding in sides.results]
    if not values:
        message = "the export has no object, so all objects count as new; check the context and the namespace of `kubectl get`"
        findings = [results.warning("DYN519", message, file=reading.name(path))]
    return State("the cluster", sides.old, [], None, findings), now._replace(side=sides.new)


def _stop(findings: list[Result], path: str) -> None:
    """Raises StoppedError if one of the findings is an error."""
    if wrong := [finding for finding in findings if finding.severity == "error"]:
        raise StoppedError([finding if finding.file else finding._replace(file=reading.name(path)) for finding in wrong])


_EXPORT_FIX = "export both with `kubectl get nodes,pods --all-namespaces -o json`"


class ClusterCapacity(NamedTuple):
    """The nodes and pods; `nodes` is None if nothing is known about them."""

    nodes: list[Resource] | None = None
    pods: list[Resource] = []
    results: list[Result] = []


def read_nodes(path: str | None) -> ClusterCapacity:
    """The nodes and pods in a file. A file without nodes is an error, and one without pods a note."""
    if path is None:
        return ClusterCapacity()
    values, wrong = read_export(path)
    exported = cluster_export.read(values)
    nodes, pods = (
        [resource for resource in exported.objects if (resource.get("apiVersion"), resource.get("kind")) == ("v1", kind)]
        for kind in ("Node", "Pod")
    )
    name = reading.name(path)
    if wrong:
        return ClusterCapacity(results=wrong)
    if not nodes or exported.results:
        message = f"the file is not a complete list of nodes, so no rollout is simulated; {_EXPORT_FIX}"
        return ClusterCapacity(results=[results.error("DYN512", message, file=name)])
    if not pods:
        message = f"the file has nodes but no pods, so the GPUs of other pods count as free; {_EXPORT_FIX}"
        return ClusterCapacity(nodes, [], [results.info("DYN513", message, file=name)])
    return ClusterCapacity(nodes, pods)
