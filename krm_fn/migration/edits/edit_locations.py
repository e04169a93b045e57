"""Finds the fields of files that make a field of a built resource, so that an edit can be written where an author would write it.

A field of a resource can come from the document itself, from a patch, from `images` of a Kustomization, or from a text elsewhere, such as a
JSON patch or the source of a replacement. Which of them decides is proved by a new build (`krm_fn.migration.edits.upgrade_files`).
"""

from __future__ import annotations

import pathlib
import posixpath
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from krm_fn.base.results import Path
from krm_fn.base.yaml import reader
from krm_fn.kubernetes import paths
from krm_fn.migration.edits import planned_builds
from krm_fn.migration.upgrade.field_edits import FieldEdit
from krm_fn.repository import kustomizations
from krm_fn.repository.files import selection, text_edits
from krm_fn.repository.files.reading import Source
from krm_fn.repository.roots import TreeRoots
from krm_fn.repository.tree import Tree, entries, text_of
from krm_fn.review.inputs import Inputs

_KUSTOMIZATIONS = ("", "Kustomization", "Component")


class DocumentEdit(NamedTuple):
    """An edit of a document in a file: another value, key or words at a path, or `new` in place of the text `old` inside of its scalars.

    `source` is the document as it is in its file; `path` begins at the root of the document. `converts`: the edit changes the API version
    of the resource at the path, after all other edits.
    """

    source: Source
    path: Path
    new: Any
    old: str = ""
    converts: bool = False


def is_given(file: str, given: Inputs) -> bool:
    """True for a file that the paths of the command name, or that is in one of their folders with its links followed."""
    path = pathlib.Path(file)
    if not path.is_file():
        return False
    named = [pathlib.Path(name) for name in (*given.paths, *filter(None, (given.config,)))]
    return any(path.resolve().is_relative_to(name.resolve()) for name in named)


class BuildDocuments:
    """The documents of the files that are built together, by the file of any of them."""

    def __init__(self, tree: Tree, listing: TreeRoots) -> None:
        """`tree` is the working tree, and its `shown` names are paths of files from the current folder."""
        self._by_file: dict[str, dict[int, Source]] = {}
        for closure in listing.closures.values():
            self._add((*closure.folders.values(), *(source for name in sorted(closure.files) for source in tree.read(name).sources)))
        for root in listing.roots:
            if root.kind == "kpt":
                self._add(source for name in tree.below(root.folder) for source in tree.read(name).sources)

    def _add(self, sources: Iterable[Source]) -> None:
        group = {id(source): source for source in sources if isinstance(source.value, dict | list)}
        for file in {source.file for source in group.values()}:
            self._by_file.setdefault(file, {}).update(group)

    def beside(self, file: str) -> list[Source]:
        """Returns the documents of all builds that read a file; none for a file that no build reads."""
        return [*self._by_file.get(file, {}).values()]


def builders(tree: Tree, files: Collection[str]) -> dict[str, str]:
    """Returns the Kustomizations of a tree that are built from some files, by their folders: the first of these files for each one.

    A Kustomization that another one includes, and a component, are left out. `files` are paths in the tree.
    """
    named = {posixpath.dirname(name) or "." for name in tree.names() if posixpath.basename(name) in selection.KUSTOMIZATIONS}
    closures = {folder: kustomizations.closure(tree, folder) for folder in sorted(named) if tree.kustomization(folder)}
    inner = {folder for at, closure in closures.items() for folder in closure.folders if folder != at}
    first: dict[str, str] = {}
    for folder, closure in closures.items():
        built = sorted({*closure.files, *map(tree.kustomization_file, closure.folders)}.intersection(files))
        if built and folder not in inner and not kustomizations.is_component(closure.folders[folder]):
            first[folder] = built[0]
    return first


def as_written(source: Source) -> Source:
    """Returns a built resource as it is in its file."""
    return source._replace(value=paths.at(_document(source.text), source.at), patches=())


@lru_cache(maxsize=32)  # a List has many resources
def _document(text: str) -> Any:
    documents, _ = reader.read(text)
    return documents[0].value if documents else None


def find(source: Source, edit: FieldEdit, beside: Sequence[Source]) -> list[DocumentEdit]:
    """Returns the edits of documents that make an edit of a resource; none if no document has the field.

    `source` is the resource as it is built, at the location of its file. `beside` are the documents that are built with it, with the
    files of its patches. A patch inside of a Kustomization has no text of its own in the file: the Kustomization is the document.
    """
    documents = [*_distinct([as_written(source), *beside])]
    same = [document for document in documents if _is_same(document, source)]
    if edit.cause == "api_version":  # a patch of the other version does not fit, so only a resource without patches is converted
        return [DocumentEdit(same[0], same[0].at, edit.new, converts=True)] if len(same) == 1 else []
    if edit.old is None:
        return [DocumentEdit(document, (*document.at, *edit.path), edit.new) for document in same[:1]]
    fields = [
        DocumentEdit(document, (*document.at, *edit.path), edit.new) for document in same if paths.at(document.value, edit.path) == edit.old
    ]
    if not isinstance(edit.old, str) or not isinstance(edit.new, str):
        return fields
    of_images = [entry for document in documents for entry in _of_images(document, edit.old, edit.new)]
    if fields or of_images:
        return [*fields, *of_images]
    return [DocumentEdit(document, (), edit.new, edit.old) for document in _with_text(documents, edit.old, edit.new)]


def _distinct(documents: Iterable[Source]) -> Iterator[Source]:
    """Yields the documents, each location once."""
    known = set()
    for document in documents:
        key = document.file, document.start, document.at
        if key not in known and isinstance(document.value, dict | list):
            known.add(key)
            yield document


def _with_text(documents: Sequence[Source], old: str, new: str) -> list[Source]:
    """Returns the documents that can make a field of a text: Kustomizations and JSON patches, otherwise the sources of replacements."""
    having = [document for document in documents if old in document.text and text_edits.with_text(document.text, old, new) != document.text]
    patches = [document for document in having if isinstance(document.value, list) or document.address.kind in _KUSTOMIZATIONS]
    return patches or [document for document in having if document.address.kind == planned_builds.REPLACING]


def _is_same(document: Source, built: Source) -> bool:
    """True for a document of the kind of a built resource whose name is a part of its name: builds add prefixes and suffixes."""
    address = document.address
    return address.kind == built.address.kind and bool(address.name) and address.name in built.address.name


def _of_images(document: Source, old: str, new: str) -> Iterator[DocumentEdit]:
    """Yields the edits of the entries of `images` in a Kustomization that make an image."""
    name, _, tag = new.rpartition(":")
    for index, entry in enumerate(entries(document.value, "images")):
        if not isinstance(entry, dict) or not text_of(entry, "newTag"):
            continue
        digest = text_of(entry, "digest")
        image = f"{text_of(entry, 'newName') or text_of(entry, 'name')}:{entry['newTag']}"
        if f"{name}:" == image[: len(name) + 1] and old == (f"{image}@{digest}" if digest else image):
            yield DocumentEdit(document, ("images", index, "newTag"), tag)
            if digest:
                yield DocumentEdit(document, ("images", index, "digest"), None)
