"""`krm-fn status`: the status of Dynamo resources, computed from objects as `kubectl get -o json` prints them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from krm_fn import report
from krm_fn.cli import _formats, _judged, _options, _output
from krm_fn.files import locations

if TYPE_CHECKING:
    from krm_fn.cli._options import Inputs
    from krm_fn.cli._policy import Policy

_TABLE = "table"


@click.command()
@_options.inputs
@click.option("-o", "--output", "style", type=click.Choice((*_output.FORMATS, _TABLE)), default=_TABLE, help="Format; table by default.")
@_options.policy
@click.pass_context
def status(ctx: click.Context, *, given: Inputs, policy: Policy, style: str) -> None:
    """Compute the status of graphs, requests and models from the objects that belong to them.

    PATH is a file, a folder or stdin (-) with objects of a cluster. The table names each workload, its ready replicas, and why it is not
    ready. As YAML or JSON, the Dynamo resources are printed with the status that `krm-fn sync` would write. No cluster is asked.

    The workloads of a graph stand in its annotation dynamo.krm-fn.io/workloads. For a graph without it, for example one that the operator
    manages, they are computed with the configuration. With pods in the input, the table has the reasons of pods.

    The exit code is 0 if the input could be read, whatever the status, 1 with errors, and 2 for wrong usage.

    \b
      kubectl get dgd,dcd,deployments,pods -o json | krm-fn status -
      kubectl get dgdr,dgd,jobs,configmaps,pods -o json | krm-fn status -
      kubectl get dm,dgd,endpointslices,pods -o json | krm-fn status -
      krm-fn status --config render.yaml -o yaml objects.json
    """  # noqa: D301 - click reads the backspace
    loaded = given.load()
    judged = _judged.Judged(loaded)
    found = policy.kept(locations.of([*loaded.results, *judged.results], loaded.resources), loaded.values)
    shown = _formats.Checked(loaded.resources, policy.shown(found), loaded.stdin, colour=_output.colours(err=True))
    _output.write(_formats.write("text", shown), err=True)
    if failing := policy.failing(found):
        click.echo(f"no status is computed: {report.count(failing)}", err=True)
        ctx.exit(1)
    if not judged.subjects:
        click.echo(f"no Dynamo resource among {len(loaded.resources)} objects", err=True)
    _output.write(judged.table() if style == _TABLE else _output.resources(judged.resources(), style))


COMMAND = status
