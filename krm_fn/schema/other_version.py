"""Fields that the two versions of the API write in different ways: the fix for a word of the other version.

Follows the reference's api/CONVERSION.md. `krm-fn convert` rewrites whole files.
"""

from __future__ import annotations

_MAIN = "the container main of podTemplate"
_ITSELF = "remove it, because the object itself switches the feature on"
_NONE = "remove it, because nvidia.com/v1beta1 has no such field"

FIXES = {
    # words of v1alpha1 in v1beta1
    ("ComponentDeploymentSpecV1beta1", "serviceName"): "write name",
    ("ComponentV1beta1", "annotations"): "write podTemplate.metadata.annotations",
    ("ComponentV1beta1", "autoscaling"): _NONE,
    ("ComponentV1beta1", "componentType"): "write type",
    ("ComponentV1beta1", "dynamoNamespace"): _NONE,
    ("ComponentV1beta1", "envFromSecret"): f"write envFrom in {_MAIN}",
    ("ComponentV1beta1", "envs"): f"write env in {_MAIN}",
    ("ComponentV1beta1", "extraPodMetadata"): "write podTemplate.metadata",
    ("ComponentV1beta1", "extraPodSpec"): "write podTemplate.spec, and its mainContainer as the container main",
    ("ComponentV1beta1", "ingress"): "write an Ingress as a resource of its own",
    ("ComponentV1beta1", "labels"): "write podTemplate.metadata.labels",
    ("ComponentV1beta1", "serviceName"): "write name",
    ("ComponentV1beta1", "sharedMemory"): "write sharedMemorySize with the size alone",
    ("ComponentV1beta1", "subComponentType"): "write type: prefill or type: decode",
    ("FailoverV1beta1", "enabled"): _ITSELF,
    ("GPUMemoryServiceV1beta1", "enabled"): _ITSELF,
    ("GraphComponentReferenceV1beta1", "serviceName"): "write componentName",
    ("GraphSpecV1beta1", "envs"): "write env",
    ("GraphSpecV1beta1", "pvcs"): "write the PersistentVolumeClaims as resources of their own",
    ("GraphSpecV1beta1", "services"): "write components, a list of entries with names, or apiVersion: nvidia.com/v1alpha1",
    ("GraphTopologyConstraintV1beta1", "topologyProfile"): "write clusterTopologyName",
    ("RequestSpecV1beta1", "deploymentOverrides"): "write overrides.dgd",
    ("RequestSpecV1beta1", "enableGpuDiscovery"): _NONE,
    ("RequestSpecV1beta1", "profilingConfig"): "write image, sla, workload, modelCache and overrides.profilingJob",
    ("RequestSpecV1beta1", "useMocker"): "write features.mocker.enabled",
    ("ScalingAdapterV1beta1", "enabled"): _ITSELF,
    ("io.k8s.api.core.v1.PodSpec", "mainContainer"): "write it in containers, with name: main",
    # words of v1beta1 in v1alpha1
    ("Component", "compilationCache"): "write useAsCompilationCache: true in an entry of volumeMounts",
    ("Component", "experimental"): "write gpuMemoryService, failover or checkpoint",
    ("Component", "podTemplate"): "write extraPodSpec and extraPodMetadata",
    ("Component", "sharedMemorySize"): "write sharedMemory.size",
    ("GraphServiceReference", "componentName"): "write serviceName",
    ("GraphSpec", "components"): "write services, a map from names to components, or apiVersion: nvidia.com/v1beta1",
    ("GraphTopologyConstraint", "clusterTopologyName"): "write topologyProfile",
}
_COMPONENTS = {"GraphSpec": ("components", "services"), "GraphSpecV1beta1": ("services", "components")}
"""By definition: the field of the other version that holds the components, and the field of this one."""


def both(definition: str, key: str, holder: dict[str, object]) -> str:
    """The fix for a graph that has its components in the fields of both versions; empty for other fields."""
    other, own = _COMPONENTS.get(definition, ("", ""))
    if key != other or own not in holder:
        return ""
    return f"{own} has the components in this apiVersion, so move the entries of {other} there, or remove {other}"
