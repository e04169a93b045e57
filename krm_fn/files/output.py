"""A folder of rendered resources, one file each.

Not its business: what is rendered. A first line marks the files as ours; others in the folder are never written to and never removed.
"""

from __future__ import annotations

import re
from collections import Counter
from hashlib import sha256
from typing import TYPE_CHECKING

from krm_fn import results
from krm_fn.yamlio import emitter

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from krm_fn.kube.types import Resource

HEADER = "# Rendered by krm-fn; rendering again overwrites this file.\n"
_LIMIT = 240  # bytes: file systems allow 255, and the temporary name is longer
_UNSAFE = re.compile(r"^\.|[^a-z0-9._-]")


def names(resources: Iterable[Resource]) -> dict[str, Resource]:
    """A file name for every resource: `<kind>_<name>.yaml`, with namespace and group only where several would share one.

    Lower case, since some file systems know no other, and without what would lead out of the folder.

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
    """From the shortest to the clearest."""
    group = address.api_version.rpartition("/")[0]
    kind, name = address.kind, address.name
    place = f"{address.namespace}_" if address.namespace else ""
    return _safe(f"{kind}_{name}"), _safe(f"{kind}_{place}{name}"), _safe(f"{kind}{'.' if group else ''}{group}_{place}{name}")


def _safe(stem: str) -> str:
    text = _UNSAFE.sub("-", stem.lower())
    return text if len(text) <= _LIMIT else f"{text[: _LIMIT - 9]}-{sha256(stem.encode()).hexdigest()[:8]}"


def ours(folder: Path) -> set[str]:
    """The files of a folder that an earlier render wrote."""
    return {path.name for path in folder.glob("*.yaml") if path.is_file() and _is_ours(path)}


def foreign(folder: Path, wanted: Iterable[str]) -> list[str]:
    """The wanted files that are there already and that no render wrote."""
    return sorted(name for name in wanted if (folder / name).exists() and not _is_ours(folder / name))


def _is_ours(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(HEADER)) == HEADER.encode()


def write(folder: Path, files: dict[str, Resource]) -> None:
    """Every resource in its file, each whole or not at all; the folder is made where it is missing. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, resource in files.items():
        new = folder / f".{name}.new"
        new.write_text(HEADER + emitter.text(resource), encoding="utf-8", newline="\n")
        new.replace(folder / name)


def remove(folder: Path, stale: Sequence[str]) -> None:
    """Take out files that an earlier render wrote. Raises OSError."""
    for name in stale:
        (folder / name).unlink()
