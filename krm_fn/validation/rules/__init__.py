"""Groups of rules that only some releases have: each file is a group. `Behaviour.rules` names the groups of a release.

Follows the reference's `internal/webhook/validation/` and `config/crd/bases`, and the errors that it finds at run time.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from krm_fn import registry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from krm_fn.manifests.assemblies import Pods
    from krm_fn.plan import GraphPlan
    from krm_fn.results import Result

    Rules = Callable[[GraphPlan, Sequence[Pods]], Iterator[Result]]


def get(name: str) -> Rules:
    """The rules of one group. They take a plan and the pods of its components. Raises KeyError for an unknown group."""
    found: Rules = registry.get(sys.modules[__name__], name).check
    return found
