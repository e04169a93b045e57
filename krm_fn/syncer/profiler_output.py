"""Reads the ConfigMap that the copier of a profiling Job writes: its documents, the generated graph and the objects beside it. Pure.

Follows the operator's `internal/controller/dynamographdeploymentrequest_controller.go` generateDGDSpec and extractResourcesFromYAML, and
apimachinery's NewYAMLOrJSONDecoder. Two differences: nothing is left out without a note, and a graph with a key that is set twice is
rejected. `docs/requests-platform.md` lists all differences.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from krm_fn.base import codes, report, results
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Result
from krm_fn.base.yaml import reader
from krm_fn.base.yaml.reader import Document
from krm_fn.kubernetes import canonical, digest, identity, quantity, values
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.render import dynamo_api, labels, names
from krm_fn.render.schema import invalid_fields, schema_check

CONFIG, MOCKER = names.PROFILED, names.PROFILED_MOCKER
LIMIT = names.CONFIG_MAP_LIMIT
"""The most bytes of a text that is read. A ConfigMap holds no more."""
JSON_OBJECTS = 1000
"""The most JSON objects in a row that are read."""
_TEXT_WORDS = ("y", "Y", "n", "N")
"""Words that YAML 1.1 reads as booleans. The profiler's YAML library writes them without quotes where it means text."""
_NONBLANK = re.compile(r"\S")
_NOTES_SHOWN = 5
_FIELDS_SHOWN = 5
API_VERSION = "nvidia.com/v1alpha1"
_TYPE, _FORM = codes.WRONG_TYPE, codes.WRONG_FORMAT
"""Codes of values that the types cannot hold. A render reports any other finding about the graph."""
_UNKNOWN = (codes.UNKNOWN_FIELD, codes.UNKNOWN_KUBERNETES_FIELD)
_OTHERS = "beside the graph, only ConfigMaps with a name and of at most 1 MiB are"
_TOO_LARGE = f"larger than {LIMIT // 2**20} MiB"


class OutputConfigMap(NamedTuple):
    """The ConfigMap with the output of a request. The hashes are its annotations."""

    key: ObjectKey
    texts: dict[str, str] = {}
    profile_hash: str = ""
    output_hash: str = ""


class ProfilerOutput(NamedTuple):
    """The output of a profiler. `problem` is the reason why it has no usable graph, and `notes` name its parts that are not used.

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


def read_config_map(config_map: Resource, default_namespace: str = "") -> OutputConfigMap:
    """Reads a ConfigMap. `default_namespace` is that of a resource without one. Never raises for invalid fields."""
    data, annotations = config_map.get("data"), labels.annotations(config_map)
    return OutputConfigMap(
        identity.key(config_map, default_namespace),
        {key: text for key, text in data.items() if isinstance(text, str)} if isinstance(data, dict) else {},
        values.text(annotations.get(labels.PROFILE_HASH)),
        values.text(annotations.get(labels.OUTPUT_HASH)),
    )


def read(config_map: OutputConfigMap, *, mocker: bool) -> ProfilerOutput:
    """Reads the output in a ConfigMap. `mocker` selects the graph for the mocker. Never raises for what the profiler wrote."""
    key = MOCKER if mocker else CONFIG
    edited = bool(config_map.output_hash) and config_map.output_hash != output_hash(config_map.texts)
    text = config_map.texts.get(key)
    if text is None:
        output = ProfilerOutput(problem=f"key {key} not found in ConfigMap {config_map.key.name}")
    elif len(text.encode(errors="replace")) > LIMIT:
        output = ProfilerOutput(problem=f"failed to extract DGD from {key}: the text is {_TOO_LARGE}")
    else:
        output = _read(text, key)
    return output._replace(profile_hash=config_map.profile_hash, edited=edited)


def output_hash(texts: dict[str, str]) -> str:
    """Computes the hash that the copier writes: SHA-256 of the text for the real backend, followed by the text for the mocker."""
    both = "".join(texts.get(key, "") for key in (CONFIG, MOCKER))
    return digest.hexadecimal(both.encode(errors="replace").decode())


def documents(text: str) -> tuple[list[Document], list[Result]]:
    """Reads the documents that are not empty, and the findings about the others. Never raises, whatever the text is.

    The text is YAML, or JSON objects one after the other.
    """
    result: list[Document] = []
    findings: list[Result] = []
    lines = done = 0
    for start, end in _parts(text):
        lines, done = lines + text.count("\n", done, start), start
        part, part_findings = reader.read(text[start:end], literal=_TEXT_WORDS)
        result += [
            document._replace(line=document.line + lines, start=document.start + start, end=document.end + start) for document in part
        ]
        findings += [finding._replace(line=finding.line + lines) for finding in part_findings]
    return result, findings


def _read(text: str, key: str) -> ProfilerOutput:
    """Reads the graph and the other objects in a text. The last graph counts (operator: a second graph replaces the first)."""
    listed, errors = documents(text)
    graphs = [document for document in listed if _kind(document) == dynamo_api.GRAPH]
    others = [document for document in listed if _kind(document) not in ("", dynamo_api.GRAPH)]
    unused = [document for document in others if not _is_usable(document.value)]
    notes = [f"line {error.line}: {error.message}" for error in errors]
    notes += [f"the document at line {document.line} has no kind and is not used" for document in listed if not _kind(document)]
    notes += [f"the {_kind(document)} at line {document.line} is not used: {_OTHERS}" for document in unused]
    problem, graph = f"no {dynamo_api.GRAPH} found in YAML content", None
    if graphs:
        problem, graph = _graph_problem(graphs[-1], errors, text), graphs[-1].value
    if len(graphs) > 1:
        notes.append(f"the output has {len(graphs)} graphs, and only the last is used")
    if graph and not problem:
        graph, conversion_notes, mismatch = _convert(graph)
        notes += conversion_notes
        problem = f"failed to convert to {dynamo_api.GRAPH}: {mismatch}" if mismatch else ""
    if problem:
        message = "; ".join([problem, *([] if graphs else _first(notes))])
        return ProfilerOutput(problem=f"failed to extract DGD from {key}: {message}")
    used = tuple(document.value for document in others if _is_usable(document.value))
    beside = values.json_size([document.value for document in others], LIMIT)
    return ProfilerOutput(graph, used, notes=tuple(_first(notes)), beside=beside)


def _graph_problem(graph: Document, errors: list[Result], text: str) -> str:
    """Explains why the document of the graph cannot be used as it was read; empty if it can."""
    if error := next((error for error in errors if _is_about(error, graph, text)), None):
        return f"line {error.line}: {error.message}"
    return f"the graph is {_TOO_LARGE} with all aliases written out" if values.json_size(graph.value, LIMIT) > LIMIT else ""


def _is_usable(resource: Resource) -> bool:
    """Returns True for a ConfigMap that a cluster can hold."""
    metadata = resource.get("metadata")
    named = isinstance(metadata, dict) and bool(values.text(metadata.get("name")))
    is_config_map = (resource.get("apiVersion"), resource.get("kind")) == ("v1", "ConfigMap")
    return named and is_config_map and values.json_size(resource, LIMIT) <= LIMIT


def _first(notes: list[str]) -> list[str]:
    """Returns the first notes, and the number of the others."""
    return notes if len(notes) <= _NOTES_SHOWN else [*notes[:_NOTES_SHOWN], f"and {len(notes) - _NOTES_SHOWN} more notes"]


def _kind(document: Document) -> str:
    """Reads the kind of a document; empty if it has none."""
    return values.text(document.value.get("kind")) if isinstance(document.value, dict) else ""


def _is_about(finding: Result, document: Document, text: str) -> bool:
    """Returns True if a finding is about this document of the text."""
    return document.line <= finding.line <= document.line + text.count("\n", document.start, document.end)


def _parts(text: str) -> Iterator[tuple[int, int]]:
    """Yields start and end of the JSON objects that a text begins with, and of the rest."""
    decoder, start = json.JSONDecoder(), 0
    for _ in range(JSON_OBJECTS):
        match = _NONBLANK.search(text, start)
        if not match or match[0] != "{":
            break
        try:
            _, end = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            break
        yield match.start(), end
        start = end
    yield start, len(text)


def _convert(generated: Resource) -> tuple[Resource | None, list[str], str]:
    """Converts a generated graph to the form of the API: without fields that Dynamo's types do not have, and with canonical quantities.

    Returns the graph, notes about its fields that are not used, and the problem if the types cannot hold it. The graph is then None.

    Any apiVersion stays, as in the operator, and a graph without one gets `API_VERSION`. A status is left out, because only a controller
    knows it.
    """
    resource = invalid_fields.without_nulls({key: value for key, value in generated.items() if key != "status"})
    findings = list(schema_check.resource({**resource, "apiVersion": API_VERSION}, unknown="error"))
    if mismatch := next((finding for finding in findings if finding.code in (_TYPE, _FORM)), None):
        return None, [], results.line(mismatch).removeprefix(f"{mismatch.code} ")
    unknown = [finding.path for finding in findings if finding.code in _UNKNOWN]
    metadata = resource.get("metadata")
    complete = {"apiVersion": API_VERSION, **resource, "metadata": metadata if isinstance(metadata, dict) else {}}
    graph = invalid_fields.without(complete, unknown)
    return _canonical(graph), _left_out([results.field(path) for path in unknown]), ""


def _canonical(graph: Resource) -> Resource:
    """Writes a valid graph as the Go types do: with a spec, without empty maps in it, and with canonical quantities."""
    spec = {key: value for key, value in (graph.get("spec") or {}).items() if value != {}}
    updates: dict[str, Any] = {}
    if claims := spec.get("pvcs"):
        updates["pvcs"] = [_with_quantity(claim, "size") for claim in claims]
    if services := spec.get("services"):
        updates["services"] = {name: _canonical_service(service) for name, service in services.items()}
    return {**graph, "spec": {**spec, **updates}}


def _canonical_service(service: dict[str, Any]) -> dict[str, Any]:
    updates: dict[str, Any] = {}
    if memory := service.get("sharedMemory"):
        updates["sharedMemory"] = _with_quantity(memory, "size")
    if pod := service.get("extraPodSpec"):
        main = pod.get("mainContainer")
        updates["extraPodSpec"] = {**canonical.spec(pod), **({"mainContainer": canonical.container(main)} if main else {})}
    return {**service, **updates} if updates else service


def _with_quantity(fields: dict[str, Any], name: str) -> dict[str, Any]:
    """Writes one quantity in its canonical form."""
    return fields if fields.get(name) is None else {**fields, name: quantity.canonical(fields[name])}


def _left_out(fields: list[str]) -> list[str]:
    """Notes the fields that Dynamo does not have."""
    return [f"Dynamo has no such fields, so they are left out: {report.list_first(fields, _FIELDS_SHOWN)}"] if fields else []
