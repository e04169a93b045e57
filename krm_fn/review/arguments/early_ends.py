"""Finds characters that mean something to a shell and stand in the command line of one of Dynamo's programs as if they were text.

An unquoted `&`, `;` or `|` ends a command, and so does a comment; a command behind which only `&` stands runs in the background, and the
shell ends without it (POSIX.1-2017, Shell Command Language, 2.3, 2.9.3 and 2.11). The container ends with its shell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from krm_fn.base import codes
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Severity
from krm_fn.kubernetes import secret_values
from krm_fn.review.arguments import flag_tables, message_parts
from krm_fn.review.arguments.shell_words import UNKNOWN, ShellLine, ShellWord

_LONG = re.compile(r"--[A-Za-z][\w.-]*", re.ASCII)
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_ASSIGNING = ("export", "readonly")
"""Words of a shell before an assignment."""
_TORN = ("export", "NAME", "=")
_COMMENT = re.compile(r"(?:\A|(?<=\s))#[^\n]*")
_QUOTABLE = re.compile(r"[^'\"\\\n]{1,60}")
_PLAIN_WORD = re.compile(r"\w[\w-]*", re.ASCII)
_COMMON_FLAGS = """
--config --debug --device --endpoint --help --host --log-level --model --model-path --namespace --port --revision --seed
--tokenizer --version
"""
_ANY_PROGRAM = frozenset(_COMMON_FLAGS.split())
"""Flags that a program of another name can have too."""
_PROGRAMS = """
awk bash cat cd cp curl cut dash date do done echo else env exec exit export false fi for grep head if jq kill ls mkdir mv nginx
nice nohup numactl nvidia-smi printf pwd python python3 rm sed set sglang sh sleep sort source tail tee test then timeout touch tr
trap trtllm-serve true ts ulimit unset vllm wait wget while xargs
"""
_KNOWN_PROGRAMS = frozenset(_PROGRAMS.split())
"""Programs and words of a shell that can begin a command in an image."""


class EarlyEnd(NamedTuple):
    """A position in a line at which a shell does something else than its author meant."""

    start: int
    code: str
    severity: Severity
    message: str


def check(line: ShellLine, text: str, *, is_whole: bool) -> Iterator[EarlyEnd]:
    """Yields the findings about a line. `is_whole` is true if the container ends with the shell that reads the line."""
    programs = [_program(words) for words in line.commands]
    for words in line.commands:
        yield from _torn_assignment(words)
    for position, seam in enumerate(line.seams[1:], 1):
        if seam.kind == "operator" and programs[position - 1] and text[seam.start : seam.end] in ("&", ";", "|"):
            yield from _in_value(line.commands[position - 1], line.commands[position], programs[position - 1], text, seam.start)
    if line.problem or not line.commands or not programs[-1]:
        return
    rest = text[line.commands[-1][-1].end :]
    if is_whole and (offset := _background(rest)) is not None and all(seam.kind != "group" for seam in line.seams):
        effect = "and nothing follows, so the shell and the container end at once"
        message = f"this `&` starts {programs[-1]} in the background, {effect}; remove the `&`"
        yield EarlyEnd(len(text) - len(rest) + offset, codes.PROGRAM_IN_BACKGROUND, "error", message)
    if "\n" not in text.strip() and (comment := _COMMENT.search(rest)) and (flag := _commented_flag(comment[0], programs[-1])):
        message = f"this text is one line, so the comment goes on to its end, and `{flag}` is a part of it; remove the comment"
        yield EarlyEnd(len(text) - len(rest) + comment.start(), codes.COMMENT_HIDES_FLAGS, "warning", message)


def _torn_assignment(words: Sequence[ShellWord]) -> Iterator[EarlyEnd]:
    """Reports `export NAME = value`: dash ends at the word `=`, and bash sets no variable (POSIX.1-2017, 2.8.1 and 2.14)."""
    texts = [word.text for word in words[:3]]
    if len(texts) == len(_TORN) and texts[0] in _ASSIGNING and _NAME.fullmatch(texts[1]) and texts[2].startswith("="):
        message = (
            f"the shell reads {texts[1]} and = as two names here, and sets no variable; write {texts[1]}= and the value without a blank"
        )
        yield EarlyEnd(words[2].start, codes.BLANK_BEFORE_EQUALS, "error", message)


def _program(words: Sequence[ShellWord]) -> str:
    """Returns the program of Dynamo that a command starts; empty for another one."""
    return next((program for word in words if word.text.startswith("dynamo.") and (program := flag_tables.program_of(word.text))), "")


def _in_value(before: Sequence[ShellWord], behind: Sequence[ShellWord], program: str, text: str, start: int) -> Iterator[EarlyEnd]:
    """Reports an operator behind which no program stands, but the rest of a value."""
    operator, first = text[start], behind[0]
    option, equals, _ = next((word.text for word in reversed(before) if word.text.startswith("--")), "").partition("=")
    flags = [match[0] for word in behind[1:] if (match := _LONG.match(word.text))]
    is_attached = operator == "&" and before[-1].end == start and first.start == start + 1 and len(behind) == 1
    is_value = _is_rest_of_value(first) and (is_attached or _are_flags(flags, program))
    if not option or not is_value or any(UNKNOWN in word.text for word in (before[-1], first)):
        return
    last = next((number for number, word in enumerate(behind) if word.text.startswith("--")), len(behind)) - 1
    value = text[before[-1].start : behind[last].end].removeprefix(f"{option}{equals}")
    lost = f", and `{flags[0]}` does not reach {program}" if flags else ""
    fix = "write the whole value in single quotes"
    if not secret_values.is_secret_name(option) and not message_parts.is_secret(value) and _QUOTABLE.fullmatch(value):
        fix = f"write {option}{equals or ' '}'{value}'"
    message = f"the shell ends the command at this `{operator}`, so `{first.text[:60]}` is not a part of the value{lost}; {fix}"
    yield EarlyEnd(start, codes.SHELL_OPERATOR_IN_VALUE, "warning", message)


def _is_rest_of_value(word: ShellWord) -> bool:
    """True for a word that is not the name of a program that an image can have."""
    return bool(_PLAIN_WORD.fullmatch(word.text.partition("=")[0])) and word.text not in _KNOWN_PROGRAMS and word.source == word.text


def _are_flags(flags: Sequence[str], program: str) -> bool:
    """True if all flags are those of a program, and one of them is not a flag that other programs have too."""
    known = flag_tables.content(program)["flags"]
    return all(flag.replace("_", "-") in known for flag in flags) and any(flag not in _ANY_PROGRAM for flag in flags)


def _background(rest: str) -> int | None:
    """Returns the position of `&` at the end of a line, before comments; None without one."""
    bare = _COMMENT.sub("", rest).rstrip()
    return len(bare) - 1 if bare.endswith("&") and not bare.endswith("&&") and "#" not in rest[: len(bare)] else None


def _commented_flag(comment: str, program: str) -> str:
    """Returns the first flag of a program in a comment behind other words; empty for a comment that begins with its only flag."""
    known = flag_tables.content(program)["flags"]
    words = comment[1:].split()
    return next((word for word in words[1:] if _LONG.fullmatch(word) and word in known), "")
