"""The real parsers of Dynamo and its engines accept each command line that a rendered container starts.

The containers run in real shells, and programs that record their arguments replace Python. The parser is that of the release of the
container's image.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

import pytest

from krm_fn.render import expand
from tests.engine_flags import engine_graphs, parser_verdicts, recorded_commands, rendered_sources
from tests.engine_flags.engine_graphs import OPERATORS
from tests.engine_flags.parser_verdicts import Question

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tests.engine_flags.recorded_commands import CommandLine, Container, Recording

FRAMEWORKS = {"vllm": "vLLM", "sglang": "SGLang", "trtllm": "TensorRT-LLM"}
_PARSERS = "the real parsers of Dynamo and of the engine that it pins, of 0.9.0, 1.0.2, 1.3.1, 1.5.1 and 1.6.1"
KINDS = ("Deployment", "LeaderWorkerSet", "PodCliqueSet")
SOURCES = {
    "examples": rendered_sources.examples,
    "pages": rendered_sources.pages,
    "graphs that tests run": rendered_sources.running,
    "new graphs": rendered_sources.new,
}


class Source(NamedTuple):
    """Containers that are judged together: those of a kind of input, or of a framework, a release and a kind of workload."""

    name: str
    release: str = ""
    kind: str = ""


class Outcome(NamedTuple):
    """A container after its run. `refusals` are its command lines that a parser refuses, with the message of the parser."""

    recording: Recording
    refusals: list[str]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """The outcomes of all containers by their source."""
    pairs = [*_containers()]
    recordings = recorded_commands.record([container for _, container in pairs], tmp_path_factory.mktemp("containers"))
    verdicts = parser_verdicts.verdicts(_question(line) for recording in recordings for line in recording.lines)
    by_source: dict[Source, list[Outcome]] = {}
    for (source, _), recording in zip(pairs, recordings, strict=True):
        judged = [(line, verdicts[_question(line)]) for line in recording.lines]
        refusals = [f"{recording.container}: {_text(line)}: {verdict.message}" for line, verdict in judged if not verdict.accepted]
        by_source.setdefault(source, []).append(Outcome(recording, refusals))
    return by_source


def _containers() -> Iterator[tuple[Source, Container]]:
    for name, renders in SOURCES.items():
        for rendered in renders():
            yield from ((Source(name), container) for container in recorded_commands.containers(rendered.source, rendered.objects))
    for framework in FRAMEWORKS:
        for render in engine_graphs.renders(framework):
            expansion = expand.expand([render.graph], render.config())
            assert not [result for result in expansion.results if result.severity == "error"], render.name
            for container in recorded_commands.containers(render.name, expansion.resources):
                yield Source(framework, render.release, container.workload.partition(" ")[0]), container


def _question(line: CommandLine) -> Question:
    release = parser_verdicts.nearest(line.container.spec["image"], parser_verdicts.releases())
    return Question(line.program, release, line.arguments)


def _text(line: CommandLine) -> str:
    return " ".join((line.program, *line.arguments))


def _cases() -> Iterable[object]:
    for framework, release, kind in itertools.product(FRAMEWORKS, OPERATORS, KINDS):
        operator = OPERATORS[release].removeprefix("v")
        mark = pytest.mark.ran(workload=kind, engine=FRAMEWORKS[framework], release=operator, result="parsed", by=_PARSERS)
        yield pytest.param(Source(framework, release, kind), marks=mark, id=f"{framework}-{release}-{kind}")


@pytest.mark.parametrize("source", [*_cases()])
def test_the_parser_of_the_release_accepts_all_lines(source, outcomes):
    """For each way to write the command, in both API versions: every container starts, and its program reads its arguments."""
    listed = outcomes[source]
    assert [refusal for outcome in listed for refusal in outcome.refusals] == []
    assert [f"{outcome.recording.container}: {outcome.recording.output}" for outcome in listed if outcome.recording.code] == []
    assert any(line.program == f"dynamo.{source.name}" for outcome in listed for line in outcome.recording.lines)


@pytest.mark.parametrize("name", SOURCES)
def test_the_parsers_accept_the_lines_of_written_graphs(name, outcomes):
    """Examples, pages of the docs, the graphs of other tests, and those of `krm-fn new` start their programs with arguments that exist."""
    listed = outcomes[Source(name)]
    assert [refusal for outcome in listed for refusal in outcome.refusals] == []
    assert len([line for outcome in listed for line in outcome.recording.lines]) >= 10
