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
_CAUSES = {
    mismatch.MOVED: ("a later layer changed the namespace of generated objects", f"{_OUTERMOST} namespace or namePrefix"),
    mismatch.RENAMED: ("a later layer changed the name of generated objects", f"{_OUTERMOST} namespace, namePrefix or nameSuffix"),
    mismatch.RELABELLED: ("a later layer changed a label of generated objects", f"{_OUTERMOST} labels"),
}


def check(resources: Sequence[Resource]) -> Iterator[Result]:
    """Yields one error for each resource of a finished build that still has a name, namespace or label from before a later layer.

    Only generated objects and rendered sources are checked. Values that the user set in the source are not checked. If the source is not
    among the items (`source: drop`), no field that a user can set is checked.
    """
    there = index.read(resources)
    for resource in resources:
        found = [*statements.check_source(resource, there)]
        for item in index.generated(resource, there):
            found.extend(statements.check_generated(item, there))
        if found:
            yield _error(resource, min(found, key=lambda each: each.code))


def _error(resource: Resource, found: mismatch.Mismatch) -> Result:
    cause, fix = _CAUSES[found.code]
    wrong = f"{found.says!r} should be {found.truth!r}" if found.truth else f"{found.says!r} is not in the build"
    message = f"{wrong}, because {cause}; {fix}"
    return results.error(found.code, message, results.ref(resource), found.path, current=found.says, proposed=found.truth or None)
