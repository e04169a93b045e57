"""The rule for PATH, which all commands that judge or render resources follow.

* A folder with roots is built: each Kustomization that no other one includes, each kpt package, and each folder that Argo CD, Flux or the
  project file names (`krm_fn.repository.roots`). Other folders have plain files.
* With `--no-build`, the files of a folder are read as they are.
* A file is read as a file, and `-` is stdin. All files, plain folders and stdin of a command are rendered together.
* `REV:PATH` is a file or a folder of a git revision, as `krm-fn diff` prints it.
* Without a path, the path is the current folder.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from krm_fn.base import codes, report, results
from krm_fn.base.results import Result
from krm_fn.kubernetes import identity
from krm_fn.kubernetes.types import Resource
from krm_fn.render import dynamo_api, dynamo_resources, expand
from krm_fn.render.config import Config
from krm_fn.render.manifests import ownership
from krm_fn.render.resolve import cluster
from krm_fn.repository import committed
from krm_fn.repository.files import project_file, reading, selection
from krm_fn.repository.files.reading import Source
from krm_fn.repository.files.sources import Sources
from krm_fn.repository.states import RepositoryFiles, RootFiles
from krm_fn.review import render_settings
from krm_fn.review.inputs import Inputs, repository_states, revision_path

_MOST = 3
"""The largest number of names in one finding."""

_NO_GRAPH = (
    "the build of {} has the objects of a graph and not the graph, because its configuration sets source: drop, so this command has no "
    "answer; name the folder of the graph, or set source: local"
)


class RenderFiles(NamedTuple):
    """The resources of a part that are rendered with one configuration. Those that a build generated are not among them.

    `generated` are the objects of these resources in the build; None if no build rendered them.
    """

    name: str
    sources: Sources
    generated: list[Source] | None = None


class PathPart(NamedTuple):
    """The resources of a root, or those of all paths that are no folder with roots. `name` is the folder of the root; else it is empty.

    `is_built`: kustomize built the resources, or kpt rendered them.
    """

    name: str
    sources: Sources
    is_built: bool = False

    def renders(self) -> list[RenderFiles]:
        """Returns the renders of the part: one for each configuration. In a build, a render wrote its configuration on its graphs."""
        if not self.is_built:
            return [RenderFiles(self.name, self.sources)]
        written = [source for source in self.sources.resources if not ownership.is_generated(source.value)]
        others = [source for source in written if not dynamo_resources.is_expanded(source.value)]
        by_config: dict[Config, list[Source]] = {}
        for source in written:
            if dynamo_resources.is_expanded(source.value):
                by_config.setdefault(self._config(source), []).append(source)
        return [self._render(config, graphs, others) for config, graphs in (by_config or {self.sources.config: []}).items()]

    def errors(self, top: Path | None = None) -> list[Result]:
        """Returns the findings about the files, and the errors of all renders. `top` is the root folder of a build."""
        expansions = [expand.expand(render.sources.values, render.sources.config) for render in self.renders()]
        errors = [finding for expansion in expansions for finding in results.errors_of(expansion.results)]
        return reading.locate([*self.sources.results, *errors], self.sources.resources, top)

    def _render(self, config: Config, graphs: Sequence[Source], others: Iterable[Source]) -> RenderFiles:
        namespace = cluster.default_namespace(config)
        keys = {identity.key(source.value, namespace) for source in graphs}
        generated = [
            source
            for source in self.sources.resources
            if (not graphs and ownership.is_generated(source.value))  # source: drop
            or not keys.isdisjoint(dynamo_resources.owner_keys(source.value, identity.key(source.value, namespace).namespace))
        ]
        return RenderFiles(self.name, self.sources._replace(resources=[*graphs, *others], config=config), generated or None)

    def _config(self, graph: Source) -> Config:
        """Returns the settings that made the objects of a graph."""
        config = self.sources.config
        if self.sources.configs:
            return config
        settings = render_settings.of(graph.value, config)
        return settings._replace(namespace=settings.namespace or config.namespace)


class LoadedRoots(NamedTuple):
    """All that the paths of a command apply. `lines` say how each root was read, and `results` are findings about folders as a whole."""

    roots: list[PathPart]
    results: list[Result]
    lines: list[str]

    @property
    def parts(self) -> list[Sources]:
        """The resources of each part."""
        return [root.sources for root in self.roots]

    @property
    def names(self) -> list[str]:
        """The folder of each part; empty for paths that are no root."""
        return [root.name for root in self.roots]

    @property
    def resources(self) -> list[Source]:
        """The resources of all parts."""
        return [source for part in self.parts for source in part.resources]

    @property
    def stdin(self) -> str:
        """The text of stdin; empty if no part has it."""
        return next((part.stdin for part in self.parts if part.stdin), "")

    def with_dynamo(self) -> LoadedRoots:
        """Returns the parts with a Dynamo resource or an object of one, and those with errors, which may have some; all if none has any."""
        needed = [root for root in self.roots if any(map(is_of_dynamo, root.sources.values)) or results.has_errors(root.sources.results)]
        return self._replace(roots=needed or self.roots)

    def at_texts(self, move: Callable[[Source], Source]) -> LoadedRoots:
        """Returns the same resources at other texts, those that a function returns for them."""
        moved = [root.sources._replace(resources=[*map(move, root.sources.resources)]) for root in self.roots]
        return self._replace(roots=[root._replace(sources=part) for root, part in zip(self.roots, moved, strict=True)])


def load(given: Inputs, changes: Mapping[str, str] | None = None, without: Path | None = None) -> LoadedRoots:
    """Loads what the paths of a command apply, without the findings about committed renders.

    `changes` are new texts of files by their paths. Folders with roots are read as if the files had these texts. The files of the folder
    `without` are not read.
    """
    repositories = repository_states.folders(given)
    revisions = {path: inside for path in given.paths if (inside := revision_path(path))}
    others = given._replace(paths=tuple(path for path in given.paths if path not in repositories and path not in revisions))
    loaded = LoadedRoots([], [], [])
    loaded.results.extend(parts := parts_of_kustomizations(others))
    others = others._replace(paths=tuple(path for path in others.paths if path not in {finding.file for finding in parts}))
    if others.paths:
        loaded.roots.append(PathPart("", others.load(without)))
    for path in given.paths:
        if path in repositories:
            _add(loaded, path, repository_states.read(path, _excluding(given, path, without), None, changes).new)
        elif path in revisions:
            _add(loaded, path, repository_states.read_revision(*revisions[path], given))
    loaded.results.extend(charts(loaded.resources))
    return loaded


def charts(resources: Sequence[Source]) -> list[Result]:
    """Returns a note about HelmReleases, if no Dynamo resource is beside them: their graphs are known only after `helm template`."""
    releases = [source for source in resources if source.address.kind == "HelmRelease"]
    if not releases or any(is_of_dynamo(source.value) for source in resources):
        return []
    names = report.list_first([report.visible(source.address.name) for source in releases], _MOST)
    message = f"krm-fn renders no charts, so the graphs of HelmRelease {names} are not known"
    fix = "to judge them, pipe `helm template CHART --values VALUES` into this command"
    return [results.info(codes.CHART_NOT_RENDERED, f"{message}; {fix}", releases[0].address, **releases[0].location())]


def parts_of_kustomizations(given: Inputs) -> list[Result]:
    """Returns an error for each file that a Kustomization names as a patch or as values: alone, it is no whole resource."""
    parts = {path: folder for path in (given.paths if given.is_built else ()) if (folder := _kustomization_of(path))}
    return [_part(path, folder) for path, folder in parts.items()]


def _kustomization_of(path: str) -> str:
    """Returns the folder of the Kustomization beside or above a file that names the file as a patch or as values; empty without one."""
    if path == reading.STDIN or not Path(path).is_file():
        return ""
    file = Path(path).resolve()
    top = project_file.top(file.parent)
    for folder in (folder for folder in file.parents if folder.is_relative_to(top)):
        if any((folder / name).is_file() and _names_part(folder / name, file) for name in selection.KUSTOMIZATIONS):
            return os.path.relpath(folder)
    return ""


def _names_part(kustomization: Path, file: Path) -> bool:
    values = [source.value for source in reading.read(str(kustomization)).sources if isinstance(source.value, dict)]
    return any(Path(os.path.normpath(kustomization.parent / part)) == file for value in values for part in selection.paths_of_parts(value))


def _part(path: str, folder: str) -> Result:
    message = f"the file is a part of the Kustomization in {report.visible(folder)}, such as a patch, and no whole resource"
    return results.error(
        codes.FILE_OF_KUSTOMIZATION,
        f"{message}; name the folder {report.visible(folder)}, or read the file as it is with --no-build",
        file=path,
    )


def _add(loaded: LoadedRoots, path: str, state: RepositoryFiles) -> None:
    """Adds the roots of a folder."""
    loaded.roots.extend(PathPart(root.name, root.sources, root.root.kind != "folder") for root in state.roots)
    is_plain = len(state.roots) == 1 and state.roots[0].root.kind == "folder"
    loaded.lines.extend([] if is_plain else (root.line for root in state.roots))
    findings = [finding for finding in state.results if finding.code not in committed.CODES]
    if not any(map(has_content, state.roots)) and not results.has_errors(findings):
        findings.append(nothing(path, state))
    loaded.results.extend(findings)


def is_of_dynamo(resource: Resource) -> bool:
    """True for a Dynamo resource, and for an object that a render made of one."""
    return dynamo_api.is_dynamo(resource) or ownership.is_generated(resource)


def has_content(root: RootFiles) -> bool:
    """True for a root with resources, and for one whose findings say why it has none."""
    return bool(root.sources.resources) or results.has_errors(root.sources.results) or not root.is_known


def nothing(path: str, state: RepositoryFiles) -> Result:
    """Returns the error about a folder in which no root has a Dynamo resource."""
    looked_at = [f"{report.pluralize(state.skipped, 'root')} without a Dynamo resource"] if state.skipped else []
    looked_at += [selection.summary(state.files)] if state.files else []
    return no_resource([path], "; ".join(looked_at))


def without_dynamo(loaded: LoadedRoots, given: Inputs) -> list[Result]:
    """Returns the error about paths that have resources, but none of Dynamo: a command about graphs has no answer then."""
    is_known = results.has_errors(loaded.results) or any(results.has_errors(part.results) for part in loaded.parts)
    return [] if is_known or any(is_of_dynamo(source.value) for source in loaded.resources) else [no_resource(given.paths)]


def without_graphs(loaded: LoadedRoots) -> list[Result]:
    """Returns an error for each build with generated objects and without a Dynamo resource, for commands that look at the graphs."""
    return [
        results.error(codes.BUILD_WITHOUT_GRAPH, _NO_GRAPH.format(report.visible(root.name)))
        for root in loaded.roots
        if root.is_built
        and any(ownership.is_generated(value) for value in root.sources.values)
        and not any(map(dynamo_resources.is_expanded, root.sources.values))
    ]


def no_resource(paths: Iterable[str], reason: str = "") -> Result:
    """Returns the error about paths without a Dynamo resource. `reason` says what krm-fn looked at."""
    names = report.visible(", ".join(map(reading.name, paths)))
    return results.error(
        codes.NO_INPUT, f"no Dynamo resource in {names}{f' ({reason})' if reason else ''}; name a file or folder with resources"
    )


def _excluding(given: Inputs, path: str, without: Path | None) -> Inputs:
    """Returns the inputs without the files of a folder below a path."""
    top = Path(path).resolve()
    if without is None or not without.resolve().is_relative_to(top) or without.resolve() == top:
        return given
    name = "".join(f"[{letter}]" if letter in "*?[" else letter for letter in without.resolve().relative_to(top).as_posix())
    return given._replace(exclude=(*given.exclude, f"{name}/*"))
