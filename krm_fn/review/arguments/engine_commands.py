"""Finds the command lines of Dynamo's programs in a container: `python3 -m dynamo.vllm …`, also in lines for a shell.

The programs that start the next word as a command, such as `exec` and `mpirun`, are known; behind any other program nothing is judged.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import secret_values
from krm_fn.render.engines import _command_lines
from krm_fn.review.arguments import flag_tables, shell_words
from krm_fn.review.arguments.shell_words import UNKNOWN, ShellWord, UnclosedError, Word

_REFERENCE = re.compile(r"\$(?:\$|\(([^)]*)(?:\)|\Z))")  # to the end without `)`, so that no text is read twice
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=.*", re.ASCII | re.DOTALL)
_KEYWORDS = frozenset(("if", "then", "elif", "else", "while", "until", "do", "{", "!", "time"))
_LAUNCHERS = frozenset(
    (
        *("exec", "env", "nohup", "nice", "ionice", "timeout", "stdbuf", "setsid", "numactl", "taskset", "tini", "dumb-init", "sudo"),
        *("mpirun", "mpiexec", "trtllm-llmapi-launch", "nsys", "nsys-launcher", "srun", "time", "command", "catchsegv"),
    )
)
"""Programs that start a program. Its command line begins at some word behind theirs."""
_DEPTH = 3
"""The deepest shell within a shell that is read."""
_PYTHON_WITH_VALUE = ("-W", "-X")


class EngineCommand(NamedTuple):
    """The command line of a program. `start` is the word with the name of its module, and `words` are those behind it."""

    program: str
    start: Word
    words: list[Word]


class UnreadableLine(NamedTuple):
    """A line for a shell that is not judged, or only to a part. `is_mistake` is true for a quote without an end."""

    word: Word
    reason: str
    is_mistake: bool = False


def read(container: Mapping[str, Any]) -> tuple[list[EngineCommand], list[UnreadableLine]]:
    """Returns the command lines of Dynamo's programs in the command and the arguments of a container. Fields may have wrong types."""
    reader = _CommandReader(_variables(container))
    words: list[Word] = []
    fields: tuple[Literal["command"], Literal["args"]] = ("command", "args")
    for field in fields:
        listed = container.get(field)
        for index, item in enumerate(listed if isinstance(listed, list) else ()):
            if not isinstance(item, str):
                return [], []
            words.append(Word(reader.replaced(item), field, index))
    raw = [container[word.field][word.item] for word in words]
    reader.simple_command(words, raw, 0)
    return reader.commands, reader.unreadable


def _variables(container: Mapping[str, Any]) -> dict[str, str]:
    """The variables of a container with known values. The last entry of a name counts. Secret values count as unknown."""
    variables: dict[str, str] = {}
    listed = container.get("env")
    for entry in listed if isinstance(listed, list | tuple) else ():
        if isinstance(entry, dict) and isinstance(name := entry.get("name"), str):
            value = entry.get("value")
            is_hidden = "valueFrom" in entry or secret_values.is_secret_name(name)
            if isinstance(value, str) and "$(" not in value and not is_hidden:
                variables[name] = value.replace("$$", "$")
            else:
                variables.pop(name, None)
    return variables


class _CommandReader:
    """Reads commands with the variables of a container."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self.variables = variables
        self.commands: list[EngineCommand] = []
        self.unreadable: list[UnreadableLine] = []

    def replaced(self, text: str) -> str:
        """Returns the word of a command that runs without a shell: Kubernetes replaces `$(NAME)`, and `$$` is a dollar sign."""
        if "$" not in text:
            return text
        closed, end, unclosed = text.rpartition(")")
        known = _REFERENCE.sub(lambda match: "$" if match[1] is None else self.variables.get(match[1], UNKNOWN), closed + end)
        return known + unclosed.replace("$$", "$")

    def simple_command(self, words: Sequence[Word], raw: Sequence[str], depth: int) -> None:
        """Reads the words of one command. `raw` has the text that a shell gets in place of each word."""
        position = self._program(words)
        if position is None:
            return
        name = words[position].text.rpartition("/")[2]
        if _command_lines.is_shell({"command": [name]}):
            self._shell(words, raw, position + 1, depth)
            return
        start = _module(words, position + 1)
        if start is None:
            return
        program = flag_tables.program_of(words[start].text)
        if program is not None:
            self.commands.append(EngineCommand(program, words[start], [*words[start + 1 :]]))

    def _program(self, words: Sequence[Word]) -> int | None:
        """Returns the position of Python or of a shell; None if the command runs another program."""
        position = 0
        while position < len(words) and (words[position].text in _KEYWORDS or _ASSIGNMENT.fullmatch(words[position].text)):
            position += 1
        if position < len(words) and words[position].text.rpartition("/")[2] in _LAUNCHERS:
            return next((index for index in range(position + 1, len(words)) if _starts_program(words, index)), None)
        return position if position < len(words) and _starts_program(words, position) else None

    def _shell(self, words: Sequence[Word], raw: Sequence[str], position: int, depth: int) -> None:
        """Reads the line behind `-c`. A script in a file is not read."""
        options = []
        while position < len(words) and words[position].text[:1] in ("-", "+"):
            option = words[position].text
            options.append(option)
            position += 2 if option in ("-o", "+o", "-O", "--rcfile", "--init-file") else 1
        if not any("c" in option for option in options if not option.startswith("--")) or position >= len(words):
            if position < len(words):
                self.unreadable.append(UnreadableLine(words[position], "it starts a script in a file"))
            return
        if depth < _DEPTH:
            self.line(raw[position], words[position], depth)

    def line(self, text: str, word: Word, depth: int) -> None:
        """Reads a line for a shell. `word` is the item that has it, and its offset is that of the line."""
        try:
            line = shell_words.split(text, self.variables)
        except UnclosedError as problem:
            is_mistake = problem.quote in "'\"" and depth == 0
            reason = f"the quote {problem.quote} has no end" if is_mistake else "a part of it has no end"
            self.unreadable.append(UnreadableLine(word._replace(offset=word.offset + problem.start), reason, is_mistake))
            return
        if line.problem:
            self.unreadable.append(UnreadableLine(word, line.problem))
        for command in line.commands:
            words = [_in_item(part, word, shell_words.inner_start(text, part)) for part in command]
            self.simple_command(words, [part.text for part in command], depth + 1)


def _in_item(part: ShellWord, item: Word, start: int) -> Word:
    """Returns a word of a line as a word of the item that has the line."""
    return item._replace(text=part.text, offset=item.offset + start, is_single=part.is_single)


def _starts_program(words: Sequence[Word], index: int) -> bool:
    name = words[index].text.rpartition("/")[2]
    return _command_lines.is_python({"command": [name]}) or _command_lines.is_shell({"command": [name]})


def _module(words: Sequence[Word], position: int) -> int | None:
    """Returns the position of the module that Python runs; None if it runs a file or a text."""
    while position < len(words):
        text = words[position].text
        if text == "-m":
            return position + 1 if position + 1 < len(words) else None
        if not text.startswith("-") or text in ("-c", "-"):
            return None
        position += 2 if text in _PYTHON_WITH_VALUE else 1
    return None
