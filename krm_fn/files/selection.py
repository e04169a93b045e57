"""Selects the files of a folder that can hold resources.

It uses only names, so it treats a folder on disk and a folder of a git revision alike. Helm charts hold templates. Patches and values that
a Kustomization names hold parts of resources. kustomize's reference of these fields:
https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/
"""

from __future__ import annotations

import posixpath
from collections import Counter
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from krm_fn.files.reading import File

KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml", "Kustomization")
CHART = "Chart.yaml"
IN_CHARTS, PATCHES, EXCLUDED, OTHERS = "in Helm charts", "patches and values of a Kustomization", "excluded", "without a Dynamo resource"

_ENDINGS = (".yaml", ".yml", ".json")
_LISTS_OF_FILES = ("patches", "patchesStrategicMerge", "patchesJson6902", "replacements", "configurations", "crds")
_LISTS_OF_GENERATORS = ("configMapGenerator", "secretGenerator")
_LISTS_OF_RESOURCES = ("resources", "bases", "components", "generators", "transformers", "validators")


class Selection(NamedTuple):
    """The names to read, the number of skipped names by reason, and the folders that hold a Kustomization."""

    kept: list[str]
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
    kept = [name for name in names if name not in excluded and name not in in_charts]
    kustomizations = [name for name in kept if posixpath.basename(name) in KUSTOMIZATIONS]
    parts = _parts(kustomizations, read)
    skipped = Counter({EXCLUDED: len(excluded), IN_CHARTS: len(in_charts), PATCHES: sum(name in parts for name in kept)})
    roots = frozenset(posixpath.dirname(name) for name in kustomizations)
    return Selection([name for name in kept if name not in parts], +skipped, roots)


def is_excluded(name: str, exclude: Iterable[str]) -> bool:
    """True if a glob matches a name or one of its parent folders."""
    places = [name, *filter(None, _folders(name))]
    globs = [glob.rstrip("/") for glob in exclude]
    return any(fnmatchcase(place if "/" in glob else posixpath.basename(place), glob) for glob in globs for place in places)


def summary(skipped: Counter[str]) -> str:
    """A summary such as `skipped 3 files: 2 in Helm charts, 1 excluded`; empty without skipped files."""
    count = skipped.total()
    reasons = ", ".join(f"{number} {reason}" for reason, number in skipped.most_common())
    return f"skipped {count} file{'s' * (count != 1)}: {reasons}" if count else ""


def scope(name: str, roots: Iterable[str]) -> str:
    """The folder in which each object may be once: the nearest folder with a Kustomization, else the folder of the file."""
    nearest, *above = _folders(name)
    return next((folder for folder in (nearest, *above) if folder in roots), nearest)


def _folders(name: str) -> list[str]:
    """The folders above a name, from the nearest one to the top, which is empty."""
    found = [posixpath.dirname(name)]
    while found[-1]:
        found.append(posixpath.dirname(found[-1]))
    return found


def _parts(kustomizations: Iterable[str], read: Callable[[str], File]) -> set[str]:
    """The files that Kustomizations name as patches, values or data, without files that a Kustomization lists as resources."""
    parts: set[str] = set()
    wholes: set[str] = set()
    for name in kustomizations:
        for source in read(name).sources:
            if isinstance(source.value, dict):
                folder = posixpath.dirname(name)
                parts.update(posixpath.normpath(posixpath.join(folder, path)) for path in _paths_of_parts(source.value))
                wholes.update(posixpath.normpath(posixpath.join(folder, path)) for path in _strings(source.value, _LISTS_OF_RESOURCES))
    return parts - wholes - set(kustomizations)


def _paths_of_parts(kustomization: dict[str, Any]) -> Iterator[str]:
    yield from _strings(kustomization, _LISTS_OF_FILES)
    for entry in _entries(kustomization, _LISTS_OF_FILES):
        yield from _strings({"path": [entry.get("path")]}, ["path"])
    for entry in _entries(kustomization, ["helmCharts"]):
        yield from _strings({"values": [entry.get("valuesFile")]}, ["values"])
        yield from _strings(entry, ["additionalValuesFiles"])
    for entry in _entries(kustomization, _LISTS_OF_GENERATORS):
        yield from (text.rpartition("=")[2] for text in _strings(entry, ["files"]))


def _entries(value: dict[str, Any], fields: Iterable[str]) -> Iterator[dict[str, Any]]:
    for field in fields:
        entries = value.get(field)
        yield from (entry for entry in (entries if isinstance(entries, list) else ()) if isinstance(entry, dict))


def _strings(value: dict[str, Any], fields: Iterable[str]) -> Iterator[str]:
    """The strings of lists, without inline patches, which have several lines."""
    for field in fields:
        entries = value.get(field)
        yield from (entry for entry in (entries if isinstance(entries, list) else ()) if isinstance(entry, str) and "\n" not in entry)
