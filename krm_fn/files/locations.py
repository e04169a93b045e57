"""Where findings stand: file, line and column of the fields they are about.

Not its business: which resources there are (`krm_fn.files.sources`).
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from krm_fn import results
from krm_fn.files import reading
from krm_fn.krm import origin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from krm_fn.files.reading import Source
    from krm_fn.results import Ref, Result


def located(found: Sequence[tuple[Source, Result]]) -> list[Result]:
    """Findings, each with the place of its field in a source."""
    where = reading.places((source, result.path) for source, result in found)
    return [result._replace(**place) for (_, result), place in zip(found, where, strict=True)]


def of(found: Iterable[Result], sources: Iterable[Source], root: Path | None = None) -> list[Result]:
    """Findings with file, line and column of the fields they are about, in the order in which they are shown.

    What came in on stdin from kustomize or kpt counts as of the file that they note on it. Lines of that file are only known where it is
    read again, below `root`.
    """
    known: dict[Ref, Source] = {}
    for source in sources:
        known.setdefault(source.address, source)
    read = cache(reading.read)
    done: list[Result] = []
    standing: list[tuple[Source, Result]] = []
    for result in found:
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
    """What a resource was made from, where an orchestrator notes that: the document, or only its file where that cannot be read."""
    path, number = origin.file(source.value)
    if not path or (root is None and source.file != reading.STDIN_NAME):
        return source
    again = _again(read(str(root / path)).sources, number, source) if root else None
    return again or {"file": path, "document": number}


def _again(there: Iterable[Source], number: int, source: Source) -> Source | None:
    """The document that became a resource: of its kind and of most of its name, over which builds lay prefixes and suffixes.

    Where that leaves a choice, the one in its place.
    """
    name = source.address.name
    alike = [each for each in there if each.address.kind == source.address.kind]
    return max(alike, key=lambda each: (len(each.address.name) * (each.address.name in name), each.document == number), default=None)
