"""Native Kubernetes types in Dynamo's kinds, by the names of their OpenAPI definitions. `krm_fn.render.schema` has their schemas."""

from typing import Annotated, Any, NamedTuple

from pydantic import ConfigDict, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from krm_fn.base import results
from krm_fn.render.schema import schema_check

CORE = "io.k8s.api.core.v1."
META = "io.k8s.apimachinery.pkg.apis.meta.v1."
_SCALING = "io.k8s.api.autoscaling.v2."
_BATCH = "io.k8s.api.batch.v1."


class Native(NamedTuple):
    """Marks a field whose schema is a native definition."""

    definition: str

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """The value, checked against the table."""
        return core_schema.no_info_after_validator_function(self._fitting, handler(source))

    def _fitting(self, value: Any) -> Any:
        fit(value, self.definition)
        return value

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Only the name of the definition; the table has the definition."""
        return {"x-native": self.definition}


def extends(definition: str, *optional: str) -> ConfigDict:
    """The configuration of a model that adds fields to a native definition. The fields in `optional` are no longer required."""
    return ConfigDict(extra="allow", json_schema_extra={"x-native": definition, "x-optional": list(optional)})


def fit(value: Any, definition: str) -> None:
    """Raises ValueError with every finding about a value of a definition in the table."""
    findings = schema_check.value(value, definition)
    if findings:
        raise ValueError("\n".join(f"{results.field(result.path)}: {result.message}" for result in findings))


Quantity = Annotated[int | str, Native("io.k8s.apimachinery.pkg.api.resource.Quantity")]
Time = Annotated[str, Native(META + "Time")]
ObjectMeta = Annotated[dict[str, Any], Native(META + "ObjectMeta")]
EnvVar = Annotated[dict[str, Any], Native(CORE + "EnvVar")]
Probe = Annotated[dict[str, Any], Native(CORE + "Probe")]
ResourceClaim = Annotated[dict[str, Any], Native(CORE + "ResourceClaim")]
ResourceRequirements = Annotated[dict[str, Any], Native(CORE + "ResourceRequirements")]
Toleration = Annotated[dict[str, Any], Native(CORE + "Toleration")]
ConfigMapKeySelector = Annotated[dict[str, Any], Native(CORE + "ConfigMapKeySelector")]
PodSpec = Annotated[dict[str, Any], Native(CORE + "PodSpec")]
JobSpec = Annotated[dict[str, Any], Native(_BATCH + "JobSpec")]
MetricSpec = Annotated[dict[str, Any], Native(_SCALING + "MetricSpec")]
HorizontalPodAutoscalerBehavior = Annotated[dict[str, Any], Native(_SCALING + "HorizontalPodAutoscalerBehavior")]
