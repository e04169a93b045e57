"""From a line of an open document to what it makes, and from a generated object back to the line of the graph that made it."""

from __future__ import annotations

import os
import re
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path as FilePath
from typing import NamedTuple

from krm_fn.base import report, results
from krm_fn.base.results import Path
from krm_fn.base.yaml.outline import Cursor
from krm_fn.origins.explain import Explained, ExplainedField
from krm_fn.render import labels
from krm_fn.repository.files import reading, selection
from krm_fn.repository.files.reading import Source
from krm_fn.repository.files.sources import Sources
from krm_fn.review.inputs import InputError, Inputs, document_checks, explained_roots, path_inputs
from krm_fn.review.inputs.document_checks import DocumentScope
from krm_fn.review.inputs.explained_roots import ExplainedRoot, RootSections
from krm_fn.review.inputs.origin_locations import OriginLocations
from krm_fn.review.inputs.path_inputs import PathPart

LARGEST = 30_000
"""The largest text whose effects are computed, in characters: to find them, krm-fn renders the graph with a trace, which takes longer."""
_MOST_FILES = 200
_TRACED = threading.Lock()
"""A trace loads a second core when it is first used, so one thread explains at a time."""
_COMMENT = re.compile(r"# .*?\b(?:user|config) (?P<file>[^\s;]+):(?P<line>[0-9]+)(?=[ ;]|$)")
"""A comment of `krm-fn explain -o yaml`: the first origin with a line."""


class BuiltRoots:
    """What a build made of its files, for their lines. The trace of a render is computed once, for the first line."""

    def __init__(self, parts: Sequence[Sources]) -> None:
        self._parts = parts

    @cached_property
    def roots(self) -> list[ExplainedRoot]:
        """The renders of the build; none if its texts are large."""
        texts = {id(part.text): part.text for loaded in self._parts for source in loaded.resources for part in (source, *source.patches)}
        if sum(map(len, texts.values())) > LARGEST:
            return []
        return [ExplainedRoot(render) for part in self._parts for render in PathPart("", part, is_built=True).renders()]


class OriginLine(NamedTuple):
    """A line of a file, from 1."""

    file: str
    line: int


def effects(scope: DocumentScope, line: int, texts: Mapping[str, str], built: BuiltRoots | None = None) -> list[str]:
    """Returns the fields of objects that a line of a graph, of a configuration or of a patch affects, each as a text with its value.

    A value that several fields have, such as a hash of the workers, stands behind the others. `built` is the build of the texts, which
    decides about patches.

    Empty for a line without an effect, for a graph with an error, for a large text, and for a patch whose build is not known.
    """
    if len(texts.get(scope.file, "")) > LARGEST or (scope.is_part and built is None):
        return []
    try:
        with _TRACED:
            roots = built.roots if scope.is_part and built else _roots(scope.alone._replace(texts=texts))
            fields = _fields(explained_roots.select(roots, None, None, f"{scope.file}:{line}"))
    except InputError:
        return []
    values = Counter(report.value(field.value) for _, field in fields)
    fields.sort(key=lambda entry: values[report.value(entry[1].value)] > 1)
    return [*dict.fromkeys(_describe_field(item, field) for item, field in fields)]


def _fields(sections: Sequence[RootSections]) -> list[tuple[Explained, ExplainedField]]:
    return [(item, field) for root in sections for section in root.sections for item in section.objects for field in item.fields]


def _describe_field(item: Explained, field: ExplainedField) -> str:
    name = report.visible(f"{item.key.kind}/{item.key.name}")
    return f"{name} `{report.visible(results.field(field.path))}`: `{report.value(field.value)}`"


def _roots(given: Inputs) -> list[ExplainedRoot]:
    loaded = path_inputs.load(given)
    return [ExplainedRoot(render) for part in loaded.roots for render in part.renders()]


def definitions(file: str, text: str, cursor: Cursor, texts: Mapping[str, str]) -> list[OriginLine]:
    """Returns the lines of graphs that made the field of a generated object, or its owner; none for other documents.

    `text` is the line with the position. A comment of `krm-fn explain` names the line. Without one, the owner is searched among the open
    documents, in the folder of the file and in the one above it, and rendered again.
    """
    if (comment := _COMMENT.search(text)) and (named := _existing(comment["file"], file, texts)):
        return [OriginLine(named, int(comment["line"]))]
    mark = cursor.value(("metadata", "annotations", labels.OWNER))
    owner = _owner(mark.split(",")[0].strip(), cursor.value(("metadata", "namespace")), file, texts) if mark else None
    if owner is None:
        return []
    return _of_field(owner, cursor, texts) or [OriginLine(owner.file, owner.location(("metadata", "name"))["line"])]


def _existing(name: str, file: str, texts: Mapping[str, str]) -> str:
    """Returns the path of a file that a comment names: from the current folder, or from a folder above the document."""
    bases = [FilePath.cwd(), *FilePath(file).parents]
    paths = (os.path.normpath(base / name) for base in bases)
    return next((path for path in paths if path in texts or FilePath(path).is_file()), "")


def _owner(mark: str, namespace: str, file: str, texts: Mapping[str, str]) -> Source | None:
    """Returns the Dynamo resource of a mark such as `DynamoGraphDeployment/chat`."""
    kind, _, name = mark.partition("/")
    same = [
        source
        for path in _files(file, texts)
        for source in _sources(path, texts)
        if (source.address.kind, source.address.name) == (kind, name) and labels.OWNER not in labels.annotations(source.value)
    ]
    return next((source for source in same if source.address.namespace in ("", namespace)), same[0] if same else None)


def _files(file: str, texts: Mapping[str, str]) -> list[str]:
    folders = FilePath(file).parent, FilePath(file).parent.parent
    beside = [str(path) for folder in folders if folder.is_dir() for path in sorted(folder.iterdir()) if selection.is_read(path.name)]
    return [path for path in dict.fromkeys((*texts, *beside)) if path != file][:_MOST_FILES]


def _sources(path: str, texts: Mapping[str, str]) -> Sequence[Source]:
    try:
        data = texts[path].encode() if path in texts else reading.data(path, document_checks.LARGEST)
    except reading.UnreadableError:
        return ()
    return reading.parse(data, path).sources if reading.may_name_dynamo(data) else ()


def _of_field(owner: Source, cursor: Cursor, texts: Mapping[str, str]) -> list[OriginLine]:
    """Returns the lines that the field of the object has its value from, as `krm-fn explain` finds them."""
    given = document_checks.scope(owner.file).alone._replace(texts=texts)
    wanted: Path = cursor.path or ("metadata", "name")
    name = f"{cursor.value(('kind',))}/{cursor.value(('metadata', 'name'))}"
    try:
        with _TRACED:
            sections = explained_roots.select(_roots(given), name, results.field(wanted), None)
            fields = [(root, field) for root in sections for _, field in _fields([root])]
    except InputError:
        return []
    return [*dict.fromkeys(line for root, field in fields for line in _lines(root, field))]


def _lines(root: RootSections, field: ExplainedField) -> Iterator[OriginLine]:
    locations = OriginLocations(root.loaded)
    locations.add([field])
    for origin in field.origins:
        location = locations.of(origin)
        if location:
            yield OriginLine(location.file, location.line)
