"""Finds generated objects whose graph is gone, and removes them from files.

Only objects with both marks of a render are removed: the label that names krm-fn and the annotation that names the owner.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

from krm_fn.kubernetes import identity
from krm_fn.render.manifests import ownership
from krm_fn.repository.files import reading, writing
from krm_fn.repository.files.reading import Source


class Orphans(NamedTuple):
    """The generated objects without an owner among the files, by file, and the number of Dynamo resources that users wrote."""

    files: dict[str, list[Source]]
    graphs: int


def find(sources: Sequence[Source], namespace: str, built: Sequence[Source] = ()) -> Orphans:
    """Returns the generated objects all of whose owners are missing. `namespace` is that of resources without one.

    `built` are the resources of builds in the same folder: an object that a build makes, and not only lists, stays in its committed render.
    """
    written = ownership.without_generated([source.value for source in sources])
    present = ownership.owners_among(written, namespace)
    files: dict[identity.ObjectKey, set[str]] = {}
    for source in built:
        if ownership.is_generated(source.value):
            files.setdefault(identity.key(source.value, namespace), set()).add(source.file)
    orphans = [
        source
        for source in sources
        if ownership.is_generated(source.value)
        and not _has_owner(source, present, namespace)
        and not files.get(identity.key(source.value, namespace), set()) - {source.file}
    ]
    by_file = groupby(sorted(orphans, key=lambda source: source.file), key=lambda source: source.file)
    return Orphans({file: list(group) for file, group in by_file}, len(present))


def _has_owner(source: Source, present: Iterable[ownership.Owner], namespace: str) -> bool:
    own = identity.key(source.value, namespace).namespace
    owners = {(*name.partition("/")[::2], own) for name in ownership.owners(source.value)}
    return not owners.isdisjoint(present)


def without(path: str, orphans: Sequence[Source]) -> str:
    """Returns the text of a file without some of its documents; empty if no other document remains.

    Raises ValueError if the others cannot be kept as they are.
    """
    file = reading.read(path)
    values = [source.value for source in orphans]
    remaining = [source for source in file.sources if source.value not in values]
    if not remaining:
        return ""
    text = file.text
    for source in sorted((source for source in file.sources if source.value in values), key=lambda source: -source.start):
        if source.at:
            raise ValueError("the object is in a List")
        text = text[: source.start] + text[source.start + len(source.text) :]
    again = reading.parse(text.encode(), path)
    if [source.value for source in again.sources] != [source.value for source in remaining]:
        raise ValueError("the other documents of the file would change")
    return text


def remove(path: str, text: str) -> None:
    """Replaces a file by a text; removes it if the text is empty. Raises OSError."""
    if text:
        writing.save(path, text)
    else:
        writing.delete(path)
