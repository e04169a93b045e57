"""Loads both states of all that the paths of a command apply, each root for itself. The rule for PATH is in `path_inputs`."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import NoReturn

from krm_fn.base import report, results
from krm_fn.repository.files import revisions
from krm_fn.review.changed_lines.document_hunks import LocatedRender
from krm_fn.review.diff import rendered_state
from krm_fn.review.inputs import Inputs, compared_states, path_inputs, repository_diffs, repository_states
from krm_fn.review.inputs.compared_states import StoppedError
from krm_fn.review.inputs.path_inputs import LoadedRoots, PathPart
from krm_fn.review.inputs.repository_diffs import RootChange, RootChanges


def load(given: Inputs, old: str, stack: contextlib.ExitStack, *, skips: bool) -> RootChanges:
    """Returns the states of all roots, and those of all other paths together. `old` is a file, a folder or a git revision.

    `skips`: roots whose inputs are the same in both states are not rendered. An old state in one folder is that of one path.
    Roots can be built again until the end of `stack`.
    """
    is_one_folder = len(given.paths) > 1 and revisions.is_path(old)
    folders = [] if is_one_folder else repository_states.folders(given, old)
    compared = [repository_diffs.load(given, folders, old, stack, skips=skips)] if folders else []
    parts = path_inputs.parts_of_kustomizations(given)
    read_otherwise = {*folders, *(finding.file for finding in parts)}
    if others := tuple(path for path in given.paths if path not in read_otherwise):
        new_state, old_state = compared_states.load(given._replace(paths=others), old)
        if old_state:
            name = ", ".join(others) if folders else ""
            find_origins = compared_states.document_origins(old_state, new_state)
            compared.append(RootChanges([RootChange(name, new_state, old_state, find_origins=find_origins)], [], []))
    pairs = [pair for states in compared for pair in states.pairs]
    findings = [*parts, *(finding for states in compared for finding in states.results)]
    if not any(pair.is_unchanged or pair.new.files.resources or pair.old.files.resources for pair in pairs):
        _stop(path_inputs.load(given), given.paths)
    return RootChanges(pairs, findings, [line for states in compared for line in states.lines])


def _stop(loaded: LoadedRoots, paths: Sequence[str]) -> NoReturn:
    """Raises StoppedError with the errors about paths without a resource: a comparison of nothing has no result."""
    findings = [*loaded.results, *(finding for part in loaded.parts for finding in part.locate(()))]
    raise StoppedError(results.errors_of(findings) or [path_inputs.no_resource(paths)])


def load_live(given: Inputs, live: str) -> RootChanges:
    """Returns the states of all roots whose namespaces an export of a cluster has, after and before they are applied.

    Raises StoppedError if the export cannot be used, or if the paths have no resource: then nothing is compared.
    """
    loaded = path_inputs.load(given).with_dynamo()
    if not loaded.resources:
        _stop(loaded, given.paths)
    states = [_state(root) for root in loaded.roots]
    pairs = compared_states.load_live(live, states)
    compared = [(root.name, pair) for root, pair in zip(loaded.roots, pairs, strict=True) if pair]
    lines = [
        f"{report.visible(root.name or 'the files')}: not compared, because the export has no object of its namespaces"
        for root, pair in zip(loaded.roots, pairs, strict=True)
        if pair is None
    ]
    names = [name for name, _ in compared] if len(loaded.roots) > 1 else [""]
    state_pairs = [
        RootChange(name, *pair, find_origins=compared_states.live_origins(pair[0])) for name, (_, pair) in zip(names, compared, strict=True)
    ]
    return RootChanges(state_pairs, loaded.results, [*loaded.lines, *lines])


def _state(root: PathPart) -> LocatedRender:
    files = root.sources
    rendered = rendered_state.render(files.values, files.config, files.settings_value, files.results)
    return LocatedRender("the files", rendered, files, files.locate(rendered.findings))
