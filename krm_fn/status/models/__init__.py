"""A DynamoModel as the status logic sees it, and the rules about its spec.

Follows the reference's `internal/webhook/validation/dynamomodel.go`, whose words the messages have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.kube import identity, names, values
from krm_fn.records import NamedTuple
from krm_fn.schema import adapters
from krm_fn.status import fields

if TYPE_CHECKING:
    from collections.abc import Mapping

    from krm_fn.kube.identity import ObjectKey
    from krm_fn.kube.types import Resource
    from krm_fn.status.endpoints import Place

KIND = identity.MODEL
FOUND, SERVES = "ServicesFound", "EndpointsReady"
"""The reference's conditions of a model, beside Valid."""
LOADING = "Loading"
"""The reason of EndpointsReady while an endpoint has not answered yet."""
ADAPTER = "adapter"
_LORA = "lora"


class Model(NamedTuple):
    """One model. `base` is the name of its base model, `uri` is None without a source. `status` is the status as it is stored now."""

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


class Load(NamedTuple):
    """What the syncer knows about an adapter in one place.

    `loaded` is true if the worker has it. `tried` is false until the first answer since this process started to load it. `problem` says why
    the last request failed; `lasting` is true if the worker itself refused several times.
    """

    loaded: bool = False
    tried: bool = False
    problem: str = ""
    lasting: bool = False


class Known(NamedTuple):
    """What the syncer knows about the adapter of one model.

    `settled` is false while an endpoint without its pod may be one whose pod the syncer has not read yet: pods and EndpointSlices come on
    two ways.
    """

    loads: Mapping[Place, Load] = {}
    settled: bool = True


def read(resource: Resource, home: str = "") -> Model:
    """Reads one model. `home` is the namespace of a resource without one. Never raises for what a user wrote."""
    spec, metadata = values.mapping(resource, "spec"), values.mapping(resource, "metadata")
    finalizers = metadata.get("finalizers")
    return Model(
        identity.key(resource, home),
        fields.number(metadata.get("generation")) or 0,
        values.text(spec.get("modelName")),
        values.text(spec.get("baseModelName")),
        values.text(spec.get("modelType")),
        values.text(values.mapping(spec, "source").get("uri")) if isinstance(spec.get("source"), dict) else None,
        "deletionTimestamp" in metadata,
        tuple(map(values.text, finalizers)) if isinstance(finalizers, list) else (),
        values.mapping(resource, "status"),
    )


def wrong(model: Model) -> str:
    """Why the spec of a model is refused; empty if it is valid. The first rule that is broken counts (reference: DynamoModelValidator)."""
    for field, value in (("modelName", model.name), ("baseModelName", model.base)):
        if not value:
            return f"spec.{field} is required"
    return _wrong_adapter(model) if model.lora else ""


def stored(model: Model) -> dict[tuple[str, str], bool]:
    """What the stored status tells about the adapter, by URL and pod: true where it is loaded.

    False stands for an endpoint that may have the adapter of an earlier spec: the stored status is about another generation, or it was
    written before the endpoints answered. Endpoints without a loaded adapter are left out.
    """
    old = told(model) != model.generation or fields.condition(model.status, SERVES).get("reason") == LOADING
    rows = values.objects(model.status.get("endpoints"))
    found = {(values.text(each.get("address")), values.text(each.get("podName"))): each.get("ready") is True for each in rows}
    current = told(model) == model.generation
    return {place: ready and current for place, ready in found.items() if old or ready}


def told(model: Model) -> int | None:
    """The generation that the stored status is about. The reference writes it into conditions only."""
    for each in (model.status, fields.condition(model.status, SERVES)):
        if (known := fields.number(each.get("observedGeneration"))) is not None:
            return known
    return None


def _wrong_adapter(model: Model) -> str:
    if model.uri is None:
        return "spec.source is required when modelType is 'lora'"
    if not model.uri:
        return "spec.source.uri must be specified when modelType is 'lora'"
    if not model.uri.startswith(adapters.SCHEMES):
        return f"source URI must start with 's3://' or 'hf://', got: {model.uri}"
    for field, problem in (("modelName", adapters.wrong_name(model.name)), ("source.uri", adapters.wrong_source(model.uri))):
        if problem:
            return f"spec.{field}: {problem}"
    return ""
