"""The fields of Dynamo's kinds that name another object, beside those of other kinds.

Paths are written as in `krm_fn.kubernetes.references.name_fields`.
"""

from __future__ import annotations

from krm_fn.kubernetes import references
from krm_fn.kubernetes.paths import EVERY
from krm_fn.kubernetes.references import name_fields
from krm_fn.kubernetes.references.name_fields import (
    CLAIM,
    CONFIG_MAP,
    DEVICE_CLASS,
    INGRESS_CLASS,
    OF_CONTAINERS,
    OF_PODS,
    OF_VARIABLES,
    PRIORITY_CLASS,
    SECRET,
    NameField,
    Target,
    below,
    fields_of_kind,
    with_keys,
)
from krm_fn.render import dynamo_api

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.kubernetes.references import Reference
    from krm_fn.kubernetes.types import Resource

_KINDS = (dynamo_api.GRAPH, dynamo_api.COMPONENT, dynamo_api.ADAPTER, dynamo_api.REQUEST)
GRAPH, COMPONENT, ADAPTER, REQUEST = ((dynamo_api.GROUP, kind) for kind in _KINDS)

_OF_V1ALPHA1_COMPONENTS = (
    *with_keys(CONFIG_MAP, "key", "eppConfig.configMapRef.name"),
    *fields_of_kind(SECRET, "envFromSecret", "ingress.tls.secretName", "frontendSidecar.envFromSecret"),
    *fields_of_kind(INGRESS_CLASS, "ingress.ingressControllerClassName"),
    *fields_of_kind(CLAIM, "volumeMounts[].name"),
    *fields_of_kind(DEVICE_CLASS, "gpuMemoryService.deviceClassName"),
    *below("envs[]", OF_VARIABLES),
    *below("frontendSidecar.envs[]", OF_VARIABLES),
    *below("extraPodSpec", (*OF_PODS, *below("mainContainer", OF_CONTAINERS))),
)
_OF_V1BETA1_COMPONENTS = (
    *with_keys(CONFIG_MAP, "key", "eppConfig.configMapRef.name"),
    *fields_of_kind(CLAIM, "compilationCache.pvcName"),
    *fields_of_kind(DEVICE_CLASS, "experimental.gpuMemoryService.deviceClassName"),
    *below("podTemplate.spec", OF_PODS),
)


def _with_adapter(field: NameField) -> NameField:
    """Adds the scaling adapter of a component to what an autoscaler scales."""
    return field._replace(targets=(*field.targets, ADAPTER)) if field.targets == name_fields.SCALED else field


BY_KIND: dict[Target, tuple[NameField, ...]] = {
    **{kind: tuple(map(_with_adapter, fields)) for kind, fields in name_fields.BY_KIND.items()},
    GRAPH: (
        *fields_of_kind(PRIORITY_CLASS, "spec.priorityClassName"),
        *fields_of_kind(CLAIM, "spec.pvcs[].name"),
        *below("spec.envs[]", OF_VARIABLES),
        *below("spec.env[]", OF_VARIABLES),
        *below(f"spec.services.{EVERY}", _OF_V1ALPHA1_COMPONENTS),
        *below("spec.components[]", _OF_V1BETA1_COMPONENTS),
    ),
    COMPONENT: (*below("spec", _OF_V1ALPHA1_COMPONENTS), *below("spec", _OF_V1BETA1_COMPONENTS)),
    ADAPTER: fields_of_kind(GRAPH, "spec.dgdRef.name"),
    REQUEST: (
        *fields_of_kind(CONFIG_MAP, "spec.profilingConfig.configMapRef.name"),
        *fields_of_kind(CLAIM, "spec.profilingConfig.outputPVC", "spec.modelCache.pvcName"),
        *below("spec.overrides.profilingJob.template.spec", OF_PODS),
    ),
}
"""The fields outside of pods, by group and kind. Those of Dynamo's kinds are the fields of both API versions."""


def of(resource: Resource) -> Iterator[Reference]:
    """Yields each name of another object in an object, also those in its pods. Fields of the object may have any type."""
    return references.of(resource, BY_KIND)
