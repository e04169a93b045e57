"""`krm-fn new`: writes the folder of a new graph."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from krm_fn.base import escaping, report, results
from krm_fn.cli import command_options, command_output
from krm_fn.kubernetes.api_server import name_formats
from krm_fn.repository import new_graphs
from krm_fn.repository.files import project_file, writing
from krm_fn.repository.new_graphs import graph_layouts, graph_page
from krm_fn.repository.new_graphs.graph_choices import GraphChoices
from krm_fn.review.arguments import flag_tables

_DEFAULTS = GraphChoices._field_defaults
_MODEL = re.compile(r"[A-Za-z0-9./][A-Za-z0-9._/:@+=-]*")
_NUMBER = click.IntRange(min=1)
_LISTED = 10
"""The names of a folder with files that a message lists."""


def _label(_ctx: click.Context, _param: click.Parameter, name: str | None) -> str | None:
    """Returns the name of a graph or a namespace. Raises click.BadParameter if it is no DNS label."""
    if name is not None and not name_formats.DNS_LABEL.fullmatch(name):
        raise click.BadParameter(f"{name!r} is not a name of Kubernetes; use at most 63 lower-case letters, digits and dashes.")
    return name


def _overlays(_ctx: click.Context, _param: click.Parameter, names: str) -> tuple[str, ...]:
    """Returns the names in a list with commas. Raises click.BadParameter if one is no DNS label, or there twice."""
    listed = tuple(names.split(",")) if names else ()
    wrong = [name for name in listed if not name_formats.DNS_LABEL.fullmatch(name) or listed.count(name) > 1]
    if wrong:
        raise click.BadParameter(f"{wrong[0]!r} is not a name of its own; write names of Kubernetes with commas, such as staging,prod.")
    return listed


def _secret(_ctx: click.Context, _param: click.Parameter, name: str) -> str:
    if name and not name_formats.DNS_SUBDOMAIN.fullmatch(name):
        raise click.BadParameter(f"{name!r} is not the name of a Secret; use lower-case letters, digits, dashes and dots.")
    return name


def _model(_ctx: click.Context, _param: click.Parameter, name: str | None) -> str | None:
    if name is not None and not _MODEL.fullmatch(name):
        raise click.BadParameter(f"{name!r} is not a model; write a name of Hugging Face, such as Qwen/Qwen3-32B, or a path.")
    return name


@click.command()
@click.argument("name", required=False, callback=_label)
@click.option("--engine", type=click.Choice(new_graphs.engine_names()), help="The inference engine.")
@click.option("--model", metavar="NAME", callback=_model, help="The model: a name of Hugging Face, or a path in the image or a volume.")
@click.option("--gpus", type=_NUMBER, default=_DEFAULTS["gpus"], show_default=True, help="The GPUs of a worker on each of its nodes.")
@click.option("--disaggregated", is_flag=True, help="Prefill and decode in workers of their own.")
@click.option("--nodes", type=_NUMBER, default=_DEFAULTS["nodes"], show_default=True, help="The nodes of a worker.")
@click.option("--replicas", type=_NUMBER, default=_DEFAULTS["replicas"], show_default=True, help="The workers of each kind.")
@click.option(
    "--for",
    "layout",
    type=click.Choice(tuple(graph_layouts.LAYOUTS)),
    default=_DEFAULTS["layout"],
    show_default=True,
    help="The tool that renders or applies the files.",
)
@click.option(
    "--overlays",
    metavar="NAMES",
    default="",
    callback=_overlays,
    help="Several overlays, such as staging,prod; each is for the namespace of its name. The default is one, overlays/prod.",
)
@click.option(
    "-n",
    "--namespace",
    metavar="NAME",
    default=_DEFAULTS["namespace"],
    show_default=True,
    callback=command_options.namespace,
    help="The namespace of the graph.",
)
@click.option(
    "--token-secret", metavar="NAME", default="", callback=_secret, help="A Secret whose key HF_TOKEN has the token for the model."
)
@click.option(
    "--output-dir", "--output", "folder", metavar="DIR", type=command_options.Folder(), help="The new folder. The default is NAME."
)
def new(*, name: str | None, folder: Path | None, **given: Any) -> None:
    """Write a new graph, and the files that render it.

    The folder has a DynamoGraphDeployment of v1beta1 with NVIDIA's image of the engine, the files of a layout, and a page with the next
    commands. `krm-fn check` passes. A graph has a frontend and workers. --gpus is the number of GPUs of each worker, and the parallel
    sizes of the engine follow it; with --nodes, a worker has so many GPUs on each node.

    NAME, --engine and --model are needed. If one is missing, the command asks for it and for all other choices, if stdin is a terminal.

    The command cannot know if the model fits into the memory of the GPUs, or if it needs a token. The last lines say what to find out. It
    writes all files or none, and never into a folder with files.

    Exit codes: 0 the folder is written; 1 it cannot be written; 2 wrong usage.

    \b
      krm-fn new chat --engine vllm --model Qwen/Qwen3-32B --gpus 2
      krm-fn new chat --engine sglang --model Qwen/Qwen3-32B --disaggregated --overlays staging,prod
      krm-fn new big --engine vllm --model deepseek-ai/DeepSeek-R1 --gpus 8 --nodes 2 --for argocd
    """  # noqa: D301 - click reads the backspace
    context = click.get_current_context()
    chosen = _complete_choices(context, {"name": name, **given})
    _check_overlays(context, chosen)
    choices = GraphChoices(release=".".join(map(str, flag_tables.published_releases()[-1])), **chosen)
    folder = folder or Path(choices.name)
    try:
        if present := writing.names_in(folder):
            raise click.UsageError(f"{folder} has files: {report.list_first(present, _LISTED)}; name another folder with --output-dir")
        _check(choices)
        files = new_graphs.files(choices, folder.resolve().relative_to(project_file.top(folder)).as_posix())
        writing.write_new(folder, files)
    except OSError as problem:
        raise click.ClickException(f"cannot write to {folder}: {problem.strerror}") from problem
    command_output.write(escaping.join_lines(_closing(choices, folder, [*files])))


def _complete_choices(ctx: click.Context, given: dict[str, Any]) -> dict[str, Any]:
    """Returns the choices. If a needed one is missing, asks for all that were not given, or raises click.UsageError without a terminal."""
    params = {f"{param.name}": param for param in ctx.command.params}
    missing = [_usage_of(params[key]) for key, value in given.items() if value is None]
    if not missing:
        return given
    if not sys.stdin.isatty():
        raise click.UsageError(f"missing: {', '.join(missing)}")
    is_open = {key: key != "overlays" and not _is_given(ctx, key) for key in given}
    return {key: _ask(ctx, params[key]) if is_open[key] else value for key, value in given.items()}


def _is_given(ctx: click.Context, key: str) -> bool:
    return ctx.get_parameter_source(key) is ParameterSource.COMMANDLINE


def _check_overlays(ctx: click.Context, chosen: dict[str, Any]) -> None:
    """Raises click.UsageError for overlays of a layout that has none, and for another namespace."""
    if chosen["overlays"] and not graph_layouts.LAYOUTS[chosen["layout"]].has_overlays:
        names = ", ".join(name for name, layout in graph_layouts.LAYOUTS.items() if layout.has_overlays)
        raise click.UsageError(f"--overlays needs --for {names}; {chosen['layout']} has no overlays")
    if chosen["overlays"] and _is_given(ctx, "namespace"):
        raise click.UsageError("--overlays also names the namespaces; leave out --namespace")


def _usage_of(param: click.Parameter) -> str:
    """Returns an option with its choices, or an argument, as a user types it."""
    choices = f" ({', '.join(param.type.choices)})" if isinstance(param.type, click.Choice) else ""
    return f"{param.opts[-1] if isinstance(param, click.Option) else param.human_readable_name}{choices}"


def _ask(ctx: click.Context, param: click.Parameter) -> Any:
    """Asks for one choice until the answer is allowed. A question shows the default, and the choices of a list."""
    text = f"{param.help}".removesuffix(".") if isinstance(param, click.Option) else "The name of the graph"
    if isinstance(param, click.Option) and param.is_flag:
        return click.confirm(text, err=True)
    return click.prompt(
        text, default=param.get_default(ctx), type=param.type, err=True, value_proc=lambda answer: _value(ctx, param, answer)
    )


def _value(ctx: click.Context, param: click.Parameter, answer: Any) -> Any:
    """Returns an answer as its option does. Raises click.BadParameter."""
    value = param.type.convert(answer, param, ctx)
    return param.callback(ctx, param, value) if param.callback else value


def _check(choices: GraphChoices) -> None:
    """Checks the graph as a render does. Raises click.UsageError with its errors, for example about names that are too long."""
    problems = results.errors_of(new_graphs.findings(choices))
    if problems:
        raise click.UsageError("; ".join(dict.fromkeys(f"{problem.code} {problem.message}" for problem in problems)))


def _closing(choices: GraphChoices, folder: Path, files: list[str]) -> list[str]:
    layout = graph_layouts.LAYOUTS[choices.layout]
    return [
        f"{report.pluralize(len(files), 'file')} in {folder}:",
        *(f"  {file}" for file in sorted(files)),
        *graph_page.unknown(choices, layout),
        "Next:",
        f"  cd {shlex.quote(str(folder))}",
        "  krm-fn check",
        *(f"  {command}" for command in layout.commands(choices)),
        "  krm-fn diff --old main   # in a clone, after a change",
        f"  krm-fn schema > {layout.schema}   # for completion in an editor",
    ]


TOPIC = "author"
COMMAND = new
