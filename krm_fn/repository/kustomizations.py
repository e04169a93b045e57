"""Follows the files and folders that a Kustomization names, as kustomize does, and reports what must not be built as it is.

kustomize's reference of these fields: https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import krm_fn
from krm_fn.base import codes, results, spelling
from krm_fn.base.results import Result
from krm_fn.base.yaml import reader, tokens
from krm_fn.kubernetes.values import mapping
from krm_fn.render import labels
from krm_fn.repository.files import reading, selection
from krm_fn.repository.files.reading import Source
from krm_fn.repository.tree import Tree, entries, field, text_of

_RESOURCES = ("resources", "bases", "components", "crds")
PLUGINS = ("generators", "transformers", "validators")
_FIELDS = frozenset(
    (
        *("apiVersion", "kind", "metadata", *_RESOURCES, *PLUGINS, "buildMetadata", "commonAnnotations", "commonLabels"),
        *("configMapGenerator", "configurations", "generatorOptions", "helmCharts", "helmChartInflationGenerator", "helmGlobals"),
        *("imageTags", "images", "inventory", "labels", "namePrefix", "nameSuffix", "namespace", "openapi", "patches"),
        *("patchesJson6902", "patchesStrategicMerge", "replacements", "replicas", "secretGenerator", "sortOptions", "vars"),
    )
)
_REMOTE = re.compile(r"^[a-z][a-z0-9+.-]*://|^git@|^github\.com/|[?&](ref|version|timeout|submodules)=|^[^/.][^/]*\.[a-z]+/.*//")
_FUNCTION = re.compile(r"config\.(kubernetes|k8s)\.io(/|~1)function")
"""The name of the annotation of a function, also as a part of a JSON pointer, and its older name."""
_FUNCTION_PATH = re.compile(r"config\.(kubernetes|k8s)\.io(~1function|/function\])")
_DYNAMO = re.compile(r"\bkind[\"']?\s*:\s*[\"']?Dynamo|\bdynamo\.krm-fn\.io/")
_WORD = re.compile(r"[^\s,'\"\[\]{}#]+")
_DUPLICATE = codes.DUPLICATE_KEY
_MOST_WORDS = 1000
"""The largest number of words of an unreadable Kustomization that are taken for paths."""
_PROGRAM, _IMAGES = "krm-fn", ("krm-fn", krm_fn.IMAGE.rpartition("/")[2])
"""The name of our program, and the last part of the name of our image."""
_ORIGINS, _ABOVE = "originAnnotations", ".."
_COMMAND = "compare the output of your own command with `diff --build`, or pipe it into `check -`"
_VENDOR = "krm-fn builds without network and with files of the repository only; copy it into the repository, or use `diff --build`"


class Closure(NamedTuple):
    """All that a Kustomization is built from: the folders with their Kustomizations, and the files.

    `problems` are findings that prevent a build. `remote` are those of them that a download would solve. `names_dynamo` is true if one of
    the files names a Dynamo kind or one of our annotations, and if a Kustomization cannot be read.
    """

    folders: dict[str, Source]
    files: set[str]
    problems: list[Result]
    names_dynamo: bool
    remote: list[Result] = []


def closure(tree: Tree, folder: str) -> Closure:
    """Returns all that the Kustomization of a folder is built from. A folder that is included twice is read once.

    A tree reads each file once, so the closure of a folder is computed once for a tree.
    """
    known = _closures.setdefault(tree, {})
    if folder not in known:
        known[folder] = _follow(tree, folder)
    return known[folder]


_closures: WeakKeyDictionary[Tree, dict[str, Closure]] = WeakKeyDictionary()
"""The closures of folders, by their tree."""


def _follow(tree: Tree, folder: str) -> Closure:
    folders: dict[str, Source] = {}
    files: set[str] = set()
    problems: list[Result] = []
    remote: list[Result] = []
    pending = [folder]
    is_readable = True
    while pending:
        current = pending.pop()
        kustomization = tree.kustomization(current)
        if kustomization is None and tree.kustomization_file(current):
            is_readable = False
            problems.extend(unreadable(tree, current))
            files.update(target for target in _words(tree, current) if tree.is_file(target))
        elif kustomization and current not in folders:
            folders[current] = kustomization
            problems.extend(_problems(tree, current, kustomization))
            remote.extend(_remote(tree, current, kustomization))
            inside = [target for target in _targets(current, kustomization) if tree.contains(target)]
            pending.extend(target for target in inside if tree.is_folder(target))
            files.update(target for target in inside if tree.is_file(target))
    for name in sorted(files):
        problems.extend(problem for source in tree.read(name).sources for problem in _foreign(source, source.value))
    problems += remote
    texts = [source.text for source in folders.values()]
    names_dynamo = not is_readable or any(tree.read(name).names_dynamo for name in files) or any(map(_DYNAMO.search, texts))
    return Closure(folders, files, problems, names_dynamo, remote)


def _words(tree: Tree, folder: str) -> list[str]:
    """Returns the paths of files and folders that stand as words in the text of a Kustomization that cannot be read.

    So a base of the Kustomization stays a base, and is not judged as if no other one included it.
    """
    path = tree.kustomization_file(folder)
    words = dict.fromkeys(_WORD.findall(tree.read(path).text)) if path and tree.is_file(path) else ()
    targets = (posixpath.normpath(posixpath.join(folder, word)) for word in islice(words, _MOST_WORDS) if not word.startswith("/"))
    return [target for target in targets if target not in (folder, path) and (tree.is_file(target) or tree.is_folder(target))]


def _targets(folder: str, kustomization: Source) -> Iterator[str]:
    for _, written in named_paths(kustomization.value):
        if not written.startswith("/"):
            yield posixpath.normpath(posixpath.join(folder, written))


def _problems(tree: Tree, folder: str, kustomization: Source) -> Iterator[Result]:
    """Yields the findings about one Kustomization that prevent a build."""
    yield from _unknown_fields(kustomization)
    yield from _helm(kustomization)
    for path, written in named_paths(kustomization.value):
        target = posixpath.normpath(posixpath.join(folder, written))
        if module := _submodule(tree, target):
            message = f"{written} is in the submodule {module}, whose files are in another repository"
            yield _problem(kustomization, path, codes.FILES_OUTSIDE_REPOSITORY, f"{message}; {_VENDOR}")
        elif _is_remote(tree, target, written):
            continue
        elif written.startswith("/") or not tree.contains(target):
            yield _problem(kustomization, path, codes.FILES_OUTSIDE_REPOSITORY, f"{written} leads out of the repository; {_VENDOR}")
        elif tree.is_folder(target) and not tree.kustomization_file(target):
            yield _problem(
                kustomization, path, codes.UNBUILDABLE_ROOT, f"the folder {written} has no Kustomization; list its files, or add one"
            )
    for inline in inline_plugins(kustomization.value):
        yield from _foreign(kustomization, inline)
    written_here = {name: value for name, value in kustomization.value.items() if name not in PLUGINS}
    if _names_function(written_here, _FUNCTION):
        message = f"the Kustomization writes the annotation {labels.FUNCTION}; write it into the file of the function, or {_COMMAND}"
        yield _problem(kustomization, (), codes.PROGRAM_NOT_RUN, message)


def _remote(tree: Tree, folder: str, kustomization: Source) -> Iterator[Result]:
    """Yields the findings about files and folders on servers."""
    for path, written in named_paths(kustomization.value):
        if _is_remote(tree, posixpath.normpath(posixpath.join(folder, written)), written):
            yield _problem(kustomization, path, codes.FILES_OUTSIDE_REPOSITORY, f"{written} is not in the repository; {_VENDOR}")


def _is_remote(tree: Tree, target: str, written: str) -> bool:
    return bool(_REMOTE.search(written)) and not tree.path(target).exists()


def _submodule(tree: Tree, target: str) -> str:
    """Returns the submodule of git in which a path is, if its files are not there; empty otherwise."""
    file = tree.path(".gitmodules")
    if tree.path(target).exists() or not file.is_file() or file.is_symlink():
        return ""
    fields = (line.partition("=") for line in reading.data(str(file)).decode(errors="replace").splitlines())
    folders = [value.strip() for name, _, value in fields if name.strip() == "path" and value.strip()]
    return next((folder for folder in folders if target == folder or target.startswith(f"{folder}/")), "")


def unreadable(tree: Tree, folder: str) -> Iterator[Result]:
    """Yields the finding about the file of a Kustomization that is not one mapping."""
    path = tree.kustomization_file(folder)
    if path and not tree.contains(path):
        yield reading.outside_link(tree.shown(path))
    elif path:
        message = "the root is not built: the Kustomization is not one readable mapping; repair the file"
        problem = next(iter(results.errors_of(tree.read(path).results)), None)
        line, column = (problem.line, problem.column) if problem else (0, 0)
        yield results.error(codes.UNBUILDABLE_ROOT, message, file=tree.shown(path), line=line, column=column)


def _unknown_fields(kustomization: Source) -> Iterator[Result]:
    """Yields an error for each field that this version of krm-fn does not follow.

    kustomize accepts a field in any case, so that a field in another case could name files that were not checked.
    """
    for name in kustomization.value:
        if name not in _FIELDS:
            near = spelling.nearest(name, _FIELDS)
            message = (
                f"{name} is not a field of a Kustomization that krm-fn knows; {f'write {near}' if near else f'correct it, or {_COMMAND}'}"
            )
            yield _problem(kustomization, (name,), codes.UNBUILDABLE_ROOT, message)


def duplicate_keys(tree: Tree, closure: Closure) -> list[Result]:
    """Returns the errors about keys that are set twice in the files of a Kustomization.

    kustomize takes the last value of such a key in a Kustomization, and the first one in a patch, and says nothing.
    """
    names = {*closure.files, *filter(None, map(tree.kustomization_file, closure.folders))}
    return [finding for name in sorted(names) for finding in tree.read(name).results if finding.code == _DUPLICATE]


def patch_targets(kustomization: Source) -> Iterator[tuple[results.Path, dict[str, Any]]]:
    """Yields the path and the value of the target of each patch in a Kustomization."""
    for name in ("patches", "patchesJson6902"):
        for number, entry in enumerate(entries(kustomization.value, name)):
            target = mapping(entry, "target") if isinstance(entry, dict) else {}
            if target:
                yield (name, number, "target"), target


def is_pattern_of(pattern: str, name: str) -> bool:
    """True if a pattern of a target, a regular expression for the whole text, selects a name. A broken pattern selects itself."""
    try:
        return pattern == name or re.fullmatch(pattern, name) is not None
    except re.error:
        return False


def missing(tree: Tree, closure: Closure) -> Iterator[tuple[str, str]]:
    """Yields the paths in the repository that a Kustomization names, and that do not exist, each with the folder that names it."""
    for folder, kustomization in closure.folders.items():
        for _, written in named_paths(kustomization.value):
            target = posixpath.normpath(posixpath.join(folder, written))
            if not _REMOTE.search(written) and not written.startswith("/") and tree.contains(target) and not tree.path(target).exists():
                yield folder, written


def nearest_path(tree: Tree, folder: str, written: str) -> str:
    """Returns the path that a Kustomization in `folder` means with one that does not exist; empty without one.

    It has a similar name in the same folder, or it leads to a Kustomization with one `../` more or less.
    """
    target = posixpath.normpath(posixpath.join(folder, written))
    parent = posixpath.dirname(target) or "."
    names = sorted(entry.name for entry in tree.path(parent).iterdir()) if tree.contains(parent) and tree.is_folder(parent) else []
    if near := spelling.nearest(posixpath.basename(target), names):
        return posixpath.join(posixpath.dirname(written), near)
    for other in (posixpath.join(_ABOVE, written), written.removeprefix(f"{_ABOVE}/")):
        target = posixpath.normpath(posixpath.join(folder, other))
        if other != written and target != folder and tree.contains(target) and tree.is_folder(target) and tree.kustomization_file(target):
            return other
    return ""


def included_folders(tree: Tree, folder: str) -> Iterator[str]:
    """Yields the folders that the Kustomization of a folder includes directly."""
    kustomization = tree.kustomization(folder)
    targets = _targets(folder, kustomization) if kustomization else _words(tree, folder)
    yield from filter(tree.is_folder, targets)


def is_component(kustomization: Source) -> bool:
    """True for a component, which is built only as a part of others."""
    return text_of(kustomization.value, "kind") == "Component"


def named_paths(value: dict[str, Any]) -> Iterator[tuple[results.Path, str]]:
    """Yields the paths and addresses in a Kustomization, each with the path of its field."""
    for name in (*_RESOURCES, *PLUGINS):
        for number, entry in enumerate(entries(value, name)):
            if isinstance(entry, str) and "\n" not in entry.strip():
                yield (name, number), entry.strip()
    for path in selection.paths_of_parts(value):
        yield (), path
    if path := text_of(value, "openapi", "path"):
        yield ("openapi", "path"), path


def inline_patch(entry: Any) -> str:
    """Returns the text of an entry with a patch that has the patch itself; empty for one that names a file.

    >>> inline_patch({"patch": "- {op: remove, path: /a}"}), inline_patch({"path": "a.yaml"}), inline_patch("a.yaml"), inline_patch("a: b")
    ('- {op: remove, path: /a}', '', '', 'a: b')
    """
    if isinstance(entry, str):
        return entry if ":" in entry else ""
    return text_of(entry, "patch")


def inline_documents(kustomization: Source, path: results.Path, text: str) -> Iterator[Source]:
    """Yields the documents of a patch in the text of a Kustomization, each at its lines there. `path` is the field with the text."""
    line = kustomization.location(path)["line"]
    first = kustomization.text.splitlines()[line - kustomization.line]
    if not tokens.opens_block_scalar(first):
        line -= 1  # the text begins on the line of its key
    for source in reading.parse(text.encode("utf-8", "surrogateescape"), kustomization.file).sources:
        yield source._replace(line=line + source.line, document=kustomization.document)


def inline_plugins(value: dict[str, Any]) -> Iterator[Any]:
    """Yields the values of functions that are written inside of a Kustomization."""
    for name in PLUGINS:
        for entry in entries(value, name):
            if isinstance(entry, str) and "\n" in entry.strip():
                yield from (document.value for document in reader.read(entry)[0])


def _helm(kustomization: Source) -> Iterator[Result]:
    for name in ("helmCharts", "helmChartInflationGenerator"):
        if entries(kustomization.value, name):
            message = f"the Kustomization renders Helm charts, and krm-fn does not run helm; {_COMMAND}"
            yield _problem(kustomization, (name,), codes.PROGRAM_NOT_RUN, message)


def _foreign(source: Source, value: Any) -> Iterator[Result]:
    """Yields the finding about a function that is not krm-fn."""
    if "function" not in source.text and "\\" not in source.text:  # neither the annotation nor an escape that writes it: large schemas
        return
    written = labels.annotations(value).get(labels.FUNCTION) if isinstance(value, dict) else None
    if isinstance(written, str) and not is_ours(written):
        message = f"krm-fn does not run the function {' '.join(written.split())[:100]}; {_COMMAND}"
        yield _problem(source, ("metadata", "annotations", labels.FUNCTION), codes.PROGRAM_NOT_RUN, message)
    elif _names_function(value, _FUNCTION_PATH, (labels.FUNCTION,) if written else ()):
        message = f"krm-fn does not run functions whose annotation {labels.FUNCTION} is written elsewhere; {_COMMAND}"
        yield _problem(source, (), codes.PROGRAM_NOT_RUN, message)


def _names_function(value: Any, pattern: re.Pattern[str], known: tuple[str, ...] = ()) -> bool:
    """True if a key in a value is the annotation of a function, or if a text in it matches a pattern. Keys in `known` do not count."""
    if isinstance(value, str):
        return bool(pattern.search(value))
    if isinstance(value, dict):
        keys = (key for key in value if key not in known)
        return any(_FUNCTION.fullmatch(key) for key in keys) or any(_names_function(inner, pattern, known) for inner in value.values())
    return isinstance(value, list) and any(_names_function(inner, pattern, known) for inner in value)


def is_ours(annotation: str) -> bool:
    """True if the annotation of a function names the program krm-fn or its image. krm-fn then runs itself."""
    documents, broken = reader.read(annotation)
    value = documents[0].value if len(documents) == 1 and not broken else None
    return is_our_program(text_of(value, "exec", "path")) or is_our_image(text_of(value, "container", "image"))


def is_our_program(path: str) -> bool:
    """True for the path of a program with our name. Its content does not matter, because krm-fn runs itself in its place."""
    return " " not in path and posixpath.basename(path) == _PROGRAM


def is_our_image(image: str) -> bool:
    """True for our image, also in a mirror."""
    return re.split("[:@]", posixpath.basename(image))[0] in _IMAGES


def _problem(source: Source, path: results.Path, code: str, message: str) -> Result:
    return results.error(code, f"the root is not built: {message}", **source.location(path))


def overlay(value: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
    """Returns a Kustomization with the settings that a pipeline adds to it. Lists grow; other fields are replaced."""
    merged = dict(value)
    for name, setting in settings.items():
        merged[name] = [*entries(value, name), *setting] if isinstance(setting, list) else setting
    return merged


def with_origins(value: dict[str, Any]) -> dict[str, Any]:
    """Returns a Kustomization whose build names the file of each resource."""
    metadata = entries(value, "buildMetadata")
    return {**value, "buildMetadata": metadata if has_origins(value) else [*metadata, _ORIGINS]}


def has_origins(value: dict[str, Any]) -> bool:
    """True if the author asks for the files of resources, so that the annotation reaches the cluster."""
    return _ORIGINS in (field(value, "buildMetadata") or ())
