"""`krm-fn check`: finds mistakes in resources and in changes, and prints no objects. The check is `krm_fn.review.inputs.checked_inputs`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import click

from krm_fn.base import progress_line, report, results
from krm_fn.base.results import Result
from krm_fn.cli import budget_option, command_options, command_output, finding_formats
from krm_fn.review.inputs import Inputs, Policy, checked_inputs

_MISSING_PROGRAM = "DYN594"


@click.command()
@command_options.inputs
@click.option(
    "--old",
    metavar="OLD",
    help="The state before the change: a file, a folder or a git revision. Reports changes that a cluster would reject.",
)
@click.option("--fixed-services", is_flag=True, help="Report added and removed services as errors, not as warnings. Needs --old.")
@command_options.build_root("Findings then show the lines of the files that kustomize (originAnnotations) or kpt names.")
@click.option("--verbose", is_flag=True, help="Also say which command lines of engines are not checked, and why.")
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

    In CI, which sets the variable CI, a root that is not judged because a program is missing is an error.

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
    limits = budget_option.read(budget, given)
    with progress_line.shown("check"):
        inputs = checked_inputs.load(given, old, is_plain=root is not None)
        located, compared = checked_inputs.find(inputs, root, fixed_services=fixed_services, verbose=verbose)
        used = limits.compare(part.measured() for part in inputs.parts) if limits else None
    resources = inputs.resources
    located += used.findings if used else []
    findings = policy.without_ignored(sorted(_judged(located), key=results.order), [source.value for source in resources])
    colour, columns = command_output.colours(), command_output.columns()
    checked = finding_formats.Checked(resources, policy.shown(findings), inputs.stdin, colour, columns)
    text = finding_formats.write(style, checked)
    command_output.write(used.added_to(style, text) if used else text, style)
    if style == "text" and not policy.quiet:
        for line in inputs.lines:
            command_output.print_line(line, err=True)
        others = f", {compared} compared with {old}" if old is not None else ""
        counts = [report.count(findings) or "no findings", *inputs.skipped()]
        command_output.print_line(f"{report.counted(len(resources), 'resource')}{others}: {'; '.join(counts)}", err=True)
    ctx.exit(int(bool(policy.failing(findings))))


def _judged(findings: Iterable[Result]) -> list[Result]:
    """In CI, makes an error of each finding about a root that is not judged without a program: a job must not pass without judging."""
    if os.environ.get("CI", "").lower() in ("", "0", "false"):
        return list(findings)
    return [finding._replace(severity="error") if finding.code == _MISSING_PROGRAM else finding for finding in findings]


TOPIC = "author"
COMMAND = check
