"""Splits resources into groups, so that each group has every object once.

A repository can hold an application once for each environment, with the same name and namespace. Each copy is checked with the resources
that do not conflict with it, such as pull secrets.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from krm_fn.kube import identity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from krm_fn.files.reading import Source


def groups(resources: Sequence[Source], scopes: dict[str, str], home: str) -> list[list[Source]]:
    """The resources in groups; resources of a scope stay together. `scopes` gives the scope of a file.

    Scopes that share no object with another scope are in every group. `home` is the namespace of resources without one.
    """
    objects: dict[str, set[identity.ObjectKey]] = {}
    for source in resources:
        objects.setdefault(scopes[source.file], set()).add(identity.key(source.value, home))
    uses = Counter(key for keys in objects.values() for key in keys)
    shared = {scope for scope, keys in objects.items() if all(uses[key] == 1 for key in keys)}
    divided: list[set[str]] = []
    for scope in (each for each in objects if each not in shared):
        group = next((each for each in divided if all(objects[scope].isdisjoint(objects[other]) for other in each)), None)
        if group is None:
            divided.append(group := set())
        group.add(scope)
    return [[source for source in resources if scopes[source.file] in shared | group] for group in divided] or [list(resources)]
