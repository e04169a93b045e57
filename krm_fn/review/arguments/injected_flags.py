"""Finds the flags that a render adds to a command line: the flags of the rendered containers that their author did not write."""

from __future__ import annotations

from collections import Counter

from krm_fn.base.records import NamedTuple
from krm_fn.render.manifests.pod_builder import Pods
from krm_fn.review.arguments import command_line_parser, engine_commands
from krm_fn.review.arguments.command_line_parser import ParsedCommand
from krm_fn.review.arguments.engine_commands import EngineCommand
from krm_fn.review.arguments.judged_commands import JudgedCommand


class InjectedFlags(NamedTuple):
    """The flags that a render adds, by their first names. `changes` is false if the pods of all roles run the author's command."""

    flags: dict[str, str]
    changes: bool


def of_command(judged: JudgedCommand, pods: Pods) -> InjectedFlags:
    """Returns the flags that a render adds to the command of a main container on several nodes."""
    author = _counted(judged.parsed)
    flags: dict[str, str] = {}
    changes = not pods.roles
    for pod in pods.roles:
        commands, _ = engine_commands.read(pod.main)
        rendered = [command for command in commands if command.program == judged.command.program]
        changes = changes or [_texts(command) for command in rendered] != [_texts(judged.command)]
        for command in rendered:
            parsed = command_line_parser.parse(command.words, judged.table, command.start)
            added = _counted(parsed) - author
            flags |= {use.flag.name: use.option for use in parsed.uses if use.flag.name in added}
    return InjectedFlags(flags, changes)


def _texts(command: EngineCommand) -> list[str]:
    return [word.text for word in command.words]


def _counted(parsed: ParsedCommand) -> Counter[str]:
    return Counter(use.flag.name for use in parsed.uses)
