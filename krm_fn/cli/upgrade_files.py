"""Writes the edits of an upgrade into files: finds the fields in the files, edits the texts, and proves the result with a new build."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click

from krm_fn import function_config, results
from krm_fn.cli import repository_states
from krm_fn.cli.command_options import Inputs
from krm_fn.cli.repository_states import LoadedRoots
from krm_fn.convert import versions
from krm_fn.files import project_file, reading, writing
from krm_fn.files.reading import Source
from krm_fn.files.sources import Sources
from krm_fn.kube import identity, labels, paths
from krm_fn.kube.types import Resource
from krm_fn.manifests import ownership
from krm_fn.repositories import edit_locations, edited_files, roots
from krm_fn.repositories.edit_locations import BuildDocuments, DocumentEdit
from krm_fn.repositories.edited_files import FileText
from krm_fn.repositories.tree import Tree
from krm_fn.results import Result
from krm_fn.review.upgrade import resource_edits
from krm_fn.review.upgrade.field_edits import FieldEdit, ResourceEdits
from krm_fn.review.upgrade.upgrade_plan import StepPlan, UpgradePlan

_ORIGIN: results.Path = ("metadata", "annotations", labels.ORIGIN_VERSION)


class UpgradeFiles(NamedTuple):
    """The files that change, by their paths, and the findings about fields that a person must write. With DYN664, no file changes."""

    texts: dict[str, FileText]
    findings: list[Result]

    @property
    def patch(self) -> str:
        """The changes as a unified diff, for `git apply`. Paths begin at the current folder."""
        return edited_files.patch(self.texts)


class _Wanted(NamedTuple):
    """An edit of a resource, and the edits of documents that make it. `source` is the resource as it is built."""

    source: Source
    edit: FieldEdit
    documents: tuple[DocumentEdit, ...]


def edited(given: Inputs, loaded: LoadedRoots, plan: UpgradePlan, number: int) -> UpgradeFiles:
    """Returns the files as they are after the steps of a plan up to `number`, which counts from 1. Writes nothing.

    `loaded` are the resources from which the plan was made. Folders that are read as repositories are built again with the new texts: if a
    resource then differs from the plan, no file changes.
    """
    steps = plan.steps[:number]
    builds = _Builds(given)
    wanted = [_located(source, edit, builds) for source, edit in _edits(given, loaded, steps, builds)]
    texts, done, unwritten = _texts(wanted, given)
    findings = [_by_hand(missing, given) for missing in unwritten]
    differences = _differences(given, loaded, done, texts)
    return UpgradeFiles({} if differences else texts, [*findings, *differences])


def save(files: UpgradeFiles) -> None:
    """Writes the files, each at once. Raises click.ClickException if one cannot be written."""
    for file, text in files.texts.items():
        try:
            writing.save(file, text.new)
        except OSError as problem:
            raise click.ClickException(f"cannot write {file}: {problem.strerror}") from problem


class _Builds:
    """The documents of the builds in all folders that are read as repositories."""

    def __init__(self, given: Inputs) -> None:
        self._folders = [_documents(folder, given) for folder in repository_states.folders(given)]

    def beside(self, file: str) -> list[Source]:
        """Returns the documents of all builds that read a file."""
        return [source for documents in self._folders for source in documents.beside(file)]


def _documents(folder: str, given: Inputs) -> BuildDocuments:
    top = project_file.top(Path(folder))
    at = os.path.relpath(Path(folder).resolve(), top)
    tree = Tree(top, at, lambda name: os.path.normpath(Path(folder) / os.path.relpath(name, at)))
    return BuildDocuments(tree, roots.find(tree, given.exclude))


def _edits(given: Inputs, loaded: LoadedRoots, steps: Sequence[StepPlan], builds: _Builds) -> Iterator[tuple[Source, FieldEdit]]:
    """Yields the edits of all steps together, each with the resource that it changes."""
    sources = {id(source.value): (part, source) for part in loaded.parts for source in part.resources}
    for index, first in enumerate(steps[0].parts if steps else ()):
        members: list[tuple[Sources, Source]] = []
        for number, resource in enumerate(first.old.resources):
            edits = [step.parts[index].edits[number] for step in steps if number in step.parts[index].edits]
            if edits and id(resource) in sources:
                members.append(sources[id(resource)])
                new = steps[-1].parts[index].new.resources[number]
                yield from ((members[-1][1], edit) for edit in _merged(members[-1][1], edits, new))
        of_part = [step.step for step in steps if step.parts[index].edits]
        for source in _settings(given, members, builds) if members else ():
            config, _ = function_config.read(source.value)
            for edit in resource_edits.edits(source.value, config, of_part[-1]).fields:
                yield source, edit


def _merged(source: Source, edits: Sequence[ResourceEdits], new: Resource) -> Iterator[FieldEdit]:
    """Yields the edits of a resource in several steps, one for each field.

    A build can write the origin version on a graph. If the file does not have it, the new release would write another one.
    """
    merged: dict[results.Path, FieldEdit] = {}
    for edit in (edit for step in edits for edit in step.fields):
        old = merged[edit.path].old if edit.path in merged else edit.old
        merged[edit.path] = edit._replace(old=old)
    written, origin = edit_locations.as_written(source).value, paths.at(new, _ORIGIN)
    if _ORIGIN not in merged and origin and paths.at(written, _ORIGIN) is None and _is_built(source):
        merged[_ORIGIN] = FieldEdit(_ORIGIN, None, origin, "release")
    yield from merged.values()
    if edits[-1].api_version != source.address.api_version:
        yield FieldEdit(("apiVersion",), source.address.api_version, edits[-1].api_version, "api_version")


def _is_built(source: Source) -> bool:
    """True for a resource with annotations that its file does not have."""
    return labels.annotations(source.value) != labels.annotations(edit_locations.as_written(source).value or {})


def _settings(given: Inputs, members: Sequence[tuple[Sources, Source]], builds: _Builds) -> Iterator[Source]:
    """Yields the resources with the configuration of some resources. A finished build does not name its configuration."""
    files = [file for file in (given.config, given.default_config) if file]
    named = [source for file in files for source in reading.read(file).sources]
    loaded = [source for part in {id(part): part for part, _ in members}.values() for source in part.configs]
    beside = [document for file in {source.file for _, source in members} for document in builds.beside(file)]
    for source in (*(source for source in loaded if Path(source.file).is_file()), *named, *beside):
        if isinstance(source.value, dict) and not identity.is_dynamo(source.value):
            yield source


def _located(source: Source, edit: FieldEdit, builds: _Builds) -> _Wanted:
    return _Wanted(source, edit, (*edit_locations.find(source, edit, builds.beside(source.file)),))


class _Texts(NamedTuple):
    """The new texts of files, with the edits that are written and those that cannot be."""

    texts: dict[str, FileText]
    written: list[_Wanted]
    unwritten: list[_Wanted]


def _texts(wanted: Sequence[_Wanted], given: Inputs) -> _Texts:
    """Returns the new texts of the files. An edit is written in all of its documents or in none."""
    written, unwritten = list[_Wanted](), list[_Wanted]()
    for entry in wanted:
        is_known = bool(entry.documents) and all(_is_given(edit.source.file, given) for edit in entry.documents)
        (written if is_known else unwritten).append(entry)
    while True:
        texts, failed = edited_files.written(edit for entry in written for edit in entry.documents)
        if not failed:
            return _Texts(texts, written, unwritten)
        unwritten += [entry for entry in written if not failed.isdisjoint(map(edited_files.key, entry.documents))]
        written = [entry for entry in written if failed.isdisjoint(map(edited_files.key, entry.documents))]


def _is_given(file: str, given: Inputs) -> bool:
    """True for a file that the paths of the command name, or that is in one of their folders with its links followed."""
    path = Path(file)
    if not path.is_file():
        return False
    named = [Path(name) for name in (*given.paths, *filter(None, (given.config,)))]
    return any(path.resolve().is_relative_to(name.resolve()) for name in named)


def _by_hand(missing: _Wanted, given: Inputs) -> Result:
    """Returns the finding about an edit that a person must write."""
    location = _location(missing)
    field = results.field(missing.edit.path)
    new = f"write {missing.edit.new}" if missing.edit.new is not None else "remove the field"
    outside = [edit.source.file for edit in missing.documents if not _is_given(edit.source.file, given)]
    if outside:
        reason = f"{field} comes from {outside[0]}, which PATH does not contain; {new} there, or name the file too"
    elif missing.documents:
        reason = f"{field} cannot be written by its position, because other fields share the text, or its style is not known; {new} by hand"
    else:
        reason = f"no file has {field} as it is built; {new} where the build makes it"
    current = missing.edit.old if isinstance(missing.edit.old, str) else None
    return results.error(
        "DYN663", reason, missing.source.address, missing.edit.path, current=current, proposed=missing.edit.new, **location
    )


def _location(missing: _Wanted) -> dict[str, Any]:
    if missing.documents:
        first = missing.documents[0]
        return first.source.location(first.path[len(first.source.at) :])
    return missing.source.location(missing.edit.path)


def _differences(given: Inputs, loaded: LoadedRoots, written: Sequence[_Wanted], texts: Mapping[str, FileText]) -> list[Result]:
    """Builds again with the new texts, and returns the errors about resources that then differ from the plan."""
    if not texts or not repository_states.folders(given):
        return []
    planned: dict[int, Resource] = {}
    for entry in written:
        value = planned.get(id(entry.source.value), entry.source.value)
        planned[id(entry.source.value)] = _with_edit(value, entry.edit)
    again = repository_states.load(given, {file: text.new for file, text in texts.items()})
    if len(again.parts) != len(loaded.parts):
        return [results.error("DYN664", "the new texts have other roots, so nothing is written; write the edits by hand")]
    pairs = zip(loaded.parts, again.parts, strict=True)
    return [finding for before, after in pairs for finding in _of_part(before, after, planned)]


def _with_edit(resource: Resource, edit: FieldEdit) -> Resource:
    if edit.cause == "api_version":
        return versions.to(f"{edit.new}".rpartition("/")[2], resource)
    return paths.replaced(resource, edit.path, edit.new)  # type: ignore[no-any-return]


def _of_part(before: Sources, after: Sources, planned: Mapping[int, Resource]) -> Iterator[Result]:
    new = {identity.key(source.value): source.value for source in after.resources}
    for source in before.resources:
        if not identity.is_dynamo(source.value) or ownership.is_generated(source.value):
            continue
        wanted, built = planned.get(id(source.value), source.value), new.get(identity.key(source.value))
        if built is None:
            message = "the build fails or lacks the resource with the edits of the step, so nothing is written; write the edits by hand"
            yield results.error("DYN664", message, source.address, **source.location())
        elif path := _difference(_comparable(wanted), _comparable(built)):
            shown = f"{results.field(path)} would be {paths.at(built, path)!r} and not {paths.at(wanted, path)!r}"
            message = (
                f"with the edits of the step, {shown}, so nothing is written; another graph shares the file, so write the edits by hand"
            )
            yield results.error("DYN664", message, source.address, path, **source.location(path))


def _comparable(resource: Resource) -> Resource:
    """Returns a resource without the annotations that a render writes."""
    annotations = {key: text for key, text in labels.annotations(resource).items() if not key.startswith(labels.PREFIX)}
    return {**resource, "metadata": {**resource["metadata"], "annotations": annotations}}


def _difference(wanted: Any, built: Any) -> results.Path | None:
    """Returns the path of the first field that differs; None for equal values."""
    if wanted == built:
        return None
    if isinstance(wanted, dict) and isinstance(built, dict):
        key = next(key for key in {**wanted, **built} if wanted.get(key) != built.get(key) or (key in wanted) != (key in built))
        return (key, *(_difference(wanted[key], built[key]) or ())) if key in wanted and key in built else (key,)
    if isinstance(wanted, list) and isinstance(built, list) and len(wanted) == len(built):
        number = next(number for number, (one, other) in enumerate(zip(wanted, built, strict=True)) if one != other)
        return (number, *(_difference(wanted[number], built[number]) or ()))
    return ()
