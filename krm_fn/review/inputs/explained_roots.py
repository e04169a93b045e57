"""Explains the renders of roots, and selects what `krm-fn explain` prints: objects by name, fields by path, and what a line affects."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from krm_fn.base import codes, results
from krm_fn.base.results import Path, Ref, Result
from krm_fn.kubernetes import paths
from krm_fn.kubernetes.types import Resource
from krm_fn.origins import affected_fields, field_paths
from krm_fn.origins import explain as explaining
from krm_fn.origins.explain import Explained, Explanation, Renderable
from krm_fn.origins.origin import Origin
from krm_fn.render import function_config
from krm_fn.render.manifests import ownership
from krm_fn.repository.files import reading
from krm_fn.repository.files.sources import Sources
from krm_fn.review.inputs import InputError, Inputs, origin_locations
from krm_fn.review.inputs.path_inputs import RenderFiles


class Section(NamedTuple):
    """Objects under one heading: those that a line `reaches`, or those that it `decides`. Without a heading, all objects."""

    heading: str
    objects: Iterable[Explained]


class RootSections(NamedTuple):
    """What is explained of one root. `name` is its folder; empty for files. `loaded` are the resources with the origins."""

    name: str
    sections: Sequence[Section]
    loaded: Sources


class ExplainedRoot:
    """One render of a root with the objects that it makes. In a build, these are the objects of the build.

    `files` are all resources of the render, and `loaded` those that render. `failed` are the errors.
    """

    def __init__(self, render: RenderFiles) -> None:
        written = [source for source in render.sources.resources if not ownership.is_marked(source.value)]  # not of an earlier render
        self.name = render.name
        self.files = render.sources._replace(resources=written)
        rendered = explaining.renderable(self.files.values, self.files.config)
        findings = reading.locate([*self.files.results, *rendered.results], written)
        self.failed = results.errors_of(findings)
        self.loaded: Sources = self.files._replace(resources=[written[index] for index in rendered.resources])
        objects = rendered.objects if render.generated is None else [source.value for source in render.generated]
        self.rendered: Renderable = rendered._replace(resources=dict(enumerate(rendered.resources.values())), objects=objects)

    @property
    def objects(self) -> list[Resource]:
        """The objects of the render."""
        return self.rendered.objects

    @cached_property
    def explanation(self) -> Explanation:
        """The fields of all objects with their origins."""
        return Explanation([*self.explain_objects(self.objects)], self.loaded.values, self.loaded.config)

    def explain_objects(self, objects: Iterable[Resource]) -> Iterator[Explained]:
        """Yields objects with the origins of their fields."""
        return explaining.explain_objects(self.rendered, objects, self.loaded.config)

    def is_unknown(self, given: Inputs) -> bool:
        """True if no object is known: all failed, or the configuration has an error."""
        return bool(self.failed) and (not self.objects or any(self._is_about_configuration(finding, given) for finding in self.failed))

    def _is_about_configuration(self, result: Result, given: Inputs) -> bool:
        files = {given.config, self.loaded.settings.file if self.loaded.settings else None}
        return bool(result.ref and function_config.is_config(result.ref)) or (bool(result.file) and result.file in files)

    def unused_fields(self) -> list[Result]:
        """Returns the warnings about fields that reach no object, with their locations."""
        message = "the field reaches no generated object; remove it, or check its name and its place"
        findings = [
            results.warning(codes.UNUSED_FIELD, message, origin.ref, origin.path)
            for origin in affected_fields.unused_leaves(self.explanation)
        ]
        return reading.locate(findings, self.loaded.resources)


def warn_of_unused(roots: Sequence[ExplainedRoot]) -> list[Result]:
    """Returns the warnings about fields that reach no object. A line of a base that several roots have must reach none in all of them."""
    by_root = [root.unused_fields() for root in roots]
    lines = [{(finding.file, finding.line, finding.column) for finding in findings} for findings in by_root]
    files = [{source.file for source in root.loaded.resources} for root in roots]
    distinct = {(finding.file, finding.line, finding.column): finding for findings in by_root for finding in findings}
    return [
        finding
        for location, finding in distinct.items()
        if all(location in unused_lines or finding.file not in of_root for unused_lines, of_root in zip(lines, files, strict=True))
    ]


def select(roots: Sequence[ExplainedRoot], object_name: str | None, field: str | None, line: str | None) -> list[RootSections]:
    """Returns the selected objects and fields of each root. Raises InputError, with the nearest name, if no root has them."""
    selected_path = field_paths.parse(field) if field is not None else None
    if field is not None and selected_path is None:
        raise InputError(f"{field!r} is not the path of a field, such as spec.replicas.", "--field")
    _require_object(roots, object_name)
    inputs = {} if selected_path is None else {id(root): _inputs(root, selected_path) for root in roots}
    of_objects = [
        root for root in roots if selected_path and any(_has_field(entry, selected_path) for entry in _objects_named(root, object_name))
    ]
    if line is not None:
        _require_line(roots, line)
    elif selected_path and not of_objects:
        _require_field(roots, object_name, f"{field}", inputs)
    shown = []
    for root in roots:
        sections = [Section("", root.explain_objects(_objects_named(root, object_name)))]
        if line is not None:
            sections = _of_line(root, line)
        elif selected_path and not of_objects:
            sections = _affected_sections(root, inputs[id(root)])
        path = selected_path if line is not None or of_objects else None
        objects = [section._replace(objects=_select_objects(section.objects, object_name, path)) for section in sections]
        shown.append(RootSections(root.name, objects, root.loaded))
    return shown


def _objects_named(root: ExplainedRoot, object_name: str | None) -> list[Resource]:
    return [resource for resource in root.objects if object_name is None or _is_named(resource, object_name)]


def _is_named(resource: Resource, name: str) -> bool:
    """True for KIND/NAME, and for the forms of reports: KIND NAME and KIND NAMESPACE/NAME."""
    ref = results.ref(resource)
    wanted = "/".join(name.split()).lower()
    return wanted in (f"{ref.kind}/{ref.name}".lower(), f"{ref.kind}/{ref.namespace}/{ref.name}".lower())


def _require_object(roots: Sequence[ExplainedRoot], object_name: str | None) -> None:
    if object_name is None or any(_objects_named(root, object_name) for root in roots):
        return
    refs = [results.ref(resource) for root in roots for resource in root.objects]
    names = {f"{ref.kind}/{ref.name}": None for ref in refs}
    raise InputError(f"no generated object is {object_name!r}{_nearest(object_name, names)}", "--object")


def _has_field(resource: Resource, selected: Path) -> bool:
    return any(field_paths.is_at_or_below(path, selected, resource) for path, _ in paths.leaves(resource))


def _inputs(root: ExplainedRoot, selected: Path) -> list[Origin]:
    """Returns the fields of Dynamo resources with a path: in the resource as it is built, or in the file that has the field."""
    return [
        Origin("user", path, source.address)
        for source in root.loaded.resources
        for path in origin_locations.paths_of(source.value)
        for document, inner in [reading.find_written_field(source, path)]
        if field_paths.is_at_or_below(path, selected, source.value) or field_paths.is_at_or_below(inner, selected, document.value)
    ]


def _require_field(roots: Sequence[ExplainedRoot], object_name: str | None, field: str, inputs: Mapping[int, Sequence[Origin]]) -> None:
    if any(inputs.values()):
        return
    objects = [resource for root in roots for resource in _objects_named(root, object_name)]
    known = {name: None for resource in objects for path, _ in paths.leaves(resource) for name in _above(path)}
    raise InputError(f"no object has the field {field!r}{_nearest(field, known)}", "--field")


def _above(path: Path) -> list[str]:
    """A field and all fields above it."""
    return [results.field(path[:length]) for length in range(1, len(path) + 1)]


def _nearest(name: str, known: dict[str, None]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def _select_objects(objects: Iterable[Explained], object_name: str | None, selected: Path | None) -> Iterator[Explained]:
    """The objects of that kind and name, with that field and those below it only."""
    for explained in objects:
        if object_name is not None and not _is_named(explained.resource, object_name):
            continue
        fields = [
            entry for entry in explained.fields if selected is None or field_paths.is_at_or_below(entry.path, selected, explained.resource)
        ]
        if fields or selected is None:
            yield explained._replace(fields=fields)


def _require_line(roots: Sequence[ExplainedRoot], line: str) -> None:
    """Raises InputError for a line without a field in any root."""
    file, _, line_text = line.rpartition(":")
    number = int(line_text) if line_text.isdecimal() else 0
    known = {known_line for root in roots for known_line in origin_locations.by_line(root.loaded, file)}
    if number in known:
        return
    nearest = min(known, key=lambda line_number: (abs(line_number - number), line_number)) if known and number else 0
    near = f"the nearest is {file}:{nearest}" if nearest else "write FILE:LINE"
    message = f"{line!r} is not a line with a field of a Dynamo resource or of the configuration; {near}"
    raise InputError(message, "--from")


def _of_line(root: ExplainedRoot, line: str) -> list[Section]:
    """Fields that a line reaches, and other fields that it decides."""
    file, _, number = line.rpartition(":")
    return _affected_sections(root, origin_locations.by_line(root.loaded, file).get(int(number), ()))


def _affected_sections(root: ExplainedRoot, inputs: Iterable[Origin]) -> list[Section]:
    """Fields that fields of a resource or a setting reach, and other fields that they decide."""
    groups: dict[Ref | Path, list[Origin]] = {}
    for origin in inputs:
        groups.setdefault(origin.ref or origin.path, []).append(origin)
    reached = [entry for group in groups.values() for entry in affected_fields.objects_reached(root.explanation, group)]
    decided = [entry for group in groups.values() for entry in affected_fields.objects_decided(root.explanation, group)]
    shown = {(explained.key, entry.path) for explained in reached for entry in explained.fields}
    more = [
        explained._replace(fields=[entry for entry in explained.fields if (explained.key, entry.path) not in shown])
        for explained in decided
    ]
    return [Section("reaches", reached), Section("decides", [explained for explained in more if explained.fields])]
