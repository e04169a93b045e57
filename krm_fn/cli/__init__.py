"""The commands: click runs the `COMMAND` of `<verb>_command.py`. A command loads the input, calls the core and prints the result.

`krm-fn` without arguments is the KRM function. It imports nothing from here.
"""

from __future__ import annotations

import difflib
import sys
import traceback
from collections.abc import Sequence
from typing import Any, NoReturn

import click

import krm_fn
from krm_fn.base import escaping, registry
from krm_fn.cli import command_output

PROGRAM = "krm-fn"
COMPLETE_VARIABLE = "_KRM_FN_COMPLETE"
_SUFFIX = "_command"


class _Commands(click.Group):
    """The commands of this folder. A call imports only the command that runs; `--help` imports all."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        modules = registry.entries(sys.modules[__name__])
        return [name.removesuffix(_SUFFIX) for name in modules if name.endswith(_SUFFIX)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        command: click.Command = registry.get(sys.modules[__name__], cmd_name + _SUFFIX).COMMAND
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        near = difflib.get_close_matches(args[0], self.list_commands(ctx), n=1)
        if near and near[0] != args[0]:
            ctx.fail(f"No such command {args[0]!r}. Did you mean {near[0]!r}?")
        return super().resolve_command(ctx, args)

    def main(self, *arguments: Any, **settings: Any) -> NoReturn:
        """Runs one command and exits, as click does, but prints its errors as all other text: they can name files and values."""
        try:
            code = super().main(*arguments, **settings | {"standalone_mode": False})
        except click.ClickException as problem:
            command_output.write(_message(problem), err=True)
            sys.exit(problem.exit_code)
        except click.Abort:
            command_output.print_line("Aborted!", err=True)
            sys.exit(1)
        sys.exit(code if isinstance(code, int) else 0)


def _message(problem: click.ClickException) -> str:
    """Returns what click shows for an error, with the error itself in one line."""
    ctx = problem.ctx if isinstance(problem, click.UsageError) else None
    usage = [*ctx.get_usage().splitlines(), f"Try '{ctx.command_path} {max(ctx.help_option_names, key=len)}' for help.", ""] if ctx else []
    return escaping.joined([*usage, f"Error: {escaping.printable(problem.format_message())}"])


@click.group(cls=_Commands, invoke_without_command=False, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(krm_fn.__version__, prog_name=PROGRAM, message="%(prog)s %(version)s")
def group() -> None:
    """Expand NVIDIA Dynamo graphs to native Kubernetes objects.

    Without a command, krm-fn is a KRM function for kustomize and kpt: it reads a ResourceList from stdin and writes one to stdout. It
    expands each graph to the objects that the Dynamo operator would create: Deployments, Services, ServiceAccounts, Ingresses and others.
    It does not change other items.

    \b
    In kustomize, add it to the outermost layer that sets a namespace or a name prefix:
      # kustomization.yaml
      namespace: prod
      resources: [graph.yaml]
      transformers: [render.yaml]

    \b
      # render.yaml
      apiVersion: dynamo.krm-fn.io/v1alpha1
      kind: DynamoRender
      metadata:
        name: render
        annotations:
          config.kubernetes.io/function: |
            exec: {path: krm-fn}
      spec:
        orchestrator: deployment

    \b
      kustomize build --enable-alpha-plugins --enable-exec .

    \b
    In kpt:
      kpt fn eval PACKAGE --exec krm-fn -- natsAddress=nats://nats:4222

    \b
    On the command line:
      krm-fn render graph.yaml | kubectl apply -f -
      krm-fn check graph.yaml
    """  # noqa: D301 - click reads the backspace


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs one command and exits: 0 for success, 1 if a finding is an error, 2 for wrong usage.

    Raises OSError if a stream cannot be written; `krm_fn.__main__` reports it. Any other exception is a bug and becomes DYN019.
    """
    try:
        group.main(args=arguments, prog_name=PROGRAM, complete_var=COMPLETE_VARIABLE)
    except Exception as problem:
        if isinstance(problem, OSError) and problem.filename is None:
            raise
        frame = traceback.extract_tb(problem.__traceback__)[-1]
        message = f"{type(problem).__name__}: {problem} ({frame.name}, line {frame.lineno})"
        command_output.print_line(
            f"error DYN019 {message}; this is a bug in {PROGRAM} {krm_fn.__version__}, please report it with the input", err=True
        )
        sys.exit(1)
