"""The base of every model: strict types, camelCase keys, descriptions from docstrings, and marks for API servers and editors."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, GetJsonSchemaHandler, JsonValue, model_validator
from pydantic.alias_generators import to_camel
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from krm_fn.base import registry
from krm_fn.render.schema import rule_messages
from krm_fn.schemas.api import native

Int32 = Annotated[int, Field(lt=2**31, json_schema_extra={"format": "int32"})]
Int64 = Annotated[int, Field(lt=2**63, json_schema_extra={"format": "int64"})]
Generation = Annotated[int, Field(ge=0, lt=2**63, json_schema_extra={"format": "int64"})]
Texts = dict[str, str]
Anything = dict[str, Any]
Schema = dict[str, JsonValue]


class ByKey(NamedTuple):
    """Marks a list with a key: patches merge entries by this field, and its values must be unique."""

    key: str = "name"

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """The list, whose keys are unique."""
        return core_schema.no_info_after_validator_function(self._unique, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """The list-map keywords for API servers, and the patch keywords for tools that merge as Kubernetes does."""
        listed = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [self.key]}
        return handler(schema) | listed | {"x-kubernetes-patch-merge-key": self.key, "x-kubernetes-patch-strategy": "merge"}

    def _unique(self, entries: list[Any]) -> list[Any]:
        keys = [entry[self.key] if isinstance(entry, dict) else getattr(entry, self.key) for entry in entries]
        if len({*keys}) < len(keys):
            raise ValueError(f"two entries have the same {self.key}; keep one of them")
        return entries


class LastWins(NamedTuple):
    """Marks a list in which the last entry with a key wins: patches merge entries by this field, and an API server accepts it twice."""

    key: str = "name"

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """The keys without the list type of an API server, and the patch keywords for tools that merge as Kubernetes does."""
        keys: JsonSchemaValue = {"x-kubernetes-list-map-keys": [self.key]}
        return handler(schema) | keys | {"x-kubernetes-patch-merge-key": self.key, "x-kubernetes-patch-strategy": "merge"}


class Unique(NamedTuple):
    """Marks a list of texts that holds each text once."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """The list, whose texts are unique."""
        return core_schema.no_info_after_validator_function(self._unique, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """The list-type keyword for API servers."""
        return handler(schema) | {"x-kubernetes-list-type": "set"}

    def _unique(self, entries: list[str]) -> list[str]:
        if len({*entries}) < len(entries):
            raise ValueError("two entries are the same; keep one of them")
        return entries


class Registered(NamedTuple):
    """Marks a string that names an entry of a registry: each file in the folder of `package` is an allowed value, and so is `other`."""

    package: str
    other: str = ""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """One of the names of the files, or the other word."""
        return core_schema.literal_schema([*([self.other] if self.other else ()), *registry.entries_of(self.package)])


EnvVars = Annotated[list[native.EnvVar], LastWins()]


class Rule(NamedTuple):
    """A rule beyond types: `holds` is a CEL expression over the object that declares it. The finding has the code and names the field `at`.

    An API server refuses a resource that violates a rule, and `krm_fn.render.rules` finds the violation before. Both use the message that
    `krm_fn.render.schema.rule_messages` has for the code; `words` fill its slots.
    An API server does not check unchanged parts of a stored resource, but the root of a resource changes with every label. A rule of a root
    therefore needs `lets_stored`: a stored resource that violates the rule may keep the violation.
    """

    code: str
    holds: str
    at: str = ""
    reason: Literal["Required", "Invalid", "Forbidden"] = "Invalid"
    words: Mapping[str, str] = MappingProxyType({})
    lets_stored: bool = False
    list_path: str = ""
    """The list of native objects below the model to whose entries the rule belongs, for example `spec.containers`. An API server limits
    the estimated cost of a rule, and a rule about a whole list without a limit exceeds it."""
    editor: Schema | None = None
    """The same rule in JSON Schema, if editors can check it."""

    def as_schema(self) -> Schema:
        """The rule in the form of a CustomResourceDefinition."""
        out: Schema = {"rule": self.holds, "message": f"{self.code} {rule_messages.of(self.code, **self.words)}"}
        if self.lets_stored:
            out |= _but_stored(self.holds)
        return out | {"reason": f"FieldValue{self.reason}"} | ({"fieldPath": f".{self.at}"} if self.at else {})


def spec_required() -> Schema:
    """The rule of a kind with a required spec, since `required` at the root would also hold for stored resources."""
    return {"message": "spec is required; write it", "reason": "FieldValueRequired", "fieldPath": ".spec", **_but_stored("has(self.spec)")}


def _but_stored(holds: str) -> Schema:
    before = holds.replace("self", "oldSelf.value()")
    return {"rule": f"{holds} || oldSelf.hasValue() && !({before})", "optionalOldSelf": True}


def rules(*declared: Rule) -> ConfigDict:
    """Returns the configuration of a model with rules."""
    for_editors = [rule.editor for rule in declared if rule.editor]
    of_model = [rule.as_schema() for rule in declared if not rule.list_path]
    of_entries = {rule.list_path: rule.as_schema() for rule in declared if rule.list_path}
    extra: dict[str, Any] = {"x-kubernetes-validations": of_model, "x-rules-of-entries": of_entries, "x-editor": for_editors}
    return ConfigDict(json_schema_extra={key: keyword for key, keyword in extra.items() if keyword})


class Column(NamedTuple):
    """A column of `kubectl get`: its title, the path of its value, and whether only `-o wide` shows it."""

    title: str
    path: str
    type: Literal["string", "integer", "date"] = "string"
    wide: bool = False


class Served(NamedTuple):
    """Settings by which an API server serves a kind: short names, columns before the age, and subresources."""

    short_names: tuple[str, ...]
    columns: tuple[Column, ...] = ()
    status: bool = True
    scale: bool = False


_NAME = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_TYPE = rf"^({_NAME}(\.{_NAME})*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"


class Model(BaseModel):
    """An object with named fields. An optional field may be left out; null is not a value."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        extra="forbid",
        strict=True,
        frozen=True,
        use_attribute_docstrings=True,
    )


class Extended(Model):
    """A native definition with additional fields; `native.extends` names the definition."""

    @model_validator(mode="after")
    def _native_part(self) -> Self:
        native.fit(self.model_extra or {}, type(self).__name__)
        return self


class Kind(Model):
    """A resource. `api_version` and `kind` have one possible value each. A kind that no API server serves has no `served`."""

    served: ClassVar[Served | None] = None

    metadata: native.ObjectMeta = Field(default_factory=dict)
    """Name, namespace, labels and annotations."""


class Condition(Model):
    """One aspect of a resource's state, as last observed."""

    type: str = Field(max_length=316, pattern=_TYPE)
    """The aspect, for example `Ready`."""
    status: Literal["True", "False", "Unknown"]
    """Status of the condition: True, False or Unknown."""
    reason: str = Field(min_length=1, max_length=1024, pattern=r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$")
    """The reason as one CamelCase word, for programs."""
    message: str = Field(max_length=32768)
    """The reason as a sentence, for people."""
    last_transition_time: native.Time
    """The time when `status` last changed."""
    observed_generation: Generation | None = None
    """The `metadata.generation` that this condition describes."""


Conditions = Annotated[list[Condition], ByKey("type")]


ComponentKind = Literal["PodClique", "PodCliqueScalingGroup", "Deployment", "LeaderWorkerSet"]


class ServiceReplicaStatus(Model):
    """The number of pods of one service, and how many of them are ready."""

    component_kind: ComponentKind
    """The kind of the service's workload."""
    component_name: str
    """The workload's name."""
    replicas: Int32 = Field(ge=0)
    """Pods that exist and are not terminating. For multinode services: groups of pods."""
    updated_replicas: Int32 = Field(ge=0)
    """Pods of the latest template."""
    ready_replicas: Int32 | None = Field(default=None, ge=0)
    """Pods whose readiness probe succeeds. Absent if the workload does not report them."""
    available_replicas: Int32 | None = Field(default=None, ge=0)
    """Pods that have been ready for at least `minReadySeconds`. Absent if the workload does not report them."""
    component_names: list[str] | None = None
    """The names of the service's workloads, if it has several."""
    scheduled_replicas: Int32 | None = Field(default=None, ge=0)
    """Pods that have a node. Only Grove reports them."""
    runtime_namespace: str | None = None
    """The Dynamo namespace in which the pods register themselves."""
    gpus_per_engine: Int32 | None = Field(default=None, ge=0)
    """The GPUs of the main container on all its nodes. Planners need it. Absent if it is unknown."""
    gpus_per_replica: Int32 | None = Field(default=None, ge=0)
    """The GPUs of all pods of one replica. Planners need it. Absent if it is unknown."""
    served_model_name: str | None = None
    """The model in the flags of the main container."""
    runtime_component_name: str | None = None
    """The name under which the pods register themselves in their Dynamo namespace."""
    gpu_power_limit_watts: Int64 | None = Field(default=None, ge=1)
    """The power limit of each GPU, from the annotation `dynamo.nvidia.com/gpu-power-limit` of the pods."""
