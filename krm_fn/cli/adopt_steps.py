"""The commands of `krm-fn adopt` that move graphs: from the operator to Git, and back. The rules are in `krm_fn.migration.take_over`."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from krm_fn.base import report, results
from krm_fn.base.results import Result
from krm_fn.cli import command_options, command_output, finding_formats
from krm_fn.migration.take_over import definitions, from_operator, live_comparison, moved_graphs, to_operator
from krm_fn.migration.take_over.moved_graphs import Applier, MovedGraph, RefusedMoveError
from krm_fn.repository.files.kubectl import KubectlError
from krm_fn.review.inputs import compared_states

_FILES = click.argument("files", metavar="FILE...", nargs=-1, required=True, type=command_options.EXPORT)
"""Files with the output of `krm-fn render`, one for each graph."""


def _applier(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds --argocd and --flux, which name the tool that applies the objects after the migration."""
    argocd = click.option("--argocd", is_flag=True, help="Argo CD will apply the objects.")
    flux = click.option("--flux", metavar="NAMESPACE/NAME", callback=_kustomization, help="This Kustomization of Flux will apply them.")
    return argocd(flux(command))


def _kustomization(_ctx: click.Context, _param: click.Parameter, text: str | None) -> str:
    if text and not all(text.partition("/")):
        raise click.BadParameter(f"{text!r} has no namespace; write NAMESPACE/NAME.")
    return text or ""


def add_to(group: click.Group) -> None:
    """Adds the commands to the group `adopt`."""
    for command in (compare, let_go, take_over, give_back, can_start, set_owners):
        group.add_command(command)


@click.command()
@_FILES
@_applier
def compare(*, files: tuple[str, ...], argocd: bool, flux: str) -> None:
    """Compare rendered graphs with what runs, and change nothing.

    FILE is the output of krm-fn render for one graph, or stdin (-). The API server makes each object in a dry run. So the comparison has
    the defaults and the webhooks of the cluster. It needs kubectl.

    Exit codes: 0 all pods stay, and the API server accepts all objects; 1 a difference or an error; 2 wrong usage.

    \b
      krm-fn render chat.yaml --config render.yaml > objects.yaml
      krm-fn adopt compare objects.yaml
    """  # noqa: D301 - click reads the backspace
    with _report_findings():
        findings: list[Result] = []
        for graph in _read(files, argocd=argocd, flux=flux):
            differences = live_comparison.compare(graph)
            findings += differences
            if not differences:
                command_output.print_line(_kept_line(graph))
        _refuse(findings, "nothing was changed; correct the graph or the configuration, then render and compare again")


@click.command("take-over")
@_FILES
@_applier
def take_over(*, files: tuple[str, ...], argocd: bool, flux: str) -> None:
    """Take graphs over from an operator, and keep their pods.

    FILE is the output of krm-fn render for one graph, or stdin (-). The command compares all graphs as `compare` does, and stops without a
    change if one of them would lose pods. It also stops if an operator acts on the namespace of a graph. Then it removes the operator's
    finalizers, deletes each graph and its components with --cascade=orphan, and applies the objects.

    The command can run again after an interruption. At the end, it prints a command that deletes what only the operator needed.

    Exit codes: 0 all graphs are taken over; 1 errors; 2 wrong usage.

    \b
      krm-fn adopt take-over --flux flux-system/chat objects.yaml
    """  # noqa: D301 - click reads the backspace
    with _report_findings():
        graphs = _read(files, argocd=argocd, flux=flux)
        _refuse(from_operator.check(graphs), "nothing was changed")
        for graph in graphs:
            command_output.print_line(_kept_line(graph))
        for graph in graphs:
            taken = from_operator.take_over(graph)
            command_output.write(taken.applied)
            if taken.leftovers:
                command_output.print_line("Only the operator needed the following. To delete it:")
                command_output.print_line(f"kubectl --namespace {graph.namespace} delete {' '.join(taken.leftovers)}")


@click.command("let-go")
@click.option(
    "--save",
    "file",
    metavar="FILE",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file for the operator's definitions. If it exists, it is not overwritten.",
)
def let_go(*, file: Path) -> None:
    """Save the operator's definitions, and remove owner references that the cluster will not serve.

    Run the command after the operator has stopped, and before the definitions of the operator are replaced by definitions with one
    version. Without it, the garbage collector would delete the objects of all graphs. The way back needs the saved definitions.

    Exit codes: 0 done; 1 an operator runs, or another error; 2 wrong usage.

    \b
      krm-fn adopt let-go --save definitions.json
    """  # noqa: D301 - click reads the backspace
    with _report_findings():
        try:
            is_new, changed = definitions.let_go(file)
        except OSError as problem:
            raise click.ClickException(f"cannot write {file}: {problem.strerror}") from problem
        command_output.print_line(f"saved the definitions in {file}" if is_new else f"{file} exists, and stays as it is")
        counted = report.pluralize(changed, "object")
        command_output.print_line(f"removed owner references in versions that the cluster will not serve from {counted}")


@click.command("give-back")
@_FILES
def give_back(*, files: tuple[str, ...]) -> None:
    """Prepare graphs in Git for an operator that starts again.

    FILE is the output of krm-fn render for one graph, or stdin (-), from the state of Git that runs. The command writes replicas and pull
    secrets into the graph in the cluster, and the operator's marks on objects without a spec. Write these fields into the graph in Git,
    too. The command checks all graphs before the first write.

    Exit codes: 0 all graphs are ready; 1 errors; 2 wrong usage.

    \b
      krm-fn adopt give-back objects.yaml
    """  # noqa: D301 - click reads the backspace
    with _report_findings():
        for state in to_operator.give_back(_read(files)):
            finding_formats.print_heads(state.notes)
            counted = report.pluralize(len(state.marked), "object")
            command_output.print_line(f"the graph {state.moved.name} and {counted} are ready; run can-start before the operator starts")


@click.command("can-start")
@_FILES
def can_start(*, files: tuple[str, ...]) -> None:
    """Check that an operator can start and keeps all pods.

    FILE is the output of krm-fn render for one graph, or stdin (-). Nothing is changed.

    Exit codes: 0 the operator can start; 1 it would not start, or it would change pods; 2 wrong usage.

    \b
      krm-fn adopt can-start objects.yaml
    """  # noqa: D301 - click reads the backspace
    with _report_findings():
        graphs = _read(files)
        to_operator.check_start(graphs)
        names = ", ".join(graph.name for graph in graphs)
        command_output.print_line(f"the operator can start: it finds its definitions, and {names} can keep all pods")


@click.command("set-owners")
@_FILES
def set_owners(*, files: tuple[str, ...]) -> None:
    """Make graphs the owners of their objects after the operator has started.

    FILE is the output of krm-fn render for one graph, or stdin (-). Volumes get no owner, so they stay when the graph is deleted.

    Exit codes: 0 all objects have their owners; 1 errors; 2 wrong usage.

    \b
      krm-fn adopt set-owners objects.yaml
    """  # noqa: D301 - click reads the backspace
    with _report_findings():
        number = to_operator.set_owners(_read(files))
        command_output.print_line(report.pluralize(number, "object has its owner", "objects have their owners"))


@contextlib.contextmanager
def _report_findings() -> Iterator[None]:
    """Prints the findings of a command that cannot go on, and ends it with exit code 1."""
    try:
        yield
    except RefusedMoveError as problem:
        finding_formats.print_heads(problem.findings)
        click.get_current_context().exit(1)
    except KubectlError as problem:
        raise click.ClickException(str(problem)) from problem


def _refuse(findings: Sequence[Result], last: str) -> None:
    """Prints findings and a last line, and ends the command with exit code 1; does nothing without findings."""
    if findings:
        finding_formats.print_heads(findings)
        command_output.print_line(last, err=True)
        click.get_current_context().exit(1)


def _read(files: Sequence[str], *, argocd: bool = False, flux: str = "") -> list[MovedGraph]:
    """Reads the graphs of files. Raises RefusedMoveError and click.UsageError."""
    if argocd and flux:
        raise click.UsageError("name either --argocd or --flux")
    manager = "argocd-controller" if argocd else "kustomize-controller" if flux else "kubectl"
    values: dict[str, list[Any]] = {}
    broken: list[Result] = []
    for file in files:
        values[file], errors = compared_states.read_export(file)
        broken += errors
    if results.has_errors(broken):
        raise RefusedMoveError(broken)
    return moved_graphs.read(values, Applier(manager, flux))


def _kept_line(graph: MovedGraph) -> str:
    workloads = report.pluralize(len(graph.workloads()), "workload keeps its pods", "workloads keep their pods")
    return f"{graph.namespace}/{graph.name}: {workloads}; the API server accepts all {report.pluralize(len(graph.rendered), 'object')}"
