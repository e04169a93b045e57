"""Loads all that `krm-fn check` judges, and returns the findings about it.

The rules are in `krm_fn.review.resource_findings` (one state) and `krm_fn.render.rules.updates` (changes).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from krm_fn.base import codes, report, results
from krm_fn.base.results import Result, Severity
from krm_fn.kubernetes import identity
from krm_fn.render.expand import KnownItems
from krm_fn.render.rules import updates
from krm_fn.repository import destinations, mixed_versions
from krm_fn.repository.files import reading, revisions, selection
from krm_fn.repository.files.reading import Source
from krm_fn.repository.files.revisions import OldFiles
from krm_fn.repository.files.sources import Sources
from krm_fn.repository.states import RootFiles
from krm_fn.review import config_map_documents, resource_findings
from krm_fn.review.budgets.gpu_use import RootObjects
from krm_fn.review.diff import rendered_state
from krm_fn.review.inputs import (
    InputError,
    Inputs,
    budget_files,
    cluster_discovery,
    patch_consequences,
    path_inputs,
    repository_states,
    revision_path,
    root_pairs,
)
from krm_fn.review.known_checks import KnownChecks


class CheckedPart(NamedTuple):
    """The resources of a root or of all other paths, their old state, and the names of their clusters."""

    loaded: Sources
    before: OldFiles | None
    clusters: tuple[str, ...] = ()

    def measured_objects(self) -> RootObjects:
        """Returns the objects whose GPUs a budget counts, in the old and in the new state."""
        known, config = KnownItems(), self.loaded.config
        new = rendered_state.render(self.loaded.values, config, known=known)
        before = None if self.before is None else [source.value for source, _ in self.before.resources]
        old = None if before is None else rendered_state.render(before, config, known=known)
        return budget_files.states(old, new, self.clusters)


class CheckedInputs(NamedTuple):
    """The inputs of a check, each with its old state. Each root of a repository is one input; all other paths together are one.

    `lines` say how each root was read, and `results` are findings about a repository as a whole. `skipped_roots` is the number of other
    roots, and `skipped_files` counts the files that no root has, by reason.
    """

    parts: list[CheckedPart]
    results: list[Result]
    lines: list[str]
    skipped_roots: int = 0
    skipped_files: Counter[str] = Counter()

    @property
    def resources(self) -> list[Source]:
        """The resources of all parts."""
        return [source for part in self.parts for source in part.loaded.resources]

    @property
    def stdin(self) -> str:
        """The text of stdin; empty if no part has it."""
        return next((part.loaded.stdin for part in self.parts if part.loaded.stdin), "")

    def skipped_lines(self) -> list[str]:
        """Returns what is not checked, in words: files by reason, and roots without a Dynamo resource."""
        text = selection.summary(sum((part.loaded.skipped for part in self.parts), self.skipped_files))
        roots = f"{report.pluralize(self.skipped_roots, 'root')} without a Dynamo resource" if self.skipped_roots else ""
        return [part for part in (text, roots) if part]


class CheckFindings(NamedTuple):
    """All findings with their locations, and the number of resources that are compared with an old state."""

    results: list[Result]
    compared: int


def load(given: Inputs, old: str | None, *, is_plain: bool, verbose: bool) -> CheckedInputs:
    """Loads all inputs. Folders are read as repositories, unless `is_plain`: then the paths are the output of a build.

    `verbose`: the lines about roots also say why each Kustomization is a root. Raises InputError if the old state cannot be read.
    """
    folders = [] if is_plain else repository_states.folders(given, old)
    revision_paths = {path: inside for path in given.paths if (inside := revision_path(path))}
    parts = [] if is_plain else path_inputs.parts_of_kustomizations(given)
    read_otherwise = {*folders, *revision_paths, *(finding.file for finding in parts)}
    others = given._replace(paths=tuple(path for path in given.paths if path not in read_otherwise))
    inputs = CheckedInputs([], [*parts], [])
    if others.paths:
        before = _old_state(old, others)
        loaded = others.load(tolerant=True)
        inputs.parts.append(CheckedPart(loaded, before))
        inputs.results.extend(path_inputs.charts(loaded.resources))
        inputs.results.extend(mixed_versions.check(loaded.resources) if loaded.stdin else ())  # the output of a build
    states = [
        repository_states.RepositoryChange(repository_states.read_revision(*inside, given), None) for inside in revision_paths.values()
    ]
    states += [repository_states.read(folder, given, old, unchanged="share") for folder in folders]
    for path, read in zip((*revision_paths, *folders), states, strict=True):
        pairs = root_pairs.by_folder(read.new.roots, read.old.roots if read.old else [])
        left = [pair.old for pair in pairs if pair.old and pair.new is None]
        for state, old_state in ((pair.new, pair.old) for pair in pairs if pair.new):
            before = None if read.old is None else _old_resources([old_state]) if old_state else _moved_resources(state, left)
            inputs.parts.append(CheckedPart(state.sources, before, state.destination.clusters))
            inputs.lines.append(state.verbose_line if verbose else state.line)
        for pair in pairs:
            inputs.results.extend(reading.locate(root_pairs.lost_objects(pair), pair.new.sources.resources) if pair.new else ())
        inputs.results.extend((*read.new.results, *read.new.rejected))
        inputs.results.extend(
            mixed_versions.check_clusters((state.destination.clusters, state.sources.resources) for state in read.new.roots)
        )
        inputs.results.extend(cluster_discovery.check(read.new.roots))
        inputs = inputs._replace(skipped_roots=inputs.skipped_roots + read.new.skipped, skipped_files=inputs.skipped_files + read.new.files)
        if not read.new.roots and not results.has_errors(read.new.results):
            inputs.results.append(path_inputs.nothing(path, read.new))
    return inputs


def _old_state(old: str | None, given: Inputs) -> OldFiles | None:
    try:
        return None if old is None else revisions.read(old, given.paths, given.exclude)
    except revisions.RepositoryError as problem:
        raise InputError(str(problem), "--old") from problem


def _old_resources(roots: Iterable[RootFiles]) -> OldFiles:
    """Returns the resources of roots in the old state. They are compared by their identity, because a build has no files."""
    return OldFiles([(source, frozenset()) for root in roots for source in root.sources.resources], [])


def _moved_resources(state: RootFiles, roots: Iterable[RootFiles]) -> OldFiles:
    """Returns the resources of a new root that roots had which only the old state has: a folder may have another name."""
    present = {identity.key(source.value, state.sources.default_namespace) for source in state.sources.resources}
    old = _old_resources(root for root in roots if destinations.can_be_same(root.destination, state.destination, is_same_folder=False))
    return old._replace(
        resources=[entry for entry in old.resources if identity.key(entry[0].value, state.sources.default_namespace) in present]
    )


def find(
    inputs: CheckedInputs, root: Path | None, *, fixed_services: bool, verbose: bool, known: KnownChecks | None = None
) -> CheckFindings:
    """Returns the findings about all inputs. `root` is the root folder of a build, whose files have the lines of findings.

    `fixed_services`: added and removed services are errors, not warnings. `verbose`: also returns notes about command lines that are not
    checked. `known` has what the last check of the same inputs knows; it has no such notes.
    """
    compared, located = 0, list(inputs.results)
    for loaded, before, _ in inputs.parts:
        severities: dict[str, Severity] = {} if fixed_services else {codes.SERVICE_ADDED_OR_REMOVED: "warning"}
        pairs = revisions.pairs(before, loaded.resources, loaded.default_namespace) if before else []
        compared += len(pairs)
        groups = [(_check_group(group, loaded, known, verbose=verbose), group) for group in loaded.groups]
        groups += [(updates.check([pair.old], [pair.new.value], loaded.default_namespace, loaded.config), [pair.new]) for pair in pairs]
        about = [result for findings, group in groups for result in reading.locate(_with_severities(findings, severities), group, root)]
        all_findings = reading.locate([*loaded.results, *_once(about), *(before.results if before else ())], loaded.resources, root)
        located += patch_consequences.judge_patches(all_findings, loaded.resources)
    return CheckFindings(located, compared)


def _check_group(group: Iterable[Source], loaded: Sources, known: KnownChecks | None, *, verbose: bool) -> Iterator[Result]:
    values = [source.value for source in group]
    yield from resource_findings.check(values, loaded.config, is_configured=bool(loaded.configs), notes=verbose, known=known)
    yield from config_map_documents.check(values)


def _once(findings: Iterable[Result]) -> Iterable[Result]:
    """Returns the findings without duplicates: `check` reports a resource of several groups once for each group."""
    return {repr(result): result for result in findings}.values()


def _with_severities(findings: Iterable[Result], severities: Mapping[str, Severity]) -> Iterator[Result]:
    for result in findings:
        yield result._replace(severity=severities.get(result.code, result.severity))
