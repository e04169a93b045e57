"""The output of a profiling Job: from the ConfigMap that its copier writes to the generated graph.

Follows the reference's `internal/controller/dynamographdeploymentrequest_controller.go` generateDGDSpec and extractResourcesFromYAML. Two
differences: nothing is left out without a note, and a text that says two things at once is refused.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from krm_fn.kube import digest, identity, labels, size
from krm_fn.kube.identity import ObjectKey
from krm_fn.profiling import typed
from krm_fn.records import NamedTuple
from krm_fn.yamlio import reader

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.kube.types import Resource
    from krm_fn.results import Result
    from krm_fn.yamlio.reader import Document

CONFIG, MOCKER = "config_with_planner.yaml", "mocker_config_with_planner.yaml"
"""The keys of the ConfigMap: the graph for the real backend, and the graph for the mocker."""
LIMIT = 2**20
"""The most bytes of a text that is read. A ConfigMap holds no more."""
DOCUMENTS = 1000
"""The most JSON objects in a row that are read."""
GRAPH = "DynamoGraphDeployment"
_SHOWN = 5
_NONBLANK = re.compile(r"\S")
_TEXT_WORDS = ("y", "Y", "n", "N")
"""Words that YAML 1.1 reads as booleans. The profiler's YAML library writes the texts of these words without quotes."""


class Published(NamedTuple):
    """The ConfigMap with the output of a request. `request` is its label `dgdr.nvidia.com/name`. The hashes are its annotations."""

    key: ObjectKey
    request: str = ""
    texts: dict[str, str] = {}
    profile_hash: str = ""
    output_hash: str = ""


class Output(NamedTuple):
    """The output, read. `problem` says why it has no usable graph; `notes` say what of it is not used, each in a few words.

    `others` are the objects beside the graph, in their order. `profile_hash` is the hash of the settings that were profiled. `edited` is
    true if the texts are not those that the copier wrote.
    """

    graph: Resource | None = None
    others: tuple[Resource, ...] = ()
    problem: str = ""
    notes: tuple[str, ...] = ()
    profile_hash: str = ""
    edited: bool = False


def published(config_map: Resource, home: str = "") -> Published:
    """Reads a ConfigMap. `home` is the namespace of a resource without one. Never raises for what somebody wrote."""
    data, annotations = config_map.get("data"), labels.notes(config_map)
    return Published(
        identity.key(config_map, home),
        _text(labels.of(config_map).get(labels.REQUEST_NAME)),
        {key: text for key, text in data.items() if isinstance(text, str)} if isinstance(data, dict) else {},
        _text(annotations.get(labels.PROFILE_HASH)),
        _text(annotations.get(labels.OUTPUT_HASH)),
    )


def read(found: Published, *, mocker: bool) -> Output:
    """The output in a ConfigMap. `mocker` selects the graph for the mocker. Never raises for what the profiler wrote."""
    key = MOCKER if mocker else CONFIG
    edited = bool(found.output_hash) and found.output_hash != output_hash(found.texts)
    text = found.texts.get(key)
    if text is None:
        output = Output(problem=f"key {key} not found in ConfigMap {found.key.name}")
    elif len(text.encode(errors="replace")) > LIMIT:
        output = Output(problem=_failed(key, f"the text is larger than {LIMIT // 2**20} MiB"))
    else:
        output = _read(text, key)
    return output._replace(profile_hash=found.profile_hash, edited=edited)


def output_hash(texts: dict[str, str]) -> str:
    """The hash that the copier writes: SHA-256 of the text for the real backend, followed by the text for the mocker."""
    return digest.hexadecimal("".join(texts.get(key, "") for key in (CONFIG, MOCKER)))


def _read(text: str, key: str) -> Output:
    """The graph and the other objects in a text. The last graph counts (reference: a second graph replaces the first)."""
    documents, wrong = _documents(text)
    resources = [each for each in documents if _kind(each)]
    graphs = [each for each in resources if _kind(each) == GRAPH]
    rest = [each for each in resources if _kind(each) != GRAPH]
    others = tuple(each.value for each in rest if size.of(each.value, LIMIT) <= LIMIT)
    notes = [
        f"the {_kind(each)} at line {each.line} is larger than {LIMIT // 2**20} MiB and is not used"
        for each in rest
        if size.of(each.value, LIMIT) > LIMIT
    ]
    notes += [f"line {each.line}: {each.message}" for each in wrong]
    notes += [f"the document at line {each.line} has no kind and is not used" for each in documents if not _kind(each)]
    if not graphs:
        return Output(others=others, problem=_failed(key, "; ".join(["no DynamoGraphDeployment found in YAML content", *_few(notes)])))
    if within := [each for each in wrong if _inside(each, graphs[-1], text)]:
        return Output(others=others, problem=_failed(key, f"line {within[0].line}: {within[0].message}"))
    graph, more, problem = typed.graph(graphs[-1].value)
    if size.of(graph, LIMIT) > LIMIT:
        return Output(others=others, problem=_failed(key, f"the graph is larger than {LIMIT // 2**20} MiB with all aliases written out"))
    if problem:
        return Output(others=others, problem=_failed(key, f"failed to convert to DynamoGraphDeployment: {problem}"))
    if len(graphs) > 1:
        notes.append(f"the output has {len(graphs)} graphs, and only the last is used")
    return Output(graph, others, notes=tuple(_few([*notes, *more])))


def _kind(document: Document) -> str:
    """The kind of a document; empty if it has none."""
    return _text(document.value.get("kind")) if isinstance(document.value, dict) else ""


def _documents(text: str) -> tuple[list[Document], list[Result]]:
    """The documents of a text. JSON values may follow one another without a mark between them (reference: NewYAMLOrJSONDecoder)."""
    documents: list[Document] = []
    wrong: list[Result] = []
    lines = done = 0
    for start, end in _parts(text):
        found, findings = reader.read(text[start:end], literal=_TEXT_WORDS)
        lines, done = lines + text.count("\n", done, start), start
        documents += [each._replace(line=each.line + lines, start=each.start + start, end=each.end + start) for each in found]
        wrong += [each._replace(line=each.line + lines) for each in findings]
    return documents, wrong


def _parts(text: str) -> Iterator[tuple[int, int]]:
    """The places of the JSON objects that a text begins with, and of the rest."""
    decoder, start = json.JSONDecoder(), 0
    for _ in range(DOCUMENTS):
        found = _NONBLANK.search(text, start)
        if not found or found[0] != "{":
            break
        try:
            _, end = decoder.raw_decode(text, found.start())
        except (ValueError, RecursionError):
            break
        yield found.start(), end
        start = end
    yield start, len(text)


def _inside(finding: Result, document: Document, text: str) -> bool:
    return document.line <= finding.line <= document.line + text.count("\n", document.start, document.end)


def _few(notes: list[str]) -> list[str]:
    """The first notes, and the number of the others."""
    return notes if len(notes) <= _SHOWN else [*notes[:_SHOWN], f"and {len(notes) - _SHOWN} more notes"]


def _failed(key: str, problem: str) -> str:
    return f"failed to extract DGD from {key}: {problem}"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
