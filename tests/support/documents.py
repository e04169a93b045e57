"""Random documents of every kind, and the verdicts of four validators: model, own check, editor schema and API server.

All four check types, fields, bounds and formats, and must agree. An API server also checks the CEL rules of the definitions;
`krm_fn.render.rules` has the same rules. `python -m tests.support.documents` records the verdicts of the API server.
"""

from __future__ import annotations

import copy
import json
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pydantic
from hypothesis import HealthCheck, Phase, settings
from hypothesis import given as drawn
from hypothesis import strategies as st
from jsonschema import exceptions, validators

from krm_fn.render import dynamo_api
from krm_fn.render.convert import versions
from krm_fn.render.schema import schema_check, table
from krm_fn.schemas.generate import crds, editor, structural
from tests.support import definitions, schema_mistakes, strategies
from tests.testbed import control_plane, programs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hypothesis.strategies import DrawFn, SearchStrategy

    from krm_fn.render.schema.table import Schema
    from tests.testbed.control_plane import ControlPlane

Document = dict[str, Any]

RECORDED = Path(__file__).parent / "documents.jsonl"
NAMESPACE = "documents"
KINDS = {structural.address(kind): kind for kind in structural.kinds()}
VERSIONS = {version: crds.definitions(version) for version in crds.VERSIONS}
"""The definitions of each set, by the version that it serves."""
SERVED = sorted(
    {(f"nvidia.com/{each['spec']['versions'][0]['name']}", each["spec"]["names"]["kind"]) for found in VERSIONS.values() for each in found}
)
TWINS = "DYN080"
_CODE = re.compile(r"\bDYN\d{3}\b")
_HEAD = ("apiVersion", "kind", "metadata", "status")
_DEEPEST, _LONGEST = 7, 1500
_SAMPLES: dict[str, list[Any]] = {
    "quantity": ["1", "500m", "4Gi", "1e3", ".5", "1.", "-1Ki", 2, 0],
    "date-time": ["2026-01-31T12:00:00Z", "2026-01-31T12:00:00.5+01:00"],
    "duration": ["15m", "1h30m"],
    "port": [80, "http"],
    "string": ["a", "b", "two words", "1"],
    "integer": [2, 3, 1000, 1, 0],
    "boolean": [True, False],
    "number": [0.5, 1],
}
_METADATA: list[Document] = [{}, {}, {}, {"labels": {"a": "b"}}, {"labels": {"a": 1}}, {"lables": {}}, {"annotations": []}]
_JUNK: list[Any] = ["", "x", "16GB", "1\n", -1, 1, 1.5, 2**31, 2**63 - 1, 1e300, True, [], {}, ["x"], [None], [{}], {"x": 1}, {"name": "x"}]


class Verdict(NamedTuple):
    """The verdict of an API server. `rules` holds the codes of the broken CEL rules if it refuses for those rules alone."""

    accepted: bool
    rules: tuple[str, ...] = ()

    @property
    def fits(self) -> bool:
        """True if types, fields, bounds and formats are valid."""
        return self.accepted or bool(self.rules)


# documents


@st.composite
def documents(draw: DrawFn, address: tuple[str, str]) -> Document:
    """A document with fields of a kind in one version; up to two of them may be broken or removed."""
    version, kind = address
    properties = table.load().definitions[table.load().kinds[kind][version]]["properties"]
    own = {name: field for name, field in properties.items() if name not in _HEAD}
    schema = {"properties": own, "required": [name for name in own if name == "spec"]}
    fields: Document = draw(_fields(schema, 0)) if draw(st.integers(0, 9)) else {}
    for _ in range(draw(st.sampled_from((0, 0, 1, 2)))):
        _spoil(draw, fields)
    metadata = {"name": "llm", "namespace": NAMESPACE, **draw(st.sampled_from(_METADATA))}
    found: Document = settled({"apiVersion": version, "kind": kind, "metadata": metadata, **fields})
    return found


def graphs() -> SearchStrategy[Document]:
    """Valid graphs and graphs with mistakes, in v1alpha1."""
    found = strategies.graphs() | strategies.broken()
    return found.map(lambda graph: settled({**graph, "metadata": {"name": "llm", "namespace": NAMESPACE}}))


def newer_graphs() -> SearchStrategy[Document]:
    """The same graphs in v1beta1."""
    return graphs().map(lambda graph: settled(versions.to(dynamo_api.BETA1, graph)))


def settled(value: Any) -> Any:
    """The value as the reader returns it: null is kept in lists only, and a whole number of at most 64 bits is an integer."""
    if isinstance(value, dict):
        return {key: settled(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [settled(inner) for inner in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**63:
        return int(value)
    return float(value) if isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value < 2**63 else value


def _value(schema: Schema, depth: int) -> SearchStrategy[Any]:
    schema = table.load().definitions.get(schema.get("$ref", ""), schema)
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if schema.get("type") == "array":
        return st.deferred(lambda: st.lists(_value(schema["items"], depth + 1), max_size=2))
    if schema.get("type") == "object":
        return _fields(schema, depth)
    form = schema.get("format", "")
    return st.sampled_from(_SAMPLES[form if form in _SAMPLES else schema.get("type", "port")])


@st.composite
def _fields(draw: DrawFn, schema: Schema, depth: int) -> Document:
    if "properties" not in schema:
        names = draw(st.lists(st.sampled_from(["a", "b", "team"]), max_size=2, unique=True))
        inner = schema.get("additionalProperties")
        return {name: draw(_value(inner, depth + 1)) if inner else copy.deepcopy(draw(st.sampled_from(_JUNK))) for name in names}
    fields, needed = schema["properties"], schema.get("required", [])
    others = [name for name in fields if name not in needed]
    more = draw(st.lists(st.sampled_from(others), max_size=3, unique=True)) if others and depth < _DEEPEST else []
    return {name: draw(_value(fields[name], depth + 1)) for name in (*needed, *more)}


def _spoil(draw: DrawFn, value: Any) -> None:
    """Break one random place inside the value: remove, add or rename a field, or replace its value."""
    steps: list[Any] = list(value) if isinstance(value, dict) else list(range(len(value)))
    junk, step = copy.deepcopy(draw(st.sampled_from(_JUNK))), draw(st.sampled_from(steps)) if steps else None
    if step is not None and isinstance(value[step], dict | list) and draw(st.integers(0, 4)):
        _spoil(draw, value[step])
    elif isinstance(value, list):
        value.append(junk)
    elif step is None or draw(st.booleans()):
        value[step or "x"] = junk
    else:
        moved = value.pop(step)
        value.update(draw(st.sampled_from([{}, {"x": moved}])))


# validators


def address(document: Document) -> tuple[Any, Any]:
    """The apiVersion and the kind of a document, as far as it has them."""
    return document.get("apiVersion"), document.get("kind")


def model_fits(document: Document) -> bool:
    """True if the pydantic model accepts the document."""
    try:
        KINDS[address(document)].model_validate(document)
    except pydantic.ValidationError:
        return False
    return True


def faults(document: Document) -> set[str]:
    """The codes of the errors that our own check finds."""
    return {found.code for found in schema_check.resource(document) if found.severity == "error"}


def _matches(_: Any, pattern: str, instance: Any, __: Any) -> Iterator[exceptions.ValidationError]:
    """`pattern` as JSON Schema defines it: `$` matches only at the end of the text. In Python it also matches before a line break."""
    if isinstance(instance, str) and not re.search(pattern.replace("$", r"\Z"), instance):
        yield exceptions.ValidationError(f"{instance!r} does not match {pattern}")


_EDITOR = validators.extend(validators.Draft7Validator, {"pattern": _matches})(editor.schema())


def editor_fits(document: Document) -> bool:
    """True if the editor's JSON Schema accepts the document."""
    return bool(_EDITOR.is_valid(document))


def server_says(plane: ControlPlane, document: Document) -> Verdict:
    """The verdict of the API server on a strict server-side apply and a strict create, as dry runs.

    Server-side apply accepts fields of an object whose definition has none, and drops them.
    """
    answer = plane.judge(document)
    if answer.ok:
        return Verdict(accepted=True)
    causes = [cause["message"] for cause in (answer.body.get("details") or {}).get("causes", ())]
    codes = [_CODE.search(cause) for cause in causes]
    rules = sorted({code[0] for code in codes if code}) if all(codes) else []
    return Verdict(accepted=False, rules=tuple(rules))


def serve(plane: ControlPlane, version: str) -> None:
    """Install our kinds and the namespace for documents. Returns as soon as the control plane serves the kinds."""
    definitions.serve(plane, VERSIONS[version])
    plane.namespace(NAMESPACE)


# records


def recorded() -> list[tuple[Document, Verdict]]:
    """The recorded documents with the verdict of the API server."""
    lines = [json.loads(line) for line in RECORDED.read_text("utf-8").splitlines()]
    return [(line["document"], Verdict(line["accepted"], tuple(line["rules"]))) for line in lines]


def written() -> list[Document]:
    """The resources of `tests/support/schema_mistakes.py`, without those that hold fields which an API server overwrites."""
    cases = [case.given for case in schema_mistakes.ALL if address(case.given) in KINDS and case.code != "DYN020"]
    judged = [settled(given) for given in cases if "status" not in given and "creationTimestamp" not in given.get("metadata", {})]
    return [{**document, "metadata": {"name": "llm", "namespace": NAMESPACE, **document["metadata"]}} for document in judged]


def _collected() -> list[Document]:
    found = {json.dumps(document): document for document in written() if address(document) in SERVED}
    for strategy, count in [(graphs(), 80), (newer_graphs(), 80), *((documents(each), 70) for each in SERVED)]:

        @settings(max_examples=count, database=None, derandomize=True, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
        @drawn(strategy)
        def collect(document: Document) -> None:
            text = json.dumps(document)
            if len(text) < _LONGEST:
                found[text] = document

        collect()
    return list(found.values())


def judged_by(version: str, found: Iterable[Document]) -> list[Document]:
    """The documents that a cluster judges whose definitions serve this version. Both sets have some kinds, which the first set judges."""
    return [document for document in found if document["apiVersion"] == f"nvidia.com/{version}"]


def _record() -> None:
    needed = control_plane.Programs(*(programs.path(name) for name in ("etcd", "kube-apiserver", "kubectl")))
    collected, lines = _collected(), []
    for version in VERSIONS:
        with tempfile.TemporaryDirectory() as folder, control_plane.running(Path(folder), needed) as plane:
            serve(plane, version)
            lines += [{**server_says(plane, document)._asdict(), "document": document} for document in judged_by(version, collected)]
    RECORDED.write_text("".join(json.dumps(line, separators=(",", ":"), ensure_ascii=False) + "\n" for line in lines), "utf-8")


if __name__ == "__main__":
    _record()
