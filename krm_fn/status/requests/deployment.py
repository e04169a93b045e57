"""The last step of a request: the graph that `spec.autoApply` deploys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.kube import values
from krm_fn.status import fields, graph
from krm_fn.status.conditions import Condition
from krm_fn.status.requests import DELETED, DEPLOYING, FAILED, READY, Step

if TYPE_CHECKING:
    from krm_fn.kube.identity import ObjectKey
    from krm_fn.profiling.output import Output
    from krm_fn.status.features import Features
    from krm_fn.status.requests import Request, Seen
    from krm_fn.status.subject import Subject

TYPE = "DeploymentReady"
IS_READY, CREATED, DEGRADED, GONE, REFUSED = (
    "DeploymentReady",
    "DeploymentCreated",
    "DeploymentDegraded",
    "DeploymentDeleted",
    "DeploymentRefused",
)
APPLYING, FAILING, DISABLED = "DeploymentPending", "DeploymentCreationFailed", "AutoApplyDisabled"


def target(request: Request, output: Output | None) -> ObjectKey | None:
    """The graph that a request deployed, or will deploy; None if it deploys none."""
    if request.deployed or not request.auto_apply:
        return request.deployed
    generated = request.choose(output)
    found = request.place(generated) if generated else None
    return found if found and found.name else None


def step(request: Request, seen: Seen, features: Features, *, due: bool) -> Step:
    """The state of the graph. A graph that exists at its place counts as deployed, also if somebody else made it.

    `due` is true if the steps before are done.
    """
    key = target(request, seen.output)
    if key and (request.deployed or (due and seen.graph and not _incomplete(request, seen.graph, features))):
        deployed = _deployed(request, key, seen.graph)
        return deployed if request.auto_apply else deployed._replace(state=READY, done=True, stalled=False)
    if not request.auto_apply:
        return Step(READY, done=True)
    return _undeployed(request, key, seen, features) if due else Step(DEPLOYING)


def _undeployed(request: Request, key: ObjectKey | None, seen: Seen, features: Features) -> Step:
    refused = seen.refused if key else f"the generated graph has no name; set {request.form.overrides}.name"
    if refused:
        return Step(FAILED, Condition(TYPE, False, REFUSED, refused), stalled=True)
    if not features.auto_apply:
        get = f"krm-fn request get {request.key.name} -n {request.key.namespace}"
        message = f"krm-fn sync runs without --auto-apply, so nothing is deployed; turn it on, or commit the graph that `{get}` prints"
        return Step(DEPLOYING, Condition(TYPE, False, DISABLED, message), stalled=True)
    if seen.problem:
        return Step(DEPLOYING, Condition(TYPE, False, FAILING, f"{seen.problem}; it is tried again"))
    return Step(DEPLOYING, Condition(TYPE, False, APPLYING, f"DGD {key.name if key else ''} is not applied yet"))


def _incomplete(request: Request, found: Subject, features: Features) -> bool:
    """True while the syncer applies the graph: it writes the annotation `workloads` last."""
    return features.auto_apply and found.request == request.key and found.entries is None and not found.wrong


def _deployed(request: Request, key: ObjectKey, found: Subject | None) -> Step:
    """The state of a graph that was deployed. It is never deployed a second time."""
    place: dict[str, Any] = {"name": key.name, "namespace": key.namespace}
    if found is None:
        message = "Deployment was deleted by user. Create a new DGDR to redeploy."
        return Step(DELETED, Condition(TYPE, False, GONE, message), stalled=True, value={**place, "created": True})
    state = values.text(found.status.get("state")) or graph.PENDING
    value = {**place, "state": state, "created": True}
    note = "" if found.request == request.key else "; the graph was not made by this request, which only reports its state"
    if state == graph.SUCCESSFUL:
        return Step(READY, Condition(TYPE, True, IS_READY, f"DynamoGraphDeployment {key.name} is ready{note}"), done=True, value=value)
    before = fields.condition(request.status, TYPE)
    degraded = before.get("status") == "True" or before.get("reason") == DEGRADED
    said = f"Deployment degraded to {state}" if degraded else f"DGD {key.name} created, waiting for Ready"
    condition = Condition(TYPE, False, DEGRADED if degraded else CREATED, f"{said}{note}")
    return Step(DEPLOYING, condition, stalled=state == graph.FAILED, value=value)
