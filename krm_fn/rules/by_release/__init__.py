"""Groups of rules that only some releases have: one module a group. `Release.rules` names the groups of a release.

Follows the operator's `internal/webhook/validation/` and `config/crd/bases`, and the errors that it raises at run time.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from krm_fn import registry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krm_fn.manifests.pod_builder import Pods
    from krm_fn.plan import GraphPlan
    from krm_fn.results import Result


def check(plan: GraphPlan, pods: Sequence[Pods]) -> Iterator[Result]:
    """Yields the findings of the groups of a plan's release. `pods` holds those of each component. Raises KeyError for an unknown group."""
    for group in plan.release.rules:
        yield from registry.get(sys.modules[__name__], group).check(plan, pods)
