"""The status of a DynamoGraphDeploymentRequest.

Follows the reference's `internal/controller/dynamographdeploymentrequest_controller.go`. One difference in principle: the state follows
from the objects that exist now. The stored status counts only for what the objects no longer tell: the generated graph, whether it was
deployed, and whether it was ready.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.kube import values
from krm_fn.records import NamedTuple
from krm_fn.status import conditions, requests
from krm_fn.status.conditions import READY, RECONCILING, STALLED, Condition
from krm_fn.status.requests import deployment, forms, generation, profiling, validation
from krm_fn.status.requests.forms import Told

if TYPE_CHECKING:
    from krm_fn.status.features import Features
    from krm_fn.status.requests import Request, Seen, Step

OWNED = (validation.TYPE, profiling.TYPE, generation.TYPE, deployment.TYPE, forms.SUCCEEDED, READY, RECONCILING, STALLED)


def status(request: Request, seen: Seen, now: str, features: Features) -> dict[str, Any]:
    """The whole `.status` of a request. `now` is an RFC 3339 time.

    A request without the annotation `profile-hash` keeps its status, because another program may write it. So does one that is deleted.
    """
    if not request.managed or request.deleted:
        return request.status
    life = _judge(request, seen, features)
    told = _told(request, seen, life)
    wanted = [*_conditions(life), *forms.summary(told, request.form)]
    merged = conditions.merge(request.status.get("conditions"), wanted, OWNED, request.generation, now)
    written = forms.written(request.status, told, request.form)
    written |= {"observedGeneration": request.generation or None, "conditions": merged}
    return {key: value for key, value in written.items() if value not in (None, "")}


class _Life(NamedTuple):
    """The judged steps of a request. `last` is the step that it has come to, `refusal` the condition that refuses its newest spec."""

    profiled: Step
    generated: Step
    deployed: Step
    last: Step
    state: str
    refusal: Condition | None


def _judge(request: Request, seen: Seen, features: Features) -> _Life:
    profiled = profiling.step(request, seen)
    generated = generation.step(request, seen, profiled)
    deployed = deployment.step(request, seen, features, due=profiled.done and generated.done)
    undone = next((each for each in (profiled, generated, deployed) if not each.done), deployed)
    last = deployed if deployed.value and request.auto_apply else undone
    begun = profiled.state != requests.PENDING
    refusal = validation.refusal(request, seen, last.state, begun=begun)
    state = requests.FAILED if request.wrong and not begun else last.state
    return _Life(profiled, generated, deployed, last, state, refusal)


def _told(request: Request, seen: Seen, life: _Life) -> Told:
    job = request.job.name if seen.job and profiling.is_ours(request, seen.job) else ""
    backend = values.text(request.status.get("backend")) if life.refusal else request.backend
    graph, deployed = life.generated.value or {}, life.deployed.value or {}
    counts = seen.graph.status if seen.graph else {}
    return Told(life.state, backend, job, request.output.name, _cause(life).message, graph, deployed, counts)


def _cause(life: _Life) -> Condition:
    """The condition that explains the state."""
    steps = [each.condition for each in (life.profiled, life.generated, life.deployed) if each.condition]
    return life.refusal or life.last.condition or steps[-1]


def _conditions(life: _Life) -> list[Condition]:
    """The conditions of the steps, and those for kstatus."""
    steps = [each.condition for each in (life.profiled, life.generated, life.deployed) if each.condition]
    cause = _cause(life)
    ready = life.state == requests.READY and not life.refusal
    found = [*([life.refusal] if life.refusal else []), *steps, Condition(READY, ready, cause.reason, cause.message)]
    if not ready:
        found.append(Condition(STALLED if life.refusal or life.last.stalled else RECONCILING, True, cause.reason, cause.message))
    return found
