"""Writes rendered resources into a folder, one file each.

The first line of each file marks it as rendered. Other files in the folder are never overwritten or removed, and links are not followed:
a user who can write there must not decide what else is written.
"""

from __future__ import annotations

import contextlib
import re
import tempfile
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from krm_fn import results
from krm_fn.files import reading
from krm_fn.yamlio import emitter

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from krm_fn.kube.types import Resource

HEADER = "# Rendered by krm-fn; rendering again overwrites this file.\n"
_LIMIT = 240  # bytes: file systems allow 255, and a number and `.yaml` are added
_UNSAFE = re.compile(r"^\.|[^a-z0-9._-]")


def names(resources: Iterable[Resource]) -> dict[str, Resource]:
    """A file name for every resource: `<kind>_<name>.yaml`, with namespace and group only if names would collide.

    Names are in lower case, because some file systems ignore case. They have no characters that lead out of the folder.

    >>> list(names([{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}}]))
    ['service_a.yaml']
    """
    listed = [(resource, _stems(results.ref(resource))) for resource in resources]
    uses = Counter(stem for _, stems in listed for stem in set(stems))
    chosen: dict[str, Resource] = {}
    for resource, stems in listed:
        stem = next((stem for stem in stems if uses[stem] == 1), stems[-1])
        numbers = (f"_{number}" if number > 1 else "" for number in range(1, len(listed) + 1))
        chosen[next(name for number in numbers if (name := f"{stem}{number}.yaml") not in chosen)] = resource
    return chosen


def _stems(address: results.Ref) -> tuple[str, str, str]:
    """The candidate names without extension, from the shortest to the longest."""
    group = address.api_version.rpartition("/")[0]
    kind, name = address.kind, address.name
    place = f"{address.namespace}_" if address.namespace else ""
    return _safe(f"{kind}_{name}"), _safe(f"{kind}_{place}{name}"), _safe(f"{kind}{'.' if group else ''}{group}_{place}{name}")


def _safe(stem: str) -> str:
    text = _UNSAFE.sub("-", stem.lower())
    return text if len(text) <= _LIMIT else f"{text[: _LIMIT - 9]}-{sha256(stem.encode()).hexdigest()[:8]}"


def ours(folder: Path) -> set[str]:
    """The names of the files that an earlier render wrote into a folder."""
    return {path.name for path in folder.glob("*.yaml") if _is_ours(path)}


def foreign(folder: Path, wanted: Iterable[str]) -> list[str]:
    """The wanted names of existing files and links that no render wrote."""
    return sorted(name for name in wanted if _is_there(folder / name) and not _is_ours(folder / name))


def _is_there(path: Path) -> bool:
    return path.is_symlink() or path.exists()


def _is_ours(path: Path) -> bool:
    """True if a regular file begins with our first line. Raises OSError if it cannot be read."""
    if path.is_symlink() or not path.is_file():
        return False
    with contextlib.suppress(reading.UnreadableError), open(path, "rb", opener=reading.regular) as file:
        return file.read(len(HEADER)) == HEADER.encode()
    return False


def write(folder: Path, files: dict[str, Resource]) -> None:
    """Writes all resources, each into its file, which begins with our line. Raises OSError."""
    write_texts(folder, {name: HEADER + emitter.text(resource) for name, resource in files.items()})


def write_texts(folder: Path, files: Mapping[str, str]) -> None:
    """Writes texts into files of these names, and makes the folder if it is missing. Raises OSError.

    All files are written into a temporary folder first and then moved, so that a full disk changes nothing.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".krm-fn-", dir=folder) as made:
        for name, text in files.items():
            (Path(made) / name).write_text(text, encoding="utf-8", newline="\n")
        for name in files:
            (Path(made) / name).replace(folder / name)


def is_empty(folder: Path) -> bool:
    """True for a folder without files, or a missing one. The folder of Git does not count. Raises OSError."""
    return not folder.is_dir() or all(path.name == ".git" for path in folder.iterdir())


def remove(folder: Path, stale: Sequence[str]) -> None:
    """Removes files that an earlier render wrote. Raises OSError."""
    for name in stale:
        (folder / name).unlink()
