"""Verdicts of the real parsers of Dynamo's programs: each release has its own."""

from __future__ import annotations

import re
from concurrent import futures
from typing import TYPE_CHECKING, NamedTuple

import engine_flags
from engines import installation

from tests.engine_flags import engine_graphs
from tests.testbed import programs

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_VERSION = re.compile(r":[^/:]*?(\d+\.\d+\.\d+)")


class Question(NamedTuple):
    """A command line without its program, for the parser of one release."""

    program: str
    release: str
    arguments: tuple[str, ...]


class ParserVerdict(NamedTuple):
    """The verdict of a parser, and the last line of its output.

    `is_checked` is true if the program refuses the line by itself, after or between its parsers.
    """

    accepted: bool
    message: str
    is_checked: bool = False


def releases() -> list[str]:
    """The releases whose parsers can be installed, the older ones first."""
    return [*installation.releases()]


def nearest(image: str, releases: Sequence[str]) -> str:
    """The newest of the releases up to that of an image, and otherwise the oldest.

    >>> nearest("nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.4.0", ["0.9.0", "1.3.1", "1.5.1"])
    '1.3.1'
    """
    match = _VERSION.search(image)
    wanted = engine_graphs.version(match[1]) if match else ()
    earlier = [release for release in releases if engine_graphs.version(release) <= wanted]
    return earlier[-1] if earlier else releases[0]


def verdicts(questions: Iterable[Question]) -> dict[Question, ParserVerdict]:
    """The verdict of the real parser on each question. Starts one process for each program and release, two at a time.

    Skips the test, or lets it fail, if a release is not installed.
    """
    groups: dict[tuple[str, str], list[Question]] = {}
    for question in dict.fromkeys(questions):
        groups.setdefault((question.release, question.program), []).append(question)
    for release in dict.fromkeys(release for release, _ in groups):
        if not installation.find(release):
            programs.missing(f"ai-dynamo {release} with its engines", {"missing": installation.REMEDY, "provided": True})
    with futures.ThreadPoolExecutor(2) as pool:
        return {question: verdict for judged in pool.map(_judged, groups.values()) for question, verdict in judged.items()}


def _judged(group: list[Question]) -> dict[Question, ParserVerdict]:
    answers = engine_flags.judge(group[0].release, group[0].program, [[*question.arguments] for question in group])
    return {question: _verdict(answer) for question, answer in zip(group, answers, strict=True)}


def _verdict(answer: dict[str, str]) -> ParserVerdict:
    return ParserVerdict(answer["verdict"] == "accepted", answer["message"], answer.get("by") == "check")
