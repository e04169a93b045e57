"""`krm-fn render`: the native objects of Dynamo resources, on stdout or as files."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from krm_fn import expand, report, results
from krm_fn.cli import command_options, command_output, finding_formats, repository_states
from krm_fn.cli.command_options import Inputs, Policy
from krm_fn.files import reading, writing
from krm_fn.kube import apply_order, labels
from krm_fn.kube.types import Resource
from krm_fn.results import Result


@click.command()
@command_options.repository_inputs
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

    PATH is a file, a folder or stdin (-), and can contain a ResourceList. In a folder, krm-fn reads *.yaml, *.yml and *.json, and does not
    build a Kustomization. A DynamoRender in a PATH is the configuration.

    krm-fn prints objects in the order in which they can be applied. It also prints other resources, and the Dynamo resources unless the
    configuration sets source: drop.

    Findings are printed to stderr. With an error, krm-fn prints and writes no object.

    With --check and without --output-dir, PATH is a folder; the default is the current one. krm-fn finds the committed renders in it by
    their marks, renders their sources again, and compares the objects.

    Exit codes: 0 no errors; 1 errors, or with --check a render that is out of date; 2 wrong usage.

    \b
      krm-fn render graph.yaml | kubectl apply -f -
      krm-fn render --config render.yaml graphs/ --output-dir manifests --prune
      krm-fn render --check
    """  # noqa: D301 - click reads the backspace
    if check and not folder:
        ctx.exit(_check_committed(given, policy, accept_functions=accept_functions))
    if accept_functions:
        raise click.UsageError("--accept-functions needs --check without --output-dir")
    if not command_options.has_paths(ctx):
        raise click.UsageError("Missing argument 'PATH...'.")
    if prune and not folder:
        raise click.UsageError("--prune needs --output-dir")
    if folder and style == "json":
        raise click.UsageError("--output-dir writes YAML; leave -o json out")
    loaded = given.load(without=folder)
    expansion = expand.expand(loaded.values, loaded.config)
    findings = policy.without_ignored(reading.locate([*loaded.results, *expansion.results], loaded.resources), loaded.values)
    finding_formats.print_text(loaded.resources, policy.shown(findings), loaded.stdin)
    if failing := policy.failing(findings):
        command_output.print_line(f"nothing is rendered: {report.count(failing)}", err=True)
        ctx.exit(1)
    rendered = apply_order.sort(
        labels.without_tool_annotations(resource) for resource in expansion.resources if not labels.is_local(resource)
    )
    if folder and check:
        ctx.exit(_check_folder(folder, rendered))
    if folder:
        summary = _write_files(folder, rendered, prune=prune)
        command_output.write("" if policy.quiet else summary, err=True)
    else:
        command_output.write(command_output.resources(rendered, style or "yaml"), style or "yaml")


def _check_committed(given: Inputs, policy: Policy, *, accept_functions: bool) -> int:
    """Compares the committed renders of folders with new renders. Returns the exit code.

    A committed render that cannot be compared is an error, unless the user accepts packages with other functions.
    """
    findings: list[Result] = []
    names: list[str] = []
    for path in given.paths:
        if path == reading.STDIN or not Path(path).is_dir():
            raise click.UsageError("--check takes folders, or --output-dir")
        state = repository_states.read(path, given, None).new
        unknown = [result for root in state.roots if not root.is_known for result in root.sources.results]
        findings += [result for result in (*state.results, *unknown) if result.severity == "error"]
        findings += [_accepted(result) if accept_functions else result for result in state.unjudged]
        names += state.committed
    if not names and not findings:
        message = "no committed render is here, or its source is not; name the folder that has both"
        findings = [results.error("DYN001", message)]
    finding_formats.print_text([], findings)
    if names and not results.failed(findings) and not policy.quiet:
        command_output.print_line(
            f"{len(names)} committed render{'s are' if len(names) > 1 else ' is'} up to date: {shlex.join(names)}", err=True
        )
    return int(results.failed(findings))


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
