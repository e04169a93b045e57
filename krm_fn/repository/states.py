"""Reads all roots of one state of a repository: builds them, and loads what each of them applies."""

from __future__ import annotations

import contextlib
import posixpath
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from krm_fn.base import codes, results
from krm_fn.base.results import Result
from krm_fn.render import dynamo_resources, expand, function_config
from krm_fn.render.config import Config
from krm_fn.render.manifests import ownership
from krm_fn.render.resolve import cluster
from krm_fn.repository import builds, committed, destinations, function_annotations, function_layers, kustomizations, root_inputs, roots
from krm_fn.repository.build_cache import BuildCache, SharedBuilds
from krm_fn.repository.builds import BuildInput, RootBuild
from krm_fn.repository.committed import CommittedRender, NewRender
from krm_fn.repository.destinations import Destination
from krm_fn.repository.files import reading, selection, sources
from krm_fn.repository.files.reading import File, Source
from krm_fn.repository.files.selection import FileListing, ListedFile
from krm_fn.repository.files.sources import Sources
from krm_fn.repository.kustomizations import Closure
from krm_fn.repository.private_programs import Programs
from krm_fn.repository.roots import Root, TreeRoots
from krm_fn.repository.tree import Tree


class RootOptions(NamedTuple):
    """The options of a command that decide how roots are read. `config` is the file of `--config`, on disk.

    `default_config` is the file with the configuration of roots without one. `roots` are the folders that the project file names as roots,
    with their namespaces; if empty, krm-fn finds the roots. `progress` is called with the name of each root before it is read. `cache` has
    builds of other runs, or of the other state.
    """

    config: str | None = None
    default_config: str | None = None
    namespace: str = ""
    exclude: tuple[str, ...] = ()
    roots: tuple[tuple[str, str], ...] = ()
    progress: Callable[[str], None] = lambda _: None
    cache: BuildCache | SharedBuilds | None = None


class RootFiles(NamedTuple):
    """What a root applies. `how` says how krm-fn read it, and who applies it.

    `is_known` is false if the build failed, so that its resources are not known. `name` is that of its folder in texts, and `path` the same
    in both states: it is relative to the folder that the command names. `is_unchanged`: the root applies the same in the other state. If it
    is a build, it then has no sources. `kustomization` is the Kustomization of its folder, if that can be read.
    """

    root: Root
    name: str
    path: str
    how: str
    sources: Sources
    is_known: bool = True
    is_unchanged: bool = False
    kustomization: Source | None = None

    @property
    def destination(self) -> Destination:
        """The clusters to which the root is applied."""
        return destinations.of(self.root.clusters, self.root.folder)

    @property
    def line(self) -> str:
        """The line that says how the root was read."""
        return f"{self.name}: {self.how}"

    @property
    def verbose_line(self) -> str:
        """The line that also says why a Kustomization without a pipeline is a root."""
        return f"{self.line}: {self.root.reason}" if self.root.reason == roots.NOT_INCLUDED else self.line


class RepositoryFiles(NamedTuple):
    """The roots of a state, findings about the state as a whole, and the number of roots without a Dynamo resource.

    `files` counts the files that are not read, by reason. `committed` are the names of the committed renders that were compared with a
    new render, and `unjudged` the errors about those that cannot be compared. `rejected` are the findings of `TreeRoots.rejected`,
    which change nothing of what krm-fn reads, so only the check reports them.
    """

    roots: list[RootFiles]
    results: list[Result]
    skipped: int = 0
    files: Counter[str] = Counter()
    committed: tuple[str, ...] = ()
    unjudged: tuple[Result, ...] = ()
    rejected: tuple[Result, ...] = ()


class RootListing(NamedTuple):
    """The roots of a tree before any of them is built. `relevant` are those with a Dynamo resource, and `outputs` the committed renders.

    `digests` are those of the inputs of relevant roots, by their folders (`krm_fn.repository.root_inputs`).
    """

    tree: Tree
    options: RootOptions
    roots: TreeRoots
    relevant: list[Root]
    outputs: list[CommittedRender]
    digests: dict[str, str]

    @property
    def inputs(self) -> dict[str, str]:
        """The digests of the roots that can be compared with another state: none beside a committed render, which is compared with all."""
        return {} if self.outputs else self.digests


def find(tree: Tree, options: RootOptions) -> RootListing:
    """Finds the roots of a tree. The tree must be a private copy: builds change its files."""
    listing = roots.find(tree, options.exclude, options.roots)
    relevant = [root for root in listing.roots if _is_relevant(tree, root, listing)]
    outputs = committed.outputs(tree, _names_of_outputs(tree, listing))
    settings = [file for file in (options.config, options.default_config) if file]
    digests = root_inputs.digests(tree, listing, relevant, settings) if options.cache or not outputs else {}
    return RootListing(tree, options, listing, relevant, outputs, digests)


def with_other_state(listing: RootListing, other: RootListing) -> RootListing:
    """Returns the listing of a state with what the other state says about its roots.

    A root with a Dynamo resource in the other state is relevant too: its other objects stay. What an unreadable Kustomization includes in
    the other state is no root of its own.
    """
    at, before = listing.tree.at, other.roots.closures
    folders = {posixpath.relpath(root.folder, other.tree.at) for root in other.relevant}
    parts = {inner for folder in listing.roots.unreadable if folder in before for inner in before[folder].folders if inner != folder}
    relevant = [
        root
        for root in listing.roots.roots
        if (root in listing.relevant or posixpath.relpath(root.folder, at) in folders) and (root.is_delivered or root.folder not in parts)
    ]
    return listing._replace(relevant=relevant)


def with_shared_builds(listing: RootListing, other: RootListing) -> tuple[RootListing, RootListing]:
    """Returns the listings of two states that are read one after the other: roots with the same inputs are built once for both."""
    if listing.options.cache or other.options.cache:
        return listing, other
    shared = SharedBuilds({*listing.digests.values()} & {*other.digests.values()})
    first, second = (state._replace(options=state.options._replace(cache=shared)) for state in (listing, other))
    return first, second


def read(repository: RootListing, programs: Programs, unchanged: Collection[str] = ()) -> RepositoryFiles:
    """Reads all roots that have a Dynamo resource, each once. The roots in the folders `unchanged` are not built.

    Their plain files are read, because this needs no program. A root with an error in them does not count as unchanged.
    """
    tree, options, listing, relevant, outputs, digests = repository
    reader = _RootReader(tree, programs, options, listing, {}, {}, digests)
    states = reader.states(relevant, outputs, unchanged)
    known = [state for state in states if state.is_known and outputs]
    matches = committed.match(outputs, [render for state in known for render in reader.renders(state)])
    compared = [finding for output, render in matches for finding in reader.compare_output(output, render)]
    packages = [finding for state in states for finding in reader.compared_package(state)]
    belonging = [source for output, render in matches for source in committed.documents(output, render)]
    unmatched = [output for output in outputs if not any(output is matched for matched, _ in matches)]
    if unmatched or any(output.others for output in outputs):
        states = [reader.folder(state.root, belonging) if state.root.kind == "folder" else state for state in states]
    compared_names = {name for output, _ in matches for name in output.names}
    unknown = {*listing.unreadable, *(state.root.folder for state in states if not state.is_known)}
    unlisted = [name for name in listing.unlisted if name not in compared_names and (posixpath.dirname(name) or ".") not in unknown]
    remote = [finding for root in listing.roots if root not in relevant for finding in _remote(root, listing)]
    not_listed = [_not_listed(tree, name, listing) for name in unlisted]
    not_run = [] if outputs else [finding for state in states for finding in _not_run(tree, state, listing, unlisted)]
    folders = [root.folder for root in relevant if root.kind == "kustomize"]
    unannotated = [finding for folder in folders for finding in function_annotations.check(tree, folder, listing.closures)]
    findings = [*listing.results, *remote, *compared, *packages, *not_listed, *not_run, *unannotated]
    shown = [state for state in states if _is_shown(state)]
    packages_compared = [state.name for state in states if reader.is_rendered(state)]
    names = (*(output.label for output, _ in matches), *packages_compared)
    unjudged = tuple(finding for state in states for finding in reader.report_unjudged(state))
    return RepositoryFiles(shown, findings, len(listing.roots) - len(relevant), listing.skipped, names, unjudged, tuple(listing.rejected))


def read_file(tree: Tree, name: str, options: RootOptions) -> RepositoryFiles:
    """Reads one file of a tree, without a build."""
    config = tree.read_path(options.config).sources if options.config else []
    loaded = sources.from_files([tree.read(name)], config, namespace=options.namespace)
    shown = tree.shown(name)
    return RepositoryFiles([RootFiles(Root(name, "folder", "a file", files=(name,)), shown, name, "read as a file", loaded)], [])


def rebuilt(repository: RootListing, root: Root, programs: Programs) -> RootFiles | None:
    """Reads one root as it is in the copy now; None without its Kustomization. The tree of `repository` must have read no file yet."""
    tree, options, listing = repository.tree, repository.options, repository.roots
    if root.kind != "kustomize":
        return _RootReader(tree, programs, options, listing, {}, {}, {}).state(root, ())
    closure = kustomizations.closure(tree, root.folder)
    if root.folder not in closure.folders:
        return None
    return _RootReader(tree, programs, options, listing._replace(closures={root.folder: closure}), {}, {}, {}).kustomize(root)


def _is_shown(state: RootFiles) -> bool:
    """True for a root with a resource or a finding, and for one that was not built."""
    is_unbuilt = not state.is_known or (state.is_unchanged and state.root.kind != "folder")
    return is_unbuilt or bool(state.sources.resources or state.sources.results)


def _is_relevant(tree: Tree, root: Root, listing: TreeRoots) -> bool:
    if root.kind == "kustomize":
        return listing.closures[root.folder].names_dynamo or _misses_dynamo(tree, listing.closures[root.folder], listing)
    names = root.files if root.kind == "folder" else tree.below(root.folder)
    return any(tree.read(name).names_dynamo for name in names)


def _misses_dynamo(tree: Tree, closure: Closure, listing: TreeRoots) -> bool:
    """True if a Kustomization names a file or folder that does not exist, and the one that it means has a Dynamo resource.

    That is a file of a similar name beside it, or a folder of the same name elsewhere.
    """
    missing = [*kustomizations.missing(tree, closure)]
    names = {posixpath.basename(posixpath.normpath(posixpath.join(folder, written))) for folder, written in missing}
    if names and any(posixpath.basename(folder) in names and other.names_dynamo for folder, other in listing.closures.items()):
        return True
    near = (posixpath.normpath(posixpath.join(folder, kustomizations.nearest_path(tree, folder, written))) for folder, written in missing)
    return any(tree.is_file(name) and tree.read(name).names_dynamo for name in near)


def _remote(root: Root, listing: TreeRoots) -> Iterator[Result]:
    """Yields notes about the problems of a root without a known Dynamo resource: what krm-fn cannot read may have one."""
    problems = listing.closures[root.folder].problems if root.kind == "kustomize" else ()
    yield from (problem._replace(severity="info") for problem in problems)


def _not_listed(tree: Tree, name: str, listing: TreeRoots) -> Result:
    """Returns the finding about a file beside a Kustomization that does not list it."""
    if other := _running_beside(tree, posixpath.dirname(name) or ".", listing) if _has_config(tree, name) else "":
        problem = f"the Kustomization beside this DynamoRender does not run krm-fn, and {tree.shown(other)} with the same base does"
        return results.warning(codes.FILE_NOT_IN_KUSTOMIZATION, f"{problem}; list the file under transformers", file=tree.shown(name))
    message = "the file has Dynamo resources, but the Kustomization beside it does not list it, so it is not applied; list it, or move it"
    return results.info(codes.FILE_NOT_IN_KUSTOMIZATION, message, file=tree.shown(name))


def _not_run(tree: Tree, state: RootFiles, listing: TreeRoots, unlisted: Collection[str]) -> Iterator[Result]:
    """Yields the note about a Kustomization that prints a graph without its objects, if another one with the same base prints them.

    It is no error: the operator may run in its cluster, or a later step may render its build. A DynamoRender beside it has DYN065.
    """
    folder, resources = state.root.folder, state.sources.values
    if state.kustomization is None or not any(map(dynamo_resources.is_expanded, resources)) or any(map(ownership.is_generated, resources)):
        return
    configs = [name for name in unlisted if (posixpath.dirname(name) or ".") == folder and _has_config(tree, name)]
    other = "" if configs or function_layers.runs_function(tree, listing.closures[folder]) else _running_beside(tree, folder, listing)
    if other:
        problem = (
            f"this Kustomization prints graphs without their objects, because krm-fn does not run in it, and in {tree.shown(other)} it does"
        )
        fix = "list a DynamoRender under transformers, unless the operator runs in the cluster, or a later step renders the build"
        yield results.info(codes.KUSTOMIZATION_WITHOUT_FUNCTION, f"{problem}; {fix}", **state.kustomization.location())


def _has_config(tree: Tree, name: str) -> bool:
    return any(function_config.is_config(source.address) for source in tree.read(name).sources)


def _running_beside(tree: Tree, folder: str, listing: TreeRoots) -> str:
    """Returns the folder of a Kustomization that runs krm-fn and shares a file with that of another folder; empty without one."""
    closure = listing.closures.get(folder)
    for other, candidate in listing.closures.items() if closure else ():
        if closure and other != folder and not closure.files.isdisjoint(candidate.files) and function_layers.runs_function(tree, candidate):
            return other
    return ""


def _names_of_outputs(tree: Tree, listing: TreeRoots) -> list[str]:
    plain = [name for root in listing.roots if root.kind == "folder" for name in root.files]
    parts = [name for closure in listing.closures.values() for name in closure.files]
    return [name for name in dict.fromkeys((*plain, *listing.unlisted, *parts)) if tree.contains(name)]


_RENDERED = "rendered"


class _RootReader(NamedTuple):
    """Reads single roots of a tree. `packages` and `parts` grow: the committed files of kpt packages, and the builds of parts of roots."""

    tree: Tree
    programs: Programs
    options: RootOptions
    listing: TreeRoots
    packages: dict[str, list[Source]]
    parts: dict[str, RootFiles]
    digests: dict[str, str]

    def states(self, listed: Sequence[Root], outputs: Sequence[CommittedRender], unchanged: Collection[str]) -> list[RootFiles]:
        """Reads roots in their order. Kustomizations are built side by side. The roots in the folders `unchanged` are not built."""
        built = [root for root in listed if root.kind == "kustomize" and self.path(root) not in unchanged]
        inputs = [BuildInput(root, self.listing.closures[root.folder], self.digests.get(self.path(root), "")) for root in built]
        in_order = builds.build_side_by_side(self.tree, inputs, self.programs, self.options.cache)
        with contextlib.closing(in_order) as builds_in_order:
            return [self._read(root, outputs, unchanged, builds_in_order) for root in listed]

    def _read(
        self, root: Root, outputs: Sequence[CommittedRender], unchanged: Collection[str], builds_in_order: Iterator[RootBuild]
    ) -> RootFiles:
        if self.path(root) in unchanged:
            return self.unchanged_root(root)
        if root.kind != "kustomize":
            return self.state(root, outputs)
        self.options.progress(self.tree.shown(root.folder))
        return self._read_build(root, next(builds_in_order))

    def state(self, root: Root, outputs: Sequence[CommittedRender]) -> RootFiles:
        """Reads a root. Of plain files, the files with committed renders are left out."""
        self.options.progress(self.tree.shown(root.folder))
        if root.kind == "kustomize":
            return self.kustomize(root)
        if root.kind == "kpt":
            return self.kpt(root)
        return self.folder(root, [source for output in outputs for source in (*output.documents, *output.others)])

    def kustomize(self, root: Root) -> RootFiles:
        """Builds a Kustomization."""
        return self._read_build(root, builds.kustomize(self.tree, root, self.listing.closures[root.folder], self.programs))

    def _read_build(self, root: Root, build: RootBuild) -> RootFiles:
        if build.unrendered and results.has_errors((unrendered := self._load_unrendered(build.unrendered, root))[1]):
            return self._state(root, "built without krm-fn", unrendered[0], is_known=False)
        how = f"built with {build.program}" if build.program else "not built"
        return self._state(root, how, self._load_build(build, root), is_known=bool(build.program))

    def _load_unrendered(self, build: RootBuild, root: Root) -> tuple[Sources, list[Result]]:
        """Returns the resources that krm-fn gets in a build, with its configuration, and the findings about them and their render.

        If krm-fn makes the build fail, they say at which line.
        """
        names = sorted(self.listing.closures[root.folder].files)
        sources_of_files = [source for name in names for source in self.tree.read(name).sources]
        configs = [source for source in sources_of_files if function_config.is_config(source.address)][:1]
        loaded = self._load_build(build, root, configs)
        return loaded, [*loaded.results, *expand.expand(loaded.values, loaded.config).results]

    def kpt(self, root: Root) -> RootFiles:
        """Renders a kpt package, and reads its files."""
        written = [source for name in _package(self.tree, root) for source in self.tree.read(name).sources]
        self.packages[root.folder] = [source for source in written if committed.is_output(source.value)]
        build = builds.kpt(self.tree, root, self.programs)
        rendered = self.tree.again()
        names = [name for name in _package(rendered, root) if not selection.is_excluded(name, self.options.exclude)]
        loaded = self._load_files(rendered, names, root, ())
        loaded = loaded._replace(results=[*build.results, *loaded.results])
        is_known = not results.has_errors(build.results)
        return self._state(root, f"{_RENDERED} with {build.program}" if build.program else "read as it is", loaded, is_known=is_known)

    def folder(self, root: Root, omitted: Iterable[Source]) -> RootFiles:
        """Reads the plain files of a root, without some of their documents."""
        return self._state(root, "read as plain files", self._load_files(self.tree, root.files, root, omitted), is_known=True)

    def unchanged_root(self, root: Root) -> RootFiles:
        """Returns a root that applies the same in the other state."""
        if root.kind != "folder":
            return self._state(root, "not built", Sources([], [], Config(), []), is_known=True)._replace(is_unchanged=True)
        state = self.folder(root, ())
        return state._replace(is_unchanged=not results.has_errors(state.sources.results))

    def path(self, root: Root) -> str:
        """Returns the folder of a root, relative to the folder that the command names."""
        return posixpath.relpath(root.folder, self.tree.at)

    def _state(self, root: Root, how: str, loaded: Sources, *, is_known: bool) -> RootFiles:
        reason = "" if root.reason == roots.NOT_INCLUDED else f": {root.reason}"
        closure = self.listing.closures.get(root.folder) if root.kind == "kustomize" else None
        kustomization = closure.folders.get(root.folder) if closure else None
        return RootFiles(
            root, self.tree.shown(root.folder), self.path(root), f"{how}{reason}", loaded, is_known, kustomization=kustomization
        )

    def _load_build(self, build: RootBuild, root: Root, configs: Sequence[Source] = ()) -> Sources:
        by_file = groupby(sorted(build.sources, key=lambda source: source.file), key=lambda source: source.file)
        files = [File("", list(group), []) for _, group in by_file]
        named = configs or (self.tree.read_path(self.options.config).sources if self.options.config else [])
        is_rendered = any(committed.is_output(source.value) for source in build.sources)
        default = self.tree.read_path(self.options.default_config).sources if self.options.default_config and not is_rendered else []
        loaded = sources.from_files(files, named, next(iter(default), None), namespace=self.options.namespace or root.namespace)
        return loaded._replace(results=[*build.results, *loaded.results])

    def _load_files(self, tree: Tree, names: Iterable[str], root: Root, omitted: Iterable[Source]) -> Sources:
        """Loads files of the tree. A configuration of the options is used for all of them."""
        without = {id(source) for source in omitted}
        by_shown = {tree.shown(name): name for name in names}

        def read(listed: ListedFile) -> File:
            if listed.path not in by_shown:
                return tree.read_path(listed.path)  # a configuration of the options
            file = tree.read(by_shown[listed.path])
            remaining = [source for source in file.sources if id(source) not in without]
            leads_out = not tree.contains(by_shown[listed.path])
            outside = [reading.outside_link(listed.path)] if leads_out else []
            return file._replace(sources=remaining, results=[*file.results, *outside])

        listing = FileListing([ListedFile(name, posixpath.dirname(name), in_folder=True) for name in by_shown], Counter())
        namespace = self.options.namespace or root.namespace
        default = self.options.default_config
        return sources.load_listed(listing, (), self.options.config, namespace=namespace, tolerant=True, default=default, read=read)

    def renders(self, state: RootFiles) -> Iterator[NewRender]:
        """Yields the objects that a root makes now; of plain files, also those that each folder with sources makes alone."""
        resources = state.sources.resources
        yield self.render(state, state.name, resources)
        folders = {posixpath.dirname(source.file) or "." for source in resources if dynamo_resources.is_expanded(source.value)}
        for folder in sorted(folders) if state.root.kind == "folder" else ():
            inside = [
                source
                for source in resources
                if not dynamo_resources.is_expanded(source.value) or (posixpath.dirname(source.file) or ".") == folder
            ]
            near = [source for source in inside if dynamo_resources.is_expanded(source.value) or source.file.startswith(f"{folder}/")]
            yield self.render(state, folder, inside, near if folder != "." else inside)

    def render(self, state: RootFiles, name: str, inputs: Sequence[Source], shown: Sequence[Source] | None = None) -> NewRender:
        """Returns the objects that some resources of a root make now. `shown` are those that the command for a new render names."""
        resources, config = [source.value for source in inputs], state.sources.config
        others = (
            {id(resource) for resource in resources if not dynamo_resources.is_expanded(resource)} if state.root.kind == "folder" else {}
        )
        if any(dynamo_resources.is_expanded(resource) and not committed.is_output(resource) for resource in resources):
            resources = expand.expand(resources, config).resources
        closure = self.listing.closures.get(state.root.folder) if state.root.kind == "kustomize" else None
        files = tuple(dict.fromkeys(source.file for source in (*(shown or inputs), *state.sources.configs)))
        namespace = cluster.default_namespace(config)
        return NewRender(
            state.root,
            name,
            committed.by_key((resource for resource in resources if id(resource) not in others), namespace),
            committed.by_key((resource for resource in resources if id(resource) in others), namespace),
            frozenset(closure.files) if closure else frozenset(),
            files,
        )

    def compare_output(self, output: CommittedRender, render: NewRender) -> list[Result]:
        """Returns the findings about a committed render. It may also be that of a Kustomization which the root includes."""
        differences = committed.compare(output, render)
        if not differences:
            return []
        included = self.listing.closures[render.root.folder].folders if render.root.kind == "kustomize" else {}
        for folder in included:
            closure = self.listing.closures.get(folder)
            if folder != render.root.folder and closure and closure.names_dynamo and not closure.problems:
                if folder not in self.parts:
                    self.parts[folder] = self.kustomize(Root(folder, "kustomize", "a part of others"))
                inner = self.parts[folder]
                if inner.is_known and not committed.compare(output, self.render(inner, inner.name, inner.sources.resources)):
                    return []
        return committed.findings(output, render, differences)

    def is_rendered(self, state: RootFiles) -> bool:
        """True for a kpt package with a committed render that was rendered again."""
        return bool(self.packages.get(state.root.folder)) and state.is_known and state.how.startswith(_RENDERED)

    def report_unjudged(self, state: RootFiles) -> Iterator[Result]:
        """Yields the error about the committed render of a kpt package that was not rendered again."""
        if not self.packages.get(state.root.folder) or not state.is_known or self.is_rendered(state):
            return
        for finding in state.sources.results:
            if finding.code == codes.MISSING_PROGRAM:  # kpt is not installed
                yield finding._replace(severity="error")
        if functions := [finding for finding in state.sources.results if finding.code == codes.PROGRAM_NOT_RUN]:
            message = (
                f"krm-fn cannot tell if the committed render of {state.name} is up to date, because it does not run the other functions of "
                f"the package; run `{committed.kpt_command(state.name)}` in CI and look for changes with git, or use --accept-functions"
            )
            yield functions[0]._replace(severity="error", code=codes.KPT_RENDER_NOT_COMPARED, message=message)

    def compared_package(self, state: RootFiles) -> list[Result]:
        """Returns the findings about the files of a kpt package that its render changes."""
        if not self.is_rendered(state):
            return []
        output = CommittedRender(state.name, frozenset(), self.packages[state.root.folder], [], is_folder=True)
        render = self.render(state, state.name, state.sources.resources)
        rendered = {key: value for key, value in render.objects.items() if committed.is_output(value)}
        return committed.findings(output, render, committed.compare(output, render._replace(objects=rendered)))


def _package(tree: Tree, root: Root) -> list[str]:
    return tree.below(root.folder)
