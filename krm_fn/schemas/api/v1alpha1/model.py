"""DynamoModel and DynamoWorkerMetadata: a model, and the metadata of a worker that serves models.

A DynamoModel can be a LoRA adapter, which is loaded into every endpoint of its base model. Workers publish their metadata when components
discover each other through Kubernetes. Follows the operator's dynamo_model_types.go, internal/webhook/validation/dynamomodel.go and its
DynamoWorkerMetadata definition.
"""

from typing import ClassVar, Literal

from pydantic import Field

from krm_fn.base import codes
from krm_fn.render.schema import rule_messages
from krm_fn.schemas.api import base

_NO_LORA = 'self.?modelType.orValue("") != "lora"'


class ModelSource(base.Model):
    """The source of a model's weights."""

    uri: str
    """`s3://bucket/path` or `hf://organisation/name`."""


class ModelSpec(base.Model):
    """The desired state of a model."""

    model_config = base.rules(
        base.Rule(codes.LORA_WITHOUT_SOURCE, f"{_NO_LORA} || has(self.source)", "source", "Required"),
        base.Rule(
            codes.UNSUPPORTED_LORA_SOURCE,
            f"{_NO_LORA} || !has(self.source) || "
            + " || ".join(f'self.source.uri.startsWith("{source}")' for source in rule_messages.SCHEMES),
            "source.uri",
            words={"uri": "uri"},
        ),
    )

    model_name: str = Field(min_length=1)
    """The name of the model in requests."""
    base_model_name: str = Field(min_length=1)
    """The name of the base model, as in `modelRef.name` of the services."""
    model_type: Literal["base", "lora", "adapter"] = "base"
    """The type of the model. A `lora` is loaded into the endpoints of the base model; `base` and `adapter` load nothing."""
    source: ModelSource | None = None
    """The source of the adapter's weights. Required for `lora`."""


class EndpointStatus(base.Model):
    """A pod that serves the base model."""

    address: str
    """The URL of the pod."""
    pod_name: str | None = None
    """The name of the pod."""
    ready: bool
    """True if the pod serves the model."""


class ModelStatus(base.Model):
    """The observed state of a model."""

    observed_generation: base.Generation | None = None
    """The `metadata.generation` that this status describes."""
    endpoints: list[EndpointStatus] | None = None
    """The pods that serve the base model."""
    ready_endpoints: int
    """The number of endpoints that serve the model."""
    total_endpoints: int
    """The number of endpoints."""
    conditions: base.Conditions | None = None
    """Conditions of the model. `EndpointsReady` is true when all endpoints serve it."""


class DynamoModel(base.Kind):
    """A model, or a LoRA adapter for one."""

    served: ClassVar = base.Served(
        short_names=("dm", "dmodel"),
        columns=(
            base.Column("BaseModel", ".spec.baseModelName"),
            base.Column("Type", ".spec.modelType"),
            base.Column("Ready", ".status.readyEndpoints", "integer"),
            base.Column("Total", ".status.totalEndpoints", "integer"),
        ),
    )

    api_version: Literal["nvidia.com/v1alpha1"]
    """Group and version."""
    kind: Literal["DynamoModel"]
    """The kind."""
    spec: ModelSpec
    """The desired state."""
    status: ModelStatus | None = None
    """The observed state. The cluster writes it."""


class WorkerSpec(base.Model):
    """The metadata of a worker."""

    data: base.Anything
    """Endpoints, model cards and other data that components look for. Workers write and read it."""


class DynamoWorkerMetadata(base.Kind):
    """The metadata of the worker whose pod has the same name. Workers write it; users do not."""

    served: ClassVar = base.Served(short_names=("dwm",), status=False)

    api_version: Literal["nvidia.com/v1alpha1"]
    """Group and version."""
    kind: Literal["DynamoWorkerMetadata"]
    """The kind."""
    spec: WorkerSpec | None = None
    """The metadata of a worker."""
