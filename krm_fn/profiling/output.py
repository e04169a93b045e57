"""The output of a profiling Job: from the ConfigMap that its copier writes to the generated graph.

Follows the reference's `internal/controller/dynamographdeploymentrequest_controller.go` generateDGDSpec and extractResourcesFromYAML. Two
differences: nothing is left out without a note, and a graph with a key that is set twice is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.kube import digest, identity, labels, names, size
from krm_fn.kube.identity import ObjectKey
from krm_fn.profiling import documents, typed
from krm_fn.records import NamedTuple

if TYPE_CHECKING:
    from krm_fn.kube.types import Resource
    from krm_fn.results import Result
    from krm_fn.yamlio.reader import Document

CONFIG, MOCKER = names.PROFILED, names.PROFILED_MOCKER
LIMIT = names.CONFIG_MAP_LIMIT
"""The most bytes of a text that is read. A ConfigMap holds no more."""
_SHOWN = 5
_OTHERS = "beside the graph, only ConfigMaps with a name and of at most 1 MiB are"
_TOO_LARGE = f"larger than {LIMIT // 2**20} MiB"


class Published(NamedTuple):
    """The ConfigMap with the output of a request. The hashes are its annotations."""

    key: ObjectKey
    texts: dict[str, str] = {}
    profile_hash: str = ""
    output_hash: str = ""


class Output(NamedTuple):
    """The output, read. `problem` says why it has no usable graph, and `notes` say which parts of it are not used.

    `config_maps` are the ConfigMaps beside the graph, in their order. `profile_hash` is the hash of the settings that were
    profiled. `edited` is true if the texts are not those that the copier wrote. `beside` is the size of all objects beside the graph, used
    or not, in bytes.
    """

    graph: Resource | None = None
    config_maps: tuple[Resource, ...] = ()
    problem: str = ""
    notes: tuple[str, ...] = ()
    profile_hash: str = ""
    edited: bool = False
    beside: int = 0


def published(config_map: Resource, home: str = "") -> Published:
    """Reads a ConfigMap. `home` is the namespace of a resource without one. Never raises for what somebody wrote."""
    data, annotations = config_map.get("data"), labels.notes(config_map)
    return Published(
        identity.key(config_map, home),
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
        output = Output(problem=f"failed to extract DGD from {key}: the text is {_TOO_LARGE}")
    else:
        output = _read(text, key)
    return output._replace(profile_hash=found.profile_hash, edited=edited)


def output_hash(texts: dict[str, str]) -> str:
    """The hash that the copier writes: SHA-256 of the text for the real backend, followed by the text for the mocker."""
    both = "".join(texts.get(key, "") for key in (CONFIG, MOCKER))
    return digest.hexadecimal(both.encode(errors="replace").decode())


def _read(text: str, key: str) -> Output:
    """The graph and the other objects in a text. The last graph counts (reference: a second graph replaces the first)."""
    found, wrong = documents.read(text)
    graphs = [each for each in found if documents.kind(each) == identity.GRAPH]
    others = [each for each in found if documents.kind(each) not in ("", identity.GRAPH)]
    unused = [each for each in others if not _is_usable(each.value)]
    notes = [f"line {each.line}: {each.message}" for each in wrong]
    notes += [f"the document at line {each.line} has no kind and is not used" for each in found if not documents.kind(each)]
    notes += [f"the {documents.kind(each)} at line {each.line} is not used: {_OTHERS}" for each in unused]
    problem, graph = f"no {identity.GRAPH} found in YAML content", None
    if graphs:
        problem, graph = _unread(graphs[-1], wrong, text), graphs[-1].value
    if len(graphs) > 1:
        notes.append(f"the output has {len(graphs)} graphs, and only the last is used")
    if graph and not problem:
        graph, more, mismatch = typed.graph(graph)
        notes += more
        problem = f"failed to convert to {identity.GRAPH}: {mismatch}" if mismatch else ""
    if problem:
        told = "; ".join([problem, *([] if graphs else _few(notes))])
        return Output(problem=f"failed to extract DGD from {key}: {told}")
    used = tuple(each.value for each in others if _is_usable(each.value))
    return Output(graph, used, notes=tuple(_few(notes)), beside=size.of([each.value for each in others], LIMIT))


def _unread(graph: Document, wrong: list[Result], text: str) -> str:
    """Why the document of the graph cannot be used as it was read; empty if it can."""
    if finding := next((each for each in wrong if documents.concerns(each, graph, text)), None):
        return f"line {finding.line}: {finding.message}"
    return f"the graph is {_TOO_LARGE} with all aliases written out" if size.of(graph.value, LIMIT) > LIMIT else ""


def _is_usable(resource: Resource) -> bool:
    """True for a ConfigMap that a cluster can hold."""
    metadata = resource.get("metadata")
    named = isinstance(metadata, dict) and bool(_text(metadata.get("name")))
    is_config_map = (resource.get("apiVersion"), resource.get("kind")) == ("v1", "ConfigMap")
    return named and is_config_map and size.of(resource, LIMIT) <= LIMIT


def _few(notes: list[str]) -> list[str]:
    """The first notes, and the number of the others."""
    return notes if len(notes) <= _SHOWN else [*notes[:_SHOWN], f"and {len(notes) - _SHOWN} more notes"]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
