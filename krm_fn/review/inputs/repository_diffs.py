"""Compares both states of each root of a repository, and writes the comparisons as one report."""

from __future__ import annotations

import contextlib
import functools
import json
import posixpath
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from krm_fn.base import report, report_model
from krm_fn.base.results import Result
from krm_fn.render.config import Config
from krm_fn.render.expand import KnownItems
from krm_fn.render.resolve import cluster
from krm_fn.render.schema.object_changes import ObjectChange
from krm_fn.repository.files import reading
from krm_fn.repository.files.sources import Sources
from krm_fn.repository.states import RootFiles
from krm_fn.review.budgets.gpu_use import RootObjects
from krm_fn.review.changed_lines.document_hunks import LocatedRender
from krm_fn.review.changed_lines.rebuilds import RenderedRoot
from krm_fn.review.diff import comparison, diff_report, fleet_formats, rendered_state
from krm_fn.review.diff.comparison import FindOrigins, Origins
from krm_fn.review.diff.diff_report import DiffReport
from krm_fn.review.diff.fleet_formats import ChangeReport
from krm_fn.review.inputs import Inputs, Policy, patch_consequences, repository_states, root_pairs
from krm_fn.review.inputs.compared_states import ClusterCapacity
from krm_fn.review.inputs.repository_states import RepositoryChange, Unchanged
from krm_fn.review.inputs.root_pairs import RenderPair, RootPair


def _no_origins(_: Sequence[ObjectChange]) -> Origins:
    return {}


class RootChange(NamedTuple):
    """Both states of a root. `root` is its folder; empty if a command compares paths and not roots.

    `is_unchanged`: the root is not rendered, because all of its inputs are the same in both states. `old_root` is the folder of the root
    that applied the objects before, if it is another one. `clusters` are the names of the clusters, if they are known.
    `find_origins` returns the lines that make changes.
    """

    root: str
    new: LocatedRender
    old: LocatedRender
    is_unchanged: bool = False
    old_root: str = ""
    clusters: tuple[str, ...] = ()
    find_origins: FindOrigins = _no_origins


class RootChanges(NamedTuple):
    """The states of all roots, findings about the repository, and one line for each root, which says how it was read."""

    pairs: list[RootChange]
    results: list[Result]
    lines: list[str]


class _Folder(NamedTuple):
    """A folder that a command names, with both states of its roots."""

    path: str
    states: RepositoryChange

    @property
    def roots(self) -> list[RootFiles]:
        """The roots of both states."""
        return [*self.states.new.roots, *(self.states.old.roots if self.states.old else ())]

    def name(self, root: RootFiles) -> str:
        """Returns the folder of a root in either state, from the current folder."""
        return posixpath.normpath(posixpath.join(self.path, root.path))


_Folders = Mapping[int, _Folder]
"""The folders of a command, by the identities of their roots."""


def load(given: Inputs, paths: Sequence[str], old: str, stack: contextlib.ExitStack, *, skips: bool) -> RootChanges:
    """Reads both states of all roots of folders. A root that is in one state only has an empty other state.

    Objects are matched over all folders. `skips`: roots whose inputs are the same in both states are not rendered. Roots can be built again
    until the end of `stack`.
    """
    unchanged: Unchanged = "skip" if skips else "build"
    named = [
        _Folder(path, stack.enter_context(repository_states.open_states(path, given._replace(paths=(path,)), old, unchanged=unchanged)))
        for path in paths
    ]
    folders = {id(root): folder for folder in named for root in folder.roots}
    roots = [pair for _, (new, old_state, _) in named for pair in root_pairs.by_folder(new.roots, old_state.roots if old_state else [])]
    loaded = root_pairs.by_objects([pair for pair in roots if not _is_unchanged(pair)], lambda pair: _rendered_pair(pair, old))
    ordered = _in_order(roots, [*loaded, *(_unchanged_pair(pair, old) for pair in roots if _is_unchanged(pair))])
    pairs = [_state_pair(pair, folders) for pair in ordered]
    lines = [_line(pair, old, folders) for pair in _in_order(roots, loaded) if not pair.is_part]
    lines += _skipped_line(pairs, old)
    return RootChanges(pairs, [finding for folder in named for finding in _new_findings(folder.states)], lines)


def _new_findings(states: RepositoryChange) -> list[Result]:
    """Returns the findings about the new state of a folder: the errors, and others that the old state does not have."""
    known = {_identity(result) for result in (states.old.results if states.old else ())}
    return [result for result in states.new.results if result.severity == "error" or _identity(result) not in known]


def _identity(result: Result) -> tuple[str, str, object]:
    return result.code, result.message, result.ref


def _is_unchanged(pair: RootPair) -> bool:
    return bool(pair.new and pair.old and pair.new.is_unchanged)


def _rendered_pair(pair: RootPair, old: str) -> RenderPair:
    """Renders both states of a root. Equal items of both states are rendered once."""
    known_items = KnownItems()
    new_state = _render_root("the working tree", pair.new, known_items, root_pairs.lost_objects(pair))
    old_state = _render_root(old, pair.old, known_items)
    return RenderPair(pair, new_state, old_state._replace(results=[*rendered_state.old_findings(old_state.results)]))


def _unchanged_pair(pair: RootPair, old: str) -> RenderPair:
    """Returns states without objects. Of plain files, they have the findings about the files."""
    new_state, old_state = (_unchanged_root(name, state) for name, state in (("the working tree", pair.new), (old, pair.old)))
    return RenderPair(pair, new_state, old_state)


def _render_root(name: str, state: RootFiles | None, known: KnownItems, findings: Sequence[Result] = ()) -> LocatedRender:
    files = state.sources if state else Sources([], [], Config(), [])
    rendered = rendered_state.render(files.values, files.config, files.settings_value, [*files.results, *findings], known)
    located = files.locate([*rendered.findings, *findings])
    return LocatedRender(name, rendered, files, patch_consequences.judge_patches(located, files.resources))


def _unchanged_root(name: str, state: RootFiles | None) -> LocatedRender:
    files = state.sources._replace(resources=[]) if state else Sources([], [], Config(), [])
    return LocatedRender(name, rendered_state.render((), files.config), files, files.locate(()))


def _in_order(roots: Sequence[RootPair], pairs: Sequence[RenderPair]) -> list[RenderPair]:
    """Returns pairs in the order of the roots of the new state, then of the old state. A move follows the root to which it leads."""
    order = {id(pair.new or pair.old): number for number, pair in enumerate(roots)}
    return sorted(pairs, key=lambda pair: order[id(pair.roots.new or pair.roots.old)])


def _names(pair: RootPair, folders: _Folders) -> tuple[str, str]:
    """Returns the folder of a pair of roots, and that of the root before; empty if it is the same, or if one state has no root."""
    new, old = (folders[id(root)].name(root) if root else "" for root in pair)
    return new or old, old if new and old != new else ""


def _state_pair(pair: RenderPair, folders: _Folders) -> RootChange:
    new_root, old_root = pair.roots
    name, moved_from = _names(pair.roots, folders)
    root = new_root or old_root
    clusters = root.destination.clusters if root else ()
    rebuilds = folders[id(root)].states.rebuilds if root else None
    old, new = RenderedRoot(old_root, pair.old), RenderedRoot(new_root, pair.new)
    find_origins = functools.partial(rebuilds.find_origins, old, new) if rebuilds else _no_origins
    return RootChange(name, pair.new, pair.old, _is_unchanged(pair.roots), moved_from, clusters, find_origins)


def _line(pair: RenderPair, old: str, folders: _Folders) -> str:
    """Returns the line that says how a root was read, and which states have it."""
    new_root, old_root = pair.roots
    name, moved_from = _names(pair.roots, folders)
    how = new_root.how if new_root else f"only in {old}"
    before = "" if old_root else f"; not in {report.visible(old)}"
    if moved_from:
        before = f"; {report.visible(moved_from)} in {report.visible(old)}"
    return f"{report.visible(name)}: {report.visible(how)}{before}"


def _skipped_line(pairs: Sequence[RootChange], old: str) -> list[str]:
    """Returns the line that counts the roots that are not rendered."""
    count = sum(pair.is_unchanged for pair in pairs)
    verb, its, it, renders = ("is", "its", "it", "it is") if count == 1 else ("are", "their", "them", "they are")
    reason = f"{its} inputs are the same as in {old}, so {renders} not rendered (--all renders {it})"
    return [f"{count} of {report.pluralize(len(pairs), 'folder')} {verb} unchanged: {reason}"] if count else []


def compare(pair: RootChange, capacity: ClusterCapacity, policy: Policy, *, colours: bool = False) -> ChangeReport:
    """Compares both states of a root. `colours` are those of the report as text."""
    new_state, old_state = pair.new, pair.old
    result = comparison.compare(old_state.rendered, new_state.rendered, capacity.nodes, capacity.pods, pair.find_origins)
    findings = [*rendered_state.new_findings(new_state.results, old_state.rendered), *old_state.results, *result.findings]
    findings = policy.without_ignored(findings, new_state.rendered.inputs)
    update_findings = patch_consequences.without_changes(reading.locate(result.updates, new_state.files.resources), new_state.results)
    forecast_findings = policy.without_ignored([*update_findings, *diff_report.located_findings(result)], new_state.rendered.inputs)
    shown = policy.visible_findings([*findings, *forecast_findings])
    content = DiffReport(result, old_state.name, shown, colours, pair.is_unchanged)
    return ChangeReport(pair.root, content, findings, forecast_findings, pair.old_root, pair.clusters)


def measured_objects(pair: RootChange, entry: ChangeReport) -> RootObjects:
    """Returns the objects of a root whose GPUs a budget counts: those of both states and of their comparison."""
    inputs = (*pair.old.rendered.inputs, *pair.new.rendered.inputs)
    return RootObjects(entry.content.diff.changes, inputs, cluster.default_namespace(pair.new.rendered.config), pair.clusters)


def write(formats: Mapping[str, Callable[[DiffReport], str]], style: str, reports: Sequence[ChangeReport], findings: list[Result]) -> str:
    """Returns the report in a format. Of several roots, it begins with one line about all, and roots with equal effects are one block."""
    if len(reports) == 1:
        (only,) = reports
        return formats[style](only.content._replace(findings=[*findings, *only.content.findings]))
    return _json(reports, formats[style], findings) if style == "json" else FORMATS[style](reports, findings)


FORMATS = {"markdown": fleet_formats.markdown, "text": fleet_formats.text}
"""The functions that write a report about several roots, by the name of the format."""


def _json(reports: Sequence[ChangeReport], write_report: Callable[[DiffReport], str], findings: list[Result]) -> str:
    fields = {
        "headline": fleet_formats.verdict(reports).headline,
        "roots": [{**_root_fields(entry), **json.loads(write_report(entry.content))} for entry in reports],
        "alike": [group.numbers for group in fleet_formats.groups(reports)],
    }
    return report_model.document(fields, findings)


def _root_fields(entry: ChangeReport) -> dict[str, object]:
    """Returns the folder of a root, its folder before, and its clusters."""
    moved = {"oldRoot": entry.old_root} if entry.old_root else {}
    return {"root": entry.root, **moved, **({"clusters": [*entry.clusters]} if entry.clusters else {})}
