"""Loads and renders the states that a command compares: the files, the old state of them, or the objects of a cluster.

With the option `--build`, the states are those that a build prints in temporary copies of the old state and of the working tree.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from krm_fn.base import codes, escaping, results
from krm_fn.base.results import Result
from krm_fn.kubernetes.types import Resource
from krm_fn.render.expand import KnownItems
from krm_fn.render.schema.object_changes import ObjectChange
from krm_fn.repository.files import build_sources, checkouts, commands, reading, revisions, sources
from krm_fn.repository.files.build_sources import BuildSources
from krm_fn.repository.files.reading import File
from krm_fn.repository.files.repository import RepositoryError
from krm_fn.repository.files.sources import Sources
from krm_fn.review.changed_lines import command_origins, document_hunks
from krm_fn.review.changed_lines.document_hunks import LocatedRender
from krm_fn.review.diff import live_states, recorded_origins, rendered_state
from krm_fn.review.diff.comparison import FindOrigins, Origins
from krm_fn.review.diff.live_states import LiveStates
from krm_fn.review.diff.rendered_state import ChangeOrigin, Render
from krm_fn.review.inputs import InputError, Inputs
from krm_fn.review.live import cluster_export


class StoppedError(Exception):
    """A state cannot be read, so nothing is compared. `results` give the reason; `messages` are the output of a failed build."""

    def __init__(self, results: list[Result], messages: str = "") -> None:
        super().__init__()
        self.results = results
        self.messages = messages


def load(given: Inputs, old: str | None) -> tuple[LocatedRender, LocatedRender | None]:
    """Loads the state of the files, and the old state if it is named: a file, a folder or a git revision.

    The configuration of the files is that of --config, or the one among the files. Raises InputError if git cannot read the
    revision.
    """
    files, old_files = given.load(), None
    if old is not None:
        try:
            old_files = sources.load_old(
                old,
                given.paths,
                given.exclude,
                given.config,
                files.settings,
                namespace=given.namespace or "",
                default_file=given.default_config,
            )
        except RepositoryError as problem:
            raise InputError(str(problem), "--old") from problem
    known = KnownItems() if old_files else None
    rendered = rendered_state.render(files.values, files.config, files.settings_value, files.results, known)
    state = LocatedRender("the files", rendered, files, files.locate(rendered.findings))
    return state, None if old is None or old_files is None else render_old(old, old_files, known)


def render_old(name: str, files: Sources, known: KnownItems | None, build_sources: BuildSources | None = None) -> LocatedRender:
    """Renders an old state. Its errors are warnings, because a change may repair them. `known` has the items of the new state."""
    rendered = rendered_state.render(files.values, files.config, files.settings_value, files.results, known)
    findings = [*rendered_state.old_findings(_locate_findings(files, rendered.findings, build_sources))]
    if revisions.is_path(name) and not (files.resources or files.results):
        findings = [revisions.empty(name)]
    return LocatedRender(name, rendered, files, findings, build_sources)


def _locate_findings(files: Sources, findings: Iterable[Result], build_sources: BuildSources | None) -> list[Result]:
    """Returns the findings of a render with their locations: in the files of the build, if it printed the resources."""
    if build_sources is None:
        return files.locate(findings)
    built = {source.address: source for source in files.resources}
    at_sources: list[Result] = []
    for finding in findings:
        source = built.get(finding.ref) if finding.ref else None
        field = build_sources.field(source, finding.path) if source else None
        at_sources.append(finding._replace(**field[0].location(field[1])) if field else finding)
    return files.locate(at_sources)


def live_origins(state: LocatedRender) -> FindOrigins:
    """Returns a function that finds the fields of the files from which changed objects of a cluster were made."""

    def find(changes: Sequence[ObjectChange]) -> Origins:
        fields = recorded_origins.find(state.rendered, changes)
        inputs = [(state.files.resources[number], path) for number, path in fields.values()]
        in_files = [state.build_sources.field(*field) if state.build_sources else None for field in inputs]
        locations = reading.field_locations([in_file or field for in_file, field in zip(in_files, inputs, strict=True)])
        return {
            field: (ChangeOrigin("new", location["file"], location["line"], path),)
            for (field, (_, path)), location in zip(fields.items(), locations, strict=True)
        }

    return find


def document_origins(old: LocatedRender, new: LocatedRender) -> FindOrigins:
    """Returns a function that finds the lines of plain files that make changes."""
    return functools.partial(document_hunks.find, old, new)


def read_export(path: str) -> tuple[list[Any], list[Result]]:
    """Returns the values of an export, and the errors about the file.

    A finding never shows a line of an export: it may belong to a Secret.
    """
    file = reading.read(path)
    return [source.value for source in file.sources], results.errors_of(file.results)


def load_live(path: str, states: Sequence[LocatedRender]) -> list[tuple[LocatedRender, LocatedRender] | None]:
    """Returns, for each new state, the objects that can be compared with a cluster, and the state of the cluster.

    Of several states, one has None if the export has objects of other namespaces only. Raises StoppedError if the export cannot be used, or
    if it is of the namespaces of no state.
    """
    values, errors = read_export(path)
    exported = cluster_export.read(values)
    _stop([*errors, *exported.results], path)
    owners = frozenset(owner for state in states for owner in live_states.owners(state.rendered))
    live = [live_states.states(exported, state.rendered, owners) for state in states]
    if all(results.has_errors(entry.results) for entry in live):
        _stop([finding for entry in live for finding in entry.results], path)
    return [
        None if results.has_errors(entry.results) else _live_pair(state, entry, path, has_objects=bool(values))
        for state, entry in zip(states, live, strict=True)
    ]


def _live_pair(new: LocatedRender, live: LiveStates, path: str, *, has_objects: bool) -> tuple[LocatedRender, LocatedRender]:
    """Returns the new state with the objects that are compared, and the state of the cluster."""
    findings = [finding._replace(file=reading.name(path)) for finding in live.results]
    if not has_objects:
        message = "the export has no object, so all objects count as new; check the context and the namespace of `kubectl get`"
        findings = [results.warning(codes.EMPTY_EXPORT, message, file=reading.name(path))]
    return new._replace(rendered=live.new), LocatedRender("the cluster", live.old, Sources([], [], new.files.config, []), findings)


def _stop(findings: list[Result], path: str) -> None:
    """Raises StoppedError if one of the findings is an error."""
    if errors := results.errors_of(findings):
        raise StoppedError([finding if finding.file else finding._replace(file=reading.name(path)) for finding in errors])


_OUTPUT = "<build>"
"""The name of the output of a build in findings and origins."""


class BuildCommand(NamedTuple):
    """A command with its words, and the seconds after which it is killed."""

    text: str
    words: list[str]
    seconds: int


def read_build(text: str, seconds: int) -> BuildCommand:
    """Reads the option `--build`. Raises InputError for a text that is not a command."""
    try:
        return BuildCommand(text, commands.split_words(text), seconds)
    except ValueError as problem:
        raise InputError(f"{problem}; name a program and its arguments.", "--build") from problem


def build_states(
    build: BuildCommand, old: str | None, given: Inputs, stack: contextlib.ExitStack
) -> tuple[LocatedRender, LocatedRender | None, FindOrigins]:
    """Returns the new state, the old state if it is named, and a function that finds the lines that make changes.

    The command can run again until the end of `stack`. Raises StoppedError if a build fails, or if its output cannot be used.
    """
    if len(given.paths) != 1 or not Path(given.paths[0]).is_dir():
        raise InputError("--build takes one PATH: the folder in which the command runs", None)
    path = given.paths[0]
    old_output = old_sources = None
    try:
        copies = stack.enter_context(checkouts.open_checkouts(old, Path(path)))
        if old is not None:
            with copies.old_state() as folder:
                old_output = run_build(build, folder, old)
                old_sources = build_sources.read(folder, copies.top, build.words, copies.old_names())
        with copies.working_tree() as folder:
            output = run_build(build, folder, "the working tree")
            new_sources = build_sources.read(folder, copies.top, build.words, lambda name: os.path.normpath(f"{path}/{name}"))
    except RepositoryError as problem:
        raise InputError(str(problem), "--old") from problem
    config = reading.read(given.config) if given.config else File("", [], [])
    namespace = given.namespace or ""
    files = sources.from_files([output], config.sources, namespace=namespace)
    known = KnownItems() if old is not None else None
    rendered = rendered_state.render(files.values, files.config, files.settings_value, files.results, known)
    findings = [*config.results, *_locate_findings(files, rendered.findings, new_sources)]
    new_state = LocatedRender("the working tree", rendered, files, findings, new_sources)
    if old_output is None or old is None:
        return new_state, None, live_origins(new_state)
    named, default = ([], files.settings) if Path(old).is_dir() else sources.old_configuration(old, given.config, files.settings)
    old_state = render_old(old, sources.from_files([old_output], named, default, namespace=namespace), known, old_sources)

    def rebuilt(folder: Path, texts: Mapping[str, str | None]) -> Render | None:
        """Returns the state that the command makes with other texts of some files; None if it fails."""
        named = config.sources
        changed = texts.get(os.path.relpath(Path(given.config).resolve(), Path(path).resolve())) if given.config else None
        if changed is not None:
            named = reading.parse(changed.encode("utf-8", "surrogateescape"), f"{given.config}").sources
        try:
            loaded = sources.from_files([run_build(build, folder, "the working tree")], named, namespace=namespace)
        except StoppedError:
            return None
        return rendered_state.render_objects(loaded.values, loaded.config, loaded.settings_value, loaded.results)

    folder_in_copy = folder.relative_to(copies.top)
    return new_state, old_state, command_origins.find_origins(copies, folder_in_copy, path, rendered, rebuilt)


def run_build(build: BuildCommand, folder: Path, state: str) -> File:
    """Returns the output of the build.

    Paths of the copy are relative in its messages, because the copy is removed before a user reads them.
    """
    process = commands.run(build.words, folder, build.seconds)
    messages = escaping.join_lines(process.messages.replace(str(folder), ".").splitlines())
    if process.slow:
        message = f"the build of {state} {process.problem}; repair `{build.text}`, or allow more with --build-timeout"
        raise StoppedError([results.error(codes.BUILD_TIMED_OUT, message)], messages)
    if process.problem:
        message = f"the build of {state} {process.problem}; repair `{build.text}`"
        raise StoppedError([results.error(codes.BUILD_FAILED, message)], messages)
    file = reading.parse(process.data, _OUTPUT)
    error = next(iter(results.errors_of(file.results)), None)
    problem = f"is not YAML ({error.code}: {error.message})" if error else "has no resource"
    if error or not any(source.address.kind for source in file.sources):
        message = f"the output of the build of {state} {problem}; let `{build.text}` print resources"
        raise StoppedError([results.error(codes.UNUSABLE_BUILD_OUTPUT, message)], messages)
    return file._replace(names_dynamo=True)


_EXPORT_FIX = "export both with `kubectl get nodes,pods --all-namespaces -o json`"


class ClusterCapacity(NamedTuple):
    """The nodes and pods of a cluster; `nodes` is None if nothing is known about them."""

    nodes: list[Resource] | None = None
    pods: list[Resource] = []
    results: list[Result] = []


def read_nodes(path: str | None) -> ClusterCapacity:
    """Returns the nodes and pods in a file. A file without nodes is an error, and one without pods a note."""
    if path is None:
        return ClusterCapacity()
    values, errors = read_export(path)
    exported = cluster_export.read(values)
    nodes, pods = (
        [resource for resource in exported.objects if (resource.get("apiVersion"), resource.get("kind")) == ("v1", kind)]
        for kind in ("Node", "Pod")
    )
    name = reading.name(path)
    if errors:
        return ClusterCapacity(results=errors)
    if not nodes or exported.results:
        message = f"the file is not a complete list of nodes, so no rollout is simulated; {_EXPORT_FIX}"
        return ClusterCapacity(results=[results.error(codes.INCOMPLETE_NODE_LIST, message, file=name)])
    if not pods:
        message = f"the file has nodes but no pods, so the GPUs of other pods count as free; {_EXPORT_FIX}"
        return ClusterCapacity(nodes, [], [results.info(codes.NODE_LIST_WITHOUT_PODS, message, file=name)])
    return ClusterCapacity(nodes, pods)
