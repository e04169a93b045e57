"""Rules about a DynamoModel, and about the base models of services.

Follows the operator's `internal/webhook/validation/dynamomodel.go`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from krm_fn.base import codes, results
from krm_fn.render.schema import rule_messages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from krm_fn.base.results import Path, Ref, Result
    from krm_fn.render.plan import ComponentPlan
    from krm_fn.render.resolve.cluster import BaseModels

_LORA = "lora"


def check_model(spec: dict[str, Any], ref: Ref, namespace: str, models: BaseModels) -> Iterator[Result]:
    """Checks that a service serves the base model, and that a LoRA adapter has a source and a name that can be loaded and unloaded."""
    base = spec.get("baseModelName") or ""
    if base and (namespace, base) not in models.served:
        served = [*islice((name for of_model, name in models.served if of_model == namespace), 2)]
        only = served[0] if len(served) == 1 else ""
        elsewhere = next((other for other, name in models.served if name == base), "")
        message = f"no service among the items serves {base!r} in namespace {namespace}, so the model has no endpoints; " + (
            f"write metadata.namespace: {elsewhere}, in which a service serves it"
            if elsewhere
            else f"write {only}, the only base model that a service serves there"
            if only
            else "write this name as the base model of a service, or correct it here"
        )
        yield results.warning(
            codes.BASE_MODEL_NOT_SERVED, message, ref, ("spec", "baseModelName"), current=base, proposed=None if elsewhere else only or None
        )
    yield from _alike(base, ref, ("spec", "baseModelName"), namespace, models)
    if spec.get("modelType") == _LORA:
        yield from _adapter(spec, ref)


def check_component(plan: ComponentPlan, models: BaseModels) -> Iterator[Result]:
    """Checks that no other base model has the hash of the base model of this component."""
    if plan.exposure.model:
        yield from _alike(plan.exposure.model, plan.ref, plan.at("modelRef", "name"), plan.identity.namespace, models)


def _alike(name: str, ref: Ref, path: Path, namespace: str, models: BaseModels) -> Iterator[Result]:
    if name and (other := models.alike(namespace, name)):
        message = (
            f"{name!r} has the same hash as {other!r}, and the pods of a base model are found by its hash, so requests and adapters "
            "reach pods of the other model; use one of the two in another namespace"
        )
        yield results.error(codes.BASE_MODEL_HASH_COLLISION, message, ref, path)


def _adapter(spec: dict[str, Any], ref: Ref) -> Iterator[Result]:
    """Checks name and source of a LoRA adapter."""
    if problem := rule_messages.adapter_name_problem(spec.get("modelName") or ""):
        yield results.error(codes.INVALID_LORA_NAME, problem, ref, ("spec", "modelName"))
    source, path = spec.get("source"), ("spec", "source", "uri")
    if source is None:
        yield rule_messages.error(codes.LORA_WITHOUT_SOURCE, ref, ("spec", "source"))
        return
    uri = source.get("uri") or ""
    if not uri.startswith(rule_messages.SCHEMES):
        yield rule_messages.error(codes.UNSUPPORTED_LORA_SOURCE, ref, path, uri=f"{uri!r}")._replace(current=uri)
    elif problem := rule_messages.adapter_source_problem(uri):
        yield results.error(codes.INVALID_LORA_PATH, problem, ref, path, current=uri)
