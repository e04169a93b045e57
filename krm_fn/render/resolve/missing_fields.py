"""Reports fields that the definitions of a release do not have, so that an API server drops them.

Follows the operator's definitions in `deploy/operator/config/crd` of each release.
"""

from __future__ import annotations

from krm_fn.base import results

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from krm_fn.base.results import Result
    from krm_fn.render.kinds.releases import Release
    from krm_fn.render.plan import SourcePaths


def check(written: dict[str, Any], missing: Iterable[tuple[str, ...]], release: Release, paths: SourcePaths) -> Iterator[Result]:
    """Yields an error for each of the `missing` fields that a v1beta1 graph or component has. `written` is the part that `paths` is of."""
    for steps in missing:
        if _value(written, steps):
            message = f"Dynamo {release.name[1:]} does not have this field; remove it, or set behaviour to a newer release"
            yield results.error("DYN411", message, paths.ref, paths.at(*steps))


def _value(written: Any, steps: tuple[str, ...]) -> Any:
    for step in steps:
        written = (written or {}).get(step)
    return written
