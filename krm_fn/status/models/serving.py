"""Whether the pods of a base model serve a model: the conditions about its endpoints.

ServicesFound and EndpointsReady have the reasons and messages of the reference. Ready, Reconciling and Stalled are for kstatus, and say
what to do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.records import NamedTuple
from krm_fn.status import endpoints, models
from krm_fn.status.conditions import READY, RECONCILING, STALLED, VALID, Condition
from krm_fn.status.models import FOUND, SERVES, Load

if TYPE_CHECKING:
    from collections.abc import Sequence

    from krm_fn.status.base_models import BaseModels
    from krm_fn.status.children import Children
    from krm_fn.status.endpoints import Endpoint
    from krm_fn.status.features import Features
    from krm_fn.status.models import Known, Model

INVALID, NO_ENDPOINTS, ALIKE, CONFLICT = "ValidationFailed", "NoEndpoints", "HashCollision", "NameConflict"
DISCOVERED, ALL_READY, NOT_READY = "EndpointsDiscovered", "AllEndpointsReady", "NotReady"
OFF, FAILED = "LorasDisabled", "LoadFailed"
_NAMED = 3
"""Endpoints whose problems a message tells."""


class Judged(NamedTuple):
    """The conditions of a model, and its endpoints: each with its readiness for this model."""

    conditions: list[Condition]
    endpoints: list[tuple[Endpoint, bool]] = []
    waits: bool = False
    """True while an endpoint has not answered since this process started."""


def judge(model: Model, found: BaseModels, children: Children, features: Features, known: Known | None) -> Judged:
    """Judges a model. `known` is what the syncer knows about its adapter; None if it does not run."""
    if problem := models.wrong(model):
        message = f"Validation failed: {problem}"
        return Judged([Condition(VALID, False, INVALID, message), *_unready(INVALID, message, stalled=True)])
    valid = Condition(VALID, True, "ValidationPassed", "DynamoModel spec is valid")
    other, user = found.alike(model)
    if other:
        message = (
            f"base model {model.base} has the same hash as {other} of {user}, and pods are found by this hash; "
            "use one of the two base models in another namespace"
        )
        failed = [Condition(each, False, ALIKE, message) for each in (FOUND, SERVES)]
        return Judged([valid, *failed, *_unready(ALIKE, message, stalled=True)])
    slices = found.slices(model)
    listed = endpoints.listed(slices, children)
    if not listed:
        message = f"No endpoint slices found for base model {model.base}"
        failed = [Condition(FOUND, False, "NoServicesFound", message), Condition(SERVES, False, NO_ENDPOINTS, message)]
        hint = f"{message}; no pod of namespace {model.key.namespace} serves it: deploy a graph with modelRef.name: {model.base}"
        return Judged([valid, *failed, *_unready(NO_ENDPOINTS, hint)])
    judged = _served(model, listed, found, features, known)
    return judged._replace(conditions=[valid, _found(len(endpoints.services(slices))), *judged.conditions])


def loadable(model: Model, found: BaseModels) -> bool:
    """True if the adapter of this model may be loaded: its spec is valid, and its base model and its name are not contested."""
    return model.lora and not models.wrong(model) and not found.alike(model)[0] and _conflict(model, found) is None


def _conflict(model: Model, found: BaseModels) -> Model | None:
    """The adapter of the same name with another source, if it comes before this one."""
    others = (each for each in found.rivals(model) if each.name == model.name and each.uri != model.uri)
    return min((each for each in others if each.key < model.key), default=None)


def _found(services: int) -> Condition:
    if services:
        return Condition(FOUND, True, "ServicesFound", f"Found {services} service(s)")
    return Condition(FOUND, False, "NoServicesFound", "No services associated with endpoint slices")


def _served(model: Model, listed: Sequence[Endpoint], found: BaseModels, features: Features, known: Known | None) -> Judged:
    """The condition EndpointsReady and those for kstatus, of a model with endpoints."""
    if not model.lora:
        return _base(model, listed)
    rows = [(each, False) for each in listed]
    if not features.loras:
        message = "nothing is loaded, because krm-fn sync runs without --loras"
        return Judged([Condition(SERVES, False, OFF, message), *_unready(OFF, message, stalled=True)], rows)
    if rival := _conflict(model, found):
        message = f"{rival.key.kind} {rival.key.name} loads {model.name} from another source; give one of the two another modelName"
        return Judged([Condition(SERVES, False, CONFLICT, message), *_unready(CONFLICT, message, stalled=True)], rows)
    return _adapter(listed, [_load(each, model, known) for each in listed])


def _load(endpoint: Endpoint, model: Model, known: Known | None) -> Load:
    if known is None:
        return Load(models.stored(model).get((endpoint.url, endpoint.pod), False))
    if endpoint.place is None:
        return Load(tried=known.settled, problem=endpoint.why if known.settled else "")
    return known.loads.get(endpoint.place, Load())


def _base(model: Model, listed: Sequence[Endpoint]) -> Judged:
    """A base model: nothing is loaded, so an endpoint is ready if its pod is (the reference calls none of them ready)."""
    rows = [(each, each.ready) for each in listed]
    ready, total = sum(each.ready for each in listed), len(rows)
    note = f"; nothing is loaded for modelType {models.ADAPTER}, write lora to load it" if model.type == models.ADAPTER else ""
    serves = Condition(SERVES, True, DISCOVERED, f"Found {total} endpoint(s) for base model{note}")
    if ready < total:
        return Judged([serves, *_unready(NOT_READY, f"{ready} of {total} endpoints are ready; see the pods{note}")], rows)
    return Judged([serves, Condition(READY, True, DISCOVERED, serves.message)], rows)


def _adapter(listed: Sequence[Endpoint], loads: Sequence[Load]) -> Judged:
    """An adapter: an endpoint is ready if its worker has loaded it."""
    rows = [(each, load.loaded) for each, load in zip(listed, loads, strict=True)]
    ready, total = sum(load.loaded for load in loads), len(rows)
    waits = any(not load.tried for load in loads)
    if ready == total:
        message = f"All {total} endpoint(s) are ready"
        return Judged([Condition(SERVES, True, ALL_READY, message), Condition(READY, True, ALL_READY, message)], rows, waits)
    reason = models.LOADING if waits else NOT_READY
    serves = Condition(SERVES, False, reason, f"Found {ready} ready endpoint(s) out of {total} total")
    lasting = any(load.lasting for load in loads)
    said = f"{ready} of {total} endpoints have the adapter{_problems(listed, loads)}"
    return Judged([serves, *_unready(FAILED if lasting else reason, said, stalled=lasting)], rows, waits)


def _problems(listed: Sequence[Endpoint], loads: Sequence[Load]) -> str:
    """What went wrong at the first endpoints, and how many others there are."""
    found = [f"{each.pod}: {load.problem}" for each, load in zip(listed, loads, strict=True) if load.problem]
    more = [f"and {len(found) - _NAMED} more"] if len(found) > _NAMED else []
    return "".join(f"; {each}" for each in (*found[:_NAMED], *more))


def _unready(reason: str, message: str, *, stalled: bool = False) -> list[Condition]:
    return [Condition(READY, False, reason, message), Condition(STALLED if stalled else RECONCILING, True, reason, message)]
