"""DynamoModel: a model, or a LoRA adapter that is loaded into every endpoint of its base model.

Not its business: finding the endpoints. Follows the reference's dynamo_model_types.go and internal/webhook/validation/dynamomodel.go.
"""

from typing import ClassVar, Literal

from pydantic import Field

from krm_fn.api import base

_SOURCES = ("s3://", "hf://")
_NO_LORA = 'self.?modelType.orValue("") != "lora"'


class ModelSource(base.Model):
    """Where a model's weights are."""

    uri: str
    """`s3://bucket/path` or `hf://organisation/name`."""


class ModelSpec(base.Model):
    """Which model."""

    model_config = base.rules(
        base.Rule("DYN170", f"{_NO_LORA} || has(self.source)", "source", "Required"),
        base.Rule(
            "DYN171",
            f"{_NO_LORA} || !has(self.source) || " + " || ".join(f'self.source.uri.startsWith("{source}")' for source in _SOURCES),
            "source.uri",
            words={"uri": "uri"},
        ),
    )

    model_name: str = Field(min_length=1)
    """The name that requests ask for."""
    base_model_name: str = Field(min_length=1)
    """The base model, as services have it in `modelRef.name`."""
    model_type: Literal["base", "lora", "adapter"] = "base"
    """`lora`: an adapter, loaded into the base model's endpoints. The others load nothing."""
    source: ModelSource | None = None
    """Where the adapter's weights are; needed for `lora`."""


class EndpointStatus(base.Model):
    """A pod that serves the base model."""

    address: str
    """Where it listens."""
    pod_name: str | None = None
    """Its name."""
    ready: bool
    """Whether it serves the model."""


class ModelStatus(base.Model):
    """Who serves the model."""

    observed_generation: base.Generation | None = None
    """The `metadata.generation` that this was said about."""
    endpoints: list[EndpointStatus] | None = None
    """The pods that serve its base model."""
    ready_endpoints: int
    """How many of them serve the model."""
    total_endpoints: int
    """How many there are."""
    conditions: base.Conditions | None = None
    """The aspects of the state; `EndpointsReady` is the one to wait for."""


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
    """Which model."""
    status: ModelStatus | None = None
    """Who serves it, as the cluster reports it."""
