"""The commands: click runs the `COMMAND` of `<verb>_command.py`. A command loads the input, calls the core and prints the result.

`TOPIC` beside it names one of `TOPICS`, under which the help lists the command.

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
from krm_fn.base import codes, escaping, registry
from krm_fn.cli import command_output

PROGRAM = "krm-fn"
COMPLETE_VARIABLE = "_KRM_FN_COMPLETE"
_SUFFIX = "_command"
TOPICS = {
    "author": "Write graphs",
    "review": "Review changes",
    "operate": "Operate graphs",
    "migrate": "Migrate from the operator, and to a next release",
    "program": "Set up krm-fn",
}
"""The topics of the help, in its order, with their titles."""


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

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the commands by topic. All topics have the same columns."""
        width = max(map(len, self.list_commands(ctx)))
        for topic, title in TOPICS.items():
            with formatter.section(title):
                for name, command in commands_of(topic):
                    text = command.get_short_help_str(formatter.width - width - 6)
                    formatter.write(f"{'':{formatter.current_indent}}{name:{width}}  {text}\n")

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


def commands_of(topic: str) -> list[tuple[str, click.Command]]:
    """Returns the names and commands of a topic, sorted by name. It imports all commands."""
    modules = {
        name: registry.get(sys.modules[__name__], name) for name in registry.entries(sys.modules[__name__]) if name.endswith(_SUFFIX)
    }
    return [(name.removesuffix(_SUFFIX), module.COMMAND) for name, module in modules.items() if topic == module.TOPIC]


def _message(problem: click.ClickException) -> str:
    """Returns what click shows for an error, with the error itself in one line."""
    ctx = problem.ctx if isinstance(problem, click.UsageError) else None
    usage = [*ctx.get_usage().splitlines(), f"Try '{ctx.command_path} {max(ctx.help_option_names, key=len)}' for help.", ""] if ctx else []
    return escaping.join_lines([*usage, f"Error: {escaping.printable(problem.format_message())}"])


@click.group(cls=_Commands, invoke_without_command=False, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(krm_fn.__version__, prog_name=PROGRAM, message="%(prog)s %(version)s")
def group() -> None:
    """Expand NVIDIA Dynamo graphs to native Kubernetes objects.

    Without a command, krm-fn is a KRM function for kustomize and kpt: it reads a ResourceList from stdin and writes one to stdout. It
    expands each graph to the objects that the Dynamo operator would create: Deployments, Services, ServiceAccounts, Ingresses and others.
    It does not change other items.

    \b
      krm-fn check graph.yaml
      krm-fn render graph.yaml | kubectl apply -f -
      kustomize build --enable-alpha-plugins --enable-exec .            # krm-fn help kustomize
      kpt fn eval PACKAGE --exec krm-fn -- natsAddress=nats://nats:4222 # krm-fn help kpt

    krm-fn help TOPIC explains a command, a topic (author, review, operate, migrate, program), or the function in kustomize and in kpt.
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
            f"error {codes.INTERNAL_ERROR} {message}; this is a bug in {PROGRAM} {krm_fn.__version__}, please report it with the input",
            err=True,
        )
        sys.exit(1)
