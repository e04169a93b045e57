"""Finds the file, line and column of the fields that findings are about."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from krm_fn import results
from krm_fn.files import reading
from krm_fn.krm import origin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from krm_fn.files.reading import Source
    from krm_fn.results import Ref, Result


def located(findings: Sequence[tuple[Source, Result]]) -> list[Result]:
    """Findings with the place of their field in a source."""
    where = reading.field_locations((source, result.path) for source, result in findings)
    return [result._replace(**location) for (_, result), location in zip(findings, where, strict=True)]


def of(findings: Iterable[Result], sources: Iterable[Source], root: Path | None = None) -> list[Result]:
    """Findings with file, line and column of their fields, in the order of the output.

    For resources on stdin, an annotation of kustomize or kpt names the file. Its lines are known only if the file is read again, below
    `root` or in the repository around `root`.
    """
    known: dict[Ref, Source] = {}
    for source in sources:
        known.setdefault(source.address, source)
    read = cache(reading.read)
    done: list[Result] = []
    standing: list[tuple[Source, Result]] = []
    for result in findings:
        if result.ref not in known or result.file:
            done.append(result)
            continue
        where = _noted(known[result.ref], root, read)
        if isinstance(where, dict):
            done.append(result._replace(**where))
        else:
            standing.append((where, result))
    return sorted([*done, *located(standing)], key=results.order)


def _noted(source: Source, root: Path | None, read: Callable[[str], reading.File]) -> Source | dict[str, Any]:
    """The document of a resource whose annotation names a file; only the file if the document is not found."""
    path, number = origin.file(source.value)
    if not path or (root is None and source.file != reading.STDIN_NAME):
        return source
    again = _again(read(str(root / path)).sources, number, source) if root and _is_inside(root / path, root) else None
    return again or {"file": path, "document": number}


def _is_inside(path: Path, root: Path) -> bool:
    """True if a path, with its links followed, is below `root` or in the repository around `root`.

    An overlay names its base as `../base`, so `root` alone is not enough. The author of the annotation must not choose any other file.
    """
    top = root.resolve()
    repository = next((folder for folder in (top, *top.parents) if (folder / ".git").exists()), top)
    try:
        return path.resolve().is_relative_to(repository)
    except (OSError, ValueError, RuntimeError):  # a zero byte, or a loop of links
        return False


def _again(there: Iterable[Source], number: int, source: Source) -> Source | None:
    """The document of the same kind with the longest name that is part of the resource's name, because builds add prefixes and suffixes.

    If several documents match equally, the one with the same number in the file.
    """
    name = source.address.name
    alike = [candidate for candidate in there if candidate.address.kind == source.address.kind]
    return max(
        alike,
        key=lambda candidate: (len(candidate.address.name) * (candidate.address.name in name), candidate.document == number),
        default=None,
    )
