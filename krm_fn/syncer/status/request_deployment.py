"""The last step of a request: the graph that `spec.autoApply` deploys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.kubernetes import values
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.syncer.status import SyncFeatures, conditions, graph_status
from krm_fn.syncer.status.cached_object import CachedObject
from krm_fn.syncer.status.cached_request import CachedRequest, RequestInputs, RequestStep
from krm_fn.syncer.status.conditions import StatusCondition
from krm_fn.syncer.status.version_adapter import DELETED, DEPLOYING, FAILED, READY

if TYPE_CHECKING:
    from krm_fn.syncer.profiler_output import ProfilerOutput

TYPE = "DeploymentReady"
IS_READY, CREATED, DEGRADED = "DeploymentReady", "DeploymentCreated", "DeploymentDegraded"
GONE, REJECTED = "DeploymentDeleted", "DeploymentRefused"
APPLYING, FAILING, DISABLED = "DeploymentPending", "DeploymentCreationFailed", "AutoApplyDisabled"


def target(request: CachedRequest, output: ProfilerOutput | None) -> ObjectKey | None:
    """Returns the graph that a request deployed, or will deploy; None if it deploys none."""
    if request.deployed or not request.auto_apply:
        return request.deployed
    generated = request.usable_graph(output)
    key = request.graph_key(generated) if generated else None
    return key if key and key.name else None


def step(request: CachedRequest, inputs: RequestInputs, features: SyncFeatures, *, due: bool) -> RequestStep:
    """Computes the step of the deployment. A graph with the key of the target counts as deployed, also if another program made it.

    `due` is true if the steps before are done.
    """
    key = target(request, inputs.output)
    if key and (request.deployed or (due and inputs.graph and not _is_incomplete(request, inputs.graph, features))):
        deployed = _deployed_step(request, key, inputs.graph)
        return deployed if request.auto_apply else deployed._replace(state=READY, done=True, stalled=False)
    if not request.auto_apply:
        return RequestStep(READY, done=True)
    return _undeployed_step(request, key, inputs, features) if due else RequestStep(DEPLOYING)


def _undeployed_step(request: CachedRequest, key: ObjectKey | None, inputs: RequestInputs, features: SyncFeatures) -> RequestStep:
    rejected = inputs.rejected if key else f"the generated graph has no name; set {request.field_names.graph_metadata}.name"
    if rejected:
        return RequestStep(FAILED, StatusCondition(TYPE, False, REJECTED, rejected), stalled=True)
    if not features.auto_apply:
        get = f"krm-fn request get {request.key.name} -n {request.key.namespace}"
        message = f"krm-fn sync runs without --auto-apply, so nothing is deployed; turn it on, or commit the graph that `{get}` prints"
        return RequestStep(DEPLOYING, StatusCondition(TYPE, False, DISABLED, message), stalled=True)
    if inputs.output is None:
        message = f"the ConfigMap {request.output.name} with the output does not exist, so the graph cannot be applied; {_again(request)}"
        return RequestStep(DEPLOYING, StatusCondition(TYPE, False, FAILING, message), stalled=True)
    if inputs.problem:
        return RequestStep(DEPLOYING, StatusCondition(TYPE, False, FAILING, f"{inputs.problem}; it is tried again"))
    return RequestStep(DEPLOYING, StatusCondition(TYPE, False, APPLYING, f"DGD {key.name if key else ''} is not applied yet"))


def _again(request: CachedRequest) -> str:
    return f"delete the Job {request.job.name} if it exists, and apply it again to profile once more, or commit the graph in the status"


def _is_incomplete(request: CachedRequest, graph: CachedObject, features: SyncFeatures) -> bool:
    """Returns True while the syncer applies the graph: it writes the annotation `workloads` last."""
    return features.auto_apply and graph.request == request.key and graph.entries is None and not graph.problem


def _deployed_step(request: CachedRequest, key: ObjectKey, graph: CachedObject | None) -> RequestStep:
    """Computes the state of a graph that was deployed. It is never deployed a second time."""
    target_fields: dict[str, Any] = {"name": key.name, "namespace": key.namespace}
    if graph is None:
        message = "Deployment was deleted by user. Create a new DGDR to redeploy."
        value = {**target_fields, "created": True}
        return RequestStep(DELETED, StatusCondition(TYPE, False, GONE, message), stalled=True, value=value)
    state = values.text(graph.status.get("state")) or graph_status.PENDING
    value = {**target_fields, "state": state, "created": True}
    suffix = "" if graph.request == request.key else "; the graph was not made by this request, which only reports its state"
    if state == graph_status.SUCCESSFUL:
        ready = StatusCondition(TYPE, True, IS_READY, f"DynamoGraphDeployment {key.name} is ready{suffix}")
        return RequestStep(READY, ready, done=True, value=value)
    before = conditions.find(request.status, TYPE)
    degraded = before.is_true or before.reason == DEGRADED
    message = f"Deployment degraded to {state}" if degraded else f"DGD {key.name} created, waiting for Ready"
    condition = StatusCondition(TYPE, False, DEGRADED if degraded else CREATED, f"{message}{suffix}")
    return RequestStep(DEPLOYING, condition, stalled=state == graph_status.FAILED, value=value)
