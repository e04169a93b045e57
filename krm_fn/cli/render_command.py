"""`krm-fn render`: the native objects of Dynamo resources, on stdout or as files."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from krm_fn.base import escaping, report, results
from krm_fn.cli import command_options, command_output, finding_formats
from krm_fn.kubernetes.types import Resource
from krm_fn.repository.files import writing
from krm_fn.review.inputs import Inputs, Policy, path_inputs, rendered_roots


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
    renders = [rendered_roots.render(root) for root in loaded.roots]
    about = [finding for entry in renders for finding in entry.findings]
    about += [
        *loaded.results,
        *(rendered_roots.several(loaded) if len(renders) > 1 and not folder else rendered_roots.check_folder_names(loaded)),
    ]
    findings = policy.without_ignored(about, [source.value for source in loaded.resources])
    finding_formats.print_text(loaded.resources, policy.visible_findings(sorted(findings, key=results.order)), loaded.stdin)
    command_output.write(escaping.join_lines([] if policy.quiet else loaded.lines), err=True)
    if failing := policy.failing(findings):
        command_output.print_line(f"nothing is rendered: {report.count(failing)}", err=True)
        ctx.exit(1)
    if folder is None:
        command_output.write(command_output.resources(renders[0].objects, style or "yaml"), style or "yaml")
        return
    folders = rendered_roots.folders(folder, loaded.names)
    if check:
        ctx.exit(max(_check_folder(path, entry.objects) for path, entry in zip(folders, renders, strict=True)))
    for path, entry in zip(folders, renders, strict=True):
        summary = _write_files(path, entry.objects, prune=prune)
        command_output.write("" if policy.quiet else summary, err=True)


def _check_committed(given: Inputs, policy: Policy, *, accept_functions: bool) -> int:
    """Prints the findings about the committed renders of folders. Returns the exit code."""
    names, findings, roots = rendered_roots.check_committed(given, accepts_functions=accept_functions)
    finding_formats.print_text([], findings)
    if not names and not findings and not policy.quiet:
        folders = shlex.join(roots)
        command_output.print_line(f"no committed render is here, so none is out of date; rendered when it is applied: {folders}", err=True)
    if names and not results.has_errors(findings) and not policy.quiet:
        command_output.print_line(
            f"{len(names)} committed render{'s are' if len(names) > 1 else ' is'} up to date: {shlex.join(names)}", err=True
        )
    return int(results.has_errors(findings))


def _check_folder(folder: Path, rendered: list[Resource]) -> int:
    """Prints an error for each file of a folder that is not as a render would write it. Returns the exit code."""
    errors = [*writing.out_of_date(folder, rendered)]
    for error in errors:
        command_output.print_line(report.entry(error), err=True)
    return int(bool(errors))


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
    summary = f"{report.pluralize(len(files), 'file')} in {folder}\n"
    if stale:
        summary += f"{'removed' if prune else 'no longer rendered, --prune removes them'}: {shlex.join(stale)}\n"
    return summary


TOPIC = "author"
COMMAND = render
