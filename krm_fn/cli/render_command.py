"""`krm-fn render`: the native objects of Dynamo resources, on stdout or as files."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import click

from krm_fn.base import escaping, report, results
from krm_fn.base.results import Result
from krm_fn.cli import command_options, command_output, finding_formats
from krm_fn.kubernetes import identity
from krm_fn.kubernetes.types import Resource
from krm_fn.render import apply_order, expand, labels
from krm_fn.render.manifests import ownership
from krm_fn.render.resolve import cluster
from krm_fn.repository import committed
from krm_fn.repository.files import reading, writing
from krm_fn.repository.states import RootState
from krm_fn.review.diff import rendered_state
from krm_fn.review.inputs import Inputs, Policy, path_inputs, repository_states
from krm_fn.review.inputs.path_inputs import LoadedRoots, PathPart


@click.command()
@command_options.inputs
@command_options.output_format(default=None)
@click.option(
    "--output-dir",
    "folder",
    metavar="DIR",
    type=command_options.Folder(),
    help="Write one YAML file per object into this folder. A missing folder is created.",
)
@click.option("--prune", is_flag=True, help="Remove files of earlier renders that this render does not write. Needs --output-dir.")
@click.option(
    "--check",
    is_flag=True,
    help="Write nothing. Fail if a committed render is out of date: the files of --output-dir, otherwise all in the folders PATH.",
)
@click.option(
    "--accept-functions",
    is_flag=True,
    help="With --check, only warn about kpt packages that krm-fn cannot render, because they have other functions.",
)
@command_options.policy
@click.pass_context
def render(  # noqa: PLR0913 - one for each option
    ctx: click.Context,
    *,
    given: Inputs,
    policy: Policy,
    style: str | None,
    folder: Path | None,
    prune: bool,
    check: bool,
    accept_functions: bool,
) -> None:
    """Print the native objects of Dynamo resources.

    {paths} PATH can contain a ResourceList. A DynamoRender in it is the configuration.

    Of a root that is built, krm-fn prints what the cluster gets from it. If PATH has several roots, name one of them, or write each into a
    folder of its own with --output-dir.

    krm-fn prints objects in the order in which they can be applied. It also prints other resources, and the Dynamo resources unless the
    configuration sets source: drop.

    Findings are printed to stderr. With an error, krm-fn prints and writes no object.

    With --check and without --output-dir, PATH is a folder; the default is the current one. krm-fn finds the committed renders in it by
    their marks, renders their sources again, and compares the objects.

    Exit codes: 0 no errors; 1 errors, or with --check a render that is out of date; 2 wrong usage.

    \b
      krm-fn render graph.yaml | kubectl apply -f -
      krm-fn render overlays/prod
      krm-fn render --config render.yaml graphs/ --output-dir manifests --prune
      krm-fn render --check
    """  # noqa: D301 - click reads the backspace
    if check and not folder:
        ctx.exit(_check_committed(given, policy, accept_functions=accept_functions))
    if accept_functions:
        raise click.UsageError("--accept-functions needs --check without --output-dir")
    if prune and not folder:
        raise click.UsageError("--prune needs --output-dir")
    if folder and style == "json":
        raise click.UsageError("--output-dir writes YAML; leave -o json out")
    loaded = path_inputs.load(given, without=folder).with_dynamo()
    renders = [_render(root) for root in loaded.roots]
    about = [finding for entry in renders for finding in entry.findings]
    about += [*loaded.results, *(_several(loaded) if len(renders) > 1 and not folder else _unnamed(loaded))]
    findings = policy.without_ignored(about, [source.value for source in loaded.resources])
    finding_formats.print_text(loaded.resources, policy.shown(sorted(findings, key=results.order)), loaded.stdin)
    command_output.write(escaping.joined([] if policy.quiet else loaded.lines), err=True)
    if failing := policy.failing(findings):
        command_output.print_line(f"nothing is rendered: {report.count(failing)}", err=True)
        ctx.exit(1)
    if folder is None:
        command_output.write(command_output.resources(renders[0].objects, style or "yaml"), style or "yaml")
        return
    folders = _folders(folder, loaded.names)
    if check:
        ctx.exit(max(_check_folder(path, entry.objects) for path, entry in zip(folders, renders, strict=True)))
    for path, entry in zip(folders, renders, strict=True):
        summary = _write_files(path, entry.objects, prune=prune)
        command_output.write("" if policy.quiet else summary, err=True)


class _Rendered(NamedTuple):
    """The objects of a part in the order in which they can be applied, and the findings about it."""

    objects: list[Resource]
    findings: list[Result]


def _render(root: PathPart) -> _Rendered:
    """Renders a part. Of a build, the objects that it rendered stay as they are, because a later layer may have changed them."""
    loaded, namespace = root.sources, cluster.default_namespace(root.sources.config)
    built = rendered_state.built_keys(loaded.values, loaded.config) if root.is_built else frozenset()
    keyed = [(identity.key(value, namespace), value) for value in loaded.values]
    finished = [value for key, value in keyed if key in built or (root.is_built and ownership.is_generated(value))]
    finished_ids = {id(value) for value in finished}
    expansion = expand.expand([value for value in loaded.values if id(value) not in finished_ids], loaded.config)
    applied = [resource for resource in (*expansion.resources, *finished) if not labels.is_local(resource)]
    objects = apply_order.sort(map(labels.without_tool_annotations, applied))
    return _Rendered(objects, reading.locate([*loaded.results, *expansion.results], loaded.resources))


def _several(loaded: LoadedRoots) -> list[Result]:
    """Returns the error about several roots: their objects are those of several clusters or namespaces."""
    names = ", ".join(report.visible(name or "the files") for name in loaded.names)
    message = (
        f"{len(loaded.roots)} roots have Dynamo resources: {names}; name one of them as PATH, write each into a folder of its own with "
        "--output-dir, or render the plain files together with --no-build"
    )
    return [results.error("DYN740", message)]


def _unnamed(loaded: LoadedRoots) -> list[Result]:
    """Returns the error about roots that would be written into the same folder."""
    names = [name for name, number in Counter(loaded.names).items() if number > 1 or (not name and len(loaded.names) > 1)]
    message = "--output-dir writes one folder for each root, so name folders only, and each of them once; several renders have the folder"
    return [results.error("DYN740", f"{message} {', '.join(report.visible(name or '.') for name in names)}")] if names else []


def _folders(folder: Path, names: list[str]) -> list[Path]:
    """Returns the folder for the files of each root: below `folder`, as the roots are below the folder that has all of them."""
    if len(names) == 1:
        return [folder]
    top = os.path.commonpath(names)
    return [folder / os.path.relpath(name, top) for name in names]


def _check_committed(given: Inputs, policy: Policy, *, accept_functions: bool) -> int:
    """Compares the committed renders of folders with new renders. Returns the exit code.

    A committed render that cannot be compared is an error, unless the user accepts packages with other functions.
    """
    findings: list[Result] = []
    names: list[str] = []
    roots: list[RootState] = []
    for path in given.paths:
        if path == reading.STDIN or not Path(path).is_dir():
            raise click.UsageError("--check takes folders, or --output-dir")
        state = repository_states.read(path, given, None).new
        unknown = [result for root in state.roots if not root.is_known for result in root.sources.results]
        findings += results.errors_of((*state.results, *unknown))
        findings += [_accepted(result) if accept_functions else result for result in state.unjudged]
        names += state.committed
        roots += [root for root in state.roots if any(map(path_inputs.is_of_dynamo, root.sources.values))]
    if not names and not findings:
        findings = _without_source(roots) or ([] if roots else [path_inputs.no_resource(given.paths)])
    finding_formats.print_text([], findings)
    if not names and not findings and not policy.quiet:
        folders = shlex.join(root.name for root in roots)
        command_output.print_line(f"no committed render is here, so none is out of date; rendered when it is applied: {folders}", err=True)
    if names and not results.failed(findings) and not policy.quiet:
        command_output.print_line(
            f"{len(names)} committed render{'s are' if len(names) > 1 else ' is'} up to date: {shlex.join(names)}", err=True
        )
    return int(results.failed(findings))


def _without_source(roots: Sequence[RootState]) -> list[Result]:
    """Returns the errors about committed renders that cannot be compared, because their graphs are not in the repository."""
    outputs = [
        source for root in roots if root.root.kind == "folder" for source in root.sources.resources if committed.is_output(source.value)
    ]
    message = "the source of this render is not here, so the render cannot be compared; name the folder that has both"
    return [results.error("DYN001", message, file=file) for file in dict.fromkeys(source.file for source in outputs)]


def _accepted(result: Result) -> Result:
    """Returns the finding about a package with other functions as a warning."""
    return result._replace(severity="warning") if result.code == "DYN721" else result


def _check_folder(folder: Path, rendered: list[Resource]) -> int:
    """Compares a folder with the files that a render would write, byte by byte. Returns the exit code."""
    wanted, present = writing.texts(writing.names(rendered)), writing.ours(folder)
    changed = sorted(name for name, text in wanted.items() if name in present and not writing.has_text(folder / name, text))
    groups = {"differs": changed, "is missing": sorted(wanted.keys() - present), "is no longer rendered": sorted(present - wanted.keys())}
    for problem, names in groups.items():
        for name in names:
            message = f"the file {problem}; render again without --check"
            command_output.print_line(report.entry(results.error("DYN063", message, file=str(folder / name))), err=True)
    return int(any(groups.values()))


def _write_files(folder: Path, rendered: list[Resource], *, prune: bool) -> str:
    """Writes the files and returns a summary. Raises click.ClickException if a file cannot be written."""
    files = writing.names(rendered)
    try:
        if foreign := writing.foreign(folder, files):
            raise click.ClickException(f"{folder / foreign[0]} was not written by krm-fn; move it, or render into another folder")
        stale = sorted(writing.ours(folder) - files.keys())
        writing.write(folder, files)
        writing.remove(folder, stale if prune else [])
    except OSError as problem:
        raise click.ClickException(f"cannot write to {folder}: {problem.strerror}") from problem
    summary = f"{len(files)} files in {folder}\n"
    if stale:
        summary += f"{'removed' if prune else 'no longer rendered, --prune removes them'}: {shlex.join(stale)}\n"
    return summary


COMMAND = render
