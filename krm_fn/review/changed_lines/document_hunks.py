"""Finds the lines that make changes of objects that krm-fn renders from plain files: parts of their documents are reverted, in memory."""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterator, Mapping, Sequence
from functools import cached_property

from krm_fn.base import results
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Result
from krm_fn.kubernetes import identity
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.origins import text_hunks
from krm_fn.origins.ablation import Ablation
from krm_fn.origins.reversion import Objects
from krm_fn.origins.text_hunks import Hunk, RevisionText, TextPair
from krm_fn.render import dynamo_resources, function_config, labels
from krm_fn.render.config import Config
from krm_fn.render.resolve import cluster
from krm_fn.render.schema.object_changes import ObjectChange
from krm_fn.repository.files import reading
from krm_fn.repository.files.build_sources import BuildSources
from krm_fn.repository.files.reading import Source
from krm_fn.repository.files.sources import Sources
from krm_fn.review.changed_lines import change_origins
from krm_fn.review.changed_lines.change_origins import Attribution, HunkPart, KnownGroups, Origins, SourceTexts
from krm_fn.review.diff.rendered_state import Render

_MOST_OBJECTS = 4000
"""The largest number of objects that all renders for one document make."""
_FEWEST_RENDERS = 8
_NAME = "\0"
"""Replaces the name of a graph in texts. No YAML has this character."""


class LocatedRender(NamedTuple):
    """One rendered state with the locations of its fields.

    `files` has the sources of `rendered.inputs` in the same order. `results` are all findings about the state, with their locations. `name`
    is the name of the state in texts. `build_sources` are the files of the build that printed `files`.
    """

    name: str
    rendered: Render
    files: Sources
    results: list[Result]
    build_sources: BuildSources | None = None


class _Document(NamedTuple):
    """A document of a state with its resources. `is_shared`: it has the configuration, or resources that a render reads for all graphs."""

    text: RevisionText
    sources: tuple[Source, ...]
    keys: frozenset[ObjectKey]
    is_shared: bool
    has_settings: bool


class _DocumentPair(NamedTuple):
    """The same document in both states."""

    old: _Document | None
    new: _Document | None


def find(old: LocatedRender, new: LocatedRender, changes: Sequence[ObjectChange]) -> Origins:
    """Returns the origins of changes, by the numbers of the changes and of their fields."""
    search = _Search(old, new)
    by_pair: dict[int | None, list[tuple[int, ObjectChange]]] = {}
    for number, change in change_origins.differing(changes):
        by_pair.setdefault(search.pair_of(change), []).append((number, change))
    origins: Origins = {}
    known: KnownGroups = {}
    for pair, of_pair in by_pair.items():
        origins |= search.attribution(pair, len(of_pair)).find(of_pair, known, search.likeness(pair))
    return origins


class _Search:
    """Both states with their documents in pairs. `_by_key` has the pairs by the keys of their resources."""

    def __init__(self, old: LocatedRender, new: LocatedRender) -> None:
        self._old, self._new = old, new
        old_documents, new_documents = (_documents(state) for state in (old, new))
        self._pairs = [*_pairs(old_documents, new_documents)]
        self._texts = SourceTexts([TextPair(pair.old and pair.old.text, pair.new and pair.new.text) for pair in self._pairs])
        self._by_key = {key: number for number, pair in enumerate(self._pairs) for document in pair if document for key in document.keys}
        self._shared = [number for number, pair in enumerate(self._pairs) if any(document.is_shared for document in pair if document)]

    def pair_of(self, change: ObjectChange) -> int | None:
        """Returns the number of the pair of documents that has the object itself, or else its owner; None if none has."""
        keys = (change.key, *dynamo_resources.owner_keys(change.new or change.old or {}, change.key.namespace))
        return next((self._by_key[key] for key in keys if key in self._by_key), None)

    def attribution(self, pair: int | None, objects: int) -> Attribution:
        """Returns the parts that can change the objects of a pair of documents: its own, and those of shared documents."""
        parts = [part for number in self._read(pair) for part in self._texts.parts_of(number)]
        limit = max(_FEWEST_RENDERS, _MOST_OBJECTS // max(objects, 1))
        return Attribution(self._texts, parts, lambda reverted: self._objects(pair, reverted), limit)

    def likeness(self, pair: int | None) -> Hashable:
        """Returns the texts of a pair of documents without the name of their resource: the same parts of equal ones make the same changes.

        None if this is not certain: the name is not in lower case, or a shared document has it.
        """
        documents = [document for document in self._pairs[pair] if document] if pair is not None else []
        names = {key.name for document in documents for key in document.keys}
        name = next(iter(names)) if len(names) == 1 else ""
        if not name or not name.islower() or any(name in text for text in self._shared_texts):
            return None
        return len(name), tuple(document.text.text.replace(name, _NAME) for document in documents)

    @cached_property
    def _shared_texts(self) -> list[str]:
        return [document.text.text for number in self._shared for document in self._pairs[number] if document]

    def _read(self, pair: int | None) -> list[int]:
        """Returns the numbers of the pairs that a render of one pair reads: first its own."""
        return [*([] if pair is None else [pair]), *(number for number in self._shared if number != pair)]

    def _objects(self, pair: int | None, reverted: Sequence[HunkPart]) -> Objects | None:
        """Returns the objects of a pair of documents with some parts reverted; None if a document cannot be read or rendered then."""
        by_pair: dict[int, list[Hunk]] = {}
        for part in reverted:
            by_pair.setdefault(part.lines.pair, []).append(part.lines)
        read = {number: self._values(number, by_pair.get(number, ())) for number in self._read(pair)}
        values = {number: listed for number, listed in read.items() if listed is not None}
        if len(values) < len(read):
            return None
        resources = [
            value
            for number in sorted(values)
            for value in values[number]
            if number == pair or not (dynamo_resources.is_expanded(value) or _is_config(value))
        ]
        return Ablation([value for value in resources if not _is_config(value)], self._config(values, by_pair)).objects()

    def _values(self, number: int, hunks: Sequence[Hunk]) -> list[Resource] | None:
        """Returns the resources of a document with some hunks reverted; None if it cannot be read then."""
        new = self._pairs[number].new
        if not hunks:
            return [source.value for source in new.sources] if new else []
        text = text_hunks.revert_hunks(self._texts.pairs[number], hunks)
        file = reading.parse((text or "").encode("utf-8", "surrogateescape"), "")
        values = [source.value for source in file.sources]
        is_readable = all(isinstance(value, dict) and results.ref(value).name for value in values) and not results.has_errors(file.results)
        return values if is_readable else None

    def _config(self, values: Mapping[int, Sequence[Resource]], reverted: Container[int]) -> Config:
        """Returns the configuration of a render; that of the new state, unless its document is reverted. An option sets its namespace."""
        new = self._new.rendered
        holder = next((number for number, pair in enumerate(self._pairs) if any(entry.has_settings for entry in pair if entry)), None)
        if holder is None or holder not in reverted or holder not in values:
            return new.config
        candidates = [value for value in values[holder] if _is_config(value) or labels.FUNCTION in labels.annotations(value)]
        settings = next(iter(candidates), None)
        config = function_config.read(settings)[0]
        is_given = function_config.read(new.settings)[0].namespace != new.config.namespace
        return config._replace(namespace=new.config.namespace) if is_given else config


def _is_config(value: Resource) -> bool:
    return function_config.is_config(results.ref(value))


def _documents(state: LocatedRender) -> list[_Document]:
    """Returns the documents of a state, in the order of its files."""
    namespace = cluster.default_namespace(state.rendered.config)
    by_text: dict[tuple[str, int], list[Source]] = {}
    for source in (*state.files.configs[:1], *state.files.resources):
        by_text.setdefault((source.file, source.document), []).append(source)
    return [_document(sources, state.files.settings, namespace) for sources in by_text.values()]


def _document(sources: Sequence[Source], settings: Source | None, namespace: str) -> _Document:
    first = sources[0]
    text = RevisionText(first.file, first.line, first.text)
    keys = frozenset(identity.key(source.value, namespace) for source in sources if source.address.name)
    has_settings = any(source is settings for source in sources)
    is_shared = has_settings or not all(dynamo_resources.is_expanded(source.value) for source in sources)
    return _Document(text, tuple(sources), keys, is_shared, has_settings)


def _pairs(old: Sequence[_Document], new: Sequence[_Document]) -> Iterator[_DocumentPair]:
    """Yields the documents of both states: those with the same resource, both configurations, and then the nearest ones of one kind."""
    remaining = dict(enumerate(old))
    by_key = {key: number for number, document in remaining.items() for key in document.keys}
    alone: list[_Document] = []
    for document in new:
        candidates = [by_key[key] for key in document.keys if key in by_key]
        candidates += [number for number, other in remaining.items() if document.has_settings and other.has_settings]
        number = next((number for number in candidates if number in remaining), None)
        if number is None:
            alone.append(document)
        else:
            yield _DocumentPair(remaining.pop(number), document)
    for document in alone:
        nearest = max(remaining, key=lambda number: _nearness(remaining[number], document), default=None)
        is_near = nearest is not None and _nearness(remaining[nearest], document) > (0, 0)
        yield _DocumentPair(remaining.pop(nearest) if is_near and nearest is not None else None, document)
    yield from (_DocumentPair(document, None) for document in remaining.values())


def _nearness(old: _Document, new: _Document) -> tuple[int, int]:
    """Returns the number of the last parts that the names of both files share, and how near the documents are; zeros for other kinds."""
    if {key.kind for key in old.keys} != {key.kind for key in new.keys}:
        return 0, 0
    names = (document.text.file.replace(":", "/").split("/")[::-1] for document in (old, new))
    shared = 0
    for one, other in zip(*names, strict=False):
        if one != other:
            break
        shared += 1
    return shared, -abs(old.sources[0].document - new.sources[0].document)
