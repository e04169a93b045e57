"""The fields with names that kustomize itself knows: it updates them when it renames the object that they name.

Source: kustomize `api/internal/konfig/builtinpluginconsts/namereference.go`. tests/schemas/generate/test_names_of_workloads.py compares
this with the real kustomize. It updates only names of objects that it renames itself, and never names of objects that a function makes.
"""

from __future__ import annotations

from krm_fn.kubernetes.paths import EVERY
from krm_fn.kubernetes.references import name_fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from krm_fn.base.results import Path
    from krm_fn.kubernetes.references.name_fields import Target

_CONTAINERS = ("containers", "initContainers")
_DATA_IN_PODS = frozenset(
    {
        *(f"{holder}/{field}/name" for holder in _CONTAINERS for field in ("env/valueFrom/configMapKeyRef", "envFrom/configMapRef")),
        *(f"{holder}/{field}/name" for holder in _CONTAINERS for field in ("env/valueFrom/secretKeyRef", "envFrom/secretRef")),
        *("volumes/configMap/name", "volumes/projected/sources/configMap/name", "imagePullSecrets/name"),
        *("volumes/secret/secretName", "volumes/projected/sources/secret/name"),
    }
)
_OTHERS_IN_PODS = frozenset({"volumes/persistentVolumeClaim/claimName", "serviceAccountName", "priorityClassName"})
_WITHOUT_DATA = ("ReplicationController",)
_WITHOUT_OTHERS = ("PodTemplate", "ReplicaSet")
_UNKNOWN = tuple(kind for group, kind in name_fields.WORKLOADS if "." in group)
_OUTSIDE_OF_PODS = frozenset(
    {
        *("APIService spec/service/name", "ServiceAccount imagePullSecrets/name", "StatefulSet spec/serviceName"),
        *(f"{kind} {field}" for kind in ("RoleBinding", "ClusterRoleBinding") for field in ("roleRef/name", "subjects/name")),
        *(f"{kind}WebhookConfiguration webhooks/clientConfig/service/name" for kind in ("Mutating", "Validating")),
        *("Ingress spec/tls/secretName", "Ingress spec/defaultBackend/service/name", "Ingress spec/rules/http/paths/backend/service/name"),
        *("PersistentVolume spec/storageClassName", "PersistentVolume spec/azureFile/secretName"),
        *("PersistentVolumeClaim spec/storageClassName", "PersistentVolumeClaim spec/volumeName"),
        "StatefulSet spec/volumeClaimTemplates/spec/storageClassName",
    }
)
_SCALED = ("Deployment", "ReplicaSet", "StatefulSet")


def join_path(path: Path) -> str:
    """Returns a path as kustomize writes it: the entries of a list have no step of their own.

    >>> join_path(("spec", "volumes", 0, "secret", "secretName"))
    'spec/volumes/secret/secretName'
    """
    return "/".join(step.replace("/", "\\/") for step in path if isinstance(step, str) and step != EVERY)


def is_known(kind: Target, path: Path, target: Target) -> bool:
    """Returns true if kustomize knows that a field of a kind names an object of the kind `target`."""
    if target[1] in _SCALED and kind[1] == "HorizontalPodAutoscaler":
        return True
    field = join_path(path)
    for template in name_fields.WORKLOADS.get(kind, ()):
        spec = f"{join_path(template.spec)}/"
        if field.startswith(spec):
            return _is_known_in_pods(kind[1], field.removeprefix(spec))
    return f"{kind[1]} {field}" in _OUTSIDE_OF_PODS


def _is_known_in_pods(kind: str, path: str) -> bool:
    knows_data = kind not in (*_UNKNOWN, *_WITHOUT_DATA)
    return (knows_data and path in _DATA_IN_PODS) or (kind not in (*_UNKNOWN, *_WITHOUT_OTHERS) and path in _OTHERS_IN_PODS)
