"""`krm-fn completion`: the script with which a shell completes commands, options and files. click does the completion."""

from __future__ import annotations

import click
from click import shell_completion

from krm_fn import cli
from krm_fn.cli import command_output

_SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(_SHELLS))
def completion(shell: str) -> None:
    """Print a completion script for bash, zsh or fish.

    \b
    Add one of these lines to the start-up file of your shell:
      eval "$(krm-fn completion bash)"          # ~/.bashrc
      eval "$(krm-fn completion zsh)"           # ~/.zshrc
      krm-fn completion fish | source           # ~/.config/fish/config.fish
    """  # noqa: D301 - click reads the backspace
    kind = shell_completion.get_completion_class(shell)
    assert kind  # noqa: S101 - the argument's choices are click's own shells
    command_output.write(kind(cli.group, {}, cli.PROGRAM, cli.COMPLETE_VARIABLE).source() + "\n", "shell")


TOPIC = "program"
COMMAND = completion
