"""`krm-fn upgrade`: plans the move of a fleet to another release of Dynamo. The plan is in `krm_fn.migration.upgrade`."""

from __future__ import annotations

import difflib
from typing import NamedTuple

import click

from krm_fn.base import escaping, progress_line, report
from krm_fn.cli import command_options, command_output
from krm_fn.kubernetes.version import Version
from krm_fn.migration.edits import upgrade_files
from krm_fn.migration.edits.upgrade_files import UpgradeFiles
from krm_fn.migration.edits.upgrade_fleet import UpgradeFleet
from krm_fn.migration.upgrade import (
    upgrade_json,
    upgrade_pages,
    upgrade_planner,
    upgrade_report,
    upgrade_steps,
)
from krm_fn.migration.upgrade.upgrade_plan import StepPlan, UpgradePlan
from krm_fn.migration.upgrade.upgrade_planner import UpgradeOptions
from krm_fn.migration.upgrade.upgrade_report import UpgradeReport
from krm_fn.render import dynamo_api
from krm_fn.repository.files import reading
from krm_fn.review import image_names
from krm_fn.review.inputs import Inputs, Policy, compared_states, path_inputs, revision_path

FORMATS = {"json": upgrade_json.write, "markdown": upgrade_pages.markdown, "text": upgrade_pages.text}
"""The functions that write a report, by the name of the format."""


_NO_FILES = UpgradeFiles({}, [])


class _UpgradeTarget(NamedTuple):
    """The target of an upgrade. `accepts_newer` is true for a minor version: its newer patches are at the target too."""

    version: Version
    accepts_newer: bool


class _Release(click.ParamType[_UpgradeTarget]):
    """A release of Dynamo, such as 1.6 or v1.6.1."""

    name = "release"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> _UpgradeTarget:
        version = upgrade_steps.target(f"{value}")
        if version is None:
            known = ", ".join(map(upgrade_steps.version_text, image_names.published_versions()))
            self.fail(f"{value!r} is not a release of Dynamo that krm-fn knows. It knows {known}.", param, ctx)
        return _UpgradeTarget(version, not upgrade_steps.names_patch(f"{value}"))


@click.command()
@command_options.inputs
@click.option(
    "--to",
    "target",
    metavar="RELEASE",
    type=_Release(),
    required=True,
    help="The release of Dynamo, such as 1.6, or a patch, such as 1.6.1. Newer patches of 1.6 are at the target 1.6.",
)
@click.option("--downgrade", is_flag=True, help="Move graphs that are newer than RELEASE back to it, and leave older ones.")
@click.option("--step", "number", metavar="N", type=click.IntRange(1), help="Show only this step.")
@click.option(
    "--graph", "graph", metavar="NAME", default="", help="Show only this graph, with each cause and each edit. Can have a namespace."
)
@click.option(
    "--gpus", metavar="N", type=click.IntRange(0), help="Order the graphs in waves that together need at most this number of GPUs."
)
@click.option(
    "--nodes",
    metavar="FILE",
    type=command_options.EXPORT,
    help="Order the graphs in waves that fit these nodes, exported with kubectl get nodes,pods -o json.",
)
@click.option(
    "--api-version",
    type=click.Choice(("v1alpha1", "v1beta1")),
    help="Also move the graphs to this API version, in the last step. By default, it stays.",
)
@click.option(
    "--new-origin",
    is_flag=True,
    help="Also move the origin version, which decides how engines start on several nodes. By default, it stays.",
)
@click.option("--write", "is_written", is_flag=True, help="Make the edits in the files, up to the step of --step.")
@click.option("--patch", "is_patch", is_flag=True, help="Print the edits of --write as a patch for git apply, and write nothing.")
@command_options.report_format(FORMATS)
@command_options.policy
@click.pass_context
def upgrade(  # noqa: PLR0913 - one for each option
    ctx: click.Context,
    *,
    given: Inputs,
    policy: Policy,
    target: _UpgradeTarget,
    downgrade: bool,
    number: int | None,
    graph: str,
    gpus: int | None,
    nodes: str | None,
    api_version: str | None,
    new_origin: bool,
    is_written: bool,
    is_patch: bool,
    style: str,
) -> None:
    """Plan the upgrade of graphs to a release of Dynamo.

    {paths} A file can also be an export of a cluster.

    The plan has one or more steps. A step moves images, and with them the operator release that graphs follow. For each step, the plan
    lists what the platform needs before, the services that restart, the smallest sets of causes of each restart, the GPUs that are
    interrupted and needed at the peak, and what the new release refuses or ignores. Each step begins with the state after the step before.
    Graphs that are newer than RELEASE stay. Only --downgrade moves them back.

    With --gpus or --nodes, the graphs of a step are ordered in waves, which are applied one after the other.

    --write makes the edits of the plan: images, runtimeVersionOverride, removed fields, the origin version, and the release in the
    configuration. Formatting and comments stay. Folders with Kustomizations are built again, and nothing is written if the build differs
    from the plan. With --step 1, each step can be a pull request of its own: after it, the next step is the first one of a new plan.

    Exit codes: 0 no errors; 1 errors, such as a graph that the new release refuses; 2 wrong usage.

    \b
      krm-fn upgrade --to 1.6
      krm-fn upgrade --to 1.6 --graph prod/chat graphs/
      kubectl get dynamographdeployments --all-namespaces -o json | krm-fn upgrade --to 1.6 --gpus 64 -
      krm-fn upgrade --to 1.6 --step 1 --format markdown > comment.md
      krm-fn upgrade --to 1.6 --step 1 --write
    """  # noqa: D301 - click reads the backspace
    if gpus is not None and nodes is not None:
        raise click.UsageError("name either --gpus or --nodes")
    nodes = nodes or (given.project.nodes if gpus is None else None)
    if [*given.paths, nodes].count(reading.STDIN) > 1:
        raise click.UsageError("only one of PATH and --nodes can be stdin")
    if (is_written or is_patch) and any(path == reading.STDIN or revision_path(path) for path in given.paths):
        raise click.UsageError("--write and --patch need files, not stdin and not a revision")
    cluster = compared_states.read_nodes(nodes)
    with progress_line.show_progress("upgrade"):
        loaded = path_inputs.load(given)
        fleet = UpgradeFleet(loaded)
        version = f"{dynamo_api.GROUP}/{api_version}" if api_version else ""
        options = UpgradeOptions(version, new_origin, gpus, cluster.nodes, tuple(cluster.pods), downgrade, target.accepts_newer)
        plan = upgrade_planner.plan(fleet.parts, target.version, options)
        count = min(number or len(plan.steps), len(plan.steps))
        edited = upgrade_files.edit_files(given, loaded, plan, count) if is_written or is_patch else _NO_FILES
    resources = [source.value for source in fleet.resources]
    about = fleet.findings(plan, [*cluster.results, *edited.findings])
    findings = {step: policy.without_ignored(listed, resources) for step, listed in about.items()}
    shown = {step: policy.visible_findings(listed) for step, listed in findings.items()}
    steps = plan.steps[:count] if edited is not _NO_FILES else _steps(plan, number)
    content = UpgradeReport(plan, fleet.lines(plan), shown, steps, _graph(plan, graph))
    for line in () if policy.quiet or style != "text" else loaded.lines:
        command_output.print_line(line, err=True)
    if is_written:
        try:
            upgrade_files.save(edited)
        except OSError as problem:
            raise click.ClickException(f"cannot write {problem.filename}: {problem.strerror}") from problem
        command_output.write(escaping.join_lines(f"wrote {file}" for file in edited.texts), err=True)
    command_output.write(edited.patch if is_patch else FORMATS[style](content), "patch" if is_patch else style)
    command_output.write("".join(f"{report.entry(finding)}\n" for finding in shown[0]) if is_patch else "", err=True)
    ctx.exit(int(bool(policy.failing([finding for listed in findings.values() for finding in listed]))))


def _steps(plan: UpgradePlan, number: int | None) -> tuple[StepPlan, ...]:
    if number is not None and number > len(plan.steps):
        raise click.BadParameter(f"the plan has {report.pluralize(len(plan.steps), 'step')}.", param_hint="--step")
    return plan.steps if number is None else plan.steps[number - 1 : number]


def _graph(plan: UpgradePlan, name: str) -> str:
    names = sorted(upgrade_report.names(plan))
    if name and name not in names:
        near = difflib.get_close_matches(name, names, n=1)
        known = f"Did you mean {near[0]!r}?" if near else f"The graphs are {report.visible(', '.join(names[:10]))}."
        raise click.BadParameter(f"no graph has the name {name!r}. {known}", param_hint="--graph")
    return name


TOPIC = "migrate"
COMMAND = upgrade
