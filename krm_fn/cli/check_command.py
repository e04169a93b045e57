"""`krm-fn check`: finds mistakes in resources and in changes, and prints no objects. The check is `krm_fn.review.inputs.checked_inputs`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import click

from krm_fn.base import codes, progress_line, report, results
from krm_fn.base.results import Result
from krm_fn.cli import budget_option, check_fixes, check_watch, command_options, command_output, finding_formats
from krm_fn.cli.check_fixes import Fixes, FixMode
from krm_fn.cli.check_watch import Run
from krm_fn.review.inputs import Inputs, Policy, checked_inputs
from krm_fn.review.inputs.budget_files import BudgetReport
from krm_fn.review.inputs.checked_inputs import CheckedInputs
from krm_fn.review.known_checks import KnownChecks


@click.command()
@command_options.inputs
@click.option(
    "--old",
    metavar="OLD",
    help="The state before the change: a file, a folder or a git revision. Reports changes that a cluster would reject.",
)
@click.option("--fixed-services", is_flag=True, help="Report added and removed services as errors, not as warnings. Needs --old.")
@command_options.build_root("Findings then show the lines of the files that kustomize (originAnnotations) or kpt names.")
@command_options.cached_builds
@click.option("--verbose", is_flag=True, help="Also say why command lines of engines are not checked, and why folders are built.")
@check_fixes.options
@check_watch.option
@command_options.report_format(finding_formats.names())
@budget_option.option
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
    mode: FixMode | None,
    watch: bool,
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

    --fix writes the fix of each finding that has exactly one into its file, and checks again. Formatting and comments stay. An edit is
    kept only if its finding is gone, no other finding came, and no pod of another component changed.

    In CI, which sets the variable CI, a root that is not judged because a program is missing is an error.

    Exit codes: 0 no errors; 1 errors; 2 wrong usage.

    \b
      krm-fn check
      krm-fn check graph.yaml
      krm-fn check --fix --diff graphs/
      krm-fn check --config render.yaml base/ overlay/graph.yaml
      krm-fn check --old main graphs/
      kustomize build --enable-alpha-plugins --enable-exec overlay | krm-fn check -o json -
    """  # noqa: D301 - click reads the backspace
    if fixed_services and old is None:
        raise click.UsageError("--fixed-services needs --old")
    limits = budget_option.read(budget, given)
    known = KnownChecks() if watch and not verbose else None

    def judge(texts: Mapping[str, str]) -> _CheckedState:
        with_texts = given._replace(texts=texts)
        inputs = checked_inputs.load(with_texts, old, is_plain=root is not None, verbose=verbose)
        located, compared = checked_inputs.find(inputs, root, fixed_services=fixed_services, verbose=verbose, known=known)
        used = limits.compare(part.measured_objects() for part in inputs.parts) if limits else None
        located += used.findings if used else []
        values = [source.value for source in inputs.resources]
        findings = policy.without_ignored(sorted(_require_judged(located), key=results.order), values)
        return _CheckedState(inputs, findings, compared, used)

    def run() -> Run:
        with progress_line.show_progress("check"):
            fixed = check_fixes.fix(given, judge, mode) if mode else None
            state = fixed.state if fixed else judge({})
        if known:
            known.forget_unused()
        _print(state, policy, style, old, fixed)
        return Run(int(bool(policy.failing(state.findings))), state.files())

    if mode:
        check_fixes.require_files(given, root)
    if watch:
        check_watch.require_files(given, is_fixed=bool(mode))
    ctx.exit(check_watch.repeat(run, given) if watch else run().code)


class _CheckedState(NamedTuple):
    """The inputs, the findings about them, the number of compared resources, and the use of the budget if there is one."""

    inputs: CheckedInputs
    findings: list[Result]
    compared: int
    used: BudgetReport | None

    def files(self) -> frozenset[str]:
        """Returns the files of the resources and of their patches."""
        sources = self.inputs.resources
        return frozenset(document.file for source in sources for document in (source, *source.patches))


def _print(state: _CheckedState, policy: Policy, style: str, old: str | None, fixed: Fixes | None) -> None:
    """Prints the findings in a format, and in the text format a summary."""
    resources, shown = state.inputs.resources, policy.visible_findings(state.findings)
    is_beside = bool(fixed and fixed.prints_patch(style))
    colour, width = command_output.colours(err=is_beside), command_output.columns(err=is_beside)
    checked = finding_formats.Checked(resources, shown, state.inputs.stdin, colour, width, fixed.texts if fixed else {})
    text = finding_formats.write(style, checked)
    text = state.used.added_to(style, text) if state.used else text
    if fixed:
        text = fixed.added_to(style, text, quiet=policy.quiet)
        if is_beside:
            check_fixes.print_patch(fixed)
    command_output.write(text, style, err=is_beside)
    if style == "text" and not policy.quiet:
        for line in state.inputs.lines:
            command_output.print_line(line, err=True)
        others = f", {state.compared} compared with {old}" if old is not None else ""
        counts = [
            report.count(state.findings) or "no findings",
            *state.inputs.skipped_lines(),
            *(fixed.counts(state.findings) if fixed else ()),
        ]
        command_output.print_line(f"{report.pluralize(len(resources), 'resource')}{others}: {'; '.join(counts)}", err=True)


def _require_judged(findings: Iterable[Result]) -> list[Result]:
    """In CI, makes an error of each finding about a root that is not judged without a program: a job must not pass without judging."""
    if os.environ.get("CI", "").lower() in ("", "0", "false"):
        return list(findings)
    return [finding._replace(severity="error") if finding.code == codes.MISSING_PROGRAM else finding for finding in findings]


TOPIC = "author"
COMMAND = check
