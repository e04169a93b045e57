"""The tables of references against the schemas of Kubernetes: no field that names an object or selects pods is missing without a reason."""

from __future__ import annotations

import pytest

from krm_fn.kubernetes import paths, references
from krm_fn.kubernetes.references import name_fields, selector_fields
from krm_fn.schemas.generate import native_definitions
from tests.support.cases import cases

DEFINITIONS = native_definitions.load().definitions
NAME_TYPES = (
    *("LocalObjectReference", "ObjectReference", "SecretReference", "TypedLocalObjectReference", "TypedObjectReference"),
    *("CrossVersionObjectReference", "SecretKeySelector", "ConfigMapKeySelector", "SecretEnvSource", "ConfigMapEnvSource"),
    *("SecretProjection", "ConfigMapProjection", "ConfigMapVolumeSource", "IngressServiceBackend", "IngressClassParametersReference"),
    *("RoleRef", "Subject", "ParentReference"),
)
SELECTOR_TYPES = ("LabelSelector",)
STOPS = ("ObjectMeta", "PodTemplateSpec", "PodSpec", "JSONSchemaProps")
KINDS = (
    *("Pod", "PodTemplate", "ReplicationController", "Service", "ServiceAccount", "ConfigMap", "Secret", "Namespace", "Node", "LimitRange"),
    *("PersistentVolume", "PersistentVolumeClaim", "ResourceQuota", "Endpoints", "Event"),
    *("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet", "ControllerRevision", "Job", "CronJob", "HorizontalPodAutoscaler"),
    *("Ingress", "IngressClass", "NetworkPolicy", "IPAddress", "ServiceCIDR", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"),
)
LEFT_OUT = {
    # the end of a path in a pod or an object: reason
    "fileKeyRef.volumeName": "a volume of the same pod",
    "resourceFieldRef.containerName": "a container of the same pod",
    "targetContainerName": "a container of the same pod",
    "onExitCodes.containerName": "a container of the same pod",
    "resizePolicy.resourceName": "a resource such as cpu",
    "windowsOptions.gmsaCredentialSpecName": "a credential outside of the API",
    "windowsOptions.runAsUserName": "a user of Windows",
    "nodeName": "a scheduler chooses the node, and no build creates nodes",
    "schedulerName": "the name of a program",
    "clusterTrustBundle.signerName": "the name of a program",
    "podCertificate.signerName": "the name of a program",
    "scopeName": "a word of the API",
    "azureDisk.diskName": "a disk outside of the API",
    "azureFile.shareName": "a share outside of the API",
    "gcePersistentDisk.pdName": "a disk outside of the API",
    "flocker.datasetName": "data outside of the API",
    "iscsi.initiatorName": "a device outside of the API",
    "scaleIO.volumeName": "a volume outside of the API",
    "storageos.volumeName": "a volume outside of the API",
    "vsphereVolume.storagePolicyName": "a policy outside of the API",
    "externalName": "a name in the DNS",
    "hostname": "a name in the DNS",
    "clusterTrustBundle.labelSelector": "labels of bundles",
    "volumeClaimTemplate.spec.selector": "labels of volumes",
    "volumeClaimTemplates.spec.selector": "labels of volumes",
    "PersistentVolumeClaim spec.selector": "labels of volumes",
    "metric.selector": "labels of metrics",
    "namespaceSelector": "labels of namespaces; the selector beside it has this field",
    "aggregationRule.clusterRoleSelectors": "labels of roles",
    "DaemonSet spec.selector": "an API server compares it with the template of the same object",
    "Deployment spec.selector": "an API server compares it with the template of the same object",
    "ReplicaSet spec.selector": "an API server compares it with the template of the same object",
    "StatefulSet spec.selector": "an API server compares it with the template of the same object",
    "Job spec.selector": "an API server compares it with the template of the same object",
    "jobTemplate.spec.selector": "an API server compares it with the template of the same object",
    "Endpoints subsets.addresses.targetRef.name": "a controller writes Endpoints",
    "Endpoints subsets.notReadyAddresses.targetRef.name": "a controller writes Endpoints",
    "Event involvedObject.name": "a controller writes Events",
    "Event related.name": "a controller writes Events",
    "IPAddress spec.parentRef.name": "a controller writes IPAddresses",
    "StatefulSet spec.volumeClaimTemplates.status": "a status",
}


def reference_fields(name, path=()):
    """The paths below a definition that name an object or select by labels, without the steps of lists."""
    yield from _below({"$ref": name}, path, ())


def _below(schema, path, above):
    if "$ref" in schema:
        kind = schema["$ref"].rpartition(".")[2]
        if kind in NAME_TYPES:
            yield ".".join((*path, "name"))
        elif kind in SELECTOR_TYPES:
            yield ".".join(path)
        if schema["$ref"] not in above and not (path and kind in (*STOPS, *SELECTOR_TYPES)):
            yield from _below(DEFINITIONS[schema["$ref"]], path, (*above, schema["$ref"]))
    elif schema.get("type") == "array":
        yield from _below(schema["items"], path, above)
    elif "properties" in schema:
        for field, inner in schema["properties"].items():
            if (path, field) != ((), "status"):
                yield from _below(inner, (*path, field), above)
    elif schema.get("type") == "string" and path and path[-1].lower().endswith("name") and path[-1] != "name":
        yield ".".join(path)


def definition(kind):
    (name,) = [name for name in DEFINITIONS if name.rpartition(".")[2] == kind and ".v1beta" not in name and ".v1alpha" not in name]
    return name


def in_tables(kind):
    group = next((group for group, known in (*name_fields.BY_KIND, *selector_fields.BY_KIND, *name_fields.WORKLOADS) if known == kind), "")
    named, selecting = name_fields.BY_KIND.get((group, kind), ()), selector_fields.BY_KIND.get((group, kind), ())
    return {joined(field.path) for fields in (named, selecting) for field in fields}


def joined(path):
    return ".".join(step for step in path if step != paths.EVERY)


def reason(kind, path):
    return next(
        (text for end, text in LEFT_OUT.items() if f"{kind} {path}".endswith(f".{end}") or f"{kind} {path}".startswith(end) or path == end),
        "",
    )


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_of_a_kind_is_in_the_tables(kind):
    missing = {path for path in reference_fields(definition(kind)) if not path.startswith(("metadata.", "spec.template.spec."))}
    assert {path for path in missing - in_tables(kind) if not reason(kind, path)} == set()


def test_every_field_of_a_pod_is_in_the_tables():
    listed = {joined(field.path) for fields in (name_fields.OF_PODS, selector_fields.OF_PODS) for field in fields}
    assert {path for path in {*reference_fields(definition("PodSpec"))} - listed if not reason("Pod", path)} == set()


def test_every_native_path_of_the_tables_is_a_field():
    """A path with a mistake would find nothing, and no other test would say so."""
    fields = {kind: {*every_field(definition(kind))} for kind in (*KINDS, "PodSpec")}
    wrong = [(kind, path) for kind in KINDS for path in in_tables(kind) if path not in fields[kind]]
    in_pods = (joined(field.path) for fields in (name_fields.OF_PODS, selector_fields.OF_PODS) for field in fields)
    assert (
        wrong + [path for path in in_pods if path not in fields["PodSpec"] and not path.startswith("volumes.csi.volumeAttributes.")] == []
    )


def every_field(name, path=(), above=()):
    schema = DEFINITIONS[name]
    for field, inner in schema.get("properties", {}).items():
        yield ".".join((*path, field))
        entry = entry_of(inner)
        if "$ref" in entry and entry["$ref"] not in above:
            yield from every_field(entry["$ref"], (*path, field), (*above, entry["$ref"]))


def entry_of(schema):
    """The schema of the entries of a list, and any other schema itself."""
    return entry_of(schema["items"]) if schema.get("type") == "array" else schema


def test_each_reason_is_needed():
    every = [("Pod", path) for path in reference_fields(definition("PodSpec"))]
    every += [(kind, path) for kind in KINDS for path in reference_fields(definition(kind))]
    used = {
        end
        for end in LEFT_OUT
        for kind, path in every
        if f"{kind} {path}".endswith(f".{end}") or f"{kind} {path}".startswith(end) or path == end
    }
    assert {*LEFT_OUT} - used == set()


TYPED = [
    ("the default of an autoscaler without a kind", {}, ("apps", "Deployment")),
    (
        "a version with a group",
        {"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoGraphDeploymentScalingAdapter"},
        ("nvidia.com", "DynamoGraphDeploymentScalingAdapter"),
    ),
    ("a kind alone", {"kind": "StatefulSet"}, ("apps", "StatefulSet")),
    ("a kind that the table does not have", {"apiVersion": "example.com/v1", "kind": "Engine"}, ("example.com", "Engine")),
    ("a kind of another type", {"kind": 3}, ("apps", "Deployment")),
]


@cases(("beside", "target"), TYPED)
def test_a_typed_reference(beside, target):
    scaler = {"apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject", "spec": {"scaleTargetRef": {"name": "chat", **beside}}}
    (reference,) = references.of(scaler)
    assert (reference.group, reference.kind) == target
    assert (reference.name, reference.path) == ("chat", ("spec", "scaleTargetRef", "name"))


def test_a_user_is_no_object():
    binding = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "subjects": [{"kind": "User", "name": "ann"}, 3]}
    assert [*references.of(binding)] == []


@pytest.mark.parametrize("spec", [None, 3, [], {"volumes": {"a": 1}}, {"containers": [3, {"env": "a"}], "volumes": [None, {"secret": []}]}])
def test_fields_of_any_type_are_read(spec):
    """Nothing checks the schema of a neighbour before this."""
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}
    assert [*references.of(pod), *selector_fields.of(pod)] == []
