"""Detects names, namespaces and labels that a later kustomize layer changed on generated objects without the fields that refer to them.

Pods carry the name and the namespace of their graph in variables, labels, selectors and arguments that no build tool rewrites.
A later layer may change images, replicas and other fields.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn import results
from krm_fn.builds import index, mismatch, statements

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krm_fn.kube.types import Resource
    from krm_fn.results import Result

_OUTERMOST = "list the function in the transformers of the outermost layer that sets"
_AFTERWARDS = {
    mismatch.MOVED: f"a namespace was laid over generated objects afterwards; {_OUTERMOST} namespace or namePrefix",
    mismatch.RENAMED: f"a name, prefix or suffix was laid over generated objects afterwards; {_OUTERMOST} namespace or namePrefix",
    mismatch.RELABELLED: f"a label was laid over generated objects afterwards; {_OUTERMOST} it",
}


def check(resources: Sequence[Resource]) -> Iterator[Result]:
    """One error for each resource of a finished build that names what a later layer moved, renamed or relabelled.

    Resources without our marks are never judged. What the source itself sets by hand is the user's; where the source is not among
    the items (`source: drop`), fields that it could have set are not judged.
    """
    there = index.read(resources)
    for resource in resources:
        found = [*statements.of_source(resource, there)]
        for item in index.generated(resource, there):
            found.extend(statements.of_generated(item, there))
        if found:
            yield _error(resource, min(found, key=lambda each: each.code))


def _error(resource: Resource, found: mismatch.Mismatch) -> Result:
    truth = f"but that is {found.truth!r} now" if found.truth else "which is not there"
    message = f"names {found.says!r}, {truth}: {_AFTERWARDS[found.code]}"
    return results.error(found.code, message, results.ref(resource), found.path, current=found.says, proposed=found.truth or None)
