"""Whether generated objects still tell the truth in a finished build: a name or namespace laid over them makes them lie.

Pods carry the name and the namespace of their graph in variables, labels, selectors and arguments that no build tool rewrites.
Not its business: what else the objects hold; images, replicas, labels and patches may well be laid over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn import results
from krm_fn.layers import build, claims, lies

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krm_fn.kube.types import Resource
    from krm_fn.results import Result

_OUTERMOST = "list the function in the transformers of the outermost layer that sets"
_AFTERWARDS = {
    lies.MOVED: f"a namespace was laid over generated objects afterwards; {_OUTERMOST} namespace or namePrefix",
    lies.RENAMED: f"a name, prefix or suffix was laid over generated objects afterwards; {_OUTERMOST} namespace or namePrefix",
    lies.RELABELLED: f"a label was laid over generated objects afterwards; {_OUTERMOST} it",
}


def check(resources: Sequence[Resource]) -> Iterator[Result]:
    """One error for each resource of a finished build that names what a later layer moved, renamed or relabelled.

    Resources without our marks are never judged. What the source itself sets by hand is the user's; where the source is not among
    the items (`source: drop`), fields that it could have set are not judged.
    """
    there = build.read(resources)
    for resource in resources:
        found = [*claims.of_source(resource, there)]
        for item in build.generated(resource, there):
            found.extend(claims.of_generated(item, there))
        if found:
            yield _error(resource, min(found, key=lambda lie: lie.code))


def _error(resource: Resource, lie: lies.Lie) -> Result:
    truth = f"but that is {lie.truth!r} now" if lie.truth else "which is not there"
    message = f"names {lie.says!r}, {truth}: {_AFTERWARDS[lie.code]}"
    return results.error(lie.code, message, results.ref(resource), lie.path, current=lie.says, proposed=lie.truth or None)
