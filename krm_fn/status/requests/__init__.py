"""The steps of a request: profiling, generation of a graph, deployment. Each file judges one step by the objects that exist now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.records import NamedTuple

if TYPE_CHECKING:
    from krm_fn.status.conditions import Condition

PENDING, PROFILING, DEPLOYING, READY, DELETED, FAILED = "Pending", "Profiling", "Deploying", "Ready", "DeploymentDeleted", "Failed"
"""The states of a request (`status.state`)."""


class Step(NamedTuple):
    """One step. `state` is the state of a request that has come to this step and no further, or that has done all steps.

    `condition` is None if the step has not begun. `stalled` is true if waiting does not help. `value` is what the step writes into the
    status: the generated graph, or `status.deployment`.
    """

    state: str
    condition: Condition | None = None
    done: bool = False
    stalled: bool = False
    value: dict[str, Any] | None = None
