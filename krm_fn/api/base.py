"""What every model shares: strict types, camelCase keys, descriptions from docstrings.

Not its business: any one kind.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from krm_fn.api import native

Int32 = Annotated[int, Field(json_schema_extra={"format": "int32"})]
Int64 = Annotated[int, Field(json_schema_extra={"format": "int64"})]
Texts = dict[str, str]
Anything = dict[str, Any]

_NAME = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_TYPE = rf"^({_NAME}(\.{_NAME})*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"


class Model(BaseModel):
    """An object with named fields. A field without a value is absent; null is not a value."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        extra="forbid",
        strict=True,
        frozen=True,
        validate_by_name=True,
        use_attribute_docstrings=True,
    )


class Kind(Model):
    """A resource with an address. `api_version` and `kind`, each with one possible value, say which."""

    metadata: native.ObjectMeta = Field(default_factory=dict)
    """Name, namespace, labels and annotations."""


class Condition(Model):
    """One aspect of a resource's state, as last seen."""

    type: str = Field(max_length=316, pattern=_TYPE)
    """Which aspect, for example `Ready`."""
    status: Literal["True", "False", "Unknown"]
    """Whether it holds."""
    reason: str = Field(min_length=1, max_length=1024, pattern=r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$")
    """Why, as one word for programs."""
    message: str = Field(max_length=32768)
    """Why, as a sentence for people."""
    last_transition_time: native.Time
    """When `status` last changed."""
    observed_generation: Int64 | None = Field(default=None, ge=0)
    """The `metadata.generation` that this was said about."""


class ServiceReplicaStatus(Model):
    """How many pods of one service there are, and how many of them serve."""

    component_kind: Literal["PodClique", "PodCliqueScalingGroup", "Deployment", "LeaderWorkerSet"]
    """The kind of the workload that carries the service."""
    component_name: str
    """The workload's name."""
    replicas: Int32 = Field(ge=0)
    """Pods that exist and are not being deleted; for multinode services, groups of pods."""
    updated_replicas: Int32 = Field(ge=0)
    """Those made from the latest template."""
    ready_replicas: Int32 | None = Field(default=None, ge=0)
    """Those whose readiness probe succeeds; absent where the workload does not tell."""
    available_replicas: Int32 | None = Field(default=None, ge=0)
    """Those ready for long enough to count on; absent where the workload does not tell."""
