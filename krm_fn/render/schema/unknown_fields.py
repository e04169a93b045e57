"""The fix for an unknown field, kind or enum value: the right name, the right parent, or the release that has it.

Follows the operator's api/CONVERSION.md for fields of the other API version, and the release notes of 1.5.0 and 1.6.0 for later fields.
`krm-fn convert` rewrites whole files.
"""

from __future__ import annotations

import re
from functools import cache

from krm_fn.base import results, spelling
from krm_fn.base.records import NamedTuple
from krm_fn.render.schema import misplaced_fields, table
from krm_fn.render.schema.misplaced_fields import Destination

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from krm_fn.base.results import Path

_REQUIREMENTS = "io.k8s.api.core.v1.ResourceRequirements"
_VARIABLE = "io.k8s.api.core.v1.EnvVar"
_SWITCHES_ON = "remove it, because the object itself switches the feature on"
_NOT_IN_V1BETA1 = "remove it, because nvidia.com/v1beta1 has no such field"
_AS_LIST = "write components, a list of entries with names"
_AS_MAP = "write services, a map from names to components"
_CONTAINERS = (misplaced_fields.CONTAINER, "MainContainer")
_COMPONENTS_OF_GRAPHS = ("Component", "ComponentV1beta1")
_MODEL = "write --model in the args of the container main (--model-path for SGLang and TensorRT-LLM), or remove it if args have it"
_SCALED = "and the bounds in an autoscaler whose target is its DynamoGraphDeploymentScalingAdapter"
_PREFERRED = "an entry with a weight belongs in preferredDuringSchedulingIgnoredDuringExecution; write this as the key above"
_OPERATOR = "leave this resource to an operator of that release"

LATER_KINDS = {"LPXGraphDeployment": f"only Dynamo 1.6 and later has this kind, and krm-fn does not expand it; {_OPERATOR}"}
"""Kinds of releases that krm-fn does not follow yet, with the message."""
_OLDEST_OF_V1BETA1 = "write v1.2, the release of images from 1.0 to 1.2"
OTHER_VALUES = {
    "lpx": f"only Dynamo 1.6 and later has it; {_OPERATOR}",
    **dict.fromkeys(("v1.0", "v1.1"), _OLDEST_OF_V1BETA1),
    "https": "write HTTP, as Dynamo's servers speak it, or HTTPS for a server with TLS",
}
"""Enum values of releases without a value of their own, and values that can mean two others, with the end of the message."""
_FIXES = {
    # v1alpha1 fields in v1beta1
    ("ComponentDeploymentSpecV1beta1", "serviceName"): "write name",
    ("ComponentV1beta1", "autoscaling"): _NOT_IN_V1BETA1,
    ("ComponentV1beta1", "componentType"): "write type",
    ("ComponentV1beta1", "dynamoNamespace"): _NOT_IN_V1BETA1,
    ("ComponentV1beta1", "extraPodSpec"): "write podTemplate.spec, and its mainContainer as the container main",
    ("ComponentV1beta1", "ingress"): "write an Ingress as a resource of its own",
    ("ComponentV1beta1", "serviceName"): "write name",
    ("ComponentV1beta1", "sharedMemory"): "write sharedMemorySize with the size alone",
    ("ComponentV1beta1", "subComponentType"): "write type: prefill or type: decode",
    ("FailoverV1beta1", "enabled"): _SWITCHES_ON,
    ("GPUMemoryServiceV1beta1", "enabled"): _SWITCHES_ON,
    ("GraphComponentReferenceV1beta1", "serviceName"): "write componentName",
    ("GraphSpecV1beta1", "envs"): "write env",
    ("GraphSpecV1beta1", "pvcs"): "write the PersistentVolumeClaims as resources of their own",
    ("GraphSpecV1beta1", "services"): f"{_AS_LIST}, or apiVersion: nvidia.com/v1alpha1",
    ("GraphTopologyConstraintV1beta1", "topologyProfile"): "write clusterTopologyName",
    ("RequestSpecV1beta1", "enableGpuDiscovery"): _NOT_IN_V1BETA1,
    ("RequestSpecV1beta1", "profilingConfig"): "write image, sla, workload, modelCache and overrides.profilingJob",
    ("ScalingAdapterV1beta1", "enabled"): _SWITCHES_ON,
    (misplaced_fields.POD, "mainContainer"): "write it in containers, with name: main",
    # v1beta1 fields in v1alpha1
    ("Component", "compilationCache"): "write useAsCompilationCache: true in an entry of volumeMounts",
    ("Component", "experimental"): "write gpuMemoryService, failover or checkpoint",
    ("Component", "podTemplate"): "write extraPodSpec and extraPodMetadata",
    ("GraphServiceReference", "componentName"): "write serviceName",
    ("GraphSpec", "components"): f"{_AS_MAP}, or apiVersion: nvidia.com/v1beta1",
    ("GraphTopologyConstraint", "clusterTopologyName"): "write topologyProfile",
    # fields of later releases
    ("ComponentExperimentalV1beta1", "flagsInjection"): f"only Dynamo 1.6 and later has it; remove it, or {_OPERATOR}",
    ("Component", "roles"): "write the resource in apiVersion: nvidia.com/v1beta1, which has roles; krm-fn convert rewrites it",
    ("ComponentV1beta1", "lpx"): f"krm-fn does not support LPX; remove it, or {_OPERATOR}",
    ("GraphExperimental", "componentGroups"): f"no release of Dynamo that krm-fn knows has it; remove it, or {_OPERATOR}",
    ("Multinode", "leader"): "released operators do not have it; remove it",
    ("Multinode", "worker"): "released operators do not have it; remove it",
    ("MultinodeV1beta1", "leader"): "write an entry of roles with name: leader, beside multinode",
    ("MultinodeV1beta1", "roles"): "write roles beside multinode",
    ("MultinodeV1beta1", "worker"): "write an entry of roles with name: worker, beside multinode",
    # fields of docker-compose, of charts and of other resources
    **{(name, field): _MODEL for name in _COMPONENTS_OF_GRAPHS for field in ("model", "modelName", "modelPath")},
    **{("Component", field): f"write scalingAdapter: {{enabled: true}}, {_SCALED}" for field in ("minReplicas", "maxReplicas")},
    **{("ComponentV1beta1", field): f"write scalingAdapter: {{}}, {_SCALED}" for field in ("minReplicas", "maxReplicas")},
    **{(name, "entrypoint"): "write command" for name in _CONTAINERS},
    **{(name, "environment"): "write env, a list of entries with name and value" for name in _CONTAINERS},
    **{(name, "restart"): "remove it, because Kubernetes restarts the containers of a graph" for name in _CONTAINERS},
    **{(name, "runtime"): "write runtimeClassName in the spec of the pod, or remove it" for name in _CONTAINERS},
    **{(name, "shm_size"): "write sharedMemory: {size: 16Gi} in the service" for name in ("Component", "MainContainer")},
    **{(name, "shm_size"): "write sharedMemorySize in the component" for name in ("ComponentV1beta1", misplaced_fields.CONTAINER)},
    # other names of a field
    ("io.k8s.api.core.v1.ConfigMapKeySelector", "configMapName"): "write name",
    ("io.k8s.api.core.v1.NodeSelector", "matchExpressions"): "write nodeSelectorTerms: above it, and a dash before matchExpressions",
    ("io.k8s.api.core.v1.NodeSelectorTerm", "preference"): _PREFERRED,
    **{(f"io.k8s.api.core.v1.{name}", "weight"): _PREFERRED for name in ("NodeSelectorTerm", "PodAffinityTerm")},
    ("io.k8s.api.core.v1.PodAffinityTerm", "podAffinityTerm"): _PREFERRED,
    ("io.k8s.api.core.v1.PersistentVolumeClaimSpec", "size"): "write it as resources.requests.storage",
    ("io.k8s.api.core.v1.SecretKeySelector", "secretName"): "write name",
    ("io.k8s.api.core.v1.ConfigMapVolumeSource", "configMapName"): "write name",
    ("io.k8s.api.core.v1.PersistentVolumeClaimVolumeSource", "pvcName"): "write claimName",
    ("io.k8s.api.core.v1.SecretVolumeSource", "name"): "write secretName",
    ("Component", "env"): "write envs",
    ("Component", "envFrom"): "write envFromSecret: NAME, or envFrom in extraPodSpec.mainContainer",
    ("Component", "name"): "remove it, because the key in spec.services is the name",
    ("Component", "type"): "write componentType",
    ("PVC", "accessModes"): "write volumeAccessMode with a single mode",
    ("ResourceItem", "nvidia.com/gpu"): "write gpu",
    ("VolumeMount", "mountPath"): "write mountPoint",
}
"""The fix by definition and field, where no rule finds it."""
_BELOW = {
    ("ComponentV1beta1", "annotations"): ("podTemplate", "metadata", "annotations"),
    ("ComponentV1beta1", "extraPodMetadata"): ("podTemplate", "metadata"),
    ("ComponentV1beta1", "labels"): ("podTemplate", "metadata", "labels"),
    ("RequestSpecV1beta1", "deploymentOverrides"): ("overrides", "dgd"),
    ("RequestSpecV1beta1", "useMocker"): ("features", "mocker", "enabled"),
    ("Component", "sharedMemorySize"): ("sharedMemory", "size"),
    **{("io.k8s.api.core.v1.Probe", field): ("httpGet", field) for field in ("httpHeaders", "path", "port", "scheme")},
}
"""By definition and field: the fields below the object that hold the value."""
_IN_MAIN = {("ComponentV1beta1", "envFromSecret"): "envFrom", ("ComponentV1beta1", "envs"): "env"}
"""By definition and field: the field of the container `main` that holds the value."""
_COMPONENTS = {"GraphSpec": ("components", "services"), "GraphSpecV1beta1": ("services", "components")}
"""By definition: the field that holds the components in the other API version, and in this one."""
_OF_OTHER_VERSION = {
    "services": ("componentType", "envs", "extraPodSpec", "mainContainer", "subComponentType"),
    "components": ("podTemplate", "type"),
}
"""By field with components: fields of a component that only the API version of this field has."""
_GPUS = ("gpu", "gpus", "gpuCount", "numGpus")
_GPU_OWNERS = {
    "Component": "resources.limits.gpu",
    "ComponentV1beta1": "resources.limits of the container main: nvidia.com/gpu",
    **dict.fromkeys(_CONTAINERS, "resources.limits: nvidia.com/gpu"),
}
"""By definition: the field of an object that has the GPUs of a container."""
_BACKEND = "io.k8s.api.networking.v1.IngressBackend"
_AS_FLAG = re.compile(r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)+", re.ASCII)
"""A name in the form of flags of engines, which no field of a component has."""
_ONLY_VALUE = (str, int, float)
_COMPONENT_NODES = ("Component", "ComponentV1beta1")
_SAME_FIELDS = {"ComponentDeploymentSpec": "Component", "ComponentDeploymentSpecV1beta1": "ComponentV1beta1"}
_CUSTOM = "custom"
_MAX_LISTED = 8


class Fix(NamedTuple):
    """The fix of an unknown field: the end of its message, and where the field belongs, if the fix says this."""

    text: str
    destination: Destination | None = None


def fix(definition: str, key: str, parent: dict[str, object], level: Path = ()) -> Fix:
    """Returns the fix for the unknown field `key` of an object. `definition` is the definition of the object in the table.

    `level` is the path of the field above or below the object that has the name `key` (`misplaced_fields.level_of`).
    """
    if text := _of_form(definition, key, parent):
        return Fix(text)
    known = _certain(definition, key)
    if known is None and level:
        return Fix(f"it belongs in {results.field(level)}", Destination("resource", level))
    known = known or Fix(_probable(definition, key, _missing(definition, parent)))
    component = _SAME_FIELDS.get(definition, definition)
    if known.text == "remove it" and component in _COMPONENT_NODES and _AS_FLAG.fullmatch(key) and isinstance(parent[key], _ONLY_VALUE):
        flag = f"--{key.replace('_', '-')}"
        return Fix(f"if it is a flag of the engine, write {flag} and its value in the args of the container main, or remove it")
    return known


def _of_form(definition: str, key: str, parent: dict[str, object]) -> str:
    """Returns the fix that depends on the value of a field, on the fields beside it, or on blanks in its name; empty without one."""
    if key != key.strip():
        blank = next((letter for letter in key if letter.isspace() and letter != " "), "")
        return f"write blanks in place of the character U+{ord(blank):04X} beside {key.strip()}" if blank else f"write {key.strip()}"
    if definition == _VARIABLE and [*parent] == [key]:
        return f"write name: {key}, and below it value: with its value"
    if key == "extraPodSpec" and definition == "ComponentV1beta1" and isinstance(pod := parent[key], dict) and "spec" in pod:
        return "write podTemplate"
    if definition == misplaced_fields.CONTAINER and key == "envFromSecret" and isinstance(parent[key], str):
        return f"write envFrom: [{{secretRef: {{name: {parent[key]}}}}}]"
    if definition == _BACKEND and key in ("serviceName", "servicePort"):
        port = parent.get("servicePort")
        number = f"{'name' if isinstance(port, str) else 'number'}: {8000 if port is None else port}"
        return f"write service: {{name: {parent.get('serviceName') or 'the Service'}, port: {{{number}}}}} in place of both"
    if key in _GPUS and definition in _GPU_OWNERS and isinstance(parent[key], (int, str)):
        return f'write {_GPU_OWNERS[definition]}: "{parent[key]}"'
    if key == "value" and definition in _CONTAINERS and (lost := _variable_without_value(parent)):
        return f"indent it below name: {lost}, in env"
    other, components = _COMPONENTS.get(definition, ("", ""))
    if key == other and components in parent:
        return f"{components} has the components in this apiVersion, so move the entries of {other} there, or remove {other}"
    if key == other and _is_of_other_version(key, parent[key]):
        version, right = ("v1alpha1", _AS_LIST) if key == "services" else ("v1beta1", _AS_MAP)
        return f"its entries have the form of nvidia.com/{version}: write this apiVersion, or {right.removeprefix('write ')}"
    return ""


def _variable_without_value(container: dict[str, object]) -> str:
    """Returns the name of the only variable of a container without a value; empty without one."""
    variables = container.get("env")
    listed = variables if isinstance(variables, list) else []
    names = [f"{entry.get('name')}" for entry in listed if isinstance(entry, dict) and [*entry] == ["name"]]
    return names[0] if len(names) == 1 else ""


def _is_of_other_version(key: str, entries: object) -> bool:
    """True if the components of a graph have fields that only the other API version has."""
    inner = [*entries.values()] if isinstance(entries, dict) else entries if isinstance(entries, list) else []
    return any(name in component for component in inner if isinstance(component, dict) for name in _OF_OTHER_VERSION[key])


def _missing(definition: str, parent: dict[str, object]) -> str:
    """Returns the only required field that an object lacks; empty without one, or if several are missing."""
    missing = [name for name in _definition(definition).get("required", ()) if name not in parent]
    return missing[0] if len(missing) == 1 else ""


def _definition(name: str) -> dict[str, Any]:
    definitions = table.load().definitions
    return definitions[name] if name in definitions else table.load_native().definitions[name]


@cache
def _certain(definition: str, key: str) -> Fix | None:
    """Returns the fix that depends on the definition alone; None if it has no field with nearly this name, and no table one."""
    component = _SAME_FIELDS.get(definition, definition)
    if (component, key) in _FIXES:
        return Fix(_FIXES[component, key])
    if steps := _BELOW.get((component, key)):
        return Fix(f"write {'.'.join(steps)}", Destination("object", steps))
    if name := _IN_MAIN.get((component, key)):
        return Fix(f"write {name} in the container main of podTemplate", Destination("main", (name,)))
    if group := _group(definition, key):
        return Fix(f"{'write' if group == _CUSTOM else 'move'} it below {group}", Destination("object", (group, key)))
    for parent in misplaced_fields.PARENTS.get(component, ()):
        if key in _definition(parent.definition)["properties"]:
            return Fix(parent.text(key), parent.destination(key))
    plain = {_plain(name): name for name in _definition(definition)["properties"]}
    return Fix(f"write {plain[_plain(key)]}") if _plain(key) in plain else None


def _group(definition: str, key: str) -> str:
    """Returns the field of resources below which an amount belongs: `custom`, `requests` or `limits`; empty for another field."""
    if definition == "ResourceItem" and ("/" in key or key == "ephemeral-storage"):
        return _CUSTOM
    if key == "storage" and definition.endswith("ResourceRequirements"):
        return "requests"
    is_amount = definition == _REQUIREMENTS and ("/" in key or key in ("cpu", "memory"))
    return "limits" if is_amount or (definition == "Resources" and key in _definition("ResourceItem")["properties"]) else ""


@cache
def _probable(definition: str, key: str, missing: str) -> str:
    """Returns the fix for a misspelt field. `missing` is the only required field that its object lacks."""
    known = tuple(_definition(definition)["properties"])
    is_part = bool(missing) and (_plain(key) in _plain(missing) or _plain(missing) in _plain(key))
    match = nearest(key, known) or spelling.nearest(key, known) or (missing if is_part else "")
    if match:
        return f"write {match}"
    return f"write one of {', '.join(known)}" if 0 < len(known) <= _MAX_LISTED else "remove it"


def nearest(word: str, known: tuple[str, ...], cutoff: float = 0.7) -> str:
    """Returns the known word that most resembles `word`, or an empty text. Case, dashes and underscores do not count.

    >>> nearest("readiness_probe", ("livenessProbe", "readinessProbe")), nearest("x", ("replicas",))
    ('readinessProbe', '')
    """
    plain = {_plain(name): name for name in known}
    if _plain(word) in plain:
        return plain[_plain(word)]
    from difflib import get_close_matches  # noqa: PLC0415 - two milliseconds that only a finding should cost

    return "".join(plain[name] for name in get_close_matches(_plain(word), plain, 1, cutoff))


def _plain(word: str) -> str:
    return word.lower().replace("_", "").replace("-", "")
