"""Whether the newest spec of a request counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.status.conditions import Condition
from krm_fn.status.requests import profiling

if TYPE_CHECKING:
    from krm_fn.status.requests import Request, Seen

TYPE = "Validation"
INVALID, REJECTED = "ValidationFailed", "SpecChangeRejected"


def refusal(request: Request, seen: Seen, state: str, *, begun: bool) -> Condition | None:
    """The condition that says why the newest spec does not count; None if it does. `state` is the state of what was profiled."""
    if request.wrong:
        return Condition(TYPE, False, INVALID, request.wrong)
    if not begun or not profiling.changed(request, seen):
        return None
    message = (
        f"Cannot modify spec in state '{state}'. DynamoGraphDeploymentRequest is immutable once profiling starts. "
        "Create a new resource with a different name instead, or undo the change."
    )
    return Condition(TYPE, False, REJECTED, message)
