"""Renders the roots of `krm-fn render`, and finds the committed renders that are out of date."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from krm_fn.base import codes, report, results
from krm_fn.base.results import Result
from krm_fn.kubernetes import identity
from krm_fn.kubernetes.types import Resource
from krm_fn.render import apply_order, expand, labels
from krm_fn.render.manifests import ownership
from krm_fn.render.resolve import cluster
from krm_fn.repository import committed
from krm_fn.repository.files import reading
from krm_fn.repository.states import RootFiles
from krm_fn.review.diff import rendered_state
from krm_fn.review.inputs import InputError, Inputs, path_inputs, repository_states
from krm_fn.review.inputs.path_inputs import LoadedRoots, PathPart


class RootRender(NamedTuple):
    """The objects of a part in the order in which they can be applied, and the findings about it."""

    objects: list[Resource]
    findings: list[Result]


def render(root: PathPart) -> RootRender:
    """Renders a part. Of a build, the objects that it rendered stay as they are, because a later layer may have changed them."""
    loaded, namespace = root.sources, cluster.default_namespace(root.sources.config)
    built = rendered_state.built_keys(loaded.values, loaded.config) if root.is_built else frozenset()
    keyed = [(identity.key(value, namespace), value) for value in loaded.values]
    finished = [value for key, value in keyed if key in built or (root.is_built and ownership.is_generated(value))]
    finished_ids = {id(value) for value in finished}
    expansion = expand.expand([value for value in loaded.values if id(value) not in finished_ids], loaded.config)
    applied = [resource for resource in (*expansion.resources, *finished) if not labels.is_local(resource)]
    objects = apply_order.sort(map(labels.without_tool_annotations, applied))
    return RootRender(objects, reading.locate([*loaded.results, *expansion.results], loaded.resources))


def several(loaded: LoadedRoots) -> list[Result]:
    """Returns the error about several roots: their objects are those of several clusters or namespaces."""
    names = ", ".join(report.visible(name or "the files") for name in loaded.names)
    message = (
        f"{len(loaded.roots)} roots have Dynamo resources: {names}; name one of them as PATH, write each into a folder of its own with "
        "--output-dir, or render the plain files together with --no-build"
    )
    return [results.error(codes.SEVERAL_ROOTS, message)]


def check_folder_names(loaded: LoadedRoots) -> list[Result]:
    """Returns the error about roots that would be written into the same folder."""
    names = [name for name, number in Counter(loaded.names).items() if number > 1 or (not name and len(loaded.names) > 1)]
    message = "--output-dir writes one folder for each root, so name folders only, and each of them once; several renders have the folder"
    return [results.error(codes.SEVERAL_ROOTS, f"{message} {', '.join(report.visible(name or '.') for name in names)}")] if names else []


def folders(folder: Path, names: list[str]) -> list[Path]:
    """Returns the folder for the files of each root: below `folder`, as the roots are below the folder that has all of them."""
    if len(names) == 1:
        return [folder]
    top = os.path.commonpath(names)
    return [folder / os.path.relpath(name, top) for name in names]


class CheckedRenders(NamedTuple):
    """The committed renders of folders, the findings about them, and the folders of the roots with a Dynamo resource."""

    names: list[str]
    results: list[Result]
    roots: list[str]


def check_committed(given: Inputs, *, accepts_functions: bool) -> CheckedRenders:
    """Compares the committed renders of folders with new renders. Raises InputError for a path that is no folder.

    A committed render that cannot be compared is an error, unless the user accepts packages with other functions.
    """
    findings: list[Result] = []
    names: list[str] = []
    roots: list[RootFiles] = []
    for path in given.paths:
        if path == reading.STDIN or not Path(path).is_dir():
            raise InputError("--check takes folders, or --output-dir", None)
        state = repository_states.read(path, given, None).new
        unknown = [result for root in state.roots if not root.is_known for result in root.sources.results]
        findings += results.errors_of((*state.results, *unknown))
        findings += [_accept_functions(result) if accepts_functions else result for result in state.unjudged]
        names += state.committed
        roots += [root for root in state.roots if any(map(path_inputs.is_of_dynamo, root.sources.values))]
    if not names and not findings:
        findings = _without_source(roots) or ([] if roots else [path_inputs.no_resource(given.paths)])
    return CheckedRenders(names, findings, [root.name for root in roots])


def _without_source(roots: Sequence[RootFiles]) -> list[Result]:
    """Returns the errors about committed renders that cannot be compared, because their graphs are not in the repository."""
    outputs = [
        source for root in roots if root.root.kind == "folder" for source in root.sources.resources if committed.is_output(source.value)
    ]
    message = "the source of this render is not here, so the render cannot be compared; name the folder that has both"
    return [results.error(codes.NO_INPUT, message, file=file) for file in dict.fromkeys(source.file for source in outputs)]


def _accept_functions(result: Result) -> Result:
    """Returns the finding about a package with other functions as a warning."""
    return result._replace(severity="warning") if result.code == codes.KPT_RENDER_NOT_COMPARED else result
