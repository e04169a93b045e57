"""`krm_fn.review.arguments` judges randomly changed command lines as the real parsers do, and names a flag that the parser names.

Both must agree on each line: a line that the parser refuses has a problem, and no other line has one. JSON documents count with their
fields. What else a program checks after parsing, such as several fields together, or in the files of its container, does not count.
"""

from __future__ import annotations

import itertools
import json
import random
import re
from typing import TYPE_CHECKING, NamedTuple

import pytest

from krm_fn.review.arguments import command_line_parser, flag_tables
from krm_fn.review.arguments.shell_words import Word
from tests.engine_flags import engine_graphs, parser_verdicts
from tests.engine_flags.command_mutations import Mutator
from tests.engine_flags.engine_graphs import MODEL
from tests.engine_flags.parser_verdicts import Question

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.review.arguments.command_line_parser import ParsedCommand, Problem
    from krm_fn.review.arguments.flag_tables import FlagTable
    from tests.engine_flags.parser_verdicts import ParserVerdict

RELEASES = ("0.9.0", "1.5.1", "1.6.1", "1.7.0.dev20261026")
LINES = {"dynamo.vllm": 2000, "dynamo.sglang": 2000, "dynamo.trtllm": 2000}
FEWER = 400
_PLANNED = json.dumps({"backend": "vllm", "mode": "agg"})
OTHERS = {
    "dynamo.frontend": [(), ("--router-mode", "kv", "--http-port=8000"), ("--kv-cache-block-size", "16")],
    "dynamo.mocker": [("--model-path", MODEL), ("--model-path", MODEL, "--num-gpu-blocks-override", "64", "--speedup-ratio=0.2")],
    "dynamo.router": [("--endpoint", "chat.worker.generate"), ("--endpoint=chat.worker.generate", "--router-temperature", "0.5")],
}
PROGRAMS = (*LINES, *OTHERS, "dynamo.planner")
_KIND = re.compile(r"\[type=(\w+)")
_KINDS_BEYOND = {
    *("value_error", "assertion_error", "ValueError", "TypeError", "list_type"),
    *("greater_than", "greater_than_equal", "less_than", "less_than_equal", "string_too_short"),
}
"""The kinds of refusals by the code of a class, and by limits of a value other than 0."""
_CONVERTED = re.compile(r"invalid (?:parse_dataclass|_optional_type) value: '\{")
"""A class converts a value by its own code, and fails."""
_FLAG = re.compile(r"(?<![\w-])-{1,2}[A-Za-z][\w.-]*")


class Line(NamedTuple):
    """A command line with both verdicts."""

    question: Question
    verdict: ParserVerdict
    parsed: ParsedCommand

    def difference(self) -> str:
        """The disagreement; empty without one."""
        problems = self.refused
        if self.verdict.accepted and problems:
            return f"{self}: the parser accepts it, and we report {[*map(_text, problems)]}"
        if not self.verdict.accepted and not problems:
            return f"{self}: the parser says {self.verdict.message!r}, and we report nothing"
        if not self.verdict.accepted and not any(_is_named(problem, self.verdict.message) for problem in problems):
            return f"{self}: the parser says {self.verdict.message!r}, and we report {[*map(_text, problems)]}"
        return ""

    @property
    def refused(self) -> list[Problem]:
        """The problems that end a program. The package `ai-dynamo` has no code of TensorRT-LLM that compares numbers."""
        kept = {"ignored field", "advised range", *(("range",) if self.question.program == "dynamo.trtllm" else ())}
        return [problem for problem in self.parsed.problems if problem.kind not in kept]

    def is_about_more(self) -> bool:
        """True if the parser refuses what no table knows, and nothing else that is reported.

        These are folders that do not exist, several fields of a JSON document together, and values beyond their type.
        """
        message = self.verdict.message
        kinds = {*_KIND.findall(message)}
        beyond = bool(kinds) and kinds <= _KINDS_BEYOND
        is_more = beyond or "must be a valid directory" in message or _CONVERTED.search(message)
        return bool(is_more) and not any(_is_named(problem, message) for problem in self.refused)

    def __str__(self) -> str:
        return f"{self.question.program} {self.question.release} {[*self.question.arguments]}"


def _text(problem: Problem) -> str:
    return f"{problem.kind}: {problem.option or problem.word.text}"


def _is_named(problem: Problem, message: str) -> bool:
    """True if the message is about the flag of a problem, by any of its names, or about its word."""
    names = {_plain(problem.option), *((*problem.flag.options, *problem.flag.negations) if problem.flag else ())}
    text = problem.word.text
    document = text.partition("=")[2] if "={" in text else text
    if problem.field is not None and problem.field.path[-1].replace("-", "_") not in message.replace("-", "_"):
        return False
    return bool(names.intersection(map(_plain, _FLAG.findall(message)))) or document in message


def _plain(option: str) -> str:
    """The name of a flag as vLLM's parser reads it."""
    return f"--{option[2:].replace('_', '-')}" if option.startswith("--") else option


def seeds(program: str, release: str) -> Iterator[tuple[str, ...]]:
    """Right command lines of a program."""
    framework = program.removeprefix("dynamo.")
    if program in LINES:
        model = ("--model" if framework == "vllm" else "--model-path", MODEL)
        for nodes in engine_graphs.NODES:
            yield from ((*model, *engine.arguments) for engine in engine_graphs.engines(framework, nodes, release))
    elif program in OTHERS:
        yield from OTHERS[program]
    elif release == RELEASES[0]:
        yield from [(), ("--backend", "vllm", "--adjustment-interval", "60", "--no-correction")]
    else:
        yield ("--config", _PLANNED)


def table(program: str, release: str) -> FlagTable:
    """The table of a release."""
    major, minor, patch = engine_graphs.version(release)
    exact = flag_tables.of_version(program, (major, minor, patch))
    assert exact is not None
    assert (exact.release, exact.is_exact) == (release, not flag_tables.is_nightly(release))
    return exact


@pytest.fixture(scope="module")
def lines():
    """All lines by program and release."""
    questions = [
        Question(program, release, arguments)
        for program, release in itertools.product(PROGRAMS, RELEASES)
        for arguments in (*seeds(program, release), *_changed(program, release))
    ]
    verdicts = parser_verdicts.verdicts(questions)
    tables = {pair: table(*pair) for pair in itertools.product(PROGRAMS, RELEASES)}
    judged: dict[tuple[str, str], list[Line]] = {}
    for question in dict.fromkeys(questions):
        pair = question.program, question.release
        words = [Word(text, item=item) for item, text in enumerate(question.arguments)]
        parsed = command_line_parser.parse(words, tables[pair], Word(question.program))
        verdict = verdicts[question]
        ends = verdict.accepted and verdict.message  # such as --help
        line = Line(question, verdict, parsed)
        if parsed.is_complete and not ends and not verdict.is_checked and not line.is_about_more():
            judged.setdefault(pair, []).append(line)
    return judged


def _changed(program: str, release: str) -> Iterator[tuple[str, ...]]:
    foreign = {option for other in RELEASES for option in table(program, other).flags if option not in table(program, release).flags}
    rng = random.Random(f"{program} {release}")  # noqa: S311 - the same lines in each run
    mutator = Mutator(rng, table(program, release), sorted(foreign))
    return mutator.lines([*seeds(program, release)], LINES.get(program, FEWER) // len(RELEASES) + 1)


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("program", PROGRAMS)
def test_both_agree_on_each_line(program, release, lines, measured):
    """The verdict and the flag of each changed line are those of the real parser."""
    judged = lines[program, release]
    refused = sum(not line.verdict.accepted for line in judged)
    measured.append(f"{program} {release}: {len(judged)} changed command lines, of which the parser refuses {refused}")
    assert [difference for line in judged if (difference := line.difference())] == []
    assert refused > len(judged) // 10
    assert len(judged) - refused > len(judged) // 10


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("program", PROGRAMS)
def test_the_unchanged_lines_are_right(program, release, lines):
    """The changes begin with lines that the parser accepts."""
    right = {*seeds(program, release)}
    assert [str(line) for line in lines[program, release] if line.question.arguments in right and not line.verdict.accepted] == []
