"""Parses a command line as the parsers of a program do, and reports what they refuse.

Follows Python's `argparse` (3.12: `_parse_optional`, `_get_option_tuples`, `_match_argument`), and vLLM's `FlexibleArgumentParser` for
underscores and dotted flags. A program has several stages: each parser passes the words that it does not know on to the next one. A real
parser ends at the first mistake; this one goes on. A word whose text only the running container knows is never a mistake.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Literal

from krm_fn.base.records import NamedTuple
from krm_fn.review.arguments import config_tables, dotted_flags, flag_tables, torn_documents, value_types
from krm_fn.review.arguments.config_types import FieldProblem
from krm_fn.review.arguments.flag_tables import Flag, FlagTable, Stage
from krm_fn.review.arguments.shell_words import UNKNOWN, Word

ProblemKind = Literal[
    "unknown",
    "ambiguous",
    "missing value",
    "superfluous value",
    "superfluous word",
    "choice",
    "type",
    "json",
    "required",
    "refused",
    "torn",
    "field",
    "ignored field",
    "range",
    "advised range",
]

_LEVEL = "-O"
DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"
"""Dashes that editors write in place of hyphens."""
_DASHED = re.compile(f"\\A[-{DASHES}]+")
_MODEL = ("--model-path", "--model")
_MODEL_ID = re.compile(r"/?[\w.-]+(?:/[\w.-]+)+", re.ASCII)


class Use(NamedTuple):
    """A flag in a command line. `option` is its name as the parser reads it."""

    flag: Flag
    option: str
    word: Word
    values: tuple[Word, ...] = ()
    is_negated: bool = False

    @property
    def text(self) -> str | None:
        """The values, joined with blanks; None if one of them is not known."""
        return " ".join(value.text for value in self.values) if all(value.is_known for value in self.values) else None

    @property
    def document(self) -> dict[str, Any] | None:
        """The JSON object in the only value; None for another value, and for one that is not known."""
        try:
            document = json.loads(self.text or "") if len(self.values) == 1 else None
        except (ValueError, RecursionError):
            return None
        return document if isinstance(document, dict) else None


class Problem(NamedTuple):
    """A mistake at a word. `option` is the flag as written.

    `detail` lists flags that an abbreviation can mean. For a superfluous word, it is the word before it; for an unknown flag, it lists the
    words behind it that nothing else reads.
    `field` is the mistake in a field of a JSON document. A program accepts the command line only if all its mistakes are ignored fields and
    numbers outside an advised range.
    """

    kind: ProblemKind
    word: Word
    option: str
    flag: Flag | None = None
    detail: tuple[str, ...] = ()
    field: FieldProblem | None = None


class ParsedCommand(NamedTuple):
    """A parsed command line. `is_complete` is false if there may be more flags than the line shows, for example those of a file."""

    uses: list[Use]
    problems: list[Problem]
    is_complete: bool

    def last(self, table: FlagTable, *options: str) -> Use | None:
        """Returns the last use of a flag, by any of its names. None without one."""
        flags = [table.flags[option].name for option in options if option in table.flags]
        return next((use for use in reversed(self.uses) if use.flag.name in flags), None)


def parse(words: Sequence[Word], table: FlagTable, start: Word) -> ParsedCommand:
    """Parses the words behind the name of a program. `start` is the word with that name, where a missing flag is reported."""
    uses: list[Use] = []
    problems: list[Problem] = []
    reads_files = any(stage.files for stage in table.stages)
    words = [word._replace(text=UNKNOWN) if reads_files and word.text.startswith("@") else word for word in words]
    words, torn = torn_documents.rejoin(words, table)
    problems += [Problem("torn", document.word, document.option, document.flag) for document in torn]
    rest, names_file = _without_early_flags(words, table)
    for stage in table.stages:
        parser = _StageParser(stage, rest, table)
        parser.parse()
        uses += parser.uses
        problems += parser.problems
        rest = parser.rest
    earlier = _earlier_values(uses)
    problems = [problem for problem in problems if problem.kind == "torn" or problem.word not in earlier]
    is_complete = not (names_file or any(word.text.startswith((UNKNOWN, *table.parser.dynamic)) for word in rest))
    is_complete = is_complete and not any(
        use.flag.name in table.parser.config_files or use.option in table.parser.config_files for use in uses
    )
    used = {use.flag.name for use in uses}
    passes_on, next_stage = _next_parser(uses, table)
    if next_stage is not None:
        parser = _StageParser(next_stage, rest, table)
        parser.parse()
        problems += parser.problems
        rest = parser.rest
    if not passes_on or next_stage is not None:
        problems += (_with_model(problem, table, used) for problem in _unknown(rest, table, words))
        used |= {table.flags[problem.option].name for problem in problems if problem.kind == "superfluous word" and problem.option}
    if is_complete:
        required = {flag.name: flag for flag in table.flags.values() if flag.required and flag.name not in used}
        problems += [Problem("required", start, flag.name, flag) for flag in required.values()]
    return ParsedCommand(uses, problems, is_complete)


def _earlier_values(uses: Sequence[Use]) -> list[Word]:
    """The values that no program reads: those of flags of which only the last value counts."""
    late = [use for use in uses if use.flag.late]
    last = {use.flag.name: use for use in late}
    return [value for use in late if use is not last[use.flag.name] for value in use.values]


def _with_model(problem: Problem, table: FlagTable, used: Collection[str]) -> Problem:
    """Names the flag of the model in the problem of a word that is like a model, if the command has no other."""
    option = next((name for name in _MODEL if name in table.flags), "")
    if problem.kind != "superfluous word" or not option or not _MODEL_ID.fullmatch(problem.word.text):
        return problem
    return problem if table.flags[option].name in used else problem._replace(option=option)


def plain_option(option: str) -> str:
    """Returns an option with hyphens in place of other dashes, and without quotes.

    >>> plain_option("\u2013-model"), plain_option('"--model"')
    ('--model', '--model')
    """
    bare = option.strip("\"'")
    return _DASHED.sub("--", bare) if any(dash in bare[:2] for dash in DASHES) else bare


def _without_early_flags(words: Sequence[Word], table: FlagTable) -> tuple[list[Word], bool]:
    """Returns the words without the flags that are read before all others, and true if one of them names a file of flags.

    The others are vLLM's level of optimization: `-O3`, `-O 3` and `-O.mode=3`.
    """
    names = [name for name in table.parser.config_files if name not in table.flags]
    levels = any(stage.dotted for stage in table.stages)
    others: list[Word] = []
    is_value = names_file = False
    for word in words:
        name, equals, _ = word.text.partition("=")
        if is_value:
            is_value = False
        elif name in names:
            is_value, names_file = not equals, True
        elif levels and name.startswith(_LEVEL):
            is_value = word.text == _LEVEL
        else:
            others.append(word)
    return others, names_file


def _next_parser(uses: Sequence[Use], table: FlagTable) -> tuple[bool, Stage | None]:
    """Returns true if unknown flags go on to another parser, and that parser if it is known."""
    if table.parser.unknown != "refused":
        return True, None
    for use in reversed(uses):
        values = table.parser.passes_on.get(use.flag.name)
        if values is not None:
            return use.text is None or use.text in values, values.get(use.text or "")
    return False, None


def _unknown(rest: Sequence[Word], table: FlagTable, words: Sequence[Word]) -> Iterator[Problem]:
    """Yields the problems of the words that no stage knows. The words directly behind an unknown flag may be its values."""
    positions = {id(word): position for position, word in enumerate(words)}
    capacity = _capacity(table)
    behind_unknown, last = False, -1
    for number, word in enumerate(rest, 1):
        behind_unknown = behind_unknown and positions.get(id(word), last + 1) == last + 1
        last = positions.get(id(word), last)
        if word.text[:1] == UNKNOWN or (table.parser.dynamic and word.text.startswith(table.parser.dynamic)):
            behind_unknown = True
        elif word.text == "--":
            if not capacity:
                yield Problem("superfluous word", word, "")
            return
        elif _is_like_option(word.text):
            option = word.text.partition("=")[0]
            behind_unknown = True
            if UNKNOWN not in option:
                values = () if option != word.text or capacity else _plain_words(rest, number, positions)
                yield Problem("unknown", word, option, detail=values)
        elif not behind_unknown:
            capacity -= 1
            if capacity < 0:
                before = words[last - 1].text if last > 0 else ""
                yield Problem("superfluous word", word, "", detail=(before,))


def _plain_words(rest: Sequence[Word], start: int, positions: dict[int, int]) -> tuple[str, ...]:
    """Returns the texts of the words from a number on that are not flags and follow each other directly."""
    end = start
    while end < len(rest) and rest[end].text != "--" and not _is_like_option(rest[end].text):
        if positions.get(id(rest[end])) != positions.get(id(rest[end - 1]), -1) + 1:
            break
        end += 1
    return tuple(word.text for word in rest[start:end])


def _capacity(table: FlagTable) -> float:
    """Returns the number of words that may stand without a flag."""
    listed = table.parser.positionals
    if not isinstance(listed, list | dict):
        return 0 if listed == "none" else float("inf")
    return float("inf") if any(part in str(listed) for part in "*+") else len(listed)


def _is_like_option(text: str) -> bool:
    """True for a word that is meant as a flag, also with quotes that belong to the word, or with other dashes than hyphens."""
    text = plain_option(text) if text[:1] in (*DASHES, *"\"'") else text
    return len(text) > 1 and text[0] == "-" and not flag_tables.is_negative(text) and (" " not in text.partition("=")[0])


class _Match(NamedTuple):
    """An option string: its flag, its name, and the value behind `=`; None without one."""

    flag: Flag
    option: str
    value: Word | None = None


class _StageParser:
    """Parses words with one stage. `rest` are the words that it passes on, in their order."""

    def __init__(self, stage: Stage, words: list[Word], table: FlagTable) -> None:
        self.stage = stage
        self.table = table
        self.words = dotted_flags.as_json(words) if stage.dotted else words
        self.documents = {id(word) for word in self.words} - {id(word) for word in words}
        self.uses: list[Use] = []
        self.problems: list[Problem] = []
        self.rest: list[Word] = []

    def parse(self) -> None:
        """Reads all words from the left to the right."""
        position = 0
        while position < len(self.words):
            word = self.words[position]
            if word.text == "--":
                self.rest += self.words[position:]
                return
            position += 1
            match = self._match(word)
            if isinstance(match, _Match):
                position += self._use(match, word, position)
            elif match == "ambiguous":
                names = tuple(option for option, _ in self._match_abbreviation(self._normal(word.text).partition("=")[0]))
                self.problems.append(Problem("ambiguous", word, word.text.partition("=")[0], None, names))
                position += self._count(position, 1)
            else:
                self.rest.append(word)

    def _use(self, match: _Match, word: Word, position: int) -> int:
        """Records a flag with its values. Returns the number of words that are its values."""
        flag = match.flag
        is_negated = match.option in flag.negations
        values, length = ([match.value], 0) if match.value is not None else ([], -1)
        if length < 0:
            length = self._count(position, self._most(flag, is_negated=is_negated))
            values = self.words[position : position + length]
        use = Use(flag, match.option, word, tuple(values), is_negated)
        self.uses.append(use)
        if flag.refused:
            self.problems.append(Problem("refused", word, match.option, flag))
        self.problems += _value_problems(use, "0" if is_negated else flag.values, self.table, has_equals=match.value is not None)
        return length

    def _most(self, flag: Flag, *, is_negated: bool) -> int:
        """Returns the largest number of values."""
        if is_negated:
            return 0
        return int(flag.values) if flag.values.isdigit() else {"?": 1}.get(flag.values, len(self.words))

    def _count(self, position: int, most: int) -> int:
        """Returns the number of words from a position on, at most `most`, that are no flags."""
        count = 0
        while count < most and position + count < len(self.words) and self._is_value(self.words[position + count]):
            count += 1
        return count

    def _is_value(self, word: Word) -> bool:
        if word.text[:1] != "-" or len(word.text) == 1:
            return True
        return word.text != "--" and self._match(word) == "word"

    def _match(self, word: Word) -> _Match | Literal["word", "unknown", "ambiguous"]:
        """Returns the flag of a word, or the kind of a word that is none: a plain word, or like a flag."""
        text = word.text
        if len(text) < 2 or text[0] != "-":
            return "word"
        text = self._normal(text)
        if text in self.stage.flags:
            return _Match(self.stage.flags[text], text)
        option, equals, value = text.partition("=")
        if equals and option in self.stage.flags:
            return _Match(self.stage.flags[option], option, self._behind(word, value))
        known = self._match_abbreviation(text) if UNKNOWN not in option else []
        if len(known) > 1:
            return "ambiguous"
        if known:
            return _Match(self.stage.flags[known[0][0]], known[0][0], None if known[0][1] is None else self._behind(word, known[0][1]))
        if (flag_tables.is_negative(text) and not self.stage.has_numbers) or " " in text:
            return "word"
        return "unknown"

    def _behind(self, word: Word, value: str) -> Word:
        """Returns the value behind `=` in a word. The document of dotted flags is at the first of them."""
        start = 0 if id(word) in self.documents else len(word.text) - len(value)
        return word._replace(text=value, offset=word.offset + start, is_single=True)

    def _normal(self, text: str) -> str:
        """Replaces underscores in the name of a flag if the parser does."""
        if not self.stage.underscores or not text.startswith("--"):
            return text
        option, equals, value = text.partition("=")
        return f"--{option[2:].replace('_', '-')}{equals}{value}"

    def _match_abbreviation(self, text: str) -> list[tuple[str, str | None]]:
        """Returns the flags that a word can mean, with the value in the word."""
        option, equals, value = text.partition("=")
        explicit = value if equals else None
        if text.startswith("--"):
            return [(name, explicit) for name in self.stage.beginning_with(option)] if self.stage.abbreviations else []
        short = [(text[:2], text[2:])] if len(text) > 2 and text[:2] in self.stage.flags else []
        return [*short, *((name, explicit) for name in self.stage.beginning_with(option))]


def _value_problems(use: Use, values: str, table: FlagTable, *, has_equals: bool) -> Iterator[Problem]:
    """Yields the mistakes in the values of a flag."""
    count = len(use.values)
    if has_equals and values == "0":
        yield Problem("superfluous value", use.values[0], use.option, use.flag)
        return
    least = int(values) if values.isdigit() else {"+": 1}.get(values, 0)
    if count < least and all(value.is_single for value in use.values):
        yield Problem("missing value", use.word, use.option, use.flag)
    for value in use.values:
        if not value.is_known:
            continue
        if kind := _wrong(use.flag, value.text, table):
            yield Problem(kind, value, use.option, use.flag)
        elif use.flag.config:
            for field in config_tables.check(table.program, table.release, use.flag.config, value.text):
                yield Problem("ignored field" if field.kind == "ignored" else "field", value, use.option, use.flag, field=field)


def _wrong(flag: Flag, text: str, table: FlagTable) -> Literal["choice", "type", "json", "range", "advised range", ""]:
    """Returns the kind of the mistake in a value; empty without one. As in argparse, the type comes before the choices."""
    expected = value_types.get(flag.type)
    config = config_tables.get(table.program, table.release, flag.config) if flag.config else None
    if config is not None:
        text = config.as_json(text)
    if expected and not expected.accepts(text):
        return "json" if flag.takes_json else "type"
    if flag.choices and text not in flag.choices and not _is_equal_number(flag, text):
        return "choice"
    if flag.range is not None and not flag.range.accepts(text):
        return "advised range" if flag.range.is_advice else "range"
    if flag.range is not None and not flag.range.suits(text):
        return "advised range"
    return ""


def _is_equal_number(flag: Flag, text: str) -> bool:
    """True if the choices are numbers, and the text is one of them in another form."""
    if flag.type not in ("int", "float"):
        return False
    return any(value_types.number(choice) == value_types.number(text) for choice in flag.choices)
