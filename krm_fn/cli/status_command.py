"""`krm-fn status`: the status of Dynamo resources, computed from objects as `kubectl get -o json` prints them."""

from __future__ import annotations

import click

from krm_fn import report
from krm_fn.cli import command_options, command_output, computed_status, finding_formats
from krm_fn.cli.command_options import Inputs, Policy
from krm_fn.files import reading

_TABLE = "table"


@click.command()
@command_options.inputs
@click.option(
    "-o",
    "--output",
    "style",
    type=click.Choice((*command_output.FORMATS, _TABLE)),
    default=_TABLE,
    help="The format. The default is table.",
)
@command_options.policy
@click.pass_context
def status(ctx: click.Context, *, given: Inputs, policy: Policy, style: str) -> None:
    """Compute the status of graphs, requests and models from the objects that belong to them.

    PATH is a file, a folder or stdin (-) with objects of a cluster. The table shows each workload, its ready replicas, and the reason if it
    is not ready. As YAML or JSON, krm-fn prints the Dynamo resources with the status that krm-fn sync would write. The command does not
    connect to a cluster.

    The annotation dynamo.krm-fn.io/workloads lists the workloads of a graph. If a graph does not have it, for example because the Dynamo
    operator manages the graph, krm-fn computes the workloads with the configuration. If the input includes pods, the table shows the
    reasons of pods.

    Exit codes: 0 the input can be read, even if graphs are not ready; 1 errors; 2 wrong usage.

    \b
      kubectl get dgd,dcd,deployments,pods -o json | krm-fn status -
      kubectl get dgdr,dgd,jobs,configmaps,pods -o json | krm-fn status -
      kubectl get dm,dgd,endpointslices,pods -o json | krm-fn status -
      krm-fn status --config render.yaml -o yaml objects.json
    """  # noqa: D301 - click reads the backspace
    loaded = given.load()
    statuses = computed_status.ComputedStatus(loaded)
    findings = policy.without_ignored(reading.locate([*loaded.results, *statuses.results], loaded.resources), loaded.values)
    finding_formats.print_text(loaded.resources, policy.shown(findings), loaded.stdin)
    if failing := policy.failing(findings):
        click.echo(f"no status is computed: {report.count(failing)}", err=True)
        ctx.exit(1)
    if not statuses.objects:
        click.echo(f"no Dynamo resource among {len(loaded.resources)} objects", err=True)
    command_output.write(statuses.table() if style == _TABLE else command_output.resources(statuses.resources(), style))


COMMAND = status
