"""Finds the command lines of Dynamo's programs in a container: `python3 -m dynamo.vllm …`, also in lines for a shell.

The programs that start the next word as a command, such as `exec` and `mpirun`, are known; behind any other program nothing is judged.
Words that never reach a program are mistakes: `krm_fn.review.arguments.started_programs` and `line_breaks` know them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from krm_fn.base import codes
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Severity
from krm_fn.kubernetes import secret_values
from krm_fn.render.engines import _command_lines
from krm_fn.review.arguments import early_ends, flag_tables, line_breaks, shell_words, started_programs
from krm_fn.review.arguments.shell_words import UNKNOWN, ShellWord, UnclosedError, Word
from krm_fn.review.arguments.started_programs import Mistake

_REFERENCE = re.compile(r"\$(?:\$|\(([^)]*)(?:\)|\Z))")  # to the end without `)`, so that no text is read twice
_NAMED = re.compile(r"\$(?:\$|\(([A-Za-z_][\w.-]*)\))", re.ASCII)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=.*", re.ASCII | re.DOTALL)
_KEYWORDS = frozenset(("if", "then", "elif", "else", "while", "until", "do", "{", "!", "time"))
_LAUNCHERS = frozenset(
    (
        *("exec", "env", "nohup", "nice", "ionice", "timeout", "stdbuf", "setsid", "numactl", "taskset", "tini", "dumb-init", "sudo"),
        *("mpirun", "mpiexec", "trtllm-llmapi-launch", "nsys", "nsys-launcher", "srun", "time", "command", "catchsegv"),
    )
)
"""Programs that start a program. Its command line begins at some word behind theirs."""
SCRIPT_IN_FILE = "it starts a script in a file"
"""The reason why the command of a script is not judged."""
_DEPTH = 3
"""The deepest shell within a shell that is read."""


class EngineCommand(NamedTuple):
    """The command line of a program. `start` is the word with the name of its module, and `words` are those behind it.

    `is_in_shell` is true if a shell reads the words.
    """

    program: str
    start: Word
    words: list[Word]
    is_in_shell: bool = False


class LaunchProblem(NamedTuple):
    """A part of a command that is not judged, or that cannot start its program. `code` is that of a mistake; empty for a note.

    `severity` and `items` are those of a mistake.
    """

    word: Word
    reason: str
    code: str = ""
    severity: Severity = "error"
    items: tuple[str, ...] = ()

    @property
    def is_mistake(self) -> bool:
        """True if the command cannot do what it says."""
        return bool(self.code)


class Reference(NamedTuple):
    """A reference of Kubernetes, `$(NAME)`, to a variable without a known value."""

    word: Word
    name: str
    is_in_shell: bool


class ReadCommands(NamedTuple):
    """What a container starts: the command lines of Dynamo's programs, problems, and references to variables without known values.

    `reason` says why there is no command line of a program of Dynamo; empty if there is one.
    """

    commands: list[EngineCommand]
    problems: list[LaunchProblem]
    references: Sequence[Reference] = ()
    reason: str = ""


def read(container: Mapping[str, Any]) -> ReadCommands:
    """Returns what the command and the arguments of a container start. Fields may have wrong types."""
    reader = _CommandReader(_variables(container))
    words: list[Word] = []
    fields: tuple[Literal["command"], Literal["args"]] = ("command", "args")
    for field in fields:
        listed = container.get(field)
        for index, item in enumerate(listed if isinstance(listed, list) else ()):
            if not isinstance(item, str):
                return ReadCommands([], [])
            words.append(Word(reader.replace_references(item), field, index))
    raw = [container[word.field][word.item] for word in words]
    if not words:
        return ReadCommands([], [], reason="it starts the program of its image")
    is_command = bool(container.get("command")) or started_programs.runs_its_args(container.get("image"))
    if is_command:
        reader.report(started_programs.check_first_word(words))
    reader.simple_command(words, raw, 0)
    reader.add_references(words, raw)
    if is_command and not reader.commands and not reader.problems and not container.get("stdin"):
        reader.report(started_programs.check_without_program(words))
    reason = "" if reader.commands else started_programs.other_program(words)
    return ReadCommands(reader.commands, reader.problems, reader.references, reason)


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
        self.problems: list[LaunchProblem] = []
        self.references: list[Reference] = []
        self.scripts: set[tuple[str, int]] = set()

    def report(self, mistake: Mistake | None) -> None:
        """Adds a mistake."""
        if mistake is not None:
            self.problems.append(LaunchProblem(mistake.word, mistake.message, mistake.code, items=mistake.items))

    def add_references(self, words: Sequence[Word], raw: Sequence[str]) -> None:
        """Adds the references in words that no shell reads."""
        for word, text in zip(words, raw, strict=True):
            if "$(" in text and (word.field, word.item) not in self.scripts:
                for match in _NAMED.finditer(text):
                    if match[1] is not None and match[1] not in self.variables:
                        self.references.append(Reference(word._replace(offset=match.start()), match[1], False))

    def replace_references(self, text: str) -> str:
        """Returns the word of a command that runs without a shell: Kubernetes replaces `$(NAME)`, and `$$` is a dollar sign."""
        if "$" not in text:
            return text
        closed, end, unclosed = text.rpartition(")")
        known = _REFERENCE.sub(lambda match: "$" if match[1] is None else self.variables.get(match[1], UNKNOWN), closed + end)
        return known + unclosed.replace("$$", "$")

    def simple_command(self, words: Sequence[Word], raw: Sequence[str], depth: int) -> None:
        """Reads the words of one command. `raw` has the text that a shell gets in place of each word."""
        first = _first_word(words)
        position = self._program(words, first)
        if position is None:
            self.report(started_programs.check_program(words[first:]) if first < len(words) else None)
            return
        name = words[position].text.rpartition("/")[2]
        if _command_lines.is_shell({"command": [name]}):
            self._shell(words, raw, position + 1, depth)
            return
        start, mistake = started_programs.module(words, position + 1)
        self.report(mistake)
        if start is None:
            return
        program = flag_tables.program_of(start.word.text)
        if program is None:
            self.report(started_programs.check_module(start.word))
        else:
            self.commands.append(EngineCommand(program, start.word, [*words[start.behind :]], depth > 0))

    def _program(self, words: Sequence[Word], position: int) -> int | None:
        """Returns the position of Python or of a shell; None if the command runs another program, with its word at `position`."""
        if position < len(words) and words[position].text.rpartition("/")[2] in _LAUNCHERS:
            return next((index for index in range(position + 1, len(words)) if _starts_program(words, index)), None)
        return position if position < len(words) and _starts_program(words, position) else None

    def _shell(self, words: Sequence[Word], raw: Sequence[str], position: int, depth: int) -> None:
        """Reads the line behind `-c`. A script in a file is not read."""
        options = []
        while position < len(words) and words[position].text[:1] in ("-", "+"):
            option = words[position].text
            options.append(words[position])
            position += 2 if option in ("-o", "+o", "-O", "--rcfile", "--init-file") else 1
        if not any("c" in option.text for option in options if not option.text.startswith("--")):
            if position < len(words):
                mistake = started_programs.check_script(words[position])
                self.report(mistake or Mistake("", words[position], SCRIPT_IN_FILE))
            return
        mistake = started_programs.check_shell_options(options) or started_programs.check_shell_words(words, raw, position)
        self.report(mistake)
        if position < len(words) and depth < _DEPTH and not (mistake and mistake.hides_line):
            self.scripts.add((words[position].field, words[position].item))
            self.line(raw[position], words[position], depth)

    def line(self, text: str, word: Word, depth: int) -> None:
        """Reads a line for a shell. `word` is the item that has it, and its offset is that of the line."""
        try:
            line = shell_words.split_line(text, self.variables)
        except UnclosedError as problem:
            at = word._replace(offset=word.offset + problem.start)
            if problem.quote == "(" and depth == 0:
                message = "the shell does not run the line, because this parenthesis has no quotes; write the whole value in single quotes"
                self.problems.append(LaunchProblem(at, message, codes.UNQUOTED_PARENTHESIS))
            elif problem.quote in "'\"" and depth == 0:
                message = f"the quote {problem.quote} has no end, so the shell does not run the line; close the quote"
                self.problems.append(LaunchProblem(at, message, codes.UNCLOSED_QUOTE))
            else:
                self.problems.append(LaunchProblem(at, "a part of it has no end"))
            return
        if line.problem:
            self.problems.append(LaunchProblem(word, line.problem))
        commands, breaks = line_breaks.join(line, text)
        self.problems += (LaunchProblem(_within(word, end.start), end.message, codes.COMMAND_ENDS_EARLY) for end in breaks)
        ends = early_ends.check(line, text, is_whole=depth == 0)
        self.problems += (LaunchProblem(_within(word, end.start), end.message, end.code, end.severity) for end in ends)
        self.references += (Reference(_within(word, entry.start), entry.name, True) for entry in line.references)
        for command in commands:
            words = [_in_item(part, word, shell_words.inner_start(text, part)) for part in command]
            self.simple_command(words, [part.text for part in command], depth + 1)


def _within(item: Word, start: int) -> Word:
    """Returns the word at a position in the line of an item."""
    return item._replace(offset=item.offset + start)


def _in_item(part: ShellWord, item: Word, start: int) -> Word:
    """Returns a word of a line as a word of the item that has the line."""
    return item._replace(text=part.text, offset=item.offset + start, is_single=part.is_single, source=part.source)


def _first_word(words: Sequence[Word]) -> int:
    """Returns the position of the first word behind keywords of a shell and assignments."""
    position = 0
    while position < len(words) and (words[position].text in _KEYWORDS or _ASSIGNMENT.fullmatch(words[position].text)):
        position += 1
    return position


def _starts_program(words: Sequence[Word], index: int) -> bool:
    name = words[index].text.rpartition("/")[2]
    return _command_lines.is_python({"command": [name]}) or _command_lines.is_shell({"command": [name]})
