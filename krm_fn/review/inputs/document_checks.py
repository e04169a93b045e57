"""Checks one open document of an editor as `krm-fn check` does. Texts of open documents count in place of the files on disk.

A document that is no part of a Kustomization is judged alone: `krm-fn check --config FILE DOCUMENT`, with the nearest DynamoRender beside
or above it. A part of a Kustomization is judged with the build of the folder: `krm-fn check FOLDER`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from krm_fn.base import codes, results
from krm_fn.base.results import Result
from krm_fn.repository import kustomizations
from krm_fn.repository.files import project_file, reading, selection
from krm_fn.repository.tree import Tree
from krm_fn.review.inputs import Inputs, Policy, checked_inputs
from krm_fn.review.inputs.checked_inputs import CheckedInputs
from krm_fn.review.known_checks import KnownChecks

LARGEST = 1024 * 1024
"""The largest document that is judged, in bytes of UTF-8. A graph of 2,000 lines has 50,000."""
_NOTHING = CheckedInputs([], [], [])


class DocumentScope(NamedTuple):
    """What a document is judged with. `alone` has the document and its configuration; `build` is None outside of Kustomizations.

    `is_part`: the document is a patch or a Kustomization, so that it cannot be judged alone. `parts` are all files of the build, with
    their links followed.
    """

    file: str
    alone: Inputs
    build: Inputs | None
    is_part: bool
    parts: frozenset[str] = frozenset()

    @property
    def config(self) -> str | None:
        """The file with the configuration of the document; None without one."""
        return self.alone.config or self.alone.default_config


class CheckedDocuments(NamedTuple):
    """The inputs and the findings about them, as `krm-fn check` prints them."""

    inputs: CheckedInputs
    findings: list[Result]


def about(findings: Iterable[Result], file: str) -> list[Result]:
    """Returns the findings about a file, an absolute path. Those without a file are about the whole input, and belong to each document."""
    return [finding for finding in findings if not finding.file or os.path.abspath(finding.file) == file]  # noqa: PTH100 - as text


def scope(file: str) -> DocumentScope:
    """Returns what a file is judged with. `file` is an absolute path; the file need not exist. Reads the folders around it."""
    try:
        return _scope(file)
    except (OSError, ValueError):  # a folder that must not be read, or a zero byte in the path
        return DocumentScope(file, Inputs((file,), None, None, is_built=False), None, is_part=False)


def _scope(file: str) -> DocumentScope:
    project = project_file.of_paths([file])
    config = project.config or project_file.configuration_beside(file)
    given = Inputs((file,), None, project.namespace, project.exclude, project=project)
    alone = given._replace(default_config=config if config != file else None, is_built=False)
    folder, parts = _kustomization(Path(file))
    if folder is None:
        return DocumentScope(file, alone, None, is_part=False)
    build = given._replace(paths=(str(folder),), default_config=project.config or project_file.configuration_above(str(folder)))
    return DocumentScope(file, alone, build, Path(file).name in selection.KUSTOMIZATIONS or _is_patch(folder, file), parts)


def _kustomization(file: Path) -> tuple[Path | None, frozenset[str]]:
    """Returns the nearest folder, beside or above a file, whose Kustomization is built from the file, and all files of this build."""
    top = project_file.top(file.parent)
    tree = Tree(top)
    name = os.path.relpath(file.resolve(), tree.top)
    for folder in file.parent.resolve(), *file.parent.resolve().parents:
        if not folder.is_relative_to(tree.top):
            break
        at = os.path.relpath(folder, tree.top)
        if tree.kustomization_file(at):
            closure = kustomizations.closure(tree, at)
            if closure.names_dynamo and (
                name in closure.files or (folder == file.parent.resolve() and file.name in selection.KUSTOMIZATIONS)
            ):
                return folder, frozenset(os.path.realpath(os.path.join(tree.top, part)) for part in closure.files)  # noqa: PTH118 - as text
    return None, frozenset()


def _is_patch(folder: Path, file: str) -> bool:
    """True if the Kustomization of a folder names the file as a patch or as values."""
    names = [folder / name for name in selection.KUSTOMIZATIONS if (folder / name).is_file()]
    values = [source.value for name in names for source in reading.read(str(name)).sources if isinstance(source.value, dict)]
    parts = {os.path.realpath(folder / part) for value in values for part in selection.paths_of_parts(value)}
    return os.path.realpath(file) in parts


def names_dynamo(text: str) -> bool:
    """Returns true for a text that names a Dynamo kind or one of our annotations. Other texts belong to other programs."""
    return reading.may_name_dynamo(text.encode("utf-8", "replace"))


def is_too_large(text: str) -> bool:
    """Returns true for a text that is not judged."""
    return len(text) > LARGEST or len(text.encode("utf-8", "replace")) > LARGEST


def too_large(file: str) -> Result:
    """Returns the finding about a file whose text is not judged."""
    problem = reading.too_large(LARGEST)
    return results.error(problem.code, str(problem), file=file)


def check_alone(scope: DocumentScope, texts: Mapping[str, str], known: KnownChecks | None = None) -> CheckedDocuments:
    """Judges a document with its configuration. `texts` are the texts of open documents by their absolute paths. Never raises.

    `known` has what the last check of the document knows about its resources, and gets what this one knows.
    """
    if scope.is_part:
        return CheckedDocuments(_NOTHING, reading.parse(texts[scope.file].encode(), scope.file).results)
    checked = check(scope.alone._replace(texts=texts), known)
    is_config = any(source.file == scope.file for part in checked.inputs.parts for source in part.loaded.configs)
    return checked._replace(findings=[finding for finding in checked.findings if not is_config or finding.code != codes.NO_INPUT])


def check(given: Inputs, known: KnownChecks | None = None) -> CheckedDocuments:
    """Judges inputs, with their texts of files in place of those on disk. Never raises."""
    try:
        inputs = checked_inputs.load(given, None, is_plain=False, verbose=False)
        located, _ = checked_inputs.find(inputs, None, fixed_services=False, verbose=False, known=known)
    except Exception as problem:  # noqa: BLE001 - an editor shows a bug as a finding
        return CheckedDocuments(_NOTHING, [results.internal(problem)])
    if known:
        known.forget_unused()
    located += given.project.results
    return CheckedDocuments(inputs, _sort_findings(located, inputs))


def _sort_findings(findings: Sequence[Result], inputs: CheckedInputs) -> list[Result]:
    values = [source.value for source in inputs.resources]
    return Policy().without_ignored(sorted(findings, key=results.order), values)
