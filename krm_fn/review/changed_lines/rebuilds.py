"""Finds the lines that make changes of the objects of roots: reverts parts of their sources in a private copy, and builds it again."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence

from krm_fn.base.records import NamedTuple
from krm_fn.origins.reversion import Objects
from krm_fn.origins.text_hunks import RevisionText, TextPair
from krm_fn.render.manifests import ownership
from krm_fn.render.schema.object_changes import ObjectChange
from krm_fn.repository import roots, states
from krm_fn.repository.files.checkouts import Checkouts, State
from krm_fn.repository.private_programs import Programs
from krm_fn.repository.roots import Root, TreeRoots
from krm_fn.repository.states import RootFiles, RootListing
from krm_fn.repository.tree import Tree
from krm_fn.review.changed_lines import change_origins, document_hunks
from krm_fn.review.changed_lines.change_origins import Attribution, HunkPart, KnownGroups, Origins, SourceTexts
from krm_fn.review.changed_lines.document_hunks import LocatedRender
from krm_fn.review.changed_lines.hunk_lines import KnownPairs
from krm_fn.review.diff import rendered_state
from krm_fn.review.diff.rendered_state import ChangeOrigin, Render

_BUILDS, _BUILDS_OF_ONE_HUNK, _ALL_BUILDS = 40, 8, 200
"""The largest numbers of builds for one root, for one root with one hunk, and for all roots of a repository."""
_OLD: State = "old"
_NEW: State = "new"
_PIPELINES = ("argoproj.io/", "kustomize.toolkit.fluxcd.io/")


class RenderedRoot(NamedTuple):
    """One state of a root with what it applies; `state` is None in a state that does not have it."""

    state: RootFiles | None
    files: LocatedRender


RootForms = tuple[Root, Root]
"""A root in the new and in the old state."""


class Rebuilds:
    """Both states of a repository, in copies that exist as long as `copies` is open."""

    def __init__(self, old: RootListing, new: RootListing, programs: Programs, copies: Checkouts) -> None:
        self._listings: dict[State, RootListing] = {"old": old, "new": new}
        self._programs, self._copies = programs, copies
        self._left = _ALL_BUILDS
        self._known: KnownGroups = {}
        self._pairs: KnownPairs = {}
        self._delivered = {state: _delivered_folders(listing.roots) for state, listing in self._listings.items()}

    def find_origins(self, old: RenderedRoot, new: RenderedRoot, changes: Sequence[ObjectChange]) -> Origins:
        """Returns the origins of the changes of a root."""
        differing = change_origins.differing(changes)
        if not differing:
            return {}
        if self._is_in_documents([root.state for root in (old, new) if root.state]):
            return document_hunks.find(old.files, new.files, changes)
        names, texts = self._texts(old.state, new.state)
        if old.state is None or new.state is None:
            origin = self._origin_of_folder(_NEW, new.state) or self._origin_of_folder(_OLD, old.state)
            if origin:
                return {(number, None): (origin,) for number, _ in differing}
            return Attribution(texts, texts.parts, lambda _: None, 0).nearest(differing)
        parts = texts.parts
        limit = min(self._left, _BUILDS if len({(part.lines.pair, part.hunk) for part in parts}) > 1 else _BUILDS_OF_ONE_HUNK)
        root, rendered = new.state.root, new.files.rendered
        forms = root, old.state.root

        def render(reverted: Sequence[HunkPart]) -> Objects | None:
            self._left -= 1
            return self._objects(forms, names, texts.revert_parts(names, reverted), rendered)

        is_complete = old.state.root[:2] == root[:2] and all(
            posixpath.relpath(root.folder, listing.tree.at) in listing.inputs for listing in self._listings.values()
        )
        search = Attribution(texts, parts, render, limit, is_complete, is_costly=True)
        return search.find(differing, self._known, self._likeness(root, names, texts))

    def _origin_of_folder(self, state: State, root: RootFiles | None) -> ChangeOrigin | None:
        """Returns the first line of the Kustomization of a root, if only this state has the file: then it makes all objects of the root.

        Otherwise, another file makes the folder a root, such as the Application that delivers it.
        """
        if root is None or root.root.kind != "kustomize":
            return None
        files: dict[State, str] = {}
        for each, listing in self._listings.items():
            with self._copies.again(each):
                name = listing.tree.kustomization_file(root.root.folder)
                files[each] = listing.tree.shown(name) if name else ""
        return ChangeOrigin(state, files[state], 1) if [*filter(None, files.values())] == [files[state]] else None

    def _is_in_documents(self, states: Sequence[RootFiles]) -> bool:
        """True if the documents of a root decide all: no program builds it, and pipelines deliver its files as in the other state."""
        names = {name for state in states for name in state.root.files if all(name in files for files in self._delivered.values())}
        is_delivered_alike = all(self._delivered[_OLD][name] == self._delivered[_NEW][name] for name in names)
        return is_delivered_alike and not any(map(_is_built, states)) and len({state.root.namespace for state in states}) == 1

    def _texts(self, old: RootFiles | None, new: RootFiles | None) -> tuple[list[str], SourceTexts]:
        """Returns the names of the files of a root that differ, and both states of their texts.

        A file that the root reads in one state only is compared, too: it can exist in the other state.
        """
        names: dict[str, None] = {}
        for state, root in ((_NEW, new), (_OLD, old)):
            with self._copies.again(state):
                names |= dict.fromkeys(_names(self._listings[state], root.root) if root else ())
        read: dict[State, dict[str, RevisionText]] = {}
        for state in (_OLD, _NEW):
            with self._copies.again(state):
                tree = self._listings[state].tree
                read[state] = {name: RevisionText(tree.shown(name), 1, tree.read(name).text) for name in names if tree.is_file(name)}
        moved = _moved_files(old.root.folder, new.root.folder, read[_OLD], read[_NEW]) if old and new else {}
        pairs = {
            name: TextPair(read[_OLD].get(moved.get(name, name)), read[_NEW].get(name)) for name in names if name not in moved.values()
        }
        differing = {name: pair for name, pair in pairs.items() if (pair.old and pair.old.text) != (pair.new and pair.new.text)}
        return [*differing], SourceTexts([*differing.values()], self._pairs)

    def _likeness(self, root: Root, names: Sequence[str], texts: SourceTexts) -> Hashable:
        """Returns the differing texts by their paths from the root: roots with the same ones have the same parts."""
        return tuple((posixpath.relpath(name, root.folder), *texts.lines_of(number)) for number, name in enumerate(names))

    def _objects(self, forms: RootForms, names: Sequence[str], texts: Mapping[str, str | None], new: Render) -> Objects | None:
        """Returns the objects of a root with other texts of some files; None if it cannot be built or rendered with them."""
        listing, root = self._listings[_NEW], forms[0]
        with self._copies.again(_NEW):
            below = listing.tree.below(root.folder) if root.kind == "kpt" else ()  # the first render of a package changed its files
            files = {name: listing.tree.read(name).text for name in (*names, *below) if listing.tree.is_file(name)}
        written = {name: texts.get(name, files.get(name)) for name in (*names, *below)}
        with self._copies.with_texts(written):
            return self._build_again(listing, forms, texts, new)

    def _build_again(self, listing: RootListing, forms: RootForms, texts: Mapping[str, str | None], new: Render) -> Objects | None:
        tree = listing.tree.again()
        again = listing._replace(tree=tree, options=listing.options._replace(progress=lambda _: None))
        root: Root | None = forms[0]
        if any(_is_pipeline(listing.tree, name) for name in texts):
            again = again._replace(roots=roots.find(tree, listing.options.exclude, listing.options.roots))
            root = _same(again.roots.roots, forms)
        state = states.rebuilt(again, root, self._programs) if root else None
        if state is None or not state.is_known:
            return None
        files = state.sources
        rendered = rendered_state.render_objects(files.values, files.config, files.settings_value, files.results)
        return rendered_state.comparable_objects(rendered, new)


def _same(candidates: Sequence[Root], forms: RootForms) -> Root | None:
    """Returns the root with the folder of the new form of a root, else that of the old form; None if none or several could be it."""
    for form in forms:
        same = [root for root in candidates if (root.folder, root.kind) == (form.folder, form.kind)]
        if len(same) > 1:  # several pipelines deliver the folder
            deliveries = [(entry.namespace, entry.settings) for entry in forms]
            same = [root for root in same if (root.namespace, root.settings) in deliveries]
        if same:
            return same[0] if len(same) == 1 else None
    return None


def _delivered_folders(listing: TreeRoots) -> dict[str, str]:
    """Returns the folders that pipelines deliver, by the plain files in them; empty for a file that no pipeline delivers."""
    return {name: root.folder if root.is_delivered else "" for root in listing.roots for name in root.files}


def _moved_files(old: str, new: str, old_texts: Collection[str], new_texts: Collection[str]) -> dict[str, str]:
    """Returns the old names of files by their new names, if their root has another folder."""
    names = {name: posixpath.normpath(posixpath.join(old, posixpath.relpath(name, new))) for name in new_texts if name not in old_texts}
    return {name: before for name, before in names.items() if old != new and before in old_texts and before not in new_texts}


def _is_built(state: RootFiles) -> bool:
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
    if root.is_delivered or root.kind == "folder":
        yield from (name for name in tree.names() if _is_pipeline(tree, name))
    files = (listing.options.config, listing.options.default_config)
    yield from filter(None, (tree.name_of(file) for file in files if file))


def _is_output(tree: Tree, name: str) -> bool:
    """True for a file in which a render writes its objects: a new render writes them again."""
    sources = tree.read(name).sources
    return bool(sources) and all(isinstance(source.value, dict) and ownership.is_generated(source.value) for source in sources)


def _is_pipeline(tree: Tree, name: str) -> bool:
    return any(source.address.api_version.startswith(_PIPELINES) for source in tree.read(name).sources)
