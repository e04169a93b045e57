"""`krm-fn sync`: keeps the status of Dynamo resources true. The syncer itself is in `krm_fn.sync`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from krm_fn import report, results
from krm_fn.cli import command_options
from krm_fn.config import Config
from krm_fn.files import sources

if TYPE_CHECKING:
    from krm_fn.sync.options import Options, Shard

_FILE = click.Path(exists=True, dir_okay=False)
_LEVELS = ("debug", "info", "warning", "error")
_NEEDS = {
    "hold_namespaces": "namespace",
    "pod_messages": "pods",
    "auto_apply": "requests",
    "other_namespaces": "auto_apply",
    "config": "auto_apply",
    "loras": "models",
}
"""Options that mean nothing without another one."""


def _namespaces(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    """The names; a value of the environment variable may separate them with commas."""
    names = [name for text in given for name in text.replace(",", " ").split()]
    return tuple(dict.fromkeys(checked for name in names if (checked := command_options.namespace(ctx, param, name))))


def _shard(_ctx: click.Context, _param: click.Parameter, text: str) -> Shard:
    from krm_fn.sync import options  # noqa: PLC0415 - the verb alone imports the syncer

    try:
        return options.parse_shard(text)
    except ValueError as problem:
        raise click.BadParameter(str(problem)) from None


def _address(_ctx: click.Context, _param: click.Parameter, text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not port.isdecimal() or int(port) > 65535:
        raise click.BadParameter(f"{text!r} is not ADDRESS:PORT, for example 127.0.0.1:8080")
    return host.strip("[]") or "0.0.0.0", int(port)  # noqa: S104 - as the default


@click.command(context_settings={"auto_envvar_prefix": "KRM_FN_SYNC"})
@click.option("--kubeconfig", metavar="FILE", type=click.Path(), help="The kubeconfig. The default in a pod is its service account.")
@click.option("--context", metavar="NAME", help="The context of the kubeconfig.")
@click.option("-n", "--namespace", metavar="NS", multiple=True, callback=_namespaces, help="Serve this namespace. Can be repeated.")
@click.option("--pods/--no-pods", default=False, show_default=True, help="Read pods, so that messages include their reasons.")
@click.option(
    "--pod-messages/--no-pod-messages",
    default=False,
    show_default=True,
    help="Add the last line of a failed container's termination message.",
)
@click.option("--restarts/--no-restarts", default=False, show_default=True, help="Restart services in the order of spec.restart.")
@click.option("--scaling/--no-scaling", default=True, show_default=True, help="Scale the workloads of scaling adapters.")
@click.option("--grove-counts/--no-grove-counts", default=True, show_default=True, help="Scale Grove's objects to the rendered replicas.")
@click.option(
    "--graph-replicas/--no-graph-replicas",
    default=False,
    show_default=True,
    help="Write the replicas of adapters into graphs with a planner.",
)
@click.option(
    "--requests/--no-requests", default=False, show_default=True, help="Reconcile requests with their profiling jobs and outputs."
)
@click.option("--auto-apply/--no-auto-apply", default=False, show_default=True, help="Apply the graphs of requests with autoApply.")
@click.option(
    "--other-namespaces/--no-other-namespaces",
    default=False,
    show_default=True,
    help="Allow graphs of requests in other namespaces than the request.",
)
@click.option(
    "--config", metavar="FILE", type=_FILE, help="The configuration of the graphs of --auto-apply: a DynamoRender or a ConfigMap."
)
@click.option("--models/--no-models", default=False, show_default=True, help="Find the endpoints of models.")
@click.option("--loras/--no-loras", default=False, show_default=True, help="Load LoRA adapters into the endpoints of models.")
@click.option("--events/--no-events", default=True, show_default=True, help="Write events when a resource changes its state.")
@click.option("--hold-namespaces", is_flag=True, help="Keep a cluster-wide Dynamo operator out of each --namespace.")
@click.option(
    "--leader-election/--no-leader-election", default=None, help="Let only one of several replicas write. The default in a pod is yes."
)
@click.option(
    "--lease-namespace", metavar="NS", default="", help="The namespace of the leader's Lease. The default is the namespace of the pod."
)
@click.option("--shard", metavar="I/N", default="1/1", callback=_shard, help="Serve one of N shares of the namespaces, I from 1 to N.")
@click.option(
    "--listen",
    metavar="ADDRESS:PORT",
    default="0.0.0.0:8080",
    show_default=True,
    callback=_address,
    help="The address for health checks and metrics.",
)
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    default=8,
    show_default=True,
    help="The number of resources that are reconciled at the same time.",
)
@click.option("--log-format", type=click.Choice(("text", "json")), default="text", show_default=True, help="The format of the log.")
@click.option("--log-level", type=click.Choice(_LEVELS), default="info", show_default=True, help="The lowest level of messages in the log.")
@click.pass_context
def sync(ctx: click.Context, /, **given: Any) -> None:
    """Keep the status of Dynamo resources up to date.

    The command watches the graphs and their workloads in a cluster and writes the status of the graphs, until SIGTERM or Ctrl-C. Only
    graphs with the annotation dynamo.krm-fn.io/workloads get a status. A render writes this annotation.

    Each option can also be set with an environment variable: KRM_FN_SYNC_ and the name in capitals, for example KRM_FN_SYNC_LOG_LEVEL.

    Exit codes: 0 after SIGTERM or Ctrl-C; 1 after a failure; 2 wrong usage.

    \b
      krm-fn sync                                        # all namespaces of the kubeconfig's cluster
      krm-fn sync --context kind-kind -n team-a --pods
      krm-fn sync --shard 2/5
    """  # noqa: D301 - click reads the backspace
    for option, needed in _NEEDS.items():
        if given[option] and not given[needed]:
            raise click.UsageError(f"{_flag(option)} needs {_flag(needed)}")
    with command_options.sync_extra("sync"):
        from krm_fn.sync import logs, main, options  # noqa: PLC0415 - the extra may be missing
    logs.configure(given["log_format"], given["log_level"])
    given["config"] = _config(given["config"])
    known = [(parameter.name or "").upper() for parameter in ctx.command.params]
    sys.exit(main.start(_read(given), options.unknown_variables(known)))


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _config(file: str | None) -> Config:
    """The configuration in a file; the default without a file. Exits with the findings if it has an error."""
    if file is None:
        return Config()
    settings, findings = sources.configuration(file)
    if findings:
        click.echo(report.summary(findings), err=True)
    if results.failed(findings):
        sys.exit(2)
    return settings


def _read(given: dict[str, Any]) -> Options:
    from krm_fn.status.sync_features import SyncFeatures  # noqa: PLC0415 - the verb alone imports the syncer
    from krm_fn.sync.options import Options  # noqa: PLC0415 - the verb alone imports the syncer

    features = SyncFeatures(*(given.pop(name) for name in SyncFeatures._fields))
    host, port = given.pop("listen")
    return Options(features=features, namespaces=given.pop("namespace"), address=host, port=port, **given)


COMMAND = sync
