"""Selects the files that a command reads: named files, and the files of named folders that can hold resources.

`select` uses only names, so it treats a folder on disk and a folder of a git revision alike. Helm charts hold templates. Patches and values
that a Kustomization names hold parts of resources. kustomize's reference of these fields:
https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/

A link in a folder is read only if its target is below a named path: the author of a folder must not decide what else is read.

A repository can hold an application once for each environment, with the same name and namespace. `groups` splits the resources, so that
each group has every object once. Each copy is checked with the resources that do not conflict with it, such as pull secrets.
"""

from __future__ import annotations

import os
import posixpath
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from krm_fn.base import report
from krm_fn.kubernetes import identity
from krm_fn.repository.files import reading
from krm_fn.repository.files.reading import File, Source

KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml", "Kustomization")
CHART = "Chart.yaml"
IN_CHARTS, PATCHES, EXCLUDED, OTHERS = "in Helm charts", "patches and values of a Kustomization", "excluded", "without a Dynamo resource"

_ENDINGS = (".yaml", ".yml", ".json")
_LISTS_OF_FILES = ("patches", "patchesStrategicMerge", "patchesJson6902", "replacements", "configurations", "crds")
_LISTS_OF_GENERATORS = ("configMapGenerator", "secretGenerator")
_LISTS_OF_RESOURCES = ("resources", "bases", "components", "generators", "transformers", "validators")


class Selection(NamedTuple):
    """The names to read, the number of skipped names by reason, and the folders that hold a Kustomization."""

    names: list[str]
    skipped: Counter[str]
    roots: frozenset[str]


def is_read(name: str, *, folder: bool = False) -> bool:
    """True if a folder or file of this name is read with its parent folder. Hidden names are not; files need a known extension."""
    return not name.startswith(".") and (folder or name.endswith(_ENDINGS) or name in KUSTOMIZATIONS)


def select(names: Sequence[str], read: Callable[[str], File], exclude: Sequence[str] = ()) -> Selection:
    """Selects names, which are relative to one folder, with `/` between the parts. `read` gives the file of a name.

    `exclude` holds globs: without a `/` they match any file or folder of that name, else the whole name, where `*` matches `/` too.
    """
    charts = {posixpath.dirname(name) for name in names if posixpath.basename(name) == CHART}
    excluded = {name for name in names if is_excluded(name, exclude)}
    in_charts = {name for name in names if name not in excluded and not charts.isdisjoint(_folders(name))}
    remaining = [name for name in names if name not in excluded and name not in in_charts]
    kustomizations = [name for name in remaining if posixpath.basename(name) in KUSTOMIZATIONS]
    parts = _parts(kustomizations, read)
    skipped = Counter({EXCLUDED: len(excluded), IN_CHARTS: len(in_charts), PATCHES: sum(name in parts for name in remaining)})
    roots = frozenset(posixpath.dirname(name) for name in kustomizations)
    return Selection([name for name in remaining if name not in parts], +skipped, roots)


def is_excluded(name: str, exclude: Iterable[str]) -> bool:
    """True if a glob matches a name or one of its parent folders."""
    paths = [name, *filter(None, _folders(name))]
    globs = [glob.rstrip("/") for glob in exclude]
    return any(fnmatchcase(path if "/" in glob else posixpath.basename(path), glob) for glob in globs for path in paths)


def summary(skipped: Counter[str]) -> str:
    """Returns a summary such as `skipped 3 files: 2 in Helm charts, 1 excluded`; empty without skipped files."""
    count = skipped.total()
    reasons = ", ".join(f"{number} {reason}" for reason, number in skipped.most_common())
    return f"skipped {report.pluralize(count, 'file')}: {reasons}" if count else ""


def scope(name: str, roots: Iterable[str]) -> str:
    """Returns the folder in which each object may be once: the nearest folder with a Kustomization, else the folder of the file."""
    nearest, *above = _folders(name)
    return next((folder for folder in (nearest, *above) if folder in roots), nearest)


def _folders(name: str) -> list[str]:
    """Returns the folders above a name, from the nearest one to the top, which is empty."""
    folders = [posixpath.dirname(name)]
    while folders[-1]:
        folders.append(posixpath.dirname(folders[-1]))
    return folders


def _parts(kustomizations: Iterable[str], read: Callable[[str], File]) -> set[str]:
    """Files that Kustomizations name as patches, values or data, without files that a Kustomization lists as resources."""
    parts: set[str] = set()
    wholes: set[str] = set()
    for name in kustomizations:
        for source in read(name).sources:
            if isinstance(source.value, dict):
                folder = posixpath.dirname(name)
                parts.update(posixpath.normpath(posixpath.join(folder, path)) for path in paths_of_parts(source.value))
                wholes.update(posixpath.normpath(posixpath.join(folder, path)) for path in _strings(source.value, _LISTS_OF_RESOURCES))
    return parts - wholes - set(kustomizations)


def paths_of_parts(kustomization: dict[str, Any]) -> Iterator[str]:
    """Yields the paths of patches, values and data that a Kustomization names."""
    yield from _strings(kustomization, _LISTS_OF_FILES)
    for entry in _entries(kustomization, _LISTS_OF_FILES):
        yield from _strings({"path": [entry.get("path")]}, ["path"])
    for entry in _entries(kustomization, ["helmCharts"]):
        yield from _strings({"values": [entry.get("valuesFile")]}, ["values"])
        yield from _strings(entry, ["additionalValuesFiles"])
    for entry in _entries(kustomization, _LISTS_OF_GENERATORS):
        yield from (text.rpartition("=")[2] for text in _strings(entry, ["files"]))
        yield from _strings({"envs": [entry.get("env")], **entry}, ["envs"])


def _entries(value: dict[str, Any], fields: Iterable[str]) -> Iterator[dict[str, Any]]:
    for field in fields:
        entries = value.get(field)
        yield from (entry for entry in (entries if isinstance(entries, list) else ()) if isinstance(entry, dict))


def _strings(value: dict[str, Any], fields: Iterable[str]) -> Iterator[str]:
    """Yields the strings of lists, without inline patches, which have several lines."""
    for field in fields:
        entries = value.get(field)
        yield from (entry for entry in (entries if isinstance(entries, list) else ()) if isinstance(entry, str) and "\n" not in entry)


class ListedFile(NamedTuple):
    """A file to read. `scope` is the folder in which each object may be once. `leads_out`: a link with a target outside the named paths."""

    path: str
    scope: str
    in_folder: bool = False
    leads_out: bool = False


class FileListing(NamedTuple):
    """The files to read, each once, and the number of skipped files by reason."""

    files: list[ListedFile]
    skipped: Counter[str]


def list_files(paths: Sequence[str], without: Path | None = None, exclude: Sequence[str] = ()) -> FileListing:
    """Every named file and every file of a named folder, each once.

    In folders: `*.yaml`, `*.yml`, `*.json` and Kustomizations at any depth, sorted, except hidden ones, those in the folder `without`,
    and those that `select` skips.
    """
    named = [Path(path).resolve() for path in paths if path != reading.STDIN]
    listing = FileListing([], Counter())
    seen = set()
    for path in paths:
        is_folder = path != reading.STDIN and Path(path).is_dir()
        for file in _below(Path(path), without, exclude, named, listing.skipped) if is_folder else [_named_file(path)]:
            real = file.path if file.path == reading.STDIN else str(Path(file.path).resolve())
            if real not in seen:
                seen.add(real)
                listing.files.append(file)
    return listing


def _named_file(path: str) -> ListedFile:
    return ListedFile(path, path if path == reading.STDIN else str(Path(path).resolve().parent))


def _below(
    folder: Path, without: Path | None, exclude: Sequence[str], named: Sequence[Path], skipped: Counter[str]
) -> Iterator[ListedFile]:
    def read(name: str) -> File:
        return File("", [], []) if _leads_out(folder / name, named) else reading.read(str(folder / name))

    names = [path.as_posix() for path in _walk(folder, without and without.resolve())]
    selected = select(names, read, exclude)
    skipped.update(selected.skipped)
    for name in selected.names:
        yield ListedFile(
            str(folder / name),
            str(folder.resolve() / scope(name, selected.roots)),
            in_folder=True,
            leads_out=_leads_out(folder / name, named),
        )


def _leads_out(link: Path, named: Sequence[Path]) -> bool:
    real = link.resolve()
    return not any(real.is_relative_to(path) for path in named)


def _walk(folder: Path, without: Path | None) -> list[Path]:
    paths: list[Path] = []
    for parent, folders, files in os.walk(folder):
        path = Path(parent)
        folders[:] = [name for name in folders if is_read(name, folder=True) and (path / name).resolve() != without]
        paths.extend((path / name).relative_to(folder) for name in files if is_read(name))
    return sorted(paths)


def groups(resources: Sequence[Source], scopes: dict[str, str], namespace: str) -> list[list[Source]]:
    """Returns the resources in groups; resources of a scope stay together. `scopes` gives the scope of a file.

    Scopes that share no object with another scope are in every group. `namespace` is that of resources without one.
    """
    objects: dict[str, set[identity.ObjectKey]] = {}
    for source in resources:
        objects.setdefault(scopes[source.file], set()).add(identity.key(source.value, namespace))
    uses = Counter(key for keys in objects.values() for key in keys)
    common = {scope for scope, keys in objects.items() if all(uses[key] == 1 for key in keys)}
    divided: list[set[str]] = []
    for name in [name for name in objects if name not in common]:
        group = next((group for group in divided if all(objects[name].isdisjoint(objects[other]) for other in group)), None)
        if group is None:
            divided.append(group := set())
        group.add(name)
    return [[source for source in resources if scopes[source.file] in common | group] for group in divided] or [list(resources)]
