"""Answers the requests of the playground: JSON in, JSON out, with the functions of the commands.

The playground runs this module in a Web Worker (`src/worker.ts`) with Pyodide. There is no process, no network and no file of a user: the
texts of the editors are parsed as files of these names.
"""

from __future__ import annotations

import json
import json.scanner
import sys
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from krm_fn.base import report, results
from krm_fn.base.results import Path, Result
from krm_fn.base.yaml import emitter, positions
from krm_fn.kubernetes import identity, paths
from krm_fn.kubernetes.types import Resource
from krm_fn.render import apply_order, dynamo_api, expand, labels
from krm_fn.render.expand import KnownItems
from krm_fn.render.manifests import ownership
from krm_fn.repository.files import reading, sources
from krm_fn.repository.files.reading import File
from krm_fn.repository.files.sources import Sources

if TYPE_CHECKING:
    from krm_fn.migration.fixes.finding_edits import FindingEdit

GRAPH, OLD, SETTINGS = "graph.yaml", "before.yaml", "settings.yaml"
"""The names of the editors' texts in findings and origins."""

LIMIT = 1024 * 1024
"""The largest text of an editor, in bytes. WebAssembly reads about 200 KB of YAML in a second."""


if sys.platform == "emscripten":
    # The JSON parser in C does not know the end of the stack of WebAssembly: a text of 100,000 brackets would end Python.
    json.scanner.make_scanner = json.scanner.py_make_scanner  # type: ignore[attr-defined]


class Rendered(NamedTuple):
    """The objects that `krm-fn render` prints for a text. There are none if a finding is an error."""

    objects: tuple[Resource, ...]
    results: tuple[Result, ...]


def answer(request: str) -> str:
    """Returns the answer to a request as JSON: `{"kind": "render", "graph": "...", "settings": "..."}`."""
    fields = json.loads(request)
    return json.dumps(_ANSWERS[fields["kind"]](fields), ensure_ascii=False, default=str)


@lru_cache(maxsize=4)
def _load(text: str, settings: str, name: str) -> Sources:
    """Returns the resources of a text. The configuration is that of the settings, else the one in the text."""
    named = _parse(settings, SETTINGS) if settings.strip() else File("", [], [])
    loaded = sources.from_files([_parse(text, name)], named.sources)
    return loaded._replace(results=[*named.results, *loaded.results])


def _parse(text: str, name: str) -> File:
    data = text.encode(errors="surrogatepass")
    if len(data) > LIMIT:
        problem = reading.too_large(LIMIT)
        return File("", [], [results.error(problem.code, str(problem), file=name)])
    return reading.parse(data, name)


@lru_cache(maxsize=4)
def _render(text: str, settings: str) -> Rendered:
    """Renders a text as `krm-fn render` does."""
    loaded = _load(text, settings, GRAPH)
    expansion = expand.expand(loaded.values, loaded.config)
    findings = tuple(loaded.locate(expansion.results))
    if results.has_errors([*findings]):
        return Rendered((), findings)
    applied = (labels.without_tool_annotations(resource) for resource in expansion.resources if not labels.is_local(resource))
    return Rendered(tuple(apply_order.sort(applied)), findings)


def _rendered(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the objects as YAML, each with its address, and the findings of the render."""
    rendered = _render(fields["graph"], fields["settings"])
    return {
        "objects": [
            {**_address(resource), "yaml": emitter.text(resource), "hasPods": _has_pods(resource)} for resource in rendered.objects
        ],
        "findings": [report.json_fields(result) for result in rendered.results],
    }


def _has_pods(resource: Resource) -> bool:
    """Returns true for a native object with containers, such as a Deployment or a PodCliqueSet."""
    return not dynamo_api.is_dynamo(resource) and any("containers" in path for path, _ in paths.leaves(resource))


def _address(resource: Resource) -> dict[str, str]:
    ref = results.ref(resource)
    return {"apiVersion": ref.api_version, "kind": ref.kind, "namespace": ref.namespace, "name": ref.name}


def _checked(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the findings of `krm-fn check`. `fix` is the title of the edit that `krm-fn check --fix` makes; null without one."""
    from krm_fn.migration.fixes import finding_edits  # noqa: PLC0415 - the first render is shown before this is loaded

    findings = _check(fields["graph"], fields["settings"])
    titles = {id(result): finding_edits.title(edit) for edit in _edits(findings, fields) for result in edit.results}
    return {"findings": [{**report.json_fields(result), "fix": titles.get(id(result))} for result in findings]}


@lru_cache(maxsize=4)
def _check(text: str, settings: str) -> list[Result]:
    from krm_fn.review import config_map_documents, resource_findings  # noqa: PLC0415 - see above

    loaded = _load(text, settings, GRAPH)
    findings = [*resource_findings.check(loaded.values, loaded.config, is_configured=bool(loaded.configs))]
    findings += config_map_documents.check(loaded.values)
    return loaded.locate({repr(result): result for result in findings}.values())


def _edits(findings: list[Result], fields: Mapping[str, Any]) -> list[FindingEdit]:
    """Returns the edits of findings about the texts of the editors."""
    from krm_fn.migration.fixes import finding_edits  # noqa: PLC0415 - see above
    from krm_fn.migration.fixes.editable_files import EditableFiles  # noqa: PLC0415
    from krm_fn.review.inputs import Inputs  # noqa: PLC0415

    return finding_edits.of(findings, EditableFiles(Inputs((), None, None, texts=_texts(fields))), {})


def _texts(fields: Mapping[str, Any]) -> dict[str, str]:
    return {GRAPH: fields["graph"], SETTINGS: fields["settings"]}


def _fixed(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the texts of the editors with the fix of one finding, by its number in the answer to `check`."""
    from krm_fn.migration.edits import edited_files  # noqa: PLC0415 - see above
    from krm_fn.migration.fixes import finding_edits  # noqa: PLC0415

    findings, texts = _check(fields["graph"], fields["settings"]), _texts(fields)
    chosen = [edit for edit in _edits(findings, fields) if any(result is findings[fields["finding"]] for result in edit.results)]
    written, _ = edited_files.edit_texts(finding_edits.documents(chosen), texts)
    new = {**texts, **{file: text.new for file, text in written.items()}}
    return {"graph": new[GRAPH], "settings": new[SETTINGS]}


def _drawn(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the diagram of `krm-fn graph` in the language of graphviz, and its arrows as sentences."""
    from krm_fn.review.diagram import graph_diagram  # noqa: PLC0415 - see above

    loaded = _load(fields["graph"], fields["settings"], GRAPH)
    return _diagram(graph_diagram.diagram(loaded.values, loaded.config))


def _explained(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the fields of one object with their lines in its text and their origins, as `krm-fn explain` prints them."""
    from krm_fn.cli import explain_output  # noqa: PLC0415 - see above
    from krm_fn.origins import explain  # noqa: PLC0415
    from krm_fn.review.inputs.origin_locations import OriginLocations  # noqa: PLC0415

    graph, settings = fields["graph"], fields["settings"]
    objects = _render(graph, settings).objects
    if not 0 <= fields["object"] < len(objects):
        return {"fields": []}
    resource = objects[fields["object"]]
    loaded = _load(graph, settings, GRAPH)
    loaded = loaded._replace(resources=[source for source in loaded.resources if not ownership.is_marked(source.value)])
    rendered = explain.renderable(loaded.values, loaded.config)
    generated = [candidate for candidate in rendered.objects if identity.key(candidate) == identity.key(resource)]
    if not generated:
        return {"fields": _own_fields(resource, loaded)}
    locations = OriginLocations(loaded)
    (explained,) = explain.explain_objects(rendered, generated, loaded.config)
    locations.add(explained.fields)
    lines = positions.positions(emitter.text(resource), [field.path for field in explained.fields])
    return {"fields": [{**explain_output.json_field(field, locations), "outputLine": lines[field.path][0]} for field in explained.fields]}


def _own_fields(resource: Resource, loaded: Sources) -> list[dict[str, Any]]:
    """Returns the fields of a resource of the input itself, each with its own line as the origin."""
    source = next((source for source in loaded.resources if source.address[:3] == results.ref(resource)[:3]), None)
    if source is None:
        return []
    fields: list[Path] = [path for path, _ in paths.leaves(resource)]
    lines = positions.positions(emitter.text(resource), fields)
    locations = reading.field_locations((source, path) for path in fields)
    origins = [{"kind": "user", "file": location["file"], "line": location["line"]} for location in locations]
    return [
        {"field": results.field(path), "path": path, "outputLine": lines[path][0], "origins": [{**origin, "field": results.field(path)}]}
        for path, origin in zip(fields, origins, strict=True)
    ]


def _compared(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the report of `krm-fn diff` for programs and for people, and the diagram of the change."""
    from krm_fn.review.changed_lines.document_hunks import LocatedRender  # noqa: PLC0415
    from krm_fn.review.diagram import graph_diagram  # noqa: PLC0415
    from krm_fn.review.diff import json_diff, rendered_state, text_diff  # noqa: PLC0415
    from krm_fn.review.inputs import Policy, compared_states, repository_diffs  # noqa: PLC0415
    from krm_fn.review.inputs.repository_diffs import RootChange  # noqa: PLC0415

    known = KnownItems()
    new, old = _load(fields["graph"], fields["settings"], GRAPH), _load(fields["old"], fields["settings"], OLD)
    rendered = rendered_state.render(new.values, new.config, new.settings_value, new.results, known)
    state = LocatedRender(GRAPH, rendered, new, new.locate(rendered.findings))
    before = compared_states.render_old(OLD, old, known)
    content = repository_diffs.compare(RootChange("", state, before), compared_states.ClusterCapacity(), Policy()).content
    return {
        **json.loads(json_diff.write(content._replace(colours=False))),
        "text": text_diff.write(content._replace(colours=True)),
        **_diagram(graph_diagram.change_diagram(before.rendered, state.rendered)),
    }


def _diagram(diagram: Any) -> dict[str, Any]:
    from krm_fn.review.diagram import graphviz_diagram  # noqa: PLC0415 - see above

    names = {node.key: " ".join(node.text) for node in diagram.nodes}
    arrows = [f"{names[edge.source]} → {names[edge.target]}: {edge.text}" for edge in diagram.edges]
    return {"dot": graphviz_diagram.write(diagram) if diagram.nodes else "", "nodes": [*names.values()], "arrows": arrows}


def _page(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the page of a finding's code as Markdown."""
    from krm_fn.schemas import finding_pages  # noqa: PLC0415 - see above

    code = str(fields["code"])
    return {"markdown": finding_pages.markdown(code) if code in finding_pages.CONSTANTS else ""}


_ANSWERS: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "render": _rendered,
    "check": _checked,
    "graph": _drawn,
    "explain": _explained,
    "diff": _compared,
    "code": _page,
    "fix": _fixed,
}
"""The functions that answer, by the kind of a request."""
