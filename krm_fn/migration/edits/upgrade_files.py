"""Writes the edits of an upgrade into files: finds the fields in the files, edits the texts, and proves the result with a new build."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from krm_fn.base import codes, results
from krm_fn.base.results import Result
from krm_fn.kubernetes import paths
from krm_fn.kubernetes.types import Resource
from krm_fn.migration.edits import configuration_edits, edit_locations, edited_files, helm_values, planned_builds
from krm_fn.migration.edits.edit_locations import BuildDocuments, DocumentEdit
from krm_fn.migration.edits.edited_files import FileText
from krm_fn.migration.upgrade import fleet_parts, origin_versions, resource_edits
from krm_fn.migration.upgrade.field_edits import FieldEdit, ResourceEdits
from krm_fn.migration.upgrade.upgrade_plan import StepPlan, UpgradePlan
from krm_fn.migration.upgrade.upgrade_steps import UpgradeStep
from krm_fn.render import dynamo_api, function_config, labels
from krm_fn.render.convert import versions
from krm_fn.render.resolve import release_choice
from krm_fn.repository import roots
from krm_fn.repository.files import project_file, reading, writing
from krm_fn.repository.files.reading import Source
from krm_fn.repository.files.sources import Sources
from krm_fn.repository.tree import Tree
from krm_fn.review.inputs import Inputs, path_inputs, repository_states
from krm_fn.review.inputs.path_inputs import LoadedRoots


class UpgradeFiles(NamedTuple):
    """The files that change, by their paths, and the findings about fields that a person must write. With DYN664, no file changes."""

    texts: dict[str, FileText]
    findings: list[Result]

    @property
    def patch(self) -> str:
        """The changes as a unified diff, for `git apply`. Paths begin at the current folder."""
        return edited_files.patch(self.texts)


class _PlannedEdit(NamedTuple):
    """An edit of a resource, and the edits of documents that make it. `source` is the resource as it is built."""

    source: Source
    edit: FieldEdit
    documents: tuple[DocumentEdit, ...]


def edit_files(given: Inputs, loaded: LoadedRoots, plan: UpgradePlan, number: int) -> UpgradeFiles:
    """Returns the files as they are after the steps of a plan up to `number`, which counts from 1. Writes nothing.

    `loaded` are the resources from which the plan was made. Folders that are read as repositories are built again with the new texts: if a
    resource then differs from the plan, no file changes.
    """
    steps = plan.steps[:number]
    builds = _Builds(given)
    on_disk = loaded.at_texts(builds.on_disk)
    wanted = [*_edits(given, on_disk, steps, builds), *_of_helm(on_disk, steps)]
    texts, done, unwritten = _texts(wanted, given)
    findings = [_by_hand(missing, given) for missing in unwritten]
    differences = [*_check_shared(given, texts), *_differences(given, loaded, done, texts, _releases(steps))]
    return UpgradeFiles({} if differences else texts, [*findings, *differences])


def save(files: UpgradeFiles) -> None:
    """Writes the files, each at once. Raises OSError with the name of the file if one cannot be written."""
    for file, text in files.texts.items():
        try:
            writing.save(file, text.new)
        except OSError as problem:
            raise OSError(problem.errno, problem.strerror, file) from problem


class _Builds:
    """The files on disk, and the documents of the builds in all folders that are read as repositories."""

    def __init__(self, given: Inputs) -> None:
        self._folders = [_documents(folder, given) for folder in repository_states.folders(given)]
        self._read = cache(reading.read)

    def on_disk(self, source: Source) -> Source:
        """Returns a resource at its text in its file. kpt renders a package in place, so the copy that was read has another text."""
        file = self._read(source.file) if Path(source.file).is_file() else None
        if file is None or file.text.startswith(source.text, source.start):
            return source
        document = reading.document_of(file.sources, source.document, source)
        return document._replace(value=source.value, patches=source.patches) if document else source

    def beside(self, file: str) -> list[Source]:
        """Returns the documents of all builds that read a file."""
        return [source for documents in self._folders for source in documents.beside(file)]


def _documents(folder: str, given: Inputs) -> BuildDocuments:
    top = project_file.top(Path(folder))
    at = os.path.relpath(Path(folder).resolve(), top)
    tree = Tree(top, at, lambda name: os.path.normpath(Path(folder) / os.path.relpath(name, at)))
    return BuildDocuments(tree, roots.find(tree, given.exclude))


def _edits(given: Inputs, loaded: LoadedRoots, steps: Sequence[StepPlan], builds: _Builds) -> Iterator[_PlannedEdit]:
    """Yields the edits of all steps together."""
    by_part = [[*_moved_resources(loaded, steps, index)] for index in range(len(steps[0].parts) if steps else 0)]
    users = Counter(_document_key(source) for part in loaded.parts for source in part.resources)
    alike = Counter(
        (*_document_key(resource.source), edit.path, repr(edit.new)) for part in by_part for resource in part for edit in resource.edits
    )
    for index, moved in enumerate(by_part):
        for resource in moved:
            for edit in resource.edits:
                key = _document_key(resource.source)
                is_of_one = edit.path == origin_versions.PATH and edit.old is None and alike[*key, edit.path, repr(edit.new)] < users[key]
                yield _of_patch(resource.source, edit) if is_of_one else _locate_edit(resource.source, edit, builds)
        of_part = [step.step for step in steps if step.parts[index].edits]
        yield from _of_settings(given, [(entry.part, entry.source) for entry in moved], builds, of_part[-1]) if moved else ()


class _MovedResource(NamedTuple):
    """A resource that the steps change, with its part and the edits of all steps together."""

    part: Sources
    source: Source
    edits: tuple[FieldEdit, ...]


def _moved_resources(loaded: LoadedRoots, steps: Sequence[StepPlan], index: int) -> Iterator[_MovedResource]:
    """Yields the resources of a part of the plan that the steps change."""
    sources = {id(source.value): (part, source) for part in loaded.parts for source in part.resources}
    moves = any(step.step.old_release != step.step.release and not step.step.is_downgrade for step in steps)
    old, last = steps[0].parts[index].old, steps[-1].parts[index].new
    for number, resource in enumerate(old.resources):
        edits = [step.parts[index].edits[number] for step in steps if number in step.parts[index].edits]
        if edits and id(resource) in sources:
            part, source = sources[id(resource)]
            new = last.resources[number]
            is_moved = moves and release_choice.release_name(resource, old.config) != release_choice.release_name(new, last.config)
            yield _MovedResource(part, source, (*_merge_edits(source, edits, paths.at(new, origin_versions.PATH) if is_moved else None),))


def _of_helm(loaded: LoadedRoots, steps: Sequence[StepPlan]) -> Iterator[_PlannedEdit]:
    """Yields the edits of values of Helm. A value in a text has no position of its own."""
    listed = [step.step for step in steps]
    for source in (source for part in loaded.parts for source in part.resources if not dynamo_api.is_dynamo(source.value)):
        for edit in helm_values.edits(edit_locations.as_written(source), listed) if helm_values.is_known(source) else ():
            old = paths.at(source.value, edit.path[len(source.at) :])
            yield _PlannedEdit(source, FieldEdit(edit.path[len(source.at) :], old, edit.new, "image"), (edit,))
        for path, new in helm_values.texts(source, listed):
            yield _PlannedEdit(source, FieldEdit(path, None, new, "image"), ())


def _merge_edits(source: Source, edits: Sequence[ResourceEdits], origin: Any) -> Iterator[FieldEdit]:
    """Yields the edits of a resource in several steps, one for each field.

    A build can write the origin version on a graph. If the file does not have it, a new release would write another one, so it is added.
    `origin` is that version after the steps.
    """
    merged: dict[results.Path, FieldEdit] = {}
    for edit in (edit for step in edits for edit in step.fields):
        _merge(merged, edit, source.value)
    written = edit_locations.as_written(source).value
    if origin_versions.PATH not in merged and origin and paths.at(written, origin_versions.PATH) is None and _is_built(source):
        merged[origin_versions.PATH] = FieldEdit(origin_versions.PATH, None, origin, "release")
    yield from merged.values()
    if edits[-1].api_version != source.address.api_version:
        yield FieldEdit(("apiVersion",), source.address.api_version, edits[-1].api_version, "api_version")


def _merge(merged: dict[results.Path, FieldEdit], edit: FieldEdit, resource: Any) -> None:
    """Adds an edit of a later step. Of a list and its items, the edit of the list stays. `resource` is the state before all steps."""
    of_list = merged.get(edit.path[:-1])
    if of_list is not None and isinstance(of_list.new, list):
        merged[of_list.path] = of_list._replace(new=paths.replace_at(of_list.new, edit.path[-1:], edit.new))
    elif isinstance(edit.new, list):
        for path in [path for path in merged if path[:-1] == edit.path]:
            del merged[path]
        merged[edit.path] = edit._replace(old=paths.at(resource, edit.path))
    else:
        merged[edit.path] = edit._replace(old=merged[edit.path].old if edit.path in merged else edit.old)


def _is_built(source: Source) -> bool:
    """True for a resource with annotations that its file does not have."""
    return labels.annotations(source.value) != labels.annotations(edit_locations.as_written(source).value or {})


def _of_settings(given: Inputs, members: Sequence[tuple[Sources, Source]], builds: _Builds, step: UpgradeStep) -> Iterator[_PlannedEdit]:
    """Yields the edits of the configuration of some resources. A finished build does not name its configuration."""
    files = [file for file in (given.config, given.default_config) if file]
    named = [source for file in files for source in reading.read(file).sources]
    loaded = [source for part in {id(part): part for part, _ in members}.values() for source in part.configs]
    beside = [document for file in {source.file for _, source in members} for document in builds.beside(file)]
    for source in (*(source for source in loaded if Path(source.file).is_file()), *named, *beside):
        if isinstance(source.value, dict) and not dynamo_api.is_dynamo(source.value):
            config, _ = function_config.read(source.value)
            yield from (_locate_edit(source, edit, builds) for edit in resource_edits.edits(source.value, config, step).fields)
            yield from (_PlannedEdit(source, *edit) for edit in configuration_edits.edits(source, step))


def _locate_edit(source: Source, edit: FieldEdit, builds: _Builds) -> _PlannedEdit:
    return _PlannedEdit(source, edit, (*edit_locations.find(source, edit, builds.beside(source.file)),))


def _document_key(source: Source) -> tuple[str, int, results.Path]:
    return source.file, source.start, source.at


def _of_patch(source: Source, edit: FieldEdit) -> _PlannedEdit:
    """Returns an edit that adds a field to a patch of the resource, because other overlays share its document and need another value."""
    patches = [patch for patch in source.patches if isinstance(patch.value, dict) and patch.address.kind == source.address.kind]
    return _PlannedEdit(source, edit, tuple(DocumentEdit(patch, (*patch.at, *edit.path), edit.new) for patch in patches[:1]))


class _Texts(NamedTuple):
    """The new texts of files, with the edits that are written and those that cannot be."""

    texts: dict[str, FileText]
    written: list[_PlannedEdit]
    unwritten: list[_PlannedEdit]


def _texts(wanted: Sequence[_PlannedEdit], given: Inputs) -> _Texts:
    """Returns the new texts of the files. An edit is written in all of its documents or in none."""
    written, unwritten = list[_PlannedEdit](), list[_PlannedEdit]()
    for entry in wanted:
        is_known = bool(entry.documents) and all(edit_locations.is_given(edit.source.file, given) for edit in entry.documents)
        (written if is_known else unwritten).append(entry)
    while True:
        texts, failed = edited_files.edit_texts(edit for entry in written for edit in entry.documents)
        if not failed:
            return _Texts(texts, written, unwritten)
        unwritten += [entry for entry in written if not failed.isdisjoint(map(edited_files.key, entry.documents))]
        written = [entry for entry in written if failed.isdisjoint(map(edited_files.key, entry.documents))]


def _by_hand(missing: _PlannedEdit, given: Inputs) -> Result:
    """Returns the finding about an edit that a person must write."""
    location = _location(missing)
    field = results.field(missing.edit.path)
    new = _manual_edit(missing.edit)
    outside = [edit.source.file for edit in missing.documents if not edit_locations.is_given(edit.source.file, given)]
    if outside:
        reason = f"{field} comes from {outside[0]}, which PATH does not contain; {new} there, or name the file too"
    elif missing.documents:
        reason = f"{field} cannot be written by its position, because other fields share the text, or its style is not known; {new} by hand"
    elif missing.edit.path == origin_versions.PATH and missing.edit.old is None:
        reason = f"other overlays share {missing.source.file} and need another value for {field}; {new} in a patch of this overlay"
    else:
        reason = f"no file has {field} as it is built; {new} where the build makes it"
    current = missing.edit.old if isinstance(missing.edit.old, str) else None
    return results.error(
        codes.EDIT_BY_HAND, reason, missing.source.address, missing.edit.path, current=current, proposed=missing.edit.new, **location
    )


def _manual_edit(edit: FieldEdit) -> str:
    """Returns what a person does in place of an edit."""
    if not edit.is_of_items:
        return f"write {edit.new}" if edit.new is not None else "remove the field"
    removed, added = edit.items
    return f"remove {removed}" if not added else f"write {added}{f' in place of {removed}' if removed else ' at its end'}"


def _location(missing: _PlannedEdit) -> dict[str, Any]:
    if missing.documents:
        first = missing.documents[0]
        return first.source.location(first.path[len(first.source.at) :])
    return missing.source.location(missing.edit.path)


def _check_shared(given: Inputs, files: Iterable[str]) -> Iterator[Result]:
    """Yields an error about each Kustomization outside of the paths that is built from a changed file: its graphs would move, too."""
    by_top: dict[Path, dict[str, str]] = {}
    for file in files:
        top = project_file.top(Path(file).parent)
        by_top.setdefault(top, {})[os.path.relpath(Path(file).resolve(), top)] = file
    folders = [Path(path).resolve() for path in given.paths]
    for top, names in by_top.items():
        for folder, name in edit_locations.builders(Tree(top), names).items():
            if not any((top / folder).is_relative_to(path) for path in folders):
                outside = os.path.relpath(top / folder)
                message = f"{outside} is built from this file too, and PATH does not contain it, so nothing is written; name {outside} too"
                yield results.error(codes.EDITS_BUILD_ANOTHER_PLAN, message, file=names[name])


def _releases(steps: Sequence[StepPlan]) -> dict[int, str]:
    """Returns the releases that graphs follow after all steps, by the ids of the graphs before them."""
    releases: dict[int, str] = {}
    for index, first in enumerate(steps[0].parts if steps else ()):
        last = steps[-1].parts[index].new
        for old, new in zip(first.old.resources, last.resources, strict=True):
            if results.ref(new).kind in fleet_parts.GRAPHS:
                releases[id(old)] = release_choice.release_name(new, last.config)
    return releases


def _differences(
    given: Inputs, loaded: LoadedRoots, written: Sequence[_PlannedEdit], texts: Mapping[str, FileText], releases: Mapping[int, str]
) -> list[Result]:
    """Builds again with the new texts, and returns the errors about resources that then differ from the plan."""
    if not texts or not repository_states.folders(given):
        return []
    planned: dict[int, Resource] = {}
    for entry in written:
        value = planned.get(id(entry.source.value), entry.source.value)
        planned[id(entry.source.value)] = _with_edit(value, entry.edit)
    again = path_inputs.load(given, {file: text.new for file, text in texts.items()})
    if len(again.parts) != len(loaded.parts):
        return [
            results.error(codes.EDITS_BUILD_ANOTHER_PLAN, "the new texts have other roots, so nothing is written; write the edits by hand")
        ]
    moves_images = any(edit.path[:1] == ("images",) for entry in written for edit in entry.documents)
    pairs = zip(loaded.parts, again.parts, strict=True)
    return [
        finding
        for before, after in pairs
        for finding in planned_builds.differences(before, after, planned, releases, moves_images=moves_images)
    ]


def _with_edit(resource: Resource, edit: FieldEdit) -> Resource:
    if edit.cause == "api_version":
        return versions.to(f"{edit.new}".rpartition("/")[2], resource)
    return paths.replace_at(resource, edit.path, edit.new)  # type: ignore[no-any-return]
