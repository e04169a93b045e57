"""Tells committed renders from their sources, and compares them with a new render.

A render is known by its marks: the label and the annotation of generated objects, the annotation `rendered-by` of graphs, and the first
line of files that `krm-fn render --output-dir` writes.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from krm_fn.base import codes, report, results
from krm_fn.base.results import Result
from krm_fn.kubernetes import identity
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.render import dynamo_api, labels
from krm_fn.render.dynamo_resources import EXPANDED
from krm_fn.render.manifests import ownership
from krm_fn.render.schema import object_changes
from krm_fn.repository.files import writing
from krm_fn.repository.files.reading import Source
from krm_fn.repository.roots import Root
from krm_fn.repository.tree import Tree

CODES = (codes.OUTDATED_COMMITTED_RENDER, codes.EDITED_COMMITTED_RENDER)
"""The codes of findings about a committed render that differs from a new one."""
_MOST = 5
"""The largest number of names, or of fields of an object, in one finding."""
_FLAGS = "--enable-alpha-plugins --enable-exec"


class CommittedRender(NamedTuple):
    """A committed render: a file with several documents, or the files of a folder with one document each.

    `names` are its files. `documents` have a mark; `others` are documents without one in the same file.
    """

    label: str
    names: frozenset[str]
    documents: list[Source]
    others: list[Source]
    is_folder: bool


class NewRender(NamedTuple):
    """The objects that a root makes now. A committed render must have all `objects`, and may have `others`, which have files of their own.

    `files` are its sources as a command line names them, `parts` all files of a Kustomization.
    """

    root: Root
    name: str
    objects: dict[ObjectKey, Resource]
    others: dict[ObjectKey, Resource] = {}
    parts: frozenset[str] = frozenset()
    files: tuple[str, ...] = ()


class StaleObject(NamedTuple):
    """An object that differs: its committed document, or None if it is missing, and the new object, or None if nothing renders it."""

    key: ObjectKey
    committed: Source | None
    new: Resource | None


def is_output(value: Any) -> bool:
    """True for a generated object, and for a Dynamo resource that a render has annotated."""
    if not (isinstance(value, dict) and results.ref(value).kind):
        return False
    return ownership.is_generated(value) or (results.ref(value).kind in EXPANDED and labels.RENDERED_BY in labels.annotations(value))


def outputs(tree: Tree, names: Iterable[str]) -> list[CommittedRender]:
    """Returns the committed renders among some files of a tree."""
    several: list[CommittedRender] = []
    single: dict[str, list[tuple[str, Source]]] = {}
    for name in names:
        file = tree.read(name)
        is_ours = file.text.startswith(writing.HEADER)
        marked = [source for source in file.sources if is_ours or is_output(source.value)]
        if len(file.sources) == 1 and marked:
            single.setdefault(posixpath.dirname(name) or ".", []).append((name, marked[0]))
        elif marked:
            others = [source for source in file.sources if source not in marked]
            several.append(CommittedRender(tree.shown(name), frozenset([name]), marked, others, is_folder=False))
    for folder, entries in single.items():
        label = tree.shown(folder) if len(entries) > 1 else tree.shown(entries[0][0])
        several.append(
            CommittedRender(label, frozenset(name for name, _ in entries), [source for _, source in entries], [], len(entries) > 1)
        )
    return sorted(several, key=lambda output: output.label)


def match(outputs_of_tree: Sequence[CommittedRender], renders: Sequence[NewRender]) -> list[tuple[CommittedRender, NewRender]]:
    """Returns the committed renders whose source is in the repository, each with the root that renders it.

    An equal render is the best match. Otherwise it is the one of the same folder, then the one with the most objects in common, then with
    the fewest differences, then the nearest one. A graph that changed its namespace has no object in common with its earlier render.
    """
    matches = []
    for output in outputs_of_tree:
        candidates = [(score, render) for render in renders if not output.names <= render.parts and (score := _score(output, render))]
        if candidates:
            matches.append((output, max(candidates, key=lambda candidate: candidate[0])[1]))
    return matches


def _score(output: CommittedRender, render: NewRender) -> tuple[bool, bool, int, int, int] | None:
    """Returns how well a render fits; None if it has no graph in common with a committed render.

    A render in the folder of a Kustomization that does not list it is that of this Kustomization, also after its graph got another name.
    """
    keys = len({identity.key(source.value) for source in output.documents} & render.objects.keys())
    rendered = {owner for resource in render.objects.values() for owner in _owners(resource)}
    owners = {owner for source in output.documents for owner in _owners(source.value)} & rendered
    folder = output.label if output.is_folder else posixpath.dirname(output.label) or "."
    if not owners and (render.root.kind != "kustomize" or folder != render.name):
        return None
    near = len(set(folder.split("/")) & set(render.name.split("/")))
    differences = compare(output, render)
    return not differences, folder == render.name, keys, -len(differences), near


def _owners(value: Resource) -> list[str]:
    ref = results.ref(value)
    return [f"{ref.kind}/{ref.name}"] if dynamo_api.is_dynamo(value) and ref.kind in EXPANDED else ownership.owners(value)


def documents(output: CommittedRender, render: NewRender) -> list[Source]:
    """Returns the documents that belong to a committed render: those with a mark, and others that the root makes too."""
    known = render.objects.keys() | render.others.keys()
    return [*output.documents, *(source for source in output.others if _is_resource(source) and identity.key(source.value) in known)]


def _is_resource(source: Source) -> bool:
    return bool(source.address.kind and source.address.name)


def compare(output: CommittedRender, render: NewRender) -> list[StaleObject]:
    """Returns the objects that differ between a committed render and a new one. The version of krm-fn alone is no difference."""
    by_key = {identity.key(source.value): source for source in documents(output, render)}
    differences = []
    for key in dict.fromkeys((*by_key, *render.objects)):
        source, new = by_key.get(key), render.objects.get(key, render.others.get(key))
        if source is None or new is None or _normal(source.value) != _normal(new):
            differences.append(StaleObject(key, source, new))
    return differences


def _normal(value: Resource) -> Resource:
    """Returns an object without the annotations of tools, and without the version of krm-fn."""
    cleaned = labels.without_tool_annotations(value)
    annotations = {key: text for key, text in labels.annotations(cleaned).items() if key != labels.ORIGIN}
    if isinstance(text := annotations.get(labels.RENDERED_BY), str):
        annotations[labels.RENDERED_BY] = re.sub(r"^krm-fn \S+", "krm-fn", text)
    metadata = {**cleaned["metadata"], "annotations": annotations}
    if not annotations:
        del metadata["annotations"]
    return {**cleaned, "metadata": metadata}


def findings(output: CommittedRender, render: NewRender, differences: Sequence[StaleObject]) -> list[Result]:
    """Returns an error for a committed render that is out of date, or one for each object in it that was edited."""
    if not differences:
        return []
    command = render_command(output, render)
    if _has_same_graphs(output, render) and all(difference.new and difference.committed for difference in differences):
        return [_edited_object(difference, command) for difference in differences]
    counts = [_names([d for d in differences if d.committed and d.new], "differ", "differs")]
    counts.append(_names([d for d in differences if not d.committed], "are missing", "is missing"))
    counts.append(_names([d for d in differences if not d.new], "are no longer rendered", "is no longer rendered"))
    message = f"the committed render of {render.name} is out of date: {'; '.join(filter(None, counts))}; run `{command}`"
    return [results.error(codes.OUTDATED_COMMITTED_RENDER, message, file=output.label)]


def _names(differences: Sequence[StaleObject], many: str, one: str) -> str:
    if not differences:
        return ""
    names = [
        f"{difference.key.kind} {difference.key.namespace}{'/' * bool(difference.key.namespace)}{difference.key.name}"
        for difference in differences
    ]
    return f"{report.list_first(names, _MOST)} {one if len(differences) == 1 else many}"


def _has_same_graphs(output: CommittedRender, render: NewRender) -> bool:
    """True if the graphs in a committed render are those of the source, and were rendered with the same settings."""
    graphs = [source.value for source in output.documents if labels.SPEC_HASH in labels.annotations(source.value)]
    return bool(graphs) and all(_stamp(graph) == _stamp(render.objects.get(identity.key(graph), {})) for graph in graphs)


def _stamp(graph: Resource) -> tuple[Any, ...]:
    annotations = labels.annotations(_normal(graph)) if graph else {}
    return annotations.get(labels.SPEC_HASH), annotations.get(labels.RENDERED_BY)


def _edited_object(difference: StaleObject, command: str) -> Result:
    """Returns the error about an edited object, at its first field that differs."""
    source, new = difference.committed, difference.new
    if source is None or new is None:
        raise ValueError("the object is not in both renders")
    fields = object_changes.between(_normal(new), _normal(source.value))
    path = fields[0].path if fields else ()
    names = ", ".join(results.field(field.path) for field in fields[:_MOST])
    message = (
        f"the object differs from a new render of the same graph in {names or 'its form'}; "
        f"write the change into the source, and run `{command}`"
    )
    return results.error(codes.EDITED_COMMITTED_RENDER, message, source.address, path)._replace(**source.location(path))


def render_command(output: CommittedRender, render: NewRender) -> str:
    """Returns the command that renders again."""
    target = f"--output-dir {shlex.quote(output.label)} --prune" if output.is_folder else f"> {shlex.quote(output.label)}"
    folder = shlex.quote(render.name)
    if render.root.kind == "kpt":
        return kpt_command(render.name)
    if render.root.kind == "kustomize":
        build = f"kustomize build {_FLAGS} {folder}"
        return f"{build} | krm-fn render - {target}" if output.is_folder else f"{build} {target}"
    return f"krm-fn render {' '.join(shlex.quote(file) for file in render.files)} {target}"


def kpt_command(folder: str) -> str:
    """Returns the command that renders a kpt package again."""
    return f"kpt fn render --allow-exec {shlex.quote(folder)}"


def by_key(resources: Iterable[Resource], namespace: str = "") -> dict[ObjectKey, Resource]:
    """Returns the resources that reach a cluster by their keys. `namespace` is that of resources without one."""
    return {identity.key(resource, namespace): resource for resource in resources if not labels.is_local(resource)}
