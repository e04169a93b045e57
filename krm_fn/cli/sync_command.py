"""`krm-fn sync`: keeps the status of Dynamo resources up to date. The syncer itself is in `krm_fn.syncer`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import click
from click.core import ParameterSource

from krm_fn.base import report, results
from krm_fn.cli import command_options, command_output
from krm_fn.render.config import Config
from krm_fn.repository.files import sources
from krm_fn.syncer import options
from krm_fn.syncer.options import Options
from krm_fn.syncer.status import SyncFeatures

_FILE = click.Path(exists=True, dir_okay=False)
_LEVELS = ("debug", "info", "warning", "error")
_REQUIRED_OPTIONS = {
    "hold_namespaces": "namespace",
    "pod_messages": "pods",
    "auto_apply": "requests",
    "other_namespaces": "auto_apply",
    "config": "auto_apply",
    "loras": "models",
}
"""Options that need another option."""
_ESTIMATE_NAMES = {"paths": "PATH", "changes": "--changes", "style": "--format"}
"""Parameters that only an estimate has."""


def _namespaces(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
    """Checks the names. A value of the environment variable separates them with commas."""
    names = [name for text in texts for name in text.replace(",", " ").split()]
    return tuple(dict.fromkeys(namespace for name in names if (namespace := command_options.namespace(ctx, param, name))))


def _replaced_shard(_ctx: click.Context, _param: click.Parameter, text: str | None) -> None:
    if text is not None:
        raise click.UsageError(f"--shard {text} was replaced; use --shards, with the same flags in each process: they find each other")


def _address(_ctx: click.Context, _param: click.Parameter, text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not port.isdecimal() or int(port) > 65535:
        raise click.BadParameter(f"{text!r} is not ADDRESS:PORT, for example 127.0.0.1:8080")
    return host.strip("[]") or "0.0.0.0", int(port)  # noqa: S104 - :PORT means all addresses, as in Go


def _switch(name: str, description: str, *, default: bool | None = False) -> Callable[[Any], Any]:
    """Adds the options --NAME and --no-NAME. With the default None, the description names the default."""
    return click.option(f"--{name}/--no-{name}", default=default, show_default=default is not None, help=description)


@click.command(context_settings={"auto_envvar_prefix": "KRM_FN_SYNC"})
@click.option("--kubeconfig", metavar="FILE", type=click.Path(), help="The kubeconfig. The default in a pod is its service account.")
@click.option("--context", metavar="NAME", help="The context of the kubeconfig.")
@click.option("-n", "--namespace", metavar="NS", multiple=True, callback=_namespaces, help="Serve this namespace. Can be repeated.")
@_switch("pods", "Read pods, so that messages include their reasons.")
@_switch("pod-messages", "Add the last line of a failed container's termination message.")
@_switch("restarts", "Restart services in the order of spec.restart.")
@_switch("scaling", "Scale the workloads of scaling adapters.", default=True)
@_switch("grove-counts", "Scale Grove's objects to the rendered replicas.", default=True)
@_switch("graph-replicas", "Write the replicas of adapters into graphs with a planner.")
@_switch("requests", "Reconcile requests with their profiling jobs and outputs.")
@_switch("auto-apply", "Apply the graphs of requests with autoApply.")
@_switch("other-namespaces", "Allow graphs of requests in other namespaces than the request.")
@click.option(
    "--config", metavar="FILE", type=_FILE, help="The configuration of the graphs of --auto-apply: a DynamoRender or a ConfigMap."
)
@_switch("models", "Find the endpoints of models.")
@_switch("loras", "Load LoRA adapters into the endpoints of models.")
@_switch("device-claims", "Read claims of devices, so that the status has the GPUs of pods that claim them.")
@_switch("services", "Read Services, so that the condition Drifted names a missing one.")
@_switch("events", "Write events when a resource changes its state.", default=True)
@click.option("--hold-namespaces", is_flag=True, help="Keep a cluster-wide Dynamo operator out of each --namespace.")
@_switch("leader-election", "Let only one of several replicas write. The default in a pod is yes.", default=None)
@click.option("--lease-namespace", metavar="NS", default="", help="The namespace of the Leases. The default is the namespace of the pod.")
@click.option("--shards", is_flag=True, help="Share the namespaces with all processes that have this flag and the same --lease-namespace.")
@click.option("--shard", hidden=True, expose_value=False, callback=_replaced_shard)
@click.option(
    "--listen",
    metavar="ADDRESS:PORT",
    default="127.0.0.1:8080",
    show_default=True,
    callback=_address,
    help="The address for health checks and metrics. A kubelet needs 0.0.0.0.",
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
@click.option(
    "--estimate",
    is_flag=True,
    help="Print the memory, CPU time and API traffic for the objects in PATH, and end.",
    allow_from_autoenv=False,
)
@click.option(
    "--changes",
    metavar="N",
    type=click.IntRange(0),
    default=1000,
    show_default=True,
    help="With --estimate: the changes of objects in an hour.",
    allow_from_autoenv=False,
)
@click.option(
    "--format",
    "style",
    type=click.Choice(("text", "json")),
    default="text",
    show_default=True,
    help="With --estimate: the format of the estimate.",
    allow_from_autoenv=False,
)
@click.argument("paths", metavar="[PATH...]", nargs=-1, type=click.Path(exists=True, allow_dash=True))
@click.pass_context
def sync(ctx: click.Context, /, **values: Any) -> None:
    """Keep the status of Dynamo resources up to date.

    The command watches the graphs and their workloads in a cluster and writes the status of the graphs, until SIGTERM or Ctrl-C. Only
    graphs with the annotation dynamo.krm-fn.io/workloads get a status. A render writes this annotation.

    Each option can also be set with an environment variable: KRM_FN_SYNC_ and the name in capitals, for example KRM_FN_SYNC_LOG_LEVEL.

    With --estimate, it reads no cluster. PATH is an export of a cluster, rendered objects, or a repository with graphs: files, folders
    or stdin (-). The command prints the objects that it would hold in memory, what they need, and the memory limit to set.

    Exit codes: 0 after SIGTERM or Ctrl-C, and after an estimate; 1 after a failure; 2 wrong usage.

    \b
      krm-fn sync                                        # all namespaces of the kubeconfig's cluster
      krm-fn sync --context kind-kind -n team-a --pods
      krm-fn sync --shards --namespace team-a --namespace team-b
      kubectl get dgd,deployments,pods -A -o json | krm-fn sync --estimate --pods -
    """  # noqa: D301 - click reads the backspace
    _check_estimate(ctx, values)
    if values.pop("estimate"):
        sys.exit(_estimate(values))
    for option, required in _REQUIRED_OPTIONS.items():
        if values[option] and not values[required]:
            raise click.UsageError(f"{_flag(option)} needs {_flag(required)}")
    if values["shards"] and values["leader_election"] is not None:
        raise click.UsageError("--shards has no leader; remove --leader-election or --no-leader-election")
    with command_options.sync_extra("sync"):
        from krm_fn.cluster import logs  # noqa: PLC0415 - the extra may be missing
        from krm_fn.syncer import syncer  # noqa: PLC0415 - the extra may be missing
    logs.configure(values["log_format"], values["log_level"])
    values = {name: value for name, value in values.items() if name not in _ESTIMATE_NAMES}
    values["config"] = _config(values["config"])
    names = [(option.name or "").upper() for option in ctx.command.params if isinstance(option, click.Option) and option.allow_from_autoenv]
    sys.exit(syncer.start(_options(values), options.unknown_variables(names)))


def _check_estimate(ctx: click.Context, values: dict[str, Any]) -> None:
    """Raises click.UsageError if options conflict: an estimate has others than a syncer."""
    given = {name for name in ctx.params if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE}
    if not values["estimate"]:
        if extra := [name for name in _ESTIMATE_NAMES if name in given and (name != "paths" or values[name])]:
            raise click.UsageError(f"{_ESTIMATE_NAMES[extra[0]]} needs --estimate")
        return
    if not values["paths"]:
        raise click.UsageError("--estimate needs a PATH: files, folders, or - for stdin")
    if conflicts := sorted(given - {*SyncFeatures._fields, *_ESTIMATE_NAMES, "estimate", "namespace", "config"}):
        raise click.UsageError(f"{_flag(conflicts[0])} does not go together with --estimate, which reads no cluster and starts no syncer")


def _estimate(values: dict[str, Any]) -> int:
    from krm_fn.cli import sync_estimate  # noqa: PLC0415 - a syncer does not need the render in its memory

    features = SyncFeatures(*(values[name] for name in SyncFeatures._fields))
    names = ("paths", "config", "namespace", "changes", "style")
    paths, config, namespaces, changes, style = (values[name] for name in names)
    return sync_estimate.run(sync_estimate.EstimateOptions(paths, config, namespaces, features, changes, style))


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _config(file: str | None) -> Config:
    """Reads the configuration in a file; without a file, returns the default. Exits with the findings if it has an error."""
    if file is None:
        return Config()
    settings, findings = sources.configuration(file)
    if findings:
        command_output.write(f"{report.summary(findings)}\n", err=True)
    if results.has_errors(findings):
        sys.exit(2)
    return settings


def _options(values: dict[str, Any]) -> Options:
    """Converts the values of the command line to options of the syncer."""
    features = SyncFeatures(*(values.pop(name) for name in SyncFeatures._fields))
    host, port = values.pop("listen")
    return Options(features=features, namespaces=values.pop("namespace"), address=host, port=port, **values)


TOPIC = "operate"
COMMAND = sync
