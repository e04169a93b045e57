"""Computes the status of a DynamoModel, and the events about its changes.

Follows the operator's `internal/controller/dynamo_model_controller.go`. ServicesFound and EndpointsReady have the reasons and messages of
the operator. Ready, Reconciling and Stalled are for kstatus, and their messages contain the fix.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from krm_fn.base.records import NamedTuple
from krm_fn.syncer.status import SyncFeatures, cached_model, conditions, model_endpoints
from krm_fn.syncer.status.base_model_index import BaseModelIndex
from krm_fn.syncer.status.cached_model import ENDPOINTS_READY, SERVICES_FOUND, AdapterLoad, AdapterLoads, CachedModel
from krm_fn.syncer.status.conditions import READY, RECONCILING, STALLED, VALID, ObservedCondition, StatusCondition
from krm_fn.syncer.status.model_endpoints import ModelEndpoint
from krm_fn.syncer.status.workload_index import WorkloadIndex

MODEL_CONDITIONS = (VALID, SERVICES_FOUND, ENDPOINTS_READY, READY, RECONCILING, STALLED)
INVALID, NO_ENDPOINTS, HASH_COLLISION, NAME_CONFLICT = "ValidationFailed", "NoEndpoints", "HashCollision", "NameConflict"
DISCOVERED, ALL_READY, NOT_READY = "EndpointsDiscovered", "AllEndpointsReady", "NotReady"
OFF, FAILED = "LorasDisabled", "LoadFailed"
_NAMED = 3
"""Endpoints whose problems a message contains."""


class ModelReadiness(NamedTuple):
    """The conditions of a model, and its endpoints with their readiness for this model."""

    conditions: list[StatusCondition]
    endpoints: Sequence[tuple[ModelEndpoint, bool]] = ()
    waits: bool = False
    """True while an endpoint has not answered since this process started."""


class ModelEvent(NamedTuple):
    """An event about a model. `warning` is false for an event of the type Normal."""

    reason: str
    note: str
    warning: bool = True


def of_model(  # noqa: PLR0913, PLR0917 - the inputs of a status
    model: CachedModel,
    base_models: BaseModelIndex,
    index: WorkloadIndex,
    now: str,
    features: SyncFeatures,
    loads: AdapterLoads | None = None,
) -> dict[str, Any]:
    """Computes the whole `.status` of a model. `now` is an RFC 3339 time. A model that is being deleted keeps its status.

    `loads` is the state of the adapter; None if the syncer does not run: then the stored status shows which endpoints are ready.
    """
    if model.deleted:
        return model.status
    readiness = model_readiness(model, base_models, index, features, loads)
    merged = conditions.merge(model.status.get("conditions"), readiness.conditions, MODEL_CONDITIONS, model.generation, now)
    rows = [{"address": endpoint.url, "podName": endpoint.pod, "ready": ready} for endpoint, ready in readiness.endpoints]
    is_current = cached_model.observed_generation(model) == model.generation
    if readiness.waits and is_current and rows == model.status.get("endpoints"):
        return model.status  # after a restart of the syncer, the stored status holds until the endpoints answer
    fields = {
        **model.status,
        "observedGeneration": model.generation or None,
        "endpoints": rows or None,
        "readyEndpoints": sum(ready for _, ready in readiness.endpoints),
        "totalEndpoints": len(rows),
        "conditions": merged,
    }
    return {field: value for field, value in fields.items() if value is not None}


def model_readiness(
    model: CachedModel, base_models: BaseModelIndex, index: WorkloadIndex, features: SyncFeatures, loads: AdapterLoads | None
) -> ModelReadiness:
    """Computes whether the pods of its base model serve a model. `loads` is the state of its adapter; None if the syncer does not run."""
    if problem := cached_model.problem(model):
        message = f"Validation failed: {problem}"
        return ModelReadiness([StatusCondition(VALID, False, INVALID, message), *_unready(INVALID, message, stalled=True)])
    valid = StatusCondition(VALID, True, "ValidationPassed", "DynamoModel spec is valid")
    other, server = base_models.hash_collision(model)
    if other:
        message = (
            f"base model {model.base} has the same hash as {other} of {server}, and pods are found by this hash; "
            "use one of the two base models in another namespace"
        )
        failed = [StatusCondition(type_, False, HASH_COLLISION, message) for type_ in (SERVICES_FOUND, ENDPOINTS_READY)]
        return ModelReadiness([valid, *failed, *_unready(HASH_COLLISION, message, stalled=True)])
    slices = base_models.slices(model)
    endpoints = model_endpoints.endpoints(slices, index)
    if not endpoints:
        message = f"No endpoint slices found for base model {model.base}"
        failed = [
            StatusCondition(SERVICES_FOUND, False, "NoServicesFound", message),
            StatusCondition(ENDPOINTS_READY, False, NO_ENDPOINTS, message),
        ]
        hint = f"{message}; no pod of namespace {model.key.namespace} serves it: deploy a graph with modelRef.name: {model.base}"
        return ModelReadiness([valid, *failed, *_unready(NO_ENDPOINTS, hint)])
    readiness = _endpoints_ready(model, endpoints, base_models, features, loads)
    return readiness._replace(conditions=[valid, _services_found(len(model_endpoints.services(slices))), *readiness.conditions])


def is_loadable(model: CachedModel, base_models: BaseModelIndex) -> bool:
    """Returns True if the adapter of this model may be loaded: its spec is valid, and its base model and its name are not contested."""
    if not model.lora or cached_model.problem(model) or base_models.hash_collision(model)[0]:
        return False
    return _conflict(model, base_models) is None


def events(model: CachedModel, desired: dict[str, Any]) -> list[ModelEvent]:
    """Returns the events of a change from the stored status to the desired one, in the words of the operator.

    An unchanged reason is not an event.
    """
    valid, endpoints = (conditions.find(desired, type_) for type_ in (VALID, ENDPOINTS_READY))
    result: list[ModelEvent] = []
    if valid.reason == INVALID and valid.message != conditions.find(model.status, VALID).message:
        result.append(ModelEvent(INVALID, valid.message.removeprefix("Validation failed: ")))
    if endpoints.reason != conditions.find(model.status, ENDPOINTS_READY).reason:
        result += _endpoint_events(model, desired, endpoints)
    return result


def _endpoint_events(model: CachedModel, desired: dict[str, Any], condition: ObservedCondition) -> Iterator[ModelEvent]:
    reason, message = condition.reason, condition.message
    ready, total = desired["readyEndpoints"], desired["totalEndpoints"]
    if reason == ALL_READY:
        yield ModelEvent("EndpointsReady", f"All {total} endpoints ready for base model {model.base}", warning=False)
    elif reason == DISCOVERED:
        yield ModelEvent(reason, f"Discovered {total} endpoints for base model {model.base}", warning=False)
    elif reason == NO_ENDPOINTS:
        yield ModelEvent("NoEndpointsFound", message)
    elif reason == NOT_READY:
        problems = conditions.find(desired, READY).message.partition("; ")[2]
        yield ModelEvent("PartialEndpointFailure", f"Some endpoints failed to load LoRA: {total - ready} task(s) failed; {problems}")
        yield ModelEvent(reason, f"Only {ready} of {total} endpoints ready for base model {model.base}")
    elif reason in {HASH_COLLISION, NAME_CONFLICT, OFF}:
        yield ModelEvent(reason, message)


def _conflict(model: CachedModel, base_models: BaseModelIndex) -> CachedModel | None:
    """Finds the adapter of the same name with another source, if it comes before this one."""
    others = (other for other in base_models.other_adapters(model) if other.name == model.name and other.uri != model.uri)
    return min((other for other in others if other.key < model.key), default=None)


def _services_found(services: int) -> StatusCondition:
    if services:
        return StatusCondition(SERVICES_FOUND, True, "ServicesFound", f"Found {services} service(s)")
    return StatusCondition(SERVICES_FOUND, False, "NoServicesFound", "No services associated with endpoint slices")


def _endpoints_ready(
    model: CachedModel,
    endpoints: Sequence[ModelEndpoint],
    base_models: BaseModelIndex,
    features: SyncFeatures,
    loads: AdapterLoads | None,
) -> ModelReadiness:
    """Computes the condition EndpointsReady and those for kstatus, of a model with endpoints."""
    if not model.lora:
        return _base_model(model, endpoints)
    rows = [(endpoint, False) for endpoint in endpoints]
    if not features.loras:
        message = "nothing is loaded, because krm-fn sync runs without --loras"
        return ModelReadiness([StatusCondition(ENDPOINTS_READY, False, OFF, message), *_unready(OFF, message, stalled=True)], rows)
    if other := _conflict(model, base_models):
        message = f"{other.key.kind} {other.key.name} loads {model.name} from another source; give one of the two another modelName"
        failed = StatusCondition(ENDPOINTS_READY, False, NAME_CONFLICT, message)
        return ModelReadiness([failed, *_unready(NAME_CONFLICT, message, stalled=True)], rows)
    return _adapter(endpoints, [_load(endpoint, model, loads) for endpoint in endpoints])


def _load(endpoint: ModelEndpoint, model: CachedModel, loads: AdapterLoads | None) -> AdapterLoad:
    if loads is None:
        return AdapterLoad(cached_model.stored_loads(model).get((endpoint.url, endpoint.pod), False))
    if endpoint.worker is None:
        return AdapterLoad(tried=loads.settled, problem=endpoint.problem if loads.settled else "")
    return loads.loads.get(endpoint.worker, AdapterLoad())


def _base_model(model: CachedModel, endpoints: Sequence[ModelEndpoint]) -> ModelReadiness:
    """Computes the readiness of a base model. Nothing is loaded, so an endpoint is ready if its pod is (operator: no endpoint is ready)."""
    rows = [(endpoint, endpoint.ready) for endpoint in endpoints]
    ready, total = sum(endpoint.ready for endpoint in endpoints), len(rows)
    is_adapter = model.type == cached_model.ADAPTER
    hint = f"; nothing is loaded for modelType {cached_model.ADAPTER}, write lora to load it" if is_adapter else ""
    discovered = StatusCondition(ENDPOINTS_READY, True, DISCOVERED, f"Found {total} endpoint(s) for base model{hint}")
    if ready < total:
        message = f"{ready} of {total} endpoints are ready; see the pods{hint}"
        return ModelReadiness([discovered, *_unready(NOT_READY, message)], rows)
    return ModelReadiness([discovered, StatusCondition(READY, True, DISCOVERED, discovered.message)], rows)


def _adapter(endpoints: Sequence[ModelEndpoint], loads: Sequence[AdapterLoad]) -> ModelReadiness:
    """Computes the readiness of an adapter. An endpoint is ready if its worker has loaded the adapter."""
    rows = [(endpoint, load.loaded) for endpoint, load in zip(endpoints, loads, strict=True)]
    ready, total = sum(load.loaded for load in loads), len(rows)
    waits = any(not load.tried for load in loads)
    if ready == total:
        message = f"All {total} endpoint(s) are ready"
        return ModelReadiness(
            [StatusCondition(ENDPOINTS_READY, True, ALL_READY, message), StatusCondition(READY, True, ALL_READY, message)], rows, waits
        )
    reason = cached_model.LOADING if waits else NOT_READY
    incomplete = StatusCondition(ENDPOINTS_READY, False, reason, f"Found {ready} ready endpoint(s) out of {total} total")
    lasting = any(load.lasting for load in loads)
    message = f"{ready} of {total} endpoints have the adapter{_problems(endpoints, loads)}"
    return ModelReadiness([incomplete, *_unready(FAILED if lasting else reason, message, stalled=lasting)], rows, waits)


def _problems(endpoints: Sequence[ModelEndpoint], loads: Sequence[AdapterLoad]) -> str:
    """Lists the problems of the first endpoints, and counts the others."""
    problems = [f"{endpoint.pod}: {load.problem}" for endpoint, load in zip(endpoints, loads, strict=True) if load.problem]
    more = [f"and {len(problems) - _NAMED} more"] if len(problems) > _NAMED else []
    return "".join(f"; {text}" for text in (*problems[:_NAMED], *more))


def _unready(reason: str, message: str, *, stalled: bool = False) -> list[StatusCondition]:
    return [StatusCondition(READY, False, reason, message), StatusCondition(STALLED if stalled else RECONCILING, True, reason, message)]
