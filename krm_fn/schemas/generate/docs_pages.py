"""Pages of the documentation: the field reference, which is a page for each kind and an index, and the lists of all settings and gates.

The texts come from the models, and from the table of gates.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from krm_fn.render.kinds import floors, gates
from krm_fn.render.schema import table
from krm_fn.render.schema.table import Schema
from krm_fn.schemas import generate
from krm_fn.schemas.api import base, dynamo_render
from krm_fn.schemas.generate import structural

INDEX = "README.md"
_MADE = "<!-- Made from krm_fn/schemas/api by `make generate`. -->\n"
_KUBERNETES = "https://kubernetes.io/docs/reference/generated/kubernetes-api"
_ATOMS = {"Quantity": "quantity", "Time": "time", "IntOrString": "integer or string"}
_ERRORS = "../errors"
_EVERYWHERE = ("apiVersion", "kind", "metadata")
_INTRODUCTION = """\
# Fields

Every field of the kinds that krm-fn reads. `krm-fn crds` prints the definitions for an API server, and `kubectl explain` then shows the
same texts. `krm-fn schema` prints a schema for editors.

| kind | apiVersion | short names | description |
|---|---|---|---|
"""

_SETTINGS_START, _SETTINGS_END = "These are all keys with their defaults:\n\n```yaml\n", "```\n"
_GATES_START, _GATES_END = "<!-- Made from krm_fn/render/kinds/gates.py by `make generate`. -->\n", "\n## "
_GATES_HEAD = """\
| gate | input | minimum | first release | effect | fields of the pod |
|---|---|---|---|---|---|
"""
_FLOORS_START = "<!-- Made from krm_fn/render/kinds/floors.py by `make generate`. -->\n"
_INPUTS = {"runtime": "runtime version", "origin": "origin version"}
_WIDTH = 140
_SETTINGS_HEAD = """\
apiVersion: dynamo.krm-fn.io/v1alpha1
kind: DynamoRender
metadata:
  name: render
spec:
"""


def pages() -> dict[str, str]:
    """Every page by its file name."""
    known = generate.definitions()
    kinds = sorted(structural.kinds(), key=lambda kind: structural.address(kind)[::-1])
    lines = [_line(kind, known[kind.__name__]) for kind in kinds]
    return {INDEX: _MADE + _INTRODUCTION + "".join(lines), **{_file(kind): _page(kind, known) for kind in kinds}}


def with_settings(text: str) -> str:
    """Returns the text of docs/configuration.md with the current list: each key with its default, and with its description as a comment."""
    before, _, rest = text.partition(_SETTINGS_START)
    settings = "".join(_settings_lines(dynamo_render.RenderSpec(), "  "))
    return before + _SETTINGS_START + _SETTINGS_HEAD + settings + _SETTINGS_END + rest.partition(_SETTINGS_END)[2]


def with_gates(text: str) -> str:
    """Returns the text of docs/releases.md with the current table of gates."""
    before, _, rest = text.partition(_GATES_START)
    rows = "".join(_gate_row(gate) for gate in gates.GATES)
    return before + _GATES_START + _GATES_HEAD + rows + _GATES_END + rest.partition(_GATES_END)[2]


def with_floors(text: str) -> str:
    """Returns the text of docs/platform.md with the current table of floors and windows."""
    before, _, rest = text.partition(_FLOORS_START)
    head = f"| release | {' | '.join(name.removeprefix('the ') for name in floors.NAMES.values())} | runtimes |\n"
    rows = "".join(_floors_row(release, needed) for release, needed in floors.FLOORS.items())
    table = f"{head}|{'---|' * (len(floors.NAMES) + 2)}\n{rows}"
    return before + _FLOORS_START + table + "\n" + rest.partition("\n\n")[2]


def _floors_row(release: tuple[int, int], needed: floors.Floors) -> str:
    cells = [getattr(needed, part) or "not stated" for part in floors.NAMES]
    return f"| v{'.'.join(map(str, release))} | {' | '.join(cells)} | {' to '.join(floors.window(release))} |\n"


def _gate_row(gate: gates.Gate) -> str:
    minimum, release = ".".join(map(str, gate.minimum)), ".".join(map(str, gate.release))
    fields = ", ".join(f"`{field}`" for field in gate.fields) or "none"
    return f"| `{gate.name}` | {_INPUTS[gate.reads]} | {minimum} | v{release} | {_cell(gate.effect)} | {fields} |\n"


def _line(kind: type[base.Kind], schema: Schema) -> str:
    """The line of a kind in the index."""
    version, name = structural.address(kind)
    return f"| [{name}]({_file(kind)}) | `{version}` | {_short(kind)} | {_cell(_first(schema))} |\n"


def _first(schema: Schema) -> str:
    """The first paragraph of a description."""
    return str(schema["description"]).partition("\n\n")[0]


def _file(kind: type[base.Kind]) -> str:
    return f"{kind.__name__.lower()}.md"


def _short(kind: type[base.Kind]) -> str:
    return ", ".join(f"`{name}`" for name in kind.served.short_names) if kind.served else ""


def _page(kind: type[base.Kind], known: dict[str, Schema]) -> str:
    """The page of a kind. The types of its fields follow in the order of their first use."""
    root = known[kind.__name__]
    version, short = structural.address(kind)[0], _short(kind)
    head = f"# {_page_title(kind)}\n\n{root['description']}\n\n`apiVersion: {version}`{f', for kubectl also {short}' if short else ''}"
    kind_schema = {**root, "properties": {name: field for name, field in root["properties"].items() if name not in _EVERYWHERE}}
    sections = [_section(name, known) for name in _within(kind.__name__, known) if name != kind.__name__]
    return _MADE + "\n\n".join([head, *_body(kind_schema, known), *sections]) + "\n"


def _page_title(kind: type[base.Kind]) -> str:
    """The name of a kind, with its API version if another page has the kind in another version."""
    version, name = structural.address(kind)
    versions = {other for other, other_name in map(structural.address, structural.kinds()) if other_name == name}
    return f"{name} {version.rpartition('/')[2]}" if len(versions) > 1 else name


def _within(name: str, known: dict[str, Schema]) -> list[str]:
    """A definition of Dynamo and all Dynamo definitions that it refers to, directly or indirectly."""
    definitions = [name]
    for definition in definitions:
        definitions += [
            inner for inner in dict.fromkeys(structural.references(known[definition])) if inner not in definitions and _is_ours(inner)
        ]
    return definitions


def _is_ours(name: str) -> bool:
    return "." not in name


def _title(definition: str) -> str:
    """The name of a definition on a page, which has one version only."""
    return definition.removesuffix("V1beta1")


def _section(name: str, known: dict[str, Schema]) -> str:
    return "\n\n".join([f"## {_title(name)}", known[name]["description"], *_body(known[name], known)])


def _body(schema: Schema, known: dict[str, Schema]) -> Iterator[str]:
    """The paragraphs below a description. Kubernetes documents the fields of a native definition."""
    native = known[schema["x-native"]]["properties"] if "x-native" in schema else ()
    rows = [
        _row(name, known.get(field.get("$ref", ""), {}) | field, schema)
        for name, field in schema["properties"].items()
        if name not in native
    ]
    if rows:
        yield "\n".join(["| field | type | default | description |", "|---|---|---|---|", *rows])
    if native:
        yield f"{'Besides these, every' if rows else 'Every'} field of a Kubernetes {_native(schema['x-native'])}."
    rules = [*schema.get("x-kubernetes-validations", ()), *_of_entries(schema)]
    if rules:
        yield "\n".join(["Rules:", "", *(_rule(rule) for rule in rules)])


def _row(name: str, field: Schema, parent: Schema) -> str:
    default = "**required**" if name in parent.get("required", ()) else f"`{generate.word(field['default'])}`" if "default" in field else ""
    return f"| `{name}` | {_type(field)} | {default} | {_cell(field['description'])}{_limits(field)} |"


def _type(field: Schema) -> str:
    if "$ref" in field:
        return _link_definition(field["$ref"])
    if field["type"] == "array":
        keys = field.get("x-kubernetes-list-map-keys")
        return f"list of {_type(field['items'])}{f', by {keys[0]}' if keys else ''}"
    if "additionalProperties" in field:
        return f"map to {_type(field['additionalProperties'])}"
    return "any object" if field["type"] == "object" else str(field["type"])


def _link_definition(definition: str) -> str:
    return f"[{_title(definition)}](#{_title(definition).lower()})" if _is_ours(definition) else _native(definition)


def _native(definition: str) -> str:
    """A link to Kubernetes' own reference, such as `#probe-v1-core`."""
    *_, group, version, name = definition.split(".")
    anchor = f"{name}-{version}-{group}".lower()
    return _ATOMS.get(name) or f"[{name}]({_KUBERNETES}/v{table.load().kubernetes}/#{anchor})"


def _limits(field: Schema) -> str:
    return "".join(f" {text}." for text in _limit(field))


def _limit(field: Schema) -> Iterator[str]:
    if "enum" in field:
        yield f"One of {', '.join(f'`{word}`' for word in field['enum'])}"
    if "minimum" in field:
        yield f"At least {field['minimum']}"
    if "minLength" in field:
        yield "Not empty"
    for key, what in (("maxLength", "characters"), ("maxItems", "entries"), ("maxProperties", "entries")):
        if key in field:
            yield f"At most {field[key]} {what}"


def _of_entries(schema: Schema) -> Iterator[Schema]:
    """The rules of the entries of lists, each with the whole path of its field."""
    for path, rule in schema.get("x-rules-of-entries", {}).items():
        yield {**rule, "fieldPath": f".{path}[]{rule['fieldPath']}"}


def _rule(rule: Schema) -> str:
    """A rule, with the message of the API server."""
    code, _, message = rule["message"].partition(" ")
    where = f"`{rule['fieldPath'].removeprefix('.')}`: " if "fieldPath" in rule else ""
    return f"* {where}{message} ([{code}]({_ERRORS}/{code}.md))"


def _cell(text: str) -> str:
    """A description as one cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def _settings_lines(settings: BaseModel, indent: str) -> Iterator[str]:
    """Yields the lines about the settings of one level. A long description is above its key."""
    for name, field in type(settings).model_fields.items():
        value = getattr(settings, name)
        is_level = isinstance(value, BaseModel)
        line = f"{indent}{field.alias}:" if is_level else f"{indent}{field.alias}: {_yaml(value)}"
        description = " ".join((field.description or "").replace("`", "").split())
        if len(line) + len(" # ") + len(description) <= _WIDTH:
            yield f"{line} # {description}\n"
        else:
            yield from (f"{indent}# {part}\n" for part in textwrap.wrap(description, _WIDTH - len(indent) - len("# ")))
            yield f"{line}\n"
        if is_level:
            yield from _settings_lines(value, f"{indent}  ")


def _yaml(value: Any) -> str:
    """A default in YAML on one line."""
    if isinstance(value, list):
        return f"[{', '.join(map(_yaml, value))}]"
    return value if isinstance(value, str) and value else json.dumps(value)
