"""`krm-fn verify`: shows how equal a render is to the objects that an operator runs. The rules are in `krm_fn.migration.equality`."""

from __future__ import annotations

from pathlib import Path

import click

from krm_fn.base.results import Result
from krm_fn.cli import command_options, command_output, finding_formats
from krm_fn.migration import equality
from krm_fn.migration.equality import Equality, equality_report
from krm_fn.repository.files import cluster_reading
from krm_fn.repository.files.kubectl import KubectlError
from krm_fn.review.inputs import compared_states

_FORMATS = {"json": equality_report.json_text, "text": equality_report.text}


@click.command()
@click.argument("export", metavar="[EXPORT]", required=False, type=command_options.EXPORT)
@click.option("--live", is_flag=True, help="Read the objects from the cluster with kubectl, without Secrets.")
@click.option("-n", "--namespace", metavar="NAME", callback=command_options.namespace, help="Compare this namespace only.")
@click.option(
    "--report",
    "report_file",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write a report that you can send: kinds, fields and causes, without names, images or values.",
)
@command_options.report_format(_FORMATS)
@click.pass_context
def verify(  # noqa: PLR0913 - one for each option
    ctx: click.Context, *, export: str | None, live: bool, namespace: str | None, report_file: Path | None, style: str
) -> None:
    """Show how equal a render is to what an operator runs.

    EXPORT is an export of one or more namespaces that a Dynamo operator manages, from `kubectl get -o yaml` or `-o json`, or stdin (-).
    krm-fn infers the settings of the operator, as krm-fn adopt does, renders the same graphs, and compares all objects. It writes no file
    and does not change the cluster.

    Each difference has a cause: a known deviation by its name, another release of the operator, an edit, a controller, a rollout that has
    not ended, an error about its graph, a change of the graph on which the operator has not acted yet, or unknown.
    Edits and controllers are known only if the export has the field managers
    (`--show-managed-fields`).

    Exit codes: 0 each difference is explained; 1 a difference of unknown cause, a change on which the operator has not acted, or an error;
    2 wrong usage.

    \b
      kubectl get dgd,dcd,dgdsa,deployments,services,configmaps,pvc,ingresses,roles,rolebindings,serviceaccounts \\
        -n inference --show-managed-fields -o json | krm-fn verify -
      krm-fn verify --live -n inference --report equality.json
    """  # noqa: D301 - click reads the backspace
    if (export is None) == (not live):
        raise click.UsageError("name an export, or read the cluster with --live")
    values, broken = (_of_cluster(namespace), list[Result]()) if export is None else compared_states.read_export(export)
    compared = {"": Equality({}, findings=tuple(broken))} if broken else equality.compare(values)
    if namespace is not None and not broken:
        compared = {namespace: compared[namespace]} if namespace in compared else compared if "" in compared else {}
        if not compared:
            raise click.ClickException(f"the export has no graph of the namespace {namespace}")
    finding_formats.print_heads(finding for entry in compared.values() for finding in entry.findings)
    if report_file is not None:
        report_file.write_text(equality_report.anonymous(compared), "utf-8")
    command_output.write(_FORMATS[style](compared), style)
    ctx.exit(0 if all(entry.is_explained for entry in compared.values()) else 1)


def _of_cluster(namespace: str | None) -> list[object]:
    try:
        return cluster_reading.read(cluster_reading.GENERATED, namespace, managed_fields=True)
    except KubectlError as problem:
        raise click.ClickException(str(problem)) from problem


TOPIC = "migrate"
COMMAND = verify
