"""The fields of a DynamoModel that the syncer caches, and the rules of its spec.

Follows the operator's `internal/webhook/validation/dynamomodel.go`, whose words the messages have.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import identity, values
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.render import dynamo_api, names
from krm_fn.render.schema import rule_messages
from krm_fn.syncer.status import conditions, live_fields
from krm_fn.syncer.status.model_endpoints import WorkerEndpoint

KIND = dynamo_api.MODEL
SERVICES_FOUND, ENDPOINTS_READY = "ServicesFound", "EndpointsReady"
"""The operator's conditions of a model, beside Valid."""
LOADING = "Loading"
"""The reason of EndpointsReady while an endpoint has not answered yet."""
ADAPTER = "adapter"
_LORA = "lora"


class CachedModel(NamedTuple):
    """A model. `base` is the name of its base model, `uri` is None without a source. `status` is the stored status."""

    key: ObjectKey
    generation: int = 0
    name: str = ""
    base: str = ""
    type: str = ""
    uri: str | None = None
    deleted: bool = False
    finalizers: tuple[str, ...] = ()
    status: dict[str, Any] = {}

    @property
    def lora(self) -> bool:
        """True for a LoRA adapter."""
        return self.type.lower() == _LORA

    @property
    def hash(self) -> str:
        """The hash of the base model, which its pods and EndpointSlices have as label."""
        return names.model_hash(self.base)


class AdapterLoad(NamedTuple):
    """The state of an adapter at one endpoint.

    `loaded` is true if the worker has it. `tried` is false until the first answer since this process started to load it. `problem` is the
    error of the last request; `lasting` is true if the worker itself refused several times.
    """

    loaded: bool = False
    tried: bool = False
    problem: str = ""
    lasting: bool = False


class AdapterLoads(NamedTuple):
    """The state of the adapter of one model at all endpoints.

    `settled` is false while an endpoint without its pod may be one whose pod the syncer has not read yet: pods and EndpointSlices come from
    two watches.
    """

    loads: Mapping[WorkerEndpoint, AdapterLoad] = MappingProxyType({})
    settled: bool = True


def read(resource: Resource, default_namespace: str = "") -> CachedModel:
    """Reads a model. `default_namespace` is that of a resource without one. Never raises for what a user wrote."""
    spec, metadata = values.mapping(resource, "spec"), values.mapping(resource, "metadata")
    finalizers = metadata.get("finalizers")
    return CachedModel(
        identity.key(resource, default_namespace),
        live_fields.whole_number(metadata.get("generation")) or 0,
        values.text(spec.get("modelName")),
        values.text(spec.get("baseModelName")),
        values.text(spec.get("modelType")),
        values.text(values.mapping(spec, "source").get("uri")) if isinstance(spec.get("source"), dict) else None,
        "deletionTimestamp" in metadata,
        tuple(map(values.text, finalizers)) if isinstance(finalizers, list) else (),
        values.mapping(resource, "status"),
    )


def problem(model: CachedModel) -> str:
    """Explains why the spec of a model is rejected; empty if it is valid. The first broken rule counts (operator: DynamoModelValidator)."""
    for field, value in (("modelName", model.name), ("baseModelName", model.base)):
        if not value:
            return f"spec.{field} is required"
    return _adapter_problem(model) if model.lora else ""


def stored_loads(model: CachedModel) -> dict[tuple[str, str], bool]:
    """Reads from the stored status where the adapter is, by URL and pod: true where it is loaded.

    False marks an endpoint that may have the adapter of an earlier spec: the stored status is about another generation, or it was
    written before the endpoints answered. Endpoints without a loaded adapter are left out.
    """
    current = observed_generation(model) == model.generation
    outdated = not current or conditions.find(model.status, ENDPOINTS_READY).reason == LOADING
    rows = values.objects(model.status.get("endpoints"))
    loads = {(values.text(row.get("address")), values.text(row.get("podName"))): row.get("ready") is True for row in rows}
    return {endpoint: ready and current for endpoint, ready in loads.items() if outdated or ready}


def observed_generation(model: CachedModel) -> int | None:
    """Reads the generation that the stored status is about. The operator writes it into conditions only."""
    generation = live_fields.whole_number(model.status.get("observedGeneration"))
    return conditions.find(model.status, ENDPOINTS_READY).observed_generation if generation is None else generation


def _adapter_problem(model: CachedModel) -> str:
    if model.uri is None:
        return "spec.source is required when modelType is 'lora'"
    if not model.uri:
        return "spec.source.uri must be specified when modelType is 'lora'"
    if not model.uri.startswith(rule_messages.SCHEMES):
        return f"source URI must start with 's3://' or 'hf://', got: {model.uri}"
    if name_problem := rule_messages.adapter_name_problem(model.name):
        return f"spec.modelName: {name_problem}"
    source_problem = rule_messages.adapter_source_problem(model.uri)
    return f"spec.source.uri: {source_problem}" if source_problem else ""
