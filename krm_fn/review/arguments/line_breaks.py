"""Finds the ends of lines at which a shell ends a command too early, and joins the command with the lines that its author meant.

A backslash joins a line with the next one only if it is the last character (POSIX.1-2017, Shell Command Language, 2.2.1). A comment, an
empty line or a blank behind the backslash end the command, and the shell then runs the next line as a command of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from krm_fn.base.records import NamedTuple
from krm_fn.review.arguments import flag_tables
from krm_fn.review.arguments.shell_words import UNKNOWN, Seam, ShellLine, ShellWord

_LONG = re.compile(r"--[A-Za-z]")
_SHORT = re.compile(r"-[A-Za-z]")
_END_OF_LINE = re.compile(r"[ \t]*(?:\n|\Z)")
_EMPTY_LINE = re.compile(r"\\\n[ \t]*\n")
_ESCAPED = ("\\ ", "\\\t", "\\\r")
"""Blanks that a backslash makes a part of a word; the last one is what an editor of Windows writes at the end of a line."""
_LONGEST = 60
_JOINED = "the backslash joins this word and `{}` in the next line to one word; write a blank before the backslash"


class Break(NamedTuple):
    """A position at which a command ends too early. `message` has the problem and the fix."""

    start: int
    message: str


def join(line: ShellLine, text: str) -> tuple[list[list[ShellWord]], list[Break]]:
    """Returns the commands of a line as their authors meant them, and the breaks in them.

    Between `case` and `esac` there are none, because a pattern can begin as a flag does.
    """
    commands: list[_Command] = []
    breaks: list[Break] = []
    cases = 0
    for seam, words in zip(line.seams, line.commands, strict=True):
        before = commands[-1] if commands and seam.kind in ("line", "comment") else None
        is_flag = not cases and seam.kind != "group" and _is_flag(words[0], before)
        first_words = [word.text for word in words[:2]]
        cases += first_words.count("case") - (first_words[0] == "esac")
        if is_flag and not (before and before.goes_on):
            breaks.append(_early_end(seam, before, words[0], text))
        if before is None or not (is_flag or before.goes_on):
            before = _Command()
            commands.append(before)
        breaks += before.add(words, text)
    return [command.words for command in commands if command.words], breaks


class _Command:
    """A command that grows. `goes_on` is true if the next line was meant to be a part of it."""

    def __init__(self) -> None:
        self.words: list[ShellWord] = []
        self.is_engine = False
        self.goes_on = False

    def add(self, words: list[ShellWord], text: str) -> list[Break]:
        """Adds words without the blanks behind backslashes. Returns the first of these.

        Only the commands of Dynamo's programs are changed: another program may need such a blank.
        """
        self.is_engine = self.is_engine or any(word.text.startswith("dynamo.") and flag_tables.program_of(word.text) for word in words)
        self.goes_on = False
        if not self.is_engine:
            self.words += words
            return []
        breaks: list[Break] = []
        for word in _without_joined_words(words, text, breaks):
            is_last = word is words[-1] and _ends_with_blank(word, text)
            is_escaped = text.startswith(_ESCAPED, word.start)
            if not is_last and not is_escaped:
                self.words.append(word)
                continue
            stripped = word.text.strip(" \t\r")
            is_comment = stripped.startswith("#")
            self.goes_on = is_last or is_comment
            breaks.append(Break(word.start, _escaped_message(is_last=is_last, is_comment=is_comment)))
            if is_comment:
                break
            if stripped:
                self.words.append(word._replace(text=stripped, start=word.start + 2 * is_escaped))
        return breaks[:1]


def _without_joined_words(words: list[ShellWord], text: str, breaks: list[Break]) -> Iterator[ShellWord]:
    """Yields the words, with those apart that a backslash joins with a flag in the next line. Adds a break for each of these."""
    for word in words:
        first, joined, second = text[word.start : word.end].partition("\\\n--")
        if not joined or first + "--" + second != word.text or not _LONG.match("--" + second):
            yield word
            continue
        breaks.append(Break(word.start, _JOINED.format(f"--{second.partition('=')[0][:_LONGEST]}")))
        end = word.start + len(first)
        yield word._replace(text=first, end=end)
        yield word._replace(text=f"--{second}", start=end + len("\\\n"))


def _is_flag(word: ShellWord, before: _Command | None) -> bool:
    """True if a command begins with a flag: no program has such a name."""
    name = word.text.partition("=")[0]
    return UNKNOWN not in name and bool(_LONG.match(name) or (before and before.is_engine and _SHORT.match(name)))


def _early_end(seam: Seam, before: _Command | None, flag: ShellWord, text: str) -> Break:
    """Returns the break before a command that begins with a flag: at the comment or the word that ends the command before it."""
    name = flag.text.partition("=")[0][:_LONGEST]
    if before is None or not before.words:
        return Break(flag.start, f"the shell runs `{name}` as a program, and no program has this name; write it behind its command")
    last, meant = before.words[-1], f"so the command ends here, and `{name}` does not reach it"
    if seam.kind == "comment":
        return Break(seam.start, f"a comment stands in the command, {meant}; write the comment above the command")
    if _EMPTY_LINE.search(text[last.end - 1 : flag.start]):
        return Break(flag.start, f"an empty line stands before `{name}`, so the shell runs it as a program; remove the empty line")
    if _ends_with_blank(last, text):
        return Break(last.start, f"a blank stands behind the backslash, {meant}; remove the blank")
    return Break(last.start, f"no backslash stands at the end of this line, {meant}; write one there")


def _ends_with_blank(word: ShellWord, text: str) -> bool:
    """True if a backslash and a blank end the line of a word: the blank is then a part of the word."""
    is_escaped = text.startswith(_ESCAPED, word.end - 2) and not text.startswith("\\", word.end - 3)
    return is_escaped and bool(_END_OF_LINE.match(text, word.end))


def _escaped_message(*, is_last: bool, is_comment: bool) -> str:
    if is_comment:
        return "the program gets this comment, because a backslash stands before it; write the comment above the command"
    if is_last:
        return "a blank stands behind the backslash, so the command ends here; remove the blank"
    return "the backslash makes the blank behind it a part of the next word; end the line behind the backslash, or remove the backslash"
