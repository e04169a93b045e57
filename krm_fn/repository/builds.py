"""Builds a root in a private copy with kustomize or kpt, and finds the files from which its resources come."""

from __future__ import annotations

import contextlib
import functools
import os
import posixpath
import re
from collections.abc import Generator, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from krm_fn.base import codes, report, results
from krm_fn.base.results import Result
from krm_fn.base.yaml import emitter
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import mapping
from krm_fn.render import labels
from krm_fn.render.krm import origin
from krm_fn.repository import (
    build_causes,
    function_calls,
    function_layers,
    kubectl_messages,
    kustomizations,
    mixed_versions,
    patch_operations,
    preparation,
    private_programs,
    side_by_side,
    unmatched_entries,
)
from krm_fn.repository.build_cache import BuildCache, SharedBuilds, StoredBuild
from krm_fn.repository.files import commands, patch_fields, reading, short_objects
from krm_fn.repository.files.commands import CommandResult
from krm_fn.repository.files.reading import Source
from krm_fn.repository.kustomizations import Closure
from krm_fn.repository.private_programs import Programs
from krm_fn.repository.roots import Root
from krm_fn.repository.side_by_side import Reader
from krm_fn.repository.tree import KPTFILE, Tree, entries, text_of

_LONGEST_MESSAGE = 600  # characters of the message of a program

_KUSTOMIZE, _KUBECTL, _KPT = "kustomize", "kubectl", "kpt"
_MUTATORS = "mutators"
_STEPS = (_MUTATORS, "validators")
_LONGEST = 600  # characters of the message of a program


class RootBuild(NamedTuple):
    """The resources of a build, or the findings that prevent it. `program` is the program that ran.

    If a build fails, `unrendered` is the same build with a krm-fn that changes nothing; None if that fails, too.
    """

    sources: list[Source]
    results: list[Result]
    program: str = ""
    unrendered: RootBuild | None = None


def kustomize(tree: Tree, root: Root, closure: Closure, programs: Programs) -> RootBuild:
    """Builds a Kustomization. Each resource gets the location of the file from which it comes."""
    (build,) = build_side_by_side(tree, [BuildInput(root, closure)], programs)
    return build


class BuildInput(NamedTuple):
    """A Kustomization, all that it is built from, and the digest of that; empty if it is not known."""

    root: Root
    closure: Closure
    digest: str = ""


def build_side_by_side(
    tree: Tree, roots: Iterable[BuildInput], programs: Programs, cache: BuildCache | SharedBuilds | None = None
) -> Generator[RootBuild, None, None]:
    """Yields the builds of Kustomizations in their order. Those that do not include each other are built at the same time.

    What `cache` has is not built.
    """
    name = next((name for name in (_KUSTOMIZE, _KUBECTL) if private_programs.find(name)), "")
    for wave in _waves(roots):
        keys = {entry.root.folder: _key(entry, name, cache) for entry in wave}
        stored = {folder: build for folder, key in keys.items() if cache and key and (build := cache.read(key))}
        built = [entry for entry in wave if name and not entry.closure.problems and entry.root.folder not in stored]
        with contextlib.ExitStack() as stack:
            for root, closure, _ in built:  # all before the first build, which may read the same base
                stack.enter_context(preparation.prepare_root(tree, root.folder, closure, root.settings))
            calls = [functools.partial(_run, programs, _command(tree, root, closure, name)) for root, closure, _ in built]
            outputs = stack.enter_context(contextlib.closing(side_by_side.run_in_order(calls)))
            for root, closure, _ in wave:
                if closure.problems:
                    yield RootBuild([], closure.problems)
                elif not name:
                    yield _build_without_program(root, closure)
                else:
                    run = _stored_run(stored[root.folder]) if root.folder in stored else next(outputs)
                    if cache and keys[root.folder] and root.folder not in stored and not run.process.problem:
                        cache.write(keys[root.folder], StoredBuild(run.process.data, run.rest))
                    yield _read_build(tree, root, closure, name, run)


def _key(entry: BuildInput, name: str, cache: BuildCache | SharedBuilds | None) -> str:
    return cache.key(entry.digest, private_programs.find(name)) if cache and name and entry.digest else ""


def _stored_run(build: StoredBuild) -> _Run:
    process = CommandResult(build.data, "")
    return _Run(process, process, build.rest)


def _waves(roots: Iterable[BuildInput]) -> Iterator[list[BuildInput]]:
    """Yields the roots in groups, in which none includes another one: a build changes the Kustomization of its root in the copy."""
    wave: list[BuildInput] = []
    folders: set[str] = set()
    included: set[str] = set()
    for entry in roots:
        if entry.root.folder in included or not folders.isdisjoint(entry.closure.folders):
            yield wave
            wave, folders, included = [], set(), set()
        wave.append(entry)
        folders.add(entry.root.folder)
        included.update(entry.closure.folders)
    if wave:
        yield wave


class _BuildCommand(NamedTuple):
    """The command that builds a root in a folder. `shortens`: rendered objects can be short (`krm_fn.repository.files.short_objects`)."""

    words: list[str]
    folder: Path
    shortens: bool


class _Run(NamedTuple):
    """The output of a build, and the one without a render if the build failed. `rest` has the rest of short objects."""

    process: CommandResult
    unrendered: CommandResult
    rest: dict[str, Resource]


def _command(tree: Tree, root: Root, closure: Closure, name: str) -> _BuildCommand:
    arguments = ("build",) if name == _KUSTOMIZE else ("kustomize",)
    path = tree.path(root.folder)
    value = kustomizations.overlay(closure.folders[root.folder].value, root.settings)
    shortens = name == _KUSTOMIZE and function_layers.ends_with_function(tree, closure, root.folder, value)
    return _BuildCommand([private_programs.find(name), *arguments, "--enable-alpha-plugins", str(path)], path, shortens)


def _run(programs: Programs, command: _BuildCommand, reader: Reader) -> _Run:
    """Builds a root with the function in this process, and if this fails with the function as a program, as its pipeline does."""
    with function_calls.open_calls(programs.folder, reader.call, shortens=command.shortens) as calls:
        process = programs.run(command.words, command.folder, stopped=reader.stopped, calls=calls)
    if not process.problem:
        return _Run(process, process, calls.rest)
    if not process.slow:
        process = programs.run(command.words, command.folder, stopped=reader.stopped)
    unrendered = programs.run(command.words, command.folder, renders=False, stopped=reader.stopped) if process.problem else process
    return _Run(process, unrendered, {})


def _build_without_program(root: Root, closure: Closure) -> RootBuild:
    message = "the root is not built, because kustomize is not installed; install it, or pipe its output into `krm-fn check -`"
    return RootBuild([], [results.error(codes.MISSING_PROGRAM, message, **closure.folders[root.folder].location())])


def _read_build(tree: Tree, root: Root, closure: Closure, name: str, run: _Run) -> RootBuild:
    """Returns the build that a program printed, or the finding about its error. `name` is that of the program."""
    process = run.process
    sources, problem = _output(tree, root, closure, process, run.rest)
    if problem:
        messages = kubectl_messages.plain(process.messages)
        summary = f"{name} {problem}: {_message(tree, messages)}"
        cause = build_causes.find(tree, closure, messages)
        what, _, fix = cause.message.partition("; ") if cause else (summary, "", "repair the Kustomization")
        message = f"the root is not built: {what}{f' ({summary})' if cause else ''}; {fix}"
        location = cause.location if cause else None
        location = location or _problem_location(closure, messages) or closure.folders[root.folder].location()
        unrendered = _output(tree, root, closure, run.unrendered, {})[0]
        return RootBuild(
            [],
            [results.error(codes.UNBUILDABLE_ROOT, message, **location)],
            "",
            _judge_build(tree, closure, unrendered) if unrendered else None,
        )
    return _judge_build(tree, closure, sources)._replace(program=name)


def _judge_build(tree: Tree, closure: Closure, sources: list[Source]) -> RootBuild:
    """Returns the resources of a build with the findings about its layers and patches."""
    findings = [
        *kustomizations.duplicate_keys(tree, closure),
        *function_layers.check(tree, closure, sources),
        *mixed_versions.check(sources),
    ]
    return RootBuild(
        sources,
        [
            *findings,
            *patch_operations.check(tree, closure),
            *unmatched_entries.check(tree, closure),
            *unmatched_entries.check_components(sources),
        ],
    )


def _problem_location(closure: Closure, messages: str) -> dict[str, Any]:
    """Returns the location of the entry of a Kustomization that kustomize names, as written or with its folder; empty if it names none.

    Paths contain each other, so the longest one counts.
    """
    locations: dict[int, tuple[Source, results.Path]] = {}
    for folder, source in closure.folders.items():
        for path, written in kustomizations.named_paths(source.value):
            names = (written, posixpath.normpath(posixpath.join(folder, written)))
            length = max((len(name) for name in names if name in messages), default=0)
            if path and length:
                locations.setdefault(length, (source, path))
    if not locations:
        return {}
    source, field = locations[max(locations)]
    location: dict[str, Any] = source.location(field)
    return location


def _output(tree: Tree, root: Root, closure: Closure, process: CommandResult, rest: Mapping[str, Resource]) -> tuple[list[Source], str]:
    """Returns the resources that a build printed, or its problem. `rest` has the rest of short objects."""
    file = reading.parse(process.data, root.folder)
    listed = [source._replace(value=short_objects.restore(source.value, rest)) for source in file.sources] if rest else file.sources
    problem = process.problem or next((finding.message for finding in results.errors_of(file.results)), "")
    keep_origins = kustomizations.has_origins(closure.folders[root.folder].value)
    return [] if problem else [_locate_source(tree, root, closure, source, keep_origins=keep_origins) for source in listed], problem


def _message(tree: Tree, messages: str) -> str:
    """Returns the last lines of the messages of a program, with paths relative to the top of the tree."""
    relative = messages.replace(f"{tree.top}/", "").replace(str(tree.top), ".")
    text = re.sub(r"(?<!\S)([^\s/]*+)/\S*/kust-plugin-config-\d+", r"\1krm-fn", relative).strip()
    return report.visible(" ".join(text.split())[-_LONGEST:]) or "no message"


def _locate_source(tree: Tree, root: Root, closure: Closure, source: Source, *, keep_origins: bool) -> Source:
    """Returns a resource at the location of the file from which it comes; a generated one at the Kustomization."""
    path, number = origin.file(source.value)
    value = source.value if keep_origins else _without_origin(source.value)
    name = posixpath.normpath(posixpath.join(root.folder, path)) if path else ""
    candidates = tree.read(name).sources if name and tree.is_file(name) else []
    document = reading.document_of(candidates, number, source)
    if document is None:
        return closure.folders[root.folder]._replace(value=value)
    return document._replace(value=value, patches=tuple(_patches(tree, closure, document)), unbuilt=document.value)


def _patches(tree: Tree, closure: Closure, document: Source) -> Iterator[Source]:
    """Yields the parts of a build that patch a document: Kustomizations that write images and metadata, and patches in files and in them.

    Those of the root are the last ones that a build applies, so they are first.
    """
    for folder, kustomization in closure.folders.items():
        if not kustomization.value.keys().isdisjoint(patch_fields.TRANSFORMERS):
            yield kustomization
        for patch, target in _of_kustomization(tree, folder, kustomization):
            if isinstance(patch.value, list) or (_selects(target, document) if target else _is_same(patch, document)):
                yield patch
    for name in sorted(closure.files):
        for source in tree.read(name).sources:
            if source is not document and _is_same(source, document):
                yield source


def _of_kustomization(tree: Tree, folder: str, kustomization: Source) -> Iterator[tuple[Source, dict[str, Any]]]:
    """Yields the patches that a Kustomization names or has in its text, each with its target, which is empty without one.

    A merge patch in a file without a target names its resource itself, and is left out.
    """
    for field_name in ("patches", "patchesJson6902", "patchesStrategicMerge"):
        for number, entry in enumerate(entries(kustomization.value, field_name)):
            inline = kustomizations.inline_patch(entry)
            target = mapping(entry, "target") if isinstance(entry, dict) else {}
            name = posixpath.normpath(posixpath.join(folder, text_of(entry, "path"))) if text_of(entry, "path") else ""
            if inline:
                step = () if isinstance(entry, str) else ("patch",)
                documents = [*kustomizations.inline_documents(kustomization, (field_name, number, *step), inline)]
            else:
                listed = tree.read(name).sources if name and tree.is_file(name) else []
                documents = [source for source in listed if target or isinstance(source.value, list)]
            yield from ((source, target) for source in documents)


def _selects(target: dict[str, Any], document: Source) -> bool:
    """True if the kind and the name of a target, each a pattern for the whole text, select a document. The rest of it is not read."""
    kind, name = (text_of(target, step) for step in ("kind", "name"))
    pairs = ((kind, document.address.kind), (name, document.address.name))
    return all(not pattern or kustomizations.is_pattern_of(pattern, text) for pattern, text in pairs)


def _is_same(source: Source, document: Source) -> bool:
    return (source.address.kind, source.address.name) == (document.address.kind, document.address.name)


def _without_origin(value: dict[str, object]) -> dict[str, object]:
    annotations = {key: text for key, text in labels.annotations(value).items() if key != labels.ORIGIN}
    if len(annotations) == len(labels.annotations(value)):
        return value
    metadata = {**value["metadata"], "annotations": annotations}  # type: ignore[dict-item]
    if not annotations:
        del metadata["annotations"]
    return {**value, "metadata": metadata}


def kpt(tree: Tree, root: Root, programs: Programs) -> RootBuild:
    """Renders a kpt package in place, in the copy. The new files are those of the package; no resource is returned.

    A package whose only mutator is krm-fn is rendered. Other functions need a container engine or run programs of the repository. Those
    among the validators are left out, because kpt ignores what they return: https://kpt.dev/book/04-using-functions/.
    """
    kptfiles = [name for name in tree.below(root.folder) if posixpath.basename(name) == KPTFILE]
    functions = [(name, step, function) for name in kptfiles for step in _STEPS for function in _functions(tree, name, step)]
    others = [(step, _foreign(tree, name, step, function)) for name, step, function in functions if not _is_ours(function)]
    if any(step == _MUTATORS for step, _ in others):
        return RootBuild([], [finding for step, finding in others if step == _MUTATORS])
    notes = [finding for _, finding in others]
    if len(others) == len(functions):
        return RootBuild([], notes, _KPT)
    location = tree.read(functions[0][0]).sources[0].location()
    if not (program := private_programs.find(_KPT)):
        message = "the package is not rendered again, because kpt is not installed; install it to compare its files with a new render"
        return RootBuild([], [results.warning(codes.MISSING_PROGRAM, message, **location)])
    for name in kptfiles:
        preparation.write(tree.path(name), emitter.text(_with_our_program(tree.read(name).sources[0].value)))
    process = programs.run([program, "fn", "render", "--allow-exec", str(tree.path(root.folder))], tree.path(root.folder))
    for name in kptfiles:
        preparation.write(tree.path(name), tree.read(name).text)
    if process.problem:
        message = f"the package is not rendered: {_KPT} {process.problem}: {_message(tree, process.messages)}; repair the package"
        return RootBuild([], [results.error(codes.UNBUILDABLE_ROOT, message, **location)])
    return RootBuild([], notes, _KPT)


def _functions(tree: Tree, name: str, step: str) -> list[Any]:
    sources = tree.read(name).sources
    return entries(sources[0].value if len(sources) == 1 else None, "pipeline", step)


def _is_ours(function: Any) -> bool:
    """True for krm-fn without arguments. With arguments, it is a command."""
    program = text_of(function, "exec")
    return kustomizations.is_our_program(program) if program else kustomizations.is_our_image(text_of(function, "image"))


def _foreign(tree: Tree, name: str, step: str, function: Any) -> Result:
    """Returns the warning about a mutator that krm-fn does not run, or the note about a validator."""
    written = text_of(function, "image") or text_of(function, "exec") or "without a name"
    location = tree.read(name).sources[0].location(("pipeline", step))
    if step != _MUTATORS:
        return results.info(
            codes.PROGRAM_NOT_RUN, f"krm-fn does not run the validator {written}, so only kpt judges the package by it", **location
        )
    message = f"the package is not rendered: krm-fn does not run the function {written}; its files are checked as they are"
    return results.warning(codes.PROGRAM_NOT_RUN, f"{message}, so render the package before you commit", **location)


def _with_our_program(kptfile: dict[str, Any]) -> dict[str, Any]:
    """Returns a Kptfile in which krm-fn runs as a program, not as a container, and no other function runs."""
    steps = {step: [_as_program(function) for function in entries(kptfile, "pipeline", step) if _is_ours(function)] for step in _STEPS}
    return {**kptfile, "pipeline": {**(kptfile.get("pipeline") or {}), **steps}}


def _as_program(function: dict[str, Any]) -> dict[str, Any]:
    return {"exec": "krm-fn", **{key: value for key, value in function.items() if key not in ("exec", "image")}}


def fetch_and_build(tree: Tree, programs: Programs, *, fetches: bool) -> RootBuild:
    """Builds the Kustomization of the folder `at` of a tree. With `fetches`, remote bases are downloaded first.

    `kustomize localize` fetches them into a folder beside the copy and runs no function. What was fetched is then checked as the files of
    the repository are, before anything is built.
    Nothing is fetched if the files of the repository already have a problem. Never raises for the content of the tree.
    """
    if tree.kustomization(tree.at) is None:
        return RootBuild([], [*kustomizations.unreadable(tree, tree.at)] or [_absent(tree)])
    closure = kustomizations.closure(tree, tree.at)
    if fetches and closure.remote and len(closure.problems) == len(closure.remote):
        fetched = _fetch_bases(tree, closure, programs)
        if isinstance(fetched, results.Result):
            return RootBuild([], [fetched])
        tree, closure = fetched, kustomizations.closure(fetched, fetched.at)
    return kustomize(tree, Root(tree.at, "kustomize", "the folder that the command names"), closure, programs)


def _absent(tree: Tree) -> results.Result:
    message = "the folder has no Kustomization; name a folder with a kustomization.yaml"
    return results.error(codes.UNBUILDABLE_ROOT, message, file=tree.shown(tree.at))


def _fetch_bases(tree: Tree, closure: Closure, programs: Programs) -> Tree | results.Result:
    """Returns a tree with the remote bases, or the finding that says why they are not fetched."""
    target, program = programs.folder.parent / "fetched", private_programs.find("kustomize")
    location = closure.folders[tree.at].location()
    if not program:
        message = "the remote bases are not fetched, because kustomize is not installed; install it"
        return results.error(codes.MISSING_PROGRAM, message, **location)
    command = [program, "localize", str(tree.path(tree.at)), str(target), "--scope", str(tree.top)]
    process = commands.run(command, tree.path(tree.at), programs.seconds, os.environ | {"PATH": private_programs.search_path()})
    fetched = Tree(target, tree.at, tree.shown)
    if fetched.kustomization(tree.at) is None:  # the exit code is 1 also because it tries the build, without functions
        output = " ".join(process.messages.replace(str(tree.top), ".").split())[-_LONGEST_MESSAGE:] or process.problem
        message = f"the remote bases are not fetched: kustomize localize: {output}; correct the addresses, or copy the bases"
        return results.error(codes.REMOTE_BASE_NOT_FETCHED, message, **location)
    return fetched
