"""Splits lines for a shell into commands and words, with their positions, and replaces the variables whose values are known.

Follows POSIX.1-2017, Shell Command Language, 2.2 to 2.10, and the bash manual, "Brace Expansion". Kubernetes replaces `$(NAME)` before the
shell reads the line. A part that only the shell can know, such as a command substitution, is `UNKNOWN`. Each character is read once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from krm_fn.base.records import NamedTuple

UNKNOWN = "\0"
"""Stands for a part of a word with an unknown text. No argument of a container has this character."""

_BLANK = re.compile(r"(?:[ \t]|\\\n)+")
_COMMENT = re.compile(r"#[^\n]*")
_REDIRECTION = re.compile(r"[0-9]*(?:<<<|>>|>&|<&|&>>|&>|>\||<>|[<>](?!\())&?")
_HERE_DOCUMENT = re.compile(r"[0-9]*<<(?!<)")
_OPERATOR = re.compile(r"&&|\|\||;;&?|;&|\|&|[;&|()\n]")
_PLAIN = re.compile(r"""[^\s'"\\$`;&|()<>]+""")
_IN_QUOTES = re.compile(r'[^"\\$`]+')
_KUBERNETES = re.compile(r"\$\(([A-Za-z_.-][A-Za-z0-9_.-]*)\)")
_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))", re.ASCII)
_SPECIAL = re.compile(r"\$[0-9@*#?$!-]")
_SAFE = re.compile(r"[\w@%+=:,./\[\] \t\n-]*", re.ASCII)
_ASSIGNED = re.compile(r"(?:(?<=[\s;&|({])|\A)([A-Za-z_]\w*)\+?=", re.ASCII)
_CHANGES_ANY = re.compile(r"(?:(?<=[\s;&|({])|\A)(?:source|\.|eval|unset|read|mapfile|getopts|for|select|set -a|printf -v)\s")
_EXTENDED = ("?", "*", "+", "@", "!")
"""Characters before a parenthesis that begin an extended pattern of bash."""
_SINGLE_QUOTED = re.compile(r"'[^']*'")


class Word(NamedTuple):
    """A word of a command line, and its position: the index of the item in `command` or `args`, and the offset in its text.

    `is_single` is false for a part that may be several words or none. `source` is the word with its quotes, as a shell reads it; empty
    without a shell, and for one of several words that a variable adds.
    """

    text: str
    field: Literal["command", "args"] = "args"
    item: int = 0
    offset: int = 0
    is_single: bool = True
    source: str = ""

    @property
    def is_known(self) -> bool:
        """True if the whole text is known."""
        return UNKNOWN not in self.text


class ShellWord(NamedTuple):
    """A word with its position in the line, and the position behind it. `source` is the word with its quotes.

    An unknown variable without quotes may be several words or none: `is_single` is then false.
    """

    text: str
    start: int
    end: int
    is_single: bool = True
    source: str = ""


class Seam(NamedTuple):
    """The border between a simple command and the one before it.

    `line` is the end of a line, and `comment` the same with a comment in the line, whose position is `start`. `operator` is one of `;`,
    `&`, `&&`, `|` and `||`, which stands from `start` to `end`. A command in a `group` stands in parentheses or behind them, and can
    also be an entry of an array or a pattern.
    """

    kind: Literal["start", "line", "comment", "operator", "group"]
    start: int = 0
    end: int = 0


class Reference(NamedTuple):
    """A reference of Kubernetes to a variable without a known value, outside single quotes, and its position in the line."""

    name: str
    start: int


class ShellLine(NamedTuple):
    """The simple commands of a line, and the seam before each of them.

    `problem` says why the line was not read to its end; empty if it was.
    """

    commands: list[list[ShellWord]]
    problem: str = ""
    seams: Sequence[Seam] = ()
    references: Sequence[Reference] = ()


class UnclosedError(ValueError):
    """A quote without an end, or the parenthesis `(` within a command of Python, which a shell does not read. `start` is its position."""

    def __init__(self, quote: str, start: int) -> None:
        super().__init__(quote)
        self.quote = quote
        self.start = start


def split_line(line: str, variables: Mapping[str, str]) -> ShellLine:
    """Splits a line. `variables` are those with known values.

    Raises UnclosedError for a quote without an end, and for `(` in a command of Python.

    >>> [[word.text for word in command] for command in split_line("cd /w && exec a '--b c' $D > log # e", {"D": "x y"}).commands]
    [['cd', '/w'], ['exec', 'a', '--b c', 'x', 'y']]
    """
    return _Splitter(line, variables).split()


def inner_start(line: str, word: ShellWord) -> int:
    """Returns the position of the text of a word, behind its opening quote if single quotes surround the whole word."""
    quoted = _SINGLE_QUOTED.match(line, word.start)
    return word.start + (quoted is not None and quoted.end() - quoted.start() - 2 == len(word.text))


class _Splitter:
    """Reads a line from the left to the right."""

    def __init__(self, line: str, variables: Mapping[str, str]) -> None:
        self.line, self.position = line, 0
        changed = set(_ASSIGNED.findall(line))
        self.of_kubernetes = variables
        is_unknown = bool(_CHANGES_ANY.search(line))
        self.of_shell = {} if is_unknown else {name: value for name, value in variables.items() if name not in changed}
        self.commands: list[list[ShellWord]] = [[]]
        self.seams = [Seam("start")]
        self.references: list[Reference] = []
        self.comment: int | None = None
        self.depth = 0

    def split(self) -> ShellLine:
        is_target = False
        while self.position < len(self.line):
            start = self.position
            if self._skip(_BLANK):
                continue
            if self._skip(_COMMENT):
                if self.commands[-1]:
                    self.comment = start
                continue
            if _HERE_DOCUMENT.match(self.line, self.position):
                return self._lines("a here-document follows")
            if self._skip(_REDIRECTION):
                is_target = True
            elif operator := _OPERATOR.match(self.line, self.position):
                if operator[0] == "(" and self._is_in_python():
                    raise UnclosedError("(", start)
                self.position = operator.end()
                self._separate(operator[0])
            elif is_target:
                self._word()
                is_target = False
            else:
                self.commands[-1] += self._word()
        return self._lines("")

    def _is_in_python(self) -> bool:
        """True behind `-m` and a module: no function, array or pattern begins there."""
        words = [word.text for word in self.commands[-1]]
        return "-m" in words[:-1] and not self.line.startswith(_EXTENDED, self.position - 1)

    def _lines(self, problem: str) -> ShellLine:
        pairs = [(command, seam) for command, seam in zip(self.commands, self.seams, strict=True) if command]
        return ShellLine([command for command, _ in pairs], problem, [seam for _, seam in pairs], self.references)

    def _separate(self, operator: str) -> None:
        """Begins a command behind an operator. Empty lines and comments in lines of their own change no seam."""
        self.depth = max(0, self.depth + (operator == "(") - (operator == ")"))
        if self.depth or operator in ("(", ")") or operator.startswith((";;", ";&")):
            seam = Seam("group")
        elif operator != "\n":
            seam = Seam("operator", self.position - len(operator), self.position)
        elif not self.commands[-1]:
            seam = self.seams[-1]
        else:
            seam = Seam("line") if self.comment is None else Seam("comment", self.comment)
        self.comment = None
        self.commands.append([])
        self.seams.append(seam)

    def _skip(self, pattern: re.Pattern[str]) -> bool:
        match = pattern.match(self.line, self.position)
        if match is None or match.end() == self.position:
            return False
        self.position = match.end()
        return True

    def _word(self) -> list[ShellWord]:
        """Reads a word. Returns several words if it has a variable with blanks."""
        start, word = self.position, _GrowingWord()
        while self.position < len(self.line):
            character = self.line[self.position]
            if plain := _PLAIN.match(self.line, self.position):
                word.add_plain(plain[0])
                self.position = plain.end()
            elif character == "'":
                word.add_quoted(self._until("'"))
            elif character == '"':
                self._read_quoted(word)
            elif character == "\\":
                escaped = self.line[self.position + 1 : self.position + 2]
                if escaped != "\n":  # a line that goes on
                    word.add_quoted(escaped or character)
                self.position += 2
            elif character in "$`":
                self._read_expansion(word, in_quotes=False)
            elif self.line.startswith(("<(", ">("), self.position):
                self.position += 1
                self._skip_balanced()
                word.add_quoted(UNKNOWN)
            else:
                break
        if self.position == start:  # an operator that is none here
            self.position += 1
        words = [*word.end_words()]
        source = self.line[start : self.position] if len(words) == 1 else ""
        return [ShellWord(text, start, self.position, is_single, source) for text, is_single in words]

    def _until(self, quote: str) -> str:
        """Returns the text in single quotes."""
        end = self.line.find(quote, self.position + 1)
        if end < 0:
            raise UnclosedError(quote, self.position)
        text = self.line[self.position + 1 : end]
        self.position = end + 1
        return text if "$(" not in text else self._replace_references(text)

    def _replace_references(self, text: str) -> str:
        """Replaces the references of Kubernetes, which does not know the quotes of a shell."""
        return _KUBERNETES.sub(lambda match: self.of_kubernetes.get(match[1], UNKNOWN), text)

    def _read_quoted(self, word: _GrowingWord) -> None:
        """Reads a text in double quotes."""
        start = self.position
        self.position += 1
        word.add_quoted("")
        while self.position < len(self.line):
            character = self.line[self.position]
            if plain := _IN_QUOTES.match(self.line, self.position):
                word.add_quoted(plain[0])
                self.position = plain.end()
            elif character == '"':
                self.position += 1
                return
            elif character == "\\":
                escaped = self.line[self.position + 1 : self.position + 2]
                word.add_quoted("" if escaped == "\n" else escaped if escaped in '"\\$`' else f"\\{escaped}")
                self.position += 2
            else:
                self._read_expansion(word, in_quotes=True)
        raise UnclosedError('"', start)

    def _read_expansion(self, word: _GrowingWord, *, in_quotes: bool) -> None:
        """Reads a variable, a substitution, or a single `$`."""
        if self.line.startswith("$$", self.position):  # Kubernetes writes `$` for it
            self.position += 1
        elif kubernetes := _KUBERNETES.match(self.line, self.position):
            if kubernetes[1] not in self.of_kubernetes:
                self.references.append(Reference(kubernetes[1], self.position))
            self.position = kubernetes.end()
            word.add_variable(self.of_kubernetes.get(kubernetes[1]), in_quotes=in_quotes)
            return
        if variable := _VARIABLE.match(self.line, self.position):
            self.position = variable.end()
            goes_on = variable[2] and self.line.startswith("\\\n", self.position)  # the name goes on in the next line
            word.add_variable(None if goes_on else self.of_shell.get(variable[1] or variable[2]), in_quotes=in_quotes)
        elif special := _SPECIAL.match(self.line, self.position):
            self.position = special.end()
            word.add_variable(None, in_quotes=in_quotes and special[0] != "$@")
        elif self.line.startswith(("$(", "${"), self.position):
            self.position += 1
            self._skip_balanced()
            word.add_variable(None, in_quotes=in_quotes)
        elif self.line[self.position] == "`":
            end = self.line.find("`", self.position + 1)
            if end < 0:
                raise UnclosedError("`", self.position)
            self.position = end + 1
            word.add_variable(None, in_quotes=in_quotes)
        else:
            word.add_quoted("$")
            self.position += 1

    def _skip_balanced(self) -> None:
        """Skips a text in parentheses or braces, with those in it. Quotes in it may hold others."""
        start = self.position
        opening = self.line[start]
        closing, depth = {"(": ")", "{": "}"}[opening], 0
        while self.position < len(self.line):
            character = self.line[self.position]
            if character == "\\":
                self.position += 1
            elif character == "'" and (end := self.line.find("'", self.position + 1)) > 0:
                self.position = end
            elif character == opening:
                depth += 1
            elif character == closing:
                depth -= 1
            self.position += 1
            if depth == 0:
                return
        raise UnclosedError(f"${opening}", start)


class _GrowingWord:
    """The parts of a word, and the words before it that a variable with blanks has added."""

    def __init__(self) -> None:
        self.whole: list[tuple[str, bool]] = []
        self.parts: list[str] = []
        self.plain: list[str] = []
        self.is_single = True
        self.is_word = False

    def add_plain(self, text: str) -> None:
        """Adds a text without quotes."""
        self.plain.append(text)
        self.add_quoted(text)

    def add_quoted(self, text: str) -> None:
        """Adds a text as it is."""
        self.parts.append(text)
        self.is_word = True

    def add_variable(self, value: str | None, *, in_quotes: bool) -> None:
        """Adds the value of a variable; None for an unknown one. Blanks in it separate words if it has no quotes."""
        if value is None or not _SAFE.fullmatch(value):
            self.parts.append(UNKNOWN)
            self.is_word = True
            self.is_single = self.is_single and in_quotes
        elif in_quotes:
            self.add_quoted(value)
        else:
            self._add_words(value)

    def _add_words(self, value: str) -> None:
        words = value.split()
        if value[:1].isspace():
            self._end()
        for number, text in enumerate(words):
            if number:
                self._end()
            self.add_quoted(text)
        if words and value[-1:].isspace():
            self._end()

    def _end(self) -> None:
        if self.is_word:
            self.whole.append((UNKNOWN, False) if self._has_braces() else ("".join(self.parts), self.is_single))
        self.parts, self.plain, self.is_single, self.is_word = [], [], True, False

    def _has_braces(self) -> bool:
        """True if bash may replace braces with several words."""
        within = "".join(self.plain).partition("{")[2].rpartition("}")[0]
        return "," in within or ".." in within

    def end_words(self) -> Iterator[tuple[str, bool]]:
        """Yields the words with true for each that is a single one."""
        self._end()
        yield from self.whole
