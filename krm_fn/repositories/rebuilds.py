"""Finds the lines that make changes of the objects of roots: reverts parts of their sources in a private copy, and builds it again."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence

from krm_fn.files.checkouts import Checkouts, State
from krm_fn.manifests import ownership
from krm_fn.provenance.reversion import Objects
from krm_fn.provenance.text_hunks import Text, TextPair
from krm_fn.records import NamedTuple
from krm_fn.repositories import change_origins, document_hunks, roots, states
from krm_fn.repositories.change_origins import Attribution, KnownGroups, Origins, Part, SourceTexts
from krm_fn.repositories.document_hunks import LoadedFiles
from krm_fn.repositories.private_programs import Programs
from krm_fn.repositories.roots import Root
from krm_fn.repositories.states import RootListing, RootState
from krm_fn.repositories.tree import Tree
from krm_fn.review.diff import rendered_state
from krm_fn.review.diff.rendered_state import RenderedState
from krm_fn.schema.object_changes import ObjectChange

_BUILDS, _BUILDS_OF_ONE_HUNK, _ALL_BUILDS = 40, 8, 200
"""The largest numbers of builds for one root, for one root with one hunk, and for all roots of a repository."""
_OLD: State = "old"
_NEW: State = "new"
_PIPELINES = ("argoproj.io/", "kustomize.toolkit.fluxcd.io/")


class ComparedRoot(NamedTuple):
    """One state of a root with what it applies; `state` is None in a state that does not have it."""

    state: RootState | None
    files: LoadedFiles


class Rebuilds:
    """Both states of a repository, in copies that exist as long as `copies` is open."""

    def __init__(self, old: RootListing, new: RootListing, programs: Programs, copies: Checkouts) -> None:
        self._listings: dict[State, RootListing] = {"old": old, "new": new}
        self._programs, self._copies = programs, copies
        self._left = _ALL_BUILDS
        self._known: KnownGroups = {}

    def find_origins(self, old: ComparedRoot, new: ComparedRoot, changes: Sequence[ObjectChange]) -> Origins:
        """Returns the origins of the changes of a root."""
        differing = change_origins.differing(changes)
        if not differing:
            return {}
        built = [root.state for root in (old, new) if root.state and _is_built(root.state)]
        if not built:
            return document_hunks.find(old.files, new.files, changes)
        names, texts = self._texts(old.state, new.state)
        if old.state is None or new.state is None:
            return Attribution(texts, texts.parts, lambda _: None, 0).nearest(differing)
        parts = texts.parts
        limit = min(self._left, _BUILDS if len({(part.lines.pair, part.hunk) for part in parts}) > 1 else _BUILDS_OF_ONE_HUNK)
        root, rendered = new.state.root, new.files.rendered

        def render(reverted: Sequence[Part]) -> Objects | None:
            self._left -= 1
            return self._objects(root, names, texts.reverted(names, reverted), rendered)

        is_complete = old.state.root[:2] == root[:2] and all(
            posixpath.relpath(root.folder, listing.tree.at) in listing.inputs for listing in self._listings.values()
        )
        search = Attribution(texts, parts, render, limit, is_complete, is_costly=True)
        return search.find(differing, self._known, self._likeness(root, names, texts))

    def _texts(self, old: RootState | None, new: RootState | None) -> tuple[list[str], SourceTexts]:
        """Returns the names of the files of a root that differ, and both states of their texts.

        A file that the root reads in one state only is compared, too: it can exist in the other state.
        """
        names: dict[str, None] = {}
        for state, root in ((_NEW, new), (_OLD, old)):
            with self._copies.again(state):
                names |= dict.fromkeys(_names(self._listings[state], root.root) if root else ())
        read: dict[State, dict[str, Text]] = {}
        for state in (_OLD, _NEW):
            with self._copies.again(state):
                tree = self._listings[state].tree
                read[state] = {name: Text(tree.shown(name), 1, tree.read(name).text) for name in names if tree.is_file(name)}
        moved = _moved(old.root.folder, new.root.folder, read[_OLD], read[_NEW]) if old and new else {}
        pairs = {
            name: TextPair(read[_OLD].get(moved.get(name, name)), read[_NEW].get(name)) for name in names if name not in moved.values()
        }
        differing = {name: pair for name, pair in pairs.items() if (pair.old and pair.old.text) != (pair.new and pair.new.text)}
        return [*differing], SourceTexts([*differing.values()])

    def _likeness(self, root: Root, names: Sequence[str], texts: SourceTexts) -> Hashable:
        """Returns the differing texts by their paths from the root: roots with the same ones have the same parts."""
        return tuple((posixpath.relpath(name, root.folder), *texts.lines_of(number)) for number, name in enumerate(names))

    def _objects(self, root: Root, names: Sequence[str], texts: Mapping[str, str | None], new: RenderedState) -> Objects | None:
        """Returns the objects of a root with other texts of some files; None if it cannot be built or rendered with them."""
        listing = self._listings[_NEW]
        with self._copies.again(_NEW):
            below = listing.tree.below(root.folder) if root.kind == "kpt" else ()  # the first render of a package changed its files
            files = {name: listing.tree.read(name).text for name in (*names, *below) if listing.tree.is_file(name)}
        written = {name: texts.get(name, files.get(name)) for name in (*names, *below)}
        with self._copies.with_texts(written):
            return self._built(listing, root, texts, new)

    def _built(self, listing: RootListing, root: Root, texts: Mapping[str, str | None], new: RenderedState) -> Objects | None:
        tree = listing.tree.again()
        again = listing._replace(tree=tree, options=listing.options._replace(progress=lambda _: None))
        if any(_is_pipeline(listing.tree, name) for name in texts):
            found = roots.find(tree, listing.options.exclude, listing.options.roots)
            again = again._replace(roots=found)
            same = [other for other in found.roots if (other.folder, other.kind) == (root.folder, root.kind)]
            if len(same) != 1:
                return None
            root = same[0]
        state = states.rebuilt(again, root, self._programs)
        if state is None or not state.is_known:
            return None
        files = state.sources
        rendered = rendered_state.render(files.values, files.config, files.settings_value, files.results)
        return rendered_state.comparable_objects(rendered, new)


def _moved(old: str, new: str, old_texts: Collection[str], new_texts: Collection[str]) -> dict[str, str]:
    """Returns the old names of files by their new names, if their root has another folder."""
    names = {name: posixpath.normpath(posixpath.join(old, posixpath.relpath(name, new))) for name in new_texts if name not in old_texts}
    return {name: before for name, before in names.items() if old != new and before in old_texts and before not in new_texts}


def _is_built(state: RootState) -> bool:
    """True for a root that a program makes from its files."""
    return state.root.kind == "kustomize" or (state.root.kind == "kpt" and state.how.startswith("rendered"))


def _names(listing: RootListing, root: Root) -> Iterator[str]:
    """Yields the files that a root is made of: first its Kustomization or Kptfile."""
    tree = listing.tree
    if root.kind == "kustomize" and root.folder in listing.roots.closures:
        closure = listing.roots.closures[root.folder]
        yield from (tree.kustomization_file(folder) for folder in closure.folders)
        yield from sorted(closure.files)
    else:
        yield from root.files or (name for name in tree.below(root.folder) if not _is_output(tree, name))
    if root.is_delivered:
        yield from (name for name in tree.names() if _is_pipeline(tree, name))
    for file in (listing.options.config, listing.options.default_config):
        if file and os.path.realpath(file).startswith(f"{tree.top}{os.sep}"):
            yield os.path.relpath(os.path.realpath(file), tree.top)


def _is_output(tree: Tree, name: str) -> bool:
    """True for a file in which a render writes its objects: a new render writes them again."""
    sources = tree.read(name).sources
    return bool(sources) and all(isinstance(source.value, dict) and ownership.is_generated(source.value) for source in sources)


def _is_pipeline(tree: Tree, name: str) -> bool:
    return any(source.address.api_version.startswith(_PIPELINES) for source in tree.read(name).sources)
