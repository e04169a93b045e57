"""`krm-fn check`: finds mistakes in resources and in changes, and prints no objects.

The rules are in `krm_fn.review.resource_findings` (one state) and `krm_fn.render.rules.updates` (changes).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import click

from krm_fn.base import progress_line, report, results
from krm_fn.base.results import Result, Severity
from krm_fn.cli import budget_file, command_options, command_output, finding_formats
from krm_fn.cli.command_options import Policy
from krm_fn.kubernetes import identity
from krm_fn.render.expand import KnownItems
from krm_fn.render.rules import updates
from krm_fn.repository import destinations, mixed_versions
from krm_fn.repository.files import reading, revisions, selection
from krm_fn.repository.files.reading import Source
from krm_fn.repository.files.revisions import OldState
from krm_fn.repository.files.sources import Sources
from krm_fn.repository.states import RootState
from krm_fn.review import resource_findings
from krm_fn.review.budgets.gpu_use import RootObjects
from krm_fn.review.diff import rendered_state
from krm_fn.review.inputs import Inputs, path_inputs, repository_states, revision_path, root_pairs


@click.command()
@command_options.inputs
@click.option(
    "--old",
    metavar="OLD",
    help="The state before the change: a file, a folder or a git revision. Reports changes that a cluster would reject.",
)
@click.option("--fixed-services", is_flag=True, help="Report added and removed services as errors, not as warnings. Needs --old.")
@click.option(
    "--root",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The root folder of the build. Findings then show the lines of the files that kustomize (originAnnotations) or kpt names.",
)
@click.option("--verbose", is_flag=True, help="Also say which command lines of engines are not checked, and why.")
@click.option(
    "-o",
    "--output",
    "--format",
    "style",
    type=click.Choice(finding_formats.names()),
    default="text",
    help="The format. The default is text.",
)
@budget_file.option
@command_options.policy
@click.pass_context
def check(  # noqa: PLR0913 - one for each option
    ctx: click.Context,
    *,
    given: Inputs,
    policy: Policy,
    old: str | None,
    fixed_services: bool,
    root: Path | None,
    verbose: bool,
    budget: str | None,
    style: str,
) -> None:
    """Find mistakes in resources.

    {paths}

    Roots are Kustomizations that no other one includes, kpt packages, folders that Argo CD or Flux applies, and plain files (*.yaml, *.yml
    and *.json). krm-fn builds each root once, without running programs of the folder, and compares committed renders with new ones. In a
    build, it also finds namespaces, name prefixes and labels of generated objects that a later layer changed. In native objects, it finds
    fields that an API server rejects.

    The configuration is the file of --config or a DynamoRender in a PATH. Without a configuration, mistakes that depend on the
    configuration are warnings.

    Exit codes: 0 no errors; 1 errors; 2 wrong usage.

    \b
      krm-fn check
      krm-fn check graph.yaml
      krm-fn check --config render.yaml base/ overlay/graph.yaml
      krm-fn check --old main graphs/
      kustomize build --enable-alpha-plugins --enable-exec overlay | krm-fn check -o json -
    """  # noqa: D301 - click reads the backspace
    if fixed_services and old is None:
        raise click.UsageError("--fixed-services needs --old")
    limits = budget_file.read(budget, given)
    with progress_line.shown("check"):
        inputs = _inputs(given, old, is_plain=root is not None)
        located, compared = _located(inputs, root, fixed_services=fixed_services, verbose=verbose)
        used = budget_file.compare(limits, map(_objects, inputs.parts)) if limits else None
    resources = [source for loaded, *_ in inputs.parts for source in loaded.resources]
    located += used.findings if used else []
    findings = policy.without_ignored(sorted(located, key=results.order), [source.value for source in resources])
    stdin = next((loaded.stdin for loaded, *_ in inputs.parts if loaded.stdin), "")
    checked = finding_formats.Checked(resources, policy.shown(findings), stdin, colour=command_output.colours())
    command_output.write(budget_file.with_budget(style, finding_formats.write(style, checked), used), style)
    if style == "text" and not policy.quiet:
        for line in inputs.lines:
            command_output.print_line(line, err=True)
        others = f", {compared} compared with {old}" if old is not None else ""
        command_output.print_line(f"{_count(resources)}{others}: {report.count(findings) or 'no findings'}{_skipped(inputs)}", err=True)
    ctx.exit(int(bool(policy.failing(findings))))


def _located(inputs: _CheckInputs, root: Path | None, *, fixed_services: bool, verbose: bool) -> tuple[list[Result], int]:
    """Returns all findings with their locations, and the number of resources that are compared with an old state."""
    compared, located = 0, list(inputs.results)
    for loaded, before, _ in inputs.parts:
        severities: dict[str, Severity] = {} if fixed_services else {updates.SERVICES: "warning"}
        pairs = revisions.pairs(before, loaded.resources, loaded.default_namespace) if before else []
        compared += len(pairs)
        groups = [(_of_group(group, loaded, verbose=verbose), group) for group in loaded.groups]
        groups += [(updates.check([pair.old], [pair.new.value], loaded.default_namespace, loaded.config), [pair.new]) for pair in pairs]
        about = [result for findings, group in groups for result in reading.locate(_with_severities(findings, severities), group, root)]
        located += reading.locate([*loaded.results, *_once(about), *(before.results if before else ())], loaded.resources, root)
    return located, compared


class _CheckPart(NamedTuple):
    """The resources of a root or of all other paths, their old state, and the names of their clusters."""

    loaded: Sources
    before: OldState | None
    clusters: tuple[str, ...] = ()


class _CheckInputs(NamedTuple):
    """The inputs of a check, each with its old state. Each root of a repository is one input; all other paths together are one.

    `lines` say how each root was read, and `results` are findings about a repository as a whole. `skipped` is the number of other
    roots, and `files` counts the files that no root has, by reason.
    """

    parts: list[_CheckPart]
    results: list[Result]
    lines: list[str]
    skipped: int = 0
    files: Counter[str] = Counter()


def _inputs(given: Inputs, old: str | None, *, is_plain: bool) -> _CheckInputs:
    """Loads all inputs. Folders are read as repositories, except with `--root`, where the paths are the output of a build."""
    folders = [] if is_plain else repository_states.folders(given, old)
    revision_paths = {path: inside for path in given.paths if (inside := revision_path(path))}
    parts = [] if is_plain else path_inputs.parts_of_kustomizations(given)
    read_otherwise = {*folders, *revision_paths, *(finding.file for finding in parts)}
    others = given._replace(paths=tuple(path for path in given.paths if path not in read_otherwise))
    inputs = _CheckInputs([], [*parts], [])
    if others.paths:
        before = _before(old, others)
        loaded = others.load(tolerant=True)
        inputs.parts.append(_CheckPart(loaded, before))
        inputs.results.extend(path_inputs.charts(loaded.resources))
        inputs.results.extend(mixed_versions.check(loaded.resources) if loaded.stdin else ())  # the output of a build
    states = [
        repository_states.RepositoryStates(repository_states.read_revision(*inside, given), None) for inside in revision_paths.values()
    ]
    states += [repository_states.read(folder, given, old, unchanged="share") for folder in folders]
    for path, read in zip((*revision_paths, *folders), states, strict=True):
        pairs = root_pairs.by_folder(read.new.roots, read.old.roots if read.old else [])
        left = [pair.old for pair in pairs if pair.old and pair.new is None]
        for state, old_state in ((pair.new, pair.old) for pair in pairs if pair.new):
            before = None if read.old is None else _old_resources([old_state]) if old_state else _moved_resources(state, left)
            inputs.parts.append(_CheckPart(state.sources, before, state.destination.clusters))
            inputs.lines.append(state.line)
        inputs.results.extend((*read.new.results, *read.new.rejected))
        inputs.results.extend(
            mixed_versions.check_clusters((state.destination.clusters, state.sources.resources) for state in read.new.roots)
        )
        inputs = inputs._replace(skipped=inputs.skipped + read.new.skipped, files=inputs.files + read.new.files)
        if not read.new.roots and not results.failed(read.new.results):
            inputs.results.append(path_inputs.nothing(path, read.new))
    return inputs


def _old_resources(roots: Iterable[RootState]) -> OldState:
    """Returns the resources of roots in the old state. They are compared by their identity, because a build has no files."""
    return OldState([(source, frozenset()) for root in roots for source in root.sources.resources], [])


def _moved_resources(state: RootState, roots: Iterable[RootState]) -> OldState:
    """Returns the resources of a new root that roots had which only the old state has: a folder may have another name."""
    present = {identity.key(source.value, state.sources.default_namespace) for source in state.sources.resources}
    old = _old_resources(root for root in roots if destinations.can_be_same(root.destination, state.destination, is_same_folder=False))
    return old._replace(
        resources=[entry for entry in old.resources if identity.key(entry[0].value, state.sources.default_namespace) in present]
    )


def _objects(part: _CheckPart) -> RootObjects:
    """Returns the objects of an input whose GPUs a budget counts, in the old and in the new state."""
    loaded, before, clusters = part
    known = KnownItems()
    new = rendered_state.render(loaded.values, loaded.config, known=known)
    old = None if before is None else rendered_state.render([source.value for source, _ in before.resources], loaded.config, known=known)
    return budget_file.states(old, new, clusters)


def _before(old: str | None, given: Inputs) -> OldState | None:
    with command_options.reading_old():
        return None if old is None else revisions.read(old, given.paths, given.exclude)


def _of_group(group: Iterable[Source], loaded: Sources, *, verbose: bool) -> Iterator[Result]:
    values = [source.value for source in group]
    return resource_findings.check(values, loaded.config, is_configured=bool(loaded.configs), notes=verbose)


def _once(findings: Iterable[Result]) -> Iterable[Result]:
    """Findings without duplicates: `check` reports a resource of several groups once for each group."""
    return {repr(result): result for result in findings}.values()


def _with_severities(findings: Iterable[Result], severities: Mapping[str, Severity]) -> Iterator[Result]:
    for result in findings:
        yield result._replace(severity=severities.get(result.code, result.severity))


def _count(resources: Sequence[Source]) -> str:
    count = len(resources)
    return report.counted(count, "resource")


def _skipped(inputs: _CheckInputs) -> str:
    text = selection.summary(sum((loaded.skipped for loaded, *_ in inputs.parts), inputs.files))
    roots = f"{report.counted(inputs.skipped, 'root')} without a Dynamo resource" if inputs.skipped else ""
    return "".join(f"; {part}" for part in (text, roots) if part)


COMMAND = check
