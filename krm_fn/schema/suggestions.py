"""Suggests the right name or place for a misspelt or misplaced field."""

from __future__ import annotations

from functools import cache

from krm_fn.schema import later, other_version, table

_CONTAINER, _POD = "io.k8s.api.core.v1.Container", "io.k8s.api.core.v1.PodSpec"
_ELSEWHERE = {
    "ComponentExperimentalV1beta1": (("the component, as", "ComponentV1beta1"),),
    "ComponentV1beta1": (
        ("experimental", "ComponentExperimentalV1beta1"),
        ("experimental.grove", "ComponentGroveV1beta1"),
        ("the container main of podTemplate, as", _CONTAINER),
        ("podTemplate.spec", _POD),
    ),
    "Component": (("extraPodSpec.mainContainer", "MainContainer"), ("extraPodSpec", "ExtraPodSpec")),
    "DynamoComponentDeployment": (("spec", "ComponentDeploymentSpec"),),
    "DynamoGraphDeployment": (("spec", "GraphSpec"),),
    "DynamoGraphDeploymentRequest": (("spec", "RequestSpec"),),
    "DynamoGraphDeploymentScalingAdapter": (("spec", "ScalingAdapterSpec"),),
    "DynamoComponentDeploymentV1beta1": (("spec", "ComponentDeploymentSpecV1beta1"),),
    "DynamoGraphDeploymentV1beta1": (("spec", "GraphSpecV1beta1"),),
    "DynamoGraphDeploymentRequestV1beta1": (("spec", "RequestSpecV1beta1"),),
    "DynamoGraphDeploymentScalingAdapterV1beta1": (("spec", "ScalingAdapterSpecV1beta1"),),
    "DynamoModel": (("spec", "ModelSpec"),),
    "DynamoRender": (("spec", "RenderSpec"),),
    "ExtraPodSpec": (("mainContainer", "MainContainer"), ("the service, as", "Component")),
    "GraphSpec": (("a service, as", "Component"),),
    "GraphSpecV1beta1": (("a component, as", "ComponentV1beta1"),),
    "MainContainer": (("extraPodSpec", "ExtraPodSpec"), ("the service, as", "Component")),
    "PodTemplateMetadataV1beta1": (("the podTemplate, as", "PodTemplateV1beta1"),),
    "PodTemplateV1beta1": (
        *(("metadata", "PodTemplateMetadataV1beta1"), ("spec", _POD)),
        *(("the container main, as", _CONTAINER), ("the component, as", "ComponentV1beta1")),
    ),
    _POD: (("a container, as", _CONTAINER), ("the component, as", "ComponentV1beta1")),
}
_SYNONYMS = {
    **other_version.FIXES,
    **later.FIXES,
    ("Component", "env"): "write envs",
    ("Component", "envFrom"): "write envFromSecret: NAME, or envFrom in extraPodSpec.mainContainer",
    ("Component", "name"): "remove it, because the key in spec.services is the name",
    ("Component", "type"): "write componentType",
    ("PVC", "accessModes"): "write volumeAccessMode with a single mode",
    ("ResourceItem", "ephemeral-storage"): "write it below custom",
    ("ResourceItem", "nvidia.com/gpu"): "write gpu",
    ("VolumeMount", "mountPath"): "write mountPoint",
}
_LIKE = {"ComponentDeploymentSpec": "Component", "ComponentDeploymentSpecV1beta1": "ComponentV1beta1"}
_FEW = 8


@cache
def mend(definition: str, key: str) -> str:
    """Returns the fix for an unknown field of a definition of the table."""
    like = _LIKE.get(definition, definition)
    if (like, key) in _SYNONYMS:
        return _SYNONYMS[like, key]
    if definition == "ResourceItem" and "/" in key:
        return "write it below custom"
    definitions = table.load().definitions
    for where, name in _ELSEWHERE.get(like, ()):
        if key in definitions[name]["properties"]:
            return f"it belongs in {where}{' ' if ' ' in where else '.'}{key}"
    known = tuple(definitions[definition]["properties"])
    meant = nearest(key, known)
    if meant:
        return f"write {meant}"
    return f"write one of {', '.join(known)}" if 0 < len(known) <= _FEW else "remove it"


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
