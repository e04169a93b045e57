"""The commands: click runs the `COMMAND` of `<verb>_command.py`. A command loads the input, calls the core and prints the result.

`TOPIC` beside it names one of `TOPICS`, under which the help lists the command.

`krm-fn` without arguments is the KRM function. It imports nothing from here.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple, NoReturn

import click
from click.shell_completion import CompletionItem

import krm_fn
from krm_fn.base import codes, escaping, registry
from krm_fn.cli import command_output

PROGRAM = "krm-fn"
COMPLETE_VARIABLE = "_KRM_FN_COMPLETE"
_SUFFIX = "_command"
_COMPLETED, _WHOLE = 45, 1000
"""The width of a summary in a completion, which is click's, and one that no sentence has."""
TOPICS = {
    "author": "Write graphs",
    "review": "Review changes",
    "operate": "Operate graphs",
    "migrate": "Migrate from the operator, and to a next release",
    "program": "Set up krm-fn",
}
"""The topics of the help, in its order, with their titles."""


SUMMARIES = "cli/command_summaries.json"
"""The generated file with the topic and the summary of each command, so that neither the help nor the completion imports all commands."""


class CommandSummary(NamedTuple):
    """The topic of a command, and the first sentence of its help."""

    topic: str
    sentence: str

    def text(self, width: int) -> str:
        """Returns the sentence in at most `width` characters, as click shortens the help of a command."""
        return click.Command(None, help=self.sentence).get_short_help_str(width)


class _Commands(click.Group):
    """The commands of this folder. A call imports only the command that runs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        modules = registry.entries(sys.modules[__name__])
        return [name.removesuffix(_SUFFIX) for name in modules if name.endswith(_SUFFIX)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        command: click.Command = registry.get(sys.modules[__name__], cmd_name + _SUFFIX).COMMAND
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        names = self.list_commands(ctx)
        if args[0] not in names:
            from difflib import get_close_matches  # noqa: PLC0415 - a command starts without it

            for near in get_close_matches(args[0], names, n=1):
                ctx.fail(f"No such command {args[0]!r}. Did you mean {near!r}?")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the commands by topic. All topics have the same columns."""
        width = max(map(len, self.list_commands(ctx)))
        for topic, title in TOPICS.items():
            with formatter.section(title):
                for name, summary in summaries_of(topic):
                    text = summary.text(formatter.width - width - 6)
                    formatter.write(f"{'':{formatter.current_indent}}{name:{width}}  {text}\n")

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Returns the commands and the options that begin with a text."""
        commands = [
            CompletionItem(name, help=summary(name).text(_COMPLETED)) for name in self.list_commands(ctx) if name.startswith(incomplete)
        ]
        return [*commands, *click.Command.shell_complete(self, ctx, incomplete)]

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


def summaries_of(topic: str) -> list[tuple[str, CommandSummary]]:
    """Returns the names and summaries of the commands of a topic, sorted by name."""
    entries = registry.entries(sys.modules[__name__])
    names = [entry.removesuffix(_SUFFIX) for entry in entries if entry.endswith(_SUFFIX)]
    return [(name, summary(name)) for name in names if summary(name).topic == topic]


def summary(name: str) -> CommandSummary:
    """Returns the summary of a command. One that is not in the generated file is imported."""
    return _generated_summaries().get(name) or import_summary(name)


def import_summary(name: str) -> CommandSummary:
    """Imports a command, and returns its summary."""
    module = registry.get(sys.modules[__name__], name + _SUFFIX)
    return CommandSummary(module.TOPIC, module.COMMAND.get_short_help_str(_WHOLE).removesuffix(".") + ".")  # click 8.1 removes the dot


@cache
def _generated_summaries() -> dict[str, CommandSummary]:
    return {name: CommandSummary(*fields) for name, fields in json.loads(registry.data(SUMMARIES)).items()}


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
        import traceback  # noqa: PLC0415 - a command starts without it

        frame = traceback.extract_tb(problem.__traceback__)[-1]
        message = f"{type(problem).__name__}: {problem} ({frame.name}, line {frame.lineno})"
        command_output.print_line(
            f"error {codes.INTERNAL_ERROR} {message}; this is a bug in {PROGRAM} {krm_fn.__version__}, please report it with the input",
            err=True,
        )
        sys.exit(1)
