"""Pod templates with one mistake each, which an API server refuses. `tests.support.pod_limits` has valid templates.

A row has a reason, a template, and the paths of the mistake. `SILENT` has templates whose verdict depends on a feature gate: the server of
the tests refuses them, another may accept them.
"""

from __future__ import annotations

from typing import Any

Template = dict[str, Any]
Path = tuple[str | int, ...]
Row = tuple[str, Template, tuple[Path, ...]]

CONTAINER: dict[str, Any] = {"name": "main", "image": "a:1", "volumeMounts": [{"name": "own", "mountPath": "/own"}]}
POD: dict[str, Any] = {"containers": [CONTAINER], "volumes": [{"name": "own", "emptyDir": {}}]}
PROBE = {"exec": {"command": ["true"]}}
REQUIRED, PREFERRED = "requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"
C = ("spec", "containers", 0)
I = ("spec", "initContainers", 0)  # noqa: E741
V = ("spec", "volumes", 1)
GPU = "nvidia.com/gpu"


def pod(**fields: Any) -> Template:
    return {"spec": {**POD, **fields}}


def main(**fields: Any) -> Template:
    return pod(containers=[{**CONTAINER, **fields}])


def init(**fields: Any) -> Template:
    return pod(initContainers=[{"name": "first", "image": "a", **fields}])


def sidecar(**fields: Any) -> Template:
    return init(restartPolicy="Always", **fields)


def labelled(**labels: str) -> Template:
    return {"metadata": {"labels": labels}, **pod()}


def annotated(annotations: dict[str, str], **fields: Any) -> Template:
    return {"metadata": {"annotations": annotations}, **pod(**fields)}


def security(**fields: Any) -> Template:
    return pod(securityContext=fields)


def of_main(**fields: Any) -> Template:
    """A security context of the main container."""
    return main(securityContext=fields)


def volume(**source: Any) -> Template:
    return pod(volumes=[*POD["volumes"], {"name": "more", **source}])


def mount(**fields: Any) -> Template:
    return main(volumeMounts=[{"name": "own", "mountPath": "/own", **fields}])


def env(**fields: Any) -> Template:
    return main(env=[{"name": "A", **fields}])


def source(**fields: Any) -> Template:
    return env(valueFrom=fields)


def port(**fields: Any) -> Template:
    return main(ports=[{"containerPort": 80, **fields}])


def limits(**sides: Any) -> Template:
    return main(resources=sides)


def hook(**fields: Any) -> Template:
    return main(lifecycle={"preStop": fields})


def probe(**fields: Any) -> Template:
    return main(readinessProbe={**PROBE, **fields})


def toleration(**fields: Any) -> Template:
    return pod(tolerations=[fields])


def spread(**fields: Any) -> Template:
    return pod(topologySpreadConstraints=[{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", **fields}])


def nodes(*terms: Any) -> Template:
    return pod(affinity={"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": list(terms)}}})


def node(**fields: Any) -> Template:
    """Required nodes with one label."""
    return nodes({"matchExpressions": [{"key": "zone", **fields}]})


def node_field(**fields: Any) -> Template:
    return nodes({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"], **fields}]})


def preferred(**fields: Any) -> Template:
    preference = {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}
    return pod(affinity={"nodeAffinity": {PREFERRED: [{"weight": 1, "preference": preference, **fields}]}})


def near(**fields: Any) -> Template:
    return pod(affinity={"podAffinity": {REQUIRED: [{"topologyKey": "zone", **fields}]}})


def apart(**fields: Any) -> Template:
    return pod(affinity={"podAntiAffinity": {PREFERRED: [{"weight": 1, "podAffinityTerm": {"topologyKey": "zone"}, **fields}]}})


def dns(**fields: Any) -> Template:
    return pod(dnsConfig=fields)


def alias(**fields: Any) -> Template:
    return pod(hostAliases=[{"ip": "10.0.0.1", **fields}])


def projected(*sources: Any, **fields: Any) -> Template:
    return volume(projected={"sources": list(sources), **fields})


def downward(**fields: Any) -> Template:
    return volume(downwardAPI={"items": [{"path": "a", **fields}]})


def token(**fields: Any) -> Template:
    return projected({"serviceAccountToken": {"path": "token", **fields}})


def items(*entries: Any) -> Template:
    return volume(configMap={"name": "a", "items": list(entries)})


def claim(spec: Any = None, **metadata: Any) -> Template:
    sound = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return volume(ephemeral={"volumeClaimTemplate": {"metadata": metadata, "spec": {**sound, **(spec or {})}}})


def device(**fields: Any) -> Template:
    volumes = [*POD["volumes"], {"name": "disk", "persistentVolumeClaim": {"claimName": "disk"}}]
    devices = [{"name": "disk", "devicePath": "/dev/xvda", **fields}]
    return pod(volumes=volumes, containers=[{**CONTAINER, "volumeDevices": devices}])


def together(pod_side: Any, container_side: Any, **fields: Any) -> Template:
    """Resources of the pod and of its container."""
    return pod(resources=pod_side, containers=[{**CONTAINER, "resources": container_side}], **fields)


def from_file(**fields: Any) -> Template:
    return source(fileKeyRef={"volumeName": "own", "path": "a.env", "key": "A", **fields})


def rules(*entries: Any, **fields: Any) -> Template:
    return main(restartPolicy="Never", restartPolicyRules=list(entries), **fields)


A = ("spec", "affinity", "nodeAffinity", REQUIRED, "nodeSelectorTerms")
P = ("spec", "affinity", "nodeAffinity", PREFERRED, 0)
N = ("spec", "affinity", "podAffinity", REQUIRED, 0)
S = ("spec", "topologySpreadConstraints", 0)
SECURITY, CONTEXT = ("spec", "securityContext"), (*C, "securityContext")
FROM = (*C, "env", 0, "valueFrom")
MOUNT = (*C, "volumeMounts", 0)
ITEM = (*V, "configMap", "items", 0)
SOURCE = (*V, "projected", "sources", 0)
TEMPLATE = (*V, "ephemeral", "volumeClaimTemplate")
SPREAD = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
EXIT = {"action": "Restart", "exitCodes": {"operator": "In", "values": [1]}}
FIELD = {"fieldRef": {"fieldPath": "metadata.name"}}

AFFINITY: list[Row] = [
    ("required nodes without terms", nodes(), (A,)),
    ("In without values", node(operator="In"), ((*A, 0, "matchExpressions", 0, "values"),)),
    ("Exists with values", node(operator="Exists", values=["a"]), ((*A, 0, "matchExpressions", 0, "values"),)),
    ("Gt without a value", node(operator="Gt"), ((*A, 0, "matchExpressions", 0, "values"),)),
    ("Lt with two values", node(operator="Lt", values=["1", "2"]), ((*A, 0, "matchExpressions", 0, "values"),)),
    ("a value of a node that is no label value", node(operator="In", values=["a b"]), ((*A, 0, "matchExpressions", 0, "values", 0),)),
    ("a key of a node with a space", node(key="a b", operator="Exists"), ((*A, 0, "matchExpressions", 0, "key"),)),
    ("an operator that is not known", node(operator="Equals", values=["a"]), ((*A, 0, "matchExpressions", 0, "operator"),)),
    ("a field of nodes other than the name", node_field(key="metadata.uid"), ((*A, 0, "matchFields", 0, "key"),)),
    ("two names of nodes", node_field(values=["a", "b"]), ((*A, 0, "matchFields", 0, "values"),)),
    ("an operator for fields that is one for labels", node_field(operator="Exists", values=[]), ((*A, 0, "matchFields", 0, "operator"),)),
    ("a name of a node with capitals", node_field(values=["Node"]), ((*A, 0, "matchFields", 0, "values", 0),)),
    ("a weight of 0", preferred(weight=0), ((*P, "weight"),)),
    ("a weight of 101", preferred(weight=101), ((*P, "weight"),)),
    (
        "a preference without values",
        preferred(preference={"matchExpressions": [{"key": "a", "operator": "NotIn"}]}),
        ((*P, "preference", "matchExpressions", 0, "values"),),
    ),
    ("an empty topology key", near(topologyKey=""), ((*N, "topologyKey"),)),
    ("a topology key with two slashes", near(topologyKey="a/b/c"), ((*N, "topologyKey"),)),
    ("a namespace with capitals", near(namespaces=["Team"]), ((*N, "namespaces", 0),)),
    ("a selector with a bad key", near(labelSelector={"matchLabels": {"a b": "c"}}), ((*N, "labelSelector", "matchLabels", "a b"),)),
    ("a selector with a bad value", near(labelSelector={"matchLabels": {"a": "b c"}}), ((*N, "labelSelector", "matchLabels", "a"),)),
    (
        "a selector with Gt",
        near(labelSelector={"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["1"]}]}),
        ((*N, "labelSelector", "matchExpressions", 0, "operator"),),
    ),
    (
        "a selector of namespaces without values",
        near(namespaceSelector={"matchExpressions": [{"key": "a", "operator": "In"}]}),
        ((*N, "namespaceSelector", "matchExpressions", 0, "values"),),
    ),
    ("keys of labels without a selector", near(matchLabelKeys=["a"]), ((*N, "matchLabelKeys"),)),
    ("other keys of labels without a selector", near(mismatchLabelKeys=["a"]), ((*N, "mismatchLabelKeys"),)),
    ("a bad key of a label", near(labelSelector={}, matchLabelKeys=["a b"]), ((*N, "matchLabelKeys", 0),)),
    (
        "a key that must match and differ",
        near(labelSelector={}, matchLabelKeys=["a"], mismatchLabelKeys=["a"]),
        ((*N, "matchLabelKeys", 0),),
    ),
    (
        "a key that the selector has twice",
        near(
            labelSelector={"matchLabels": {"a": "b"}, "matchExpressions": [{"key": "a", "operator": "Exists"}]},
            matchLabelKeys=["a"],
        ),
        ((*N, "matchLabelKeys"),),
    ),
    ("a weight of another pod of 101", apart(weight=101), (("spec", "affinity", "podAntiAffinity", PREFERRED, 0, "weight"),)),
    (
        "another pod without a topology key",
        apart(podAffinityTerm={"topologyKey": ""}),
        (("spec", "affinity", "podAntiAffinity", PREFERRED, 0, "podAffinityTerm", "topologyKey"),),
    ),
    ("maxSkew of 0", spread(maxSkew=0), ((*S, "maxSkew"),)),
    ("a spread without a topology key", spread(topologyKey=""), ((*S, "topologyKey"),)),
    ("minDomains with ScheduleAnyway", spread(whenUnsatisfiable="ScheduleAnyway", minDomains=2), ((*S, "minDomains"),)),
    ("minDomains of 0", spread(minDomains=0), ((*S, "minDomains"),)),
    ("an action that is not known", spread(whenUnsatisfiable="Retry"), ((*S, "whenUnsatisfiable"),)),
    ("the same spread twice", pod(topologySpreadConstraints=[SPREAD, SPREAD]), (("spec", "topologySpreadConstraints", 1),)),
    ("an empty policy for affinity", spread(nodeAffinityPolicy=""), ((*S, "nodeAffinityPolicy"),)),
    ("a policy for taints that is not known", spread(nodeTaintsPolicy="Skip"), ((*S, "nodeTaintsPolicy"),)),
    ("keys of a spread without a selector", spread(matchLabelKeys=["a"]), ((*S, "matchLabelKeys"),)),
    (
        "a selector of a spread with a bad value",
        spread(labelSelector={"matchLabels": {"a": "-"}}),
        ((*S, "labelSelector", "matchLabels", "a"),),
    ),
    ("a label of nodes with a bad key", pod(nodeSelector={"a b": "c"}), (("spec", "nodeSelector", "a b"),)),
    ("a label of nodes with a bad value", pod(nodeSelector={"a": "b-"}), (("spec", "nodeSelector", "a"),)),
    ("a toleration without a key", toleration(operator="Equal", value="a"), (("spec", "tolerations", 0, "operator"),)),
    ("a toleration of all values with a value", toleration(key="a", operator="Exists", value="b"), (("spec", "tolerations", 0, "value"),)),
    ("a value of a taint with a space", toleration(key="a", value="b c"), (("spec", "tolerations", 0, "value"),)),
    ("a comparison with text", toleration(key="a", operator="Gt", value="many"), (("spec", "tolerations", 0, "value"),)),
    ("a comparison with a leading zero", toleration(key="a", operator="Lt", value="01"), (("spec", "tolerations", 0, "value"),)),
    (
        "a toleration for a while of NoSchedule",
        toleration(key="a", effect="NoSchedule", tolerationSeconds=1),
        (("spec", "tolerations", 0, "tolerationSeconds"),),
    ),
    ("a bad key of a taint", toleration(key="a/b/c", operator="Exists"), (("spec", "tolerations", 0, "key"),)),
    ("an effect that is not known", toleration(key="a", effect="Evict"), (("spec", "tolerations", 0, "effect"),)),
]
VOLUMES: list[Row] = [
    ("permissions of a Secret over 0777", volume(secret={"secretName": "a", "defaultMode": 0o1000}), ((*V, "secret", "defaultMode"),)),
    ("permissions of a ConfigMap below 0", volume(configMap={"name": "a", "defaultMode": -1}), ((*V, "configMap", "defaultMode"),)),
    ("permissions of a file over 0777", items({"key": "a", "path": "a", "mode": 512}), ((*ITEM, "mode"),)),
    ("a file without a key", items({"key": "", "path": "a"}), ((*ITEM, "key"),)),
    ("a file without a path", items({"key": "a", "path": ""}), ((*ITEM, "path"),)),
    ("an absolute path of a file", items({"key": "a", "path": "/a"}), ((*ITEM, "path"),)),
    ("a path of a file that leads up", items({"key": "a", "path": "a/../../b"}), ((*ITEM, "path"),)),
    ("a path of a file with a reserved name", items({"key": "a", "path": "..data"}), ((*ITEM, "path"),)),
    (
        "an absolute path of a file of a Secret",
        volume(secret={"secretName": "a", "items": [{"key": "a", "path": "/a"}]}),
        ((*V, "secret", "items", 0, "path"),),
    ),
    ("two sources", volume(emptyDir={}, configMap={"name": "a"}), (V,)),
    ("a ConfigMap without a name", volume(configMap={"name": ""}), ((*V, "configMap", "name"),)),
    ("a claim without a name", volume(persistentVolumeClaim={"claimName": ""}), ((*V, "persistentVolumeClaim", "claimName"),)),
    ("a size below 0", volume(emptyDir={"sizeLimit": "-1Gi"}), ((*V, "emptyDir", "sizeLimit"),)),
    ("a folder of the node that leads up", volume(hostPath={"path": "/a/../b"}), ((*V, "hostPath", "path"),)),
    ("a type of a folder that is not known", volume(hostPath={"path": "/a", "type": "Folder"}), ((*V, "hostPath", "type"),)),
    ("a relative path of NFS", volume(nfs={"server": "a", "path": "models"}), ((*V, "nfs", "path"),)),
    ("NFS without a server", volume(nfs={"server": "", "path": "/models"}), ((*V, "nfs", "server"),)),
    ("NFS without a path", volume(nfs={"server": "a", "path": ""}), ((*V, "nfs", "path"),)),
    ("CSI without a driver", volume(csi={"driver": ""}), ((*V, "csi", "driver"),)),
    ("a driver of CSI with an underscore", volume(csi={"driver": "a_b"}), ((*V, "csi", "driver"),)),
    ("a driver of CSI of 64 characters", volume(csi={"driver": "a" * 64}), ((*V, "csi", "driver"),)),
    (
        "a Secret of CSI without a name",
        volume(csi={"driver": "a", "nodePublishSecretRef": {}}),
        ((*V, "csi", "nodePublishSecretRef", "name"),),
    ),
    (
        "a Secret of CSI with capitals",
        volume(csi={"driver": "a", "nodePublishSecretRef": {"name": "A"}}),
        ((*V, "csi", "nodePublishSecretRef", "name"),),
    ),
    ("Ceph without monitors", volume(cephfs={"monitors": []}), ((*V, "cephfs", "monitors"),)),
    ("an image of RBD without a name", volume(rbd={"monitors": ["a"], "image": ""}), ((*V, "rbd", "image"),)),
    ("iSCSI with a name that is not one", volume(iscsi={"targetPortal": "a", "iqn": "disk", "lun": 0}), ((*V, "iscsi", "iqn"),)),
    (
        "iSCSI with a unit of 256",
        volume(iscsi={"targetPortal": "a", "iqn": "iqn.2001-04.com.example:a", "lun": 256}),
        ((*V, "iscsi", "lun"),),
    ),
    (
        "iSCSI with CHAP and no Secret",
        volume(iscsi={"targetPortal": "a", "iqn": "iqn.2001-04.com.example:a", "lun": 0, "chapAuthSession": True}),
        ((*V, "iscsi", "secretRef"),),
    ),
    ("a fibre channel without a target", volume(fc={}), ((*V, "fc"),)),
    ("a fibre channel with both targets", volume(fc={"targetWWNs": ["a"], "wwids": ["b"], "lun": 0}), ((*V, "fc"),)),
    ("a fibre channel without a unit", volume(fc={"targetWWNs": ["a"]}), ((*V, "fc", "lun"),)),
    (
        "a disk with a partition of 256",
        volume(gcePersistentDisk={"pdName": "a", "partition": 256}),
        ((*V, "gcePersistentDisk", "partition"),),
    ),
    (
        "a managed disk with a URI of a blob",
        volume(azureDisk={"diskName": "a", "diskURI": "https://a", "kind": "Managed"}),
        ((*V, "azureDisk", "diskURI"),),
    ),
    ("a repository in a folder that leads up", volume(gitRepo={"repository": "a", "directory": "../a"}), ((*V, "gitRepo", "directory"),)),
    ("GlusterFS without a path", volume(glusterfs={"endpoints": "a", "path": ""}), ((*V, "glusterfs", "path"),)),
    ("Quobyte without a port", volume(quobyte={"registry": "a", "volume": "b"}), ((*V, "quobyte", "registry"),)),
    ("Flocker without a data set", volume(flocker={}), ((*V, "flocker"),)),
    (
        "an option of FlexVolume in the domain of Kubernetes",
        volume(flexVolume={"driver": "a", "options": {"kubernetes.io/a": "b"}}),
        ((*V, "flexVolume", "options", "kubernetes.io/a"),),
    ),
    ("Cinder with a Secret without a name", volume(cinder={"volumeID": "a", "secretRef": {}}), ((*V, "cinder", "secretRef", "name"),)),
    ("StorageOS with capitals", volume(storageos={"volumeName": "A"}), ((*V, "storageos", "volumeName"),)),
    (
        "ScaleIO without a volume",
        volume(scaleIO={"gateway": "a", "system": "b", "secretRef": {"name": "c"}}),
        ((*V, "scaleIO", "volumeName"),),
    ),
    ("permissions of projected files over 0777", projected(defaultMode=0o1777), ((*V, "projected", "defaultMode"),)),
    ("two sources in one entry", projected({"secret": {"name": "a"}, "configMap": {"name": "b"}}), (SOURCE,)),
    ("a projected Secret without a name", projected({"secret": {"items": []}}), ((*SOURCE, "secret", "name"),)),
    (
        "a projected file that leads up",
        projected({"configMap": {"name": "a", "items": [{"key": "a", "path": "../a"}]}}),
        ((*SOURCE, "configMap", "items", 0, "path"),),
    ),
    (
        "two projected files of one path",
        projected(
            {"configMap": {"name": "a", "items": [{"key": "a", "path": "x"}]}},
            {"secret": {"name": "b", "items": [{"key": "b", "path": "x"}]}},
        ),
        ((*V, "projected", "sources", 1, "secret", "items", 0, "path"),),
    ),
    ("a token of 10 seconds", token(expirationSeconds=10), ((*SOURCE, "serviceAccountToken", "expirationSeconds"),)),
    ("a token of more than 2^32 seconds", token(expirationSeconds=2**32 + 1), ((*SOURCE, "serviceAccountToken", "expirationSeconds"),)),
    ("a token without a path", token(path=""), ((*SOURCE, "serviceAccountToken", "path"),)),
    ("a token with an absolute path", token(path="/token"), ((*SOURCE, "serviceAccountToken", "path"),)),
    ("a file of no field", downward(), ((*V, "downwardAPI", "items", 0),)),
    (
        "a file of a field and a resource",
        downward(**FIELD, resourceFieldRef={"containerName": "main", "resource": "limits.cpu"}),
        ((*V, "downwardAPI", "items", 0),),
    ),
    (
        "a file of a field that it cannot have",
        downward(fieldRef={"fieldPath": "status.podIP"}),
        ((*V, "downwardAPI", "items", 0, "fieldRef", "fieldPath"),),
    ),
    (
        "a file of a label with a bad key",
        downward(fieldRef={"fieldPath": "metadata.labels['a b']"}),
        ((*V, "downwardAPI", "items", 0, "fieldRef", "fieldPath"),),
    ),
    (
        "a file of a resource of no container",
        downward(resourceFieldRef={"resource": "limits.cpu"}),
        ((*V, "downwardAPI", "items", 0, "resourceFieldRef", "containerName"),),
    ),
    (
        "a file of a resource by 3",
        downward(resourceFieldRef={"containerName": "main", "resource": "limits.memory", "divisor": "3"}),
        ((*V, "downwardAPI", "items", 0, "resourceFieldRef", "divisor"),),
    ),
    ("a file of a field with an absolute path", downward(**FIELD, path="/a"), ((*V, "downwardAPI", "items", 0, "path"),)),
    ("a file of a field with permissions over 0777", downward(**FIELD, mode=0o1000), ((*V, "downwardAPI", "items", 0, "mode"),)),
    ("an ephemeral volume without a claim", volume(ephemeral={}), ((*V, "ephemeral", "volumeClaimTemplate"),)),
    ("a claim without access modes", claim({"accessModes": []}), ((*TEMPLATE, "spec", "accessModes"),)),
    (
        "a claim for one pod and many nodes",
        claim({"accessModes": ["ReadWriteOncePod", "ReadWriteMany"]}),
        ((*TEMPLATE, "spec", "accessModes"),),
    ),
    ("a claim without a size", claim({"resources": {}}), ((*TEMPLATE, "spec", "resources", "requests", "storage"),)),
    (
        "a claim of nothing",
        claim({"resources": {"requests": {"storage": "0"}}}),
        ((*TEMPLATE, "spec", "resources", "requests", "storage"),),
    ),
    ("a class with capitals", claim({"storageClassName": "Fast"}), ((*TEMPLATE, "spec", "storageClassName"),)),
    ("a claim with a name", claim(name="a"), ((*TEMPLATE, "metadata", "name"),)),
    ("a claim with a bad label", claim(labels={"a": "b c"}), ((*TEMPLATE, "metadata", "labels", "a"),)),
    (
        "data of a kind without a group",
        claim({"dataSource": {"kind": "Snapshot", "name": "a"}}),
        ((*TEMPLATE, "spec", "dataSource", "kind"),),
    ),
    (
        "two different sources of data",
        claim(
            {"dataSource": {"kind": "PersistentVolumeClaim", "name": "a"}, "dataSourceRef": {"kind": "PersistentVolumeClaim", "name": "b"}}
        ),
        ((*TEMPLATE, "spec", "dataSource"),),
    ),
]
MOUNTS: list[Row] = [
    ("a mount that leads up", mount(subPath="../a"), ((*MOUNT, "subPath"),)),
    ("a mount of an absolute path", mount(subPath="/a"), ((*MOUNT, "subPath"),)),
    ("an expression that leads up", mount(subPathExpr="../$(A)"), ((*MOUNT, "subPathExpr"),)),
    ("a path and an expression", mount(subPath="a", subPathExpr="b"), ((*MOUNT, "subPathExpr"),)),
    ("Bidirectional without privileges", mount(mountPropagation="Bidirectional"), ((*MOUNT, "mountPropagation"),)),
    ("a propagation that is not known", mount(mountPropagation="Both"), ((*MOUNT, "mountPropagation"),)),
    ("an empty propagation", mount(mountPropagation=""), ((*MOUNT, "mountPropagation"),)),
    ("recursiveReadOnly of a mount for writing", mount(recursiveReadOnly="Enabled"), ((*MOUNT, "recursiveReadOnly"),)),
    (
        "recursiveReadOnly with mounts of the node",
        mount(recursiveReadOnly="IfPossible", readOnly=True, mountPropagation="HostToContainer"),
        ((*MOUNT, "recursiveReadOnly"),),
    ),
    ("recursiveReadOnly that is not known", mount(recursiveReadOnly="true", readOnly=True), ((*MOUNT, "recursiveReadOnly"),)),
    ("a mount of no volume", mount(name="gone"), ((*MOUNT, "name"),)),
    ("a mount without a folder", mount(mountPath=""), ((*MOUNT, "mountPath"),)),
    ("a device of no volume", device(name="gone"), ((*C, "volumeDevices", 0, "name"),)),
    ("a device of a folder that is mounted", device(name="own"), ((*C, "volumeDevices", 0, "name"),) * 2),
    ("a device without a path", device(devicePath=""), ((*C, "volumeDevices", 0, "devicePath"),)),
    ("a device with a path that leads up", device(devicePath="/dev/../a"), ((*C, "volumeDevices", 0, "devicePath"),)),
    ("a device where a volume is mounted", device(devicePath="/own"), ((*C, "volumeDevices", 0, "devicePath"),)),
]
SECURITY_ROWS: list[Row] = [
    ("privileged without privileges", of_main(privileged=True, allowPrivilegeEscalation=False), ((*CONTEXT, "allowPrivilegeEscalation"),)),
    (
        "a capability of root without privileges",
        of_main(capabilities={"add": ["CAP_SYS_ADMIN"]}, allowPrivilegeEscalation=False),
        ((*CONTEXT, "allowPrivilegeEscalation"),),
    ),
    ("a user below 0", of_main(runAsUser=-1), ((*CONTEXT, "runAsUser"),)),
    ("a user over 2^31", security(runAsUser=2**31), ((*SECURITY, "runAsUser"),)),
    ("a group of files over 2^31", security(fsGroup=2**31), ((*SECURITY, "fsGroup"),)),
    ("one of the groups below 0", security(supplementalGroups=[1, -1]), ((*SECURITY, "supplementalGroups", 1),)),
    (
        "seccomp of the node without a profile",
        security(seccompProfile={"type": "Localhost"}),
        ((*SECURITY, "seccompProfile", "localhostProfile"),),
    ),
    (
        "seccomp of the runtime with a profile",
        of_main(seccompProfile={"type": "RuntimeDefault", "localhostProfile": "a"}),
        ((*CONTEXT, "seccompProfile", "localhostProfile"),),
    ),
    (
        "a profile of seccomp that leads up",
        of_main(seccompProfile={"type": "Localhost", "localhostProfile": "../a"}),
        ((*CONTEXT, "seccompProfile", "localhostProfile"),),
    ),
    ("seccomp that is not known", security(seccompProfile={"type": "Strict"}), ((*SECURITY, "seccompProfile", "type"),)),
    ("seccomp without a type", security(seccompProfile={}), ((*SECURITY, "seccompProfile", "type"),)),
    (
        "AppArmor of the node without a profile",
        of_main(appArmorProfile={"type": "Localhost"}),
        ((*CONTEXT, "appArmorProfile", "localhostProfile"),),
    ),
    (
        "AppArmor with an empty profile",
        of_main(appArmorProfile={"type": "Localhost", "localhostProfile": ""}),
        ((*CONTEXT, "appArmorProfile", "localhostProfile"),),
    ),
    (
        "AppArmor with a space after the profile",
        of_main(appArmorProfile={"type": "Localhost", "localhostProfile": "a "}),
        ((*CONTEXT, "appArmorProfile", "localhostProfile"),),
    ),
    (
        "AppArmor of the runtime with a profile",
        security(appArmorProfile={"type": "Unconfined", "localhostProfile": "a"}),
        ((*SECURITY, "appArmorProfile", "localhostProfile"),),
    ),
    ("an empty mount of /proc", of_main(procMount=""), ((*CONTEXT, "procMount"),)),
    ("all of /proc without a user namespace", of_main(procMount="Unmasked"), ((*CONTEXT, "procMount"),)),
    ("a kernel parameter with a space", security(sysctls=[{"name": "net core", "value": "1"}]), ((*SECURITY, "sysctls", 0, "name"),)),
    (
        "a kernel parameter twice",
        security(sysctls=[{"name": "net.core.somaxconn", "value": "1"}] * 2),
        ((*SECURITY, "sysctls", 1, "name"),),
    ),
    (
        "a parameter of the network of the node",
        pod(hostNetwork=True, securityContext={"sysctls": [{"name": "net/core/somaxconn", "value": "1"}]}),
        ((*SECURITY, "sysctls", 0, "name"),),
    ),
    (
        "a parameter of the IPC of the node",
        pod(hostIPC=True, securityContext={"sysctls": [{"name": "kernel.shmmax", "value": "1"}]}),
        ((*SECURITY, "sysctls", 0, "name"),),
    ),
    ("an empty change of groups", security(fsGroupChangePolicy=""), ((*SECURITY, "fsGroupChangePolicy"),)),
    ("a policy of groups that is not known", security(supplementalGroupsPolicy="Append"), ((*SECURITY, "supplementalGroupsPolicy"),)),
    ("a policy of SELinux that is not known", security(seLinuxChangePolicy="Always"), ((*SECURITY, "seLinuxChangePolicy"),)),
    (
        "a user of Windows with two domains",
        of_main(windowsOptions={"runAsUserName": "a\\b\\c"}),
        ((*CONTEXT, "windowsOptions", "runAsUserName"),),
    ),
    ("a user of Windows with a colon", of_main(windowsOptions={"runAsUserName": "a:b"}), ((*CONTEXT, "windowsOptions", "runAsUserName"),)),
    ("an empty user of Windows", security(windowsOptions={"runAsUserName": ""}), ((*SECURITY, "windowsOptions", "runAsUserName"),)),
    ("an empty credential", security(windowsOptions={"gmsaCredentialSpec": ""}), ((*SECURITY, "windowsOptions", "gmsaCredentialSpec"),)),
    (
        "a name of a credential with capitals",
        security(windowsOptions={"gmsaCredentialSpecName": "A"}),
        ((*SECURITY, "windowsOptions", "gmsaCredentialSpecName"),),
    ),
    (
        "a process of the node without its network",
        security(windowsOptions={"hostProcess": True}),
        ((*SECURITY, "windowsOptions", "hostProcess"),),
    ),
    (
        "a process of the node in another pod",
        pod(
            hostNetwork=True,
            securityContext={"windowsOptions": {"hostProcess": True}},
            containers=[{**CONTAINER, "securityContext": {"windowsOptions": {"hostProcess": False}}}],
        ),
        ((*CONTEXT, "windowsOptions", "hostProcess"),),
    ),
    ("a system that is not known", pod(os={"name": "darwin"}), (("spec", "os", "name"),)),
    ("an empty system", pod(os={"name": ""}), (("spec", "os", "name"),)),
    ("Linux with options of Windows", pod(os={"name": "linux"}, securityContext={"windowsOptions": {}}), ((*SECURITY, "windowsOptions"),)),
    ("Windows with a group of files", pod(os={"name": "windows"}, securityContext={"fsGroup": 1}), ((*SECURITY, "fsGroup"),)),
    (
        "Windows with a capability",
        pod(os={"name": "windows"}, containers=[{**CONTAINER, "securityContext": {"capabilities": {}}}]),
        ((*CONTEXT, "capabilities"),),
    ),
    ("Windows with a user namespace", pod(os={"name": "windows"}, hostUsers=True), (("spec", "hostUsers"),)),
    ("Windows with resources of the pod", pod(os={"name": "windows"}, resources={}), (("spec", "resources"),)),
    ("a user namespace with processes of the node", pod(hostUsers=False, hostPID=True), (("spec", "hostPID"),)),
    ("a user namespace with the IPC of the node", pod(hostUsers=False, hostIPC=True), (("spec", "hostIPC"),)),
    (
        "a user namespace with a device",
        {"spec": {**device()["spec"], "hostUsers": False}},
        ((*C, "volumeDevices"),),
    ),
    ("shared processes with those of the node", pod(shareProcessNamespace=True, hostPID=True), (("spec", "shareProcessNamespace"),)),
]
CONTAINERS: list[Row] = [
    ("no container", pod(containers=[]), (("spec", "containers"),)),
    ("no image", main(image=""), ((*C, "image"),)),
    ("a name with capitals", main(name="Main"), ((*C, "name"),)),
    ("a name of 64 characters", main(name="a" * 64), ((*C, "name"),)),
    ("a variable with a letter beyond ASCII", env(name="GRÖSSE"), ((*C, "env", 0, "name"),)),
    ("a variable with a tab", env(name="A\tB"), ((*C, "env", 0, "name"),)),
    ("a variable with an equals sign", env(name="A=B"), ((*C, "env", 0, "name"),)),
    (
        "a prefix of variables with an equals sign",
        main(envFrom=[{"prefix": "=", "secretRef": {"name": "a"}}]),
        ((*C, "envFrom", 0, "prefix"),),
    ),
    ("a key of a Secret with a slash", source(secretKeyRef={"name": "a", "key": "b/c"}), ((*FROM, "secretKeyRef", "key"),)),
    ("a key of a ConfigMap of two dots", source(configMapKeyRef={"name": "a", "key": ".."}), ((*FROM, "configMapKeyRef", "key"),)),
    ("a key of 254 characters", source(configMapKeyRef={"name": "a", "key": "a" * 254}), ((*FROM, "configMapKeyRef", "key"),)),
    ("a Secret with capitals", source(secretKeyRef={"name": "A", "key": "b"}), ((*FROM, "secretKeyRef", "name"),)),
    ("a Secret without a name", source(secretKeyRef={"key": "b"}), ((*FROM, "secretKeyRef", "name"),)),
    ("a variable of no source", source(), (FROM,)),
    ("a variable of a value and a source", env(value="a", valueFrom=FIELD), (FROM,)),
    ("a field that a variable cannot have", source(fieldRef={"fieldPath": "metadata.labels"}), ((*FROM, "fieldRef", "fieldPath"),)),
    ("a label with a bad key", source(fieldRef={"fieldPath": "metadata.labels['a b']"}), ((*FROM, "fieldRef", "fieldPath"),)),
    (
        "a field of another version",
        source(fieldRef={"fieldPath": "metadata.name", "apiVersion": "v2"}),
        ((*FROM, "fieldRef", "apiVersion"),),
    ),
    (
        "a resource that a variable cannot have",
        source(resourceFieldRef={"resource": "limits.gpu"}),
        ((*FROM, "resourceFieldRef", "resource"),),
    ),
    ("CPUs by 3", source(resourceFieldRef={"resource": "limits.cpu", "divisor": "3"}), ((*FROM, "resourceFieldRef", "divisor"),)),
    ("memory by 1m", source(resourceFieldRef={"resource": "requests.memory", "divisor": "1m"}), ((*FROM, "resourceFieldRef", "divisor"),)),
    ("a file in a volume that is not there", from_file(volumeName="gone"), ((*FROM, "fileKeyRef", "volumeName"),)),
    (
        "a file in a volume of another kind",
        pod(
            volumes=[{"name": "own", "configMap": {"name": "a"}}],
            containers=[{**CONTAINER, "env": from_file()["spec"]["containers"][0]["env"]}],
        ),
        ((*FROM, "fileKeyRef", "volumeName"),),
    ),
    ("a path of a file of variables that leads up", from_file(path="../a"), ((*FROM, "fileKeyRef", "path"),)),
    ("a key of a file with an equals sign", from_file(key="A=B"), ((*FROM, "fileKeyRef", "key"),)),
    ("port 0", main(ports=[{"containerPort": 0}]), ((*C, "ports", 0, "containerPort"),)),
    ("port 65536", main(ports=[{"containerPort": 65536}]), ((*C, "ports", 0, "containerPort"),)),
    ("a protocol that is not known", port(protocol="HTTP"), ((*C, "ports", 0, "protocol"),)),
    ("a name of a port with two dashes", port(name="a--b"), ((*C, "ports", 0, "name"),)),
    (
        "another port of the network of the node",
        pod(hostNetwork=True, containers=[{**CONTAINER, "ports": [{"containerPort": 80, "hostPort": 81}]}]),
        ((*C, "ports", 0, "hostPort"),),
    ),
    (
        "a port of the node twice",
        main(ports=[{"containerPort": 80, "hostPort": 90}, {"containerPort": 81, "hostPort": 90}]),
        ((*C, "ports", 1, "hostPort"),),
    ),
    (
        "a port of the node in two containers",
        pod(
            containers=[
                {**CONTAINER, "ports": [{"containerPort": 80, "hostPort": 90}]},
                {"name": "side", "image": "a", "ports": [{"containerPort": 80, "hostPort": 90}]},
            ]
        ),
        (("spec", "containers", 1, "ports", 0, "hostPort"),),
    ),
    ("a policy of images that is not known", main(imagePullPolicy="Sometimes"), ((*C, "imagePullPolicy"),)),
    ("a policy of messages that is not known", main(terminationMessagePolicy="Logs"), ((*C, "terminationMessagePolicy"),)),
    ("a policy of restarts that is not known", main(restartPolicy="Sometimes"), ((*C, "restartPolicy"),)),
    ("rules of restarts without a policy", main(restartPolicyRules=[EXIT]), ((*C, "restartPolicy"),)),
    ("an action of a rule that is not known", rules({**EXIT, "action": "Stop"}), ((*C, "restartPolicyRules", 0, "action"),)),
    ("a rule without exit codes", rules({"action": "Restart"}), ((*C, "restartPolicyRules", 0, "exitCodes"),)),
    (
        "an operator of exit codes",
        rules({"action": "Restart", "exitCodes": {"operator": "Gt", "values": [1]}}),
        ((*C, "restartPolicyRules", 0, "exitCodes", "operator"),),
    ),
    ("21 rules", rules(*[EXIT] * 21), ((*C, "restartPolicyRules"),)),
    (
        "a resource that cannot be resized",
        main(resizePolicy=[{"resourceName": GPU, "restartPolicy": "NotRequired"}]),
        ((*C, "resizePolicy", 0, "resourceName"),),
    ),
    (
        "a policy to resize that is not known",
        main(resizePolicy=[{"resourceName": "cpu", "restartPolicy": "Always"}]),
        ((*C, "resizePolicy", 0, "restartPolicy"),),
    ),
    (
        "a resource to resize twice",
        main(resizePolicy=[{"resourceName": "cpu", "restartPolicy": "NotRequired"}] * 2),
        ((*C, "resizePolicy", 1, "resourceName"),),
    ),
    (
        "an init container that restarts to resize",
        init(resizePolicy=[{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]),
        ((*I, "resizePolicy", 0, "restartPolicy"),),
    ),
]
RUNNING: list[Row] = [
    ("a sleep longer than the grace period", hook(sleep={"seconds": 31}), ((*C, "lifecycle", "preStop", "sleep", "seconds"),)),
    (
        "a sleep longer than another grace period",
        pod(terminationGracePeriodSeconds=5, containers=[{**CONTAINER, "lifecycle": {"postStart": {"sleep": {"seconds": 6}}}}]),
        ((*C, "lifecycle", "postStart", "sleep", "seconds"),),
    ),
    ("a sleep below 0", hook(sleep={"seconds": -1}), ((*C, "lifecycle", "preStop", "sleep", "seconds"),)),
    ("a hook of nothing", hook(), ((*C, "lifecycle", "preStop"),)),
    ("a hook of two things", hook(sleep={"seconds": 1}, exec={"command": ["a"]}), ((*C, "lifecycle", "preStop"),)),
    ("a hook without a command", hook(exec={}), ((*C, "lifecycle", "preStop", "exec", "command"),)),
    ("a hook with port 0", hook(httpGet={"port": 0}), ((*C, "lifecycle", "preStop", "httpGet", "port"),)),
    (
        "a hook with a header with a space",
        hook(httpGet={"port": 80, "httpHeaders": [{"name": "a b", "value": "c"}]}),
        ((*C, "lifecycle", "preStop", "httpGet", "httpHeaders", 0, "name"),),
    ),
    ("an init container with a hook", init(lifecycle={"preStop": PROBE}), ((*I, "lifecycle"),)),
    ("an init container with an empty lifecycle", init(lifecycle={}), ((*I, "lifecycle"),)),
    ("an init container with a liveness probe", init(livenessProbe=PROBE), ((*I, "livenessProbe"),)),
    ("an init container with a readiness probe", init(readinessProbe=PROBE), ((*I, "readinessProbe"),)),
    ("an init container with a startup probe", init(restartPolicy="Never", startupProbe=PROBE), ((*I, "startupProbe"),)),
    ("a sidecar with a probe of nothing", sidecar(livenessProbe={}), ((*I, "livenessProbe"),)),
    ("a probe of nothing", main(readinessProbe={}), ((*C, "readinessProbe"),)),
    ("a probe of two things", probe(tcpSocket={"port": 80}), ((*C, "readinessProbe"),)),
    ("a probe below 0", probe(periodSeconds=-1), ((*C, "readinessProbe", "periodSeconds"),)),
    (
        "a liveness probe with two successes",
        main(livenessProbe={**PROBE, "successThreshold": 2}),
        ((*C, "livenessProbe", "successThreshold"),),
    ),
    (
        "a readiness probe with a grace period",
        probe(terminationGracePeriodSeconds=5),
        ((*C, "readinessProbe", "terminationGracePeriodSeconds"),),
    ),
    (
        "a liveness probe with a grace period of 0",
        main(livenessProbe={**PROBE, "terminationGracePeriodSeconds": 0}),
        ((*C, "livenessProbe", "terminationGracePeriodSeconds"),),
    ),
    (
        "a probe with a header with a colon",
        main(readinessProbe={"httpGet": {"port": 80, "httpHeaders": [{"name": "a:", "value": "b"}]}}),
        ((*C, "readinessProbe", "httpGet", "httpHeaders", 0, "name"),),
    ),
    (
        "a probe of a scheme that is not known",
        main(readinessProbe={"httpGet": {"port": 80, "scheme": "http"}}),
        ((*C, "readinessProbe", "httpGet", "scheme"),),
    ),
    ("a probe of gRPC at port 0", main(readinessProbe={"grpc": {"port": 0}}), ((*C, "readinessProbe", "grpc", "port"),)),
    ("an ephemeral container", pod(ephemeralContainers=[{"name": "e", "image": "a"}]), (("spec", "ephemeralContainers"),)),
    ("a deadline", pod(activeDeadlineSeconds=5), (("spec", "activeDeadlineSeconds"),)),
    ("a condition with a space", pod(readinessGates=[{"conditionType": "is ready"}]), (("spec", "readinessGates", 0, "conditionType"),)),
    ("a scheduling gate with a space", pod(schedulingGates=[{"name": "a b"}]), (("spec", "schedulingGates", 0, "name"),)),
    ("an empty preemption", pod(preemptionPolicy=""), (("spec", "preemptionPolicy"),)),
    ("a policy of restarts of the pod that is not known", pod(restartPolicy="Sometimes"), (("spec", "restartPolicy"),)),
]
NETWORK: list[Row] = [
    ("a name server that is a name", dns(nameservers=["dns.local"]), (("spec", "dnsConfig", "nameservers", 0),)),
    ("a name server with a leading zero", dns(nameservers=["10.0.0.010"]), (("spec", "dnsConfig", "nameservers", 0),)),
    ("four name servers", dns(nameservers=[f"10.0.0.{number}" for number in range(4)]), (("spec", "dnsConfig", "nameservers"),)),
    ("no DNS and no name server", pod(dnsPolicy="None"), (("spec", "dnsConfig", "nameservers"),)),
    ("33 search domains", dns(searches=[f"a{number}" for number in range(33)]), (("spec", "dnsConfig", "searches"),)),
    ("search domains of 2049 characters", dns(searches=["a" * 250] * 8 + ["b" * 41]), (("spec", "dnsConfig", "searches"),)),
    ("a search domain with capitals", dns(searches=["Local"]), (("spec", "dnsConfig", "searches", 0),)),
    ("an option without a name", dns(options=[{"value": "2"}]), (("spec", "dnsConfig", "options", 0, "name"),)),
    ("a policy of DNS that is not known", pod(dnsPolicy="Cluster"), (("spec", "dnsPolicy"),)),
    ("an alias of no address", alias(ip="host"), (("spec", "hostAliases", 0, "ip"),)),
    ("an alias with an IPv4 address in IPv6 form", alias(ip="::ffff:10.0.0.1"), (("spec", "hostAliases", 0, "ip"),)),
    ("an alias with capitals", alias(hostnames=["Host"]), (("spec", "hostAliases", 0, "hostnames", 0),)),
    ("a host name with a dot", pod(hostname="a.b"), (("spec", "hostname"),)),
    ("a subdomain with capitals", pod(subdomain="A"), (("spec", "subdomain"),)),
    ("another host name with the network of the node", pod(hostnameOverride="a", hostNetwork=True), (("spec", "hostnameOverride"),)),
    ("another host name and a full one", pod(hostnameOverride="a", setHostnameAsFQDN=True), (("spec", "hostnameOverride"),)),
    ("another host name of 65 characters", pod(hostnameOverride=f"{'a' * 32}.{'b' * 32}"), (("spec", "hostnameOverride"),)),
    ("an empty host name", pod(hostnameOverride=""), (("spec", "hostnameOverride"),)),
    ("an account with an underscore", pod(serviceAccountName="my_account"), (("spec", "serviceAccountName"),)),
    ("an account in the old field", pod(serviceAccount="my_account"), (("spec", "serviceAccount"),)),
    ("a node with capitals", pod(nodeName="Node"), (("spec", "nodeName"),)),
    ("a priority with capitals", pod(priorityClassName="High"), (("spec", "priorityClassName"),)),
    ("an empty runtime", pod(runtimeClassName=""), (("spec", "runtimeClassName"),)),
]
RESOURCES: list[Row] = [
    ("a request over the limit", limits(limits={"cpu": "1"}, requests={"cpu": "1001m"}), ((*C, "resources", "requests", "cpu"),)),
    ("GPUs without a limit", limits(requests={GPU: "1"}), ((*C, "resources", "limits", GPU),)),
    ("half a GPU", limits(limits={GPU: "500m"}), ((*C, "resources", "limits", GPU),)),
    ("memory below 0", limits(limits={"memory": "-1"}), ((*C, "resources", "limits", "memory"),)),
    ("a resource of no domain", limits(limits={"gpu": "1"}), ((*C, "resources", "limits", "gpu"),)),
    ("a resource of requests of a quota", limits(limits={"requests.a.b/c": "1"}), ((*C, "resources", "limits", "requests.a.b/c"),)),
    ("huge pages of no size", limits(limits={"cpu": "1", "hugepages-big": "1"}), ((*C, "resources", "limits", "hugepages-big"),)),
    ("a part of a huge page", limits(limits={"cpu": "1", "hugepages-2Mi": "1Mi"}), ((*C, "resources", "limits", "hugepages-2Mi"),)),
    ("huge pages alone", limits(limits={"hugepages-2Mi": "2Mi"}), ((*C, "resources", "limits"),)),
    ("a claim that the pod does not have", limits(claims=[{"name": "gpu"}]), ((*C, "resources", "claims", 0, "name"),)),
    (
        "a request of a claim with capitals",
        pod(
            resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "a"}],
            containers=[{**CONTAINER, "resources": {"claims": [{"name": "gpu", "request": "One"}]}}],
        ),
        ((*C, "resources", "claims", 0, "request"),),
    ),
    ("a claim without a source", pod(resourceClaims=[{"name": "gpu"}]), (("spec", "resourceClaims", 0),)),
    (
        "a claim with capitals",
        pod(resourceClaims=[{"name": "gpu", "resourceClaimName": "A"}]),
        (("spec", "resourceClaims", 0, "resourceClaimName"),),
    ),
    (
        "a template of claims with an underscore",
        pod(resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "a_b"}]),
        (("spec", "resourceClaims", 0, "resourceClaimTemplateName"),),
    ),
    (
        "a request of the pod below that of a container",
        together({"requests": {"cpu": "1"}}, {"requests": {"cpu": "2"}}),
        (("spec", "resources", "requests", "cpu"),),
    ),
    (
        "a limit of the pod below that of a container",
        together({"limits": {"memory": "1Gi"}}, {"limits": {"memory": "2Gi"}}),
        (("spec", "resources", "limits", "memory"),),
    ),
    (
        "a request of the pod below an init container and a sidecar",
        together(
            {"requests": {"cpu": "2"}},
            {},
            initContainers=[
                {"name": "side", "image": "a", "restartPolicy": "Always", "resources": {"requests": {"cpu": "1"}}},
                {"name": "first", "image": "a", "resources": {"requests": {"cpu": "1500m"}}},
            ],
        ),
        (("spec", "resources", "requests", "cpu"),),
    ),
    ("GPUs of the pod", pod(resources={"limits": {GPU: "1"}}), (("spec", "resources", "limits", GPU),)),
    ("claims of the pod", pod(resources={"claims": []}), (("spec", "resources", "claims"),)),
    (
        "a request of the pod over its limit",
        pod(resources={"limits": {"cpu": "1"}, "requests": {"cpu": "2"}}),
        (("spec", "resources", "requests", "cpu"),),
    ),
    ("an overhead of no resource", pod(overhead={"gpu": "1"}), (("spec", "overhead", "gpu"),)),
]
METADATA: list[Row] = [
    ("a label with a space in its value", labelled(tier="gold and silver"), (("metadata", "labels", "tier"),)),
    ("a label of 64 characters", labelled(tier="a" * 64), (("metadata", "labels", "tier"),)),
    ("a key of a label with a space", labelled(**{"my tier": "gold"}), (("metadata", "labels", "my tier"),)),
    ("a key of an annotation with two slashes", annotated({"a/b/c": "d"}), (("metadata", "annotations", "a/b/c"),)),
    ("annotations over 256 KiB", annotated({"a": "b" * 256 * 1024}), (("metadata", "annotations"),)),
    ("annotations over 256 KiB of several bytes a letter", annotated({"a": "ö" * 128 * 1024}), (("metadata", "annotations"),)),
    (
        "a mirror of no kubelet",
        annotated({"kubernetes.io/config.mirror": "a"}),
        (("metadata", "annotations", "kubernetes.io/config.mirror"),),
    ),
    (
        "a cost that is no number",
        annotated({"controller.kubernetes.io/pod-deletion-cost": "+1"}),
        (("metadata", "annotations", "controller.kubernetes.io/pod-deletion-cost"),),
    ),
    (
        "tolerations that are not JSON",
        annotated({"scheduler.alpha.kubernetes.io/tolerations": "all"}),
        (("metadata", "annotations", "scheduler.alpha.kubernetes.io/tolerations"),),
    ),
    (
        "tolerations that are not valid",
        annotated({"scheduler.alpha.kubernetes.io/tolerations": '[{"operator": "Equal"}]'}),
        (("metadata", "annotations", "scheduler.alpha.kubernetes.io/tolerations"),),
    ),
    (
        "an annotation with seccomp that is not known",
        annotated({"seccomp.security.alpha.kubernetes.io/pod": "strict"}),
        (("metadata", "annotations", "seccomp.security.alpha.kubernetes.io/pod"),),
    ),
    (
        "seccomp of a container that leads up",
        annotated({"container.seccomp.security.alpha.kubernetes.io/main": "localhost/../a"}),
        (("metadata", "annotations", "container.seccomp.security.alpha.kubernetes.io/main"),),
    ),
    (
        "seccomp that differs from the field",
        annotated(
            {"seccomp.security.alpha.kubernetes.io/pod": "unconfined"}, securityContext={"seccompProfile": {"type": "RuntimeDefault"}}
        ),
        (("metadata", "annotations", "seccomp.security.alpha.kubernetes.io/pod"),),
    ),
    (
        "AppArmor of a container that is not there",
        annotated({"container.apparmor.security.beta.kubernetes.io/gone": "unconfined"}),
        (("metadata", "annotations", "container.apparmor.security.beta.kubernetes.io/gone"),),
    ),
    (
        "AppArmor that is not known",
        annotated({"container.apparmor.security.beta.kubernetes.io/main": "strict"}),
        (("metadata", "annotations", "container.apparmor.security.beta.kubernetes.io/main"),),
    ),
    (
        "AppArmor that differs from the field",
        annotated(
            {"container.apparmor.security.beta.kubernetes.io/main": "unconfined"},
            securityContext={"appArmorProfile": {"type": "RuntimeDefault"}},
        ),
        (("metadata", "annotations", "container.apparmor.security.beta.kubernetes.io/main"),),
    ),
]
MISTAKES = [*AFFINITY, *VOLUMES, *MOUNTS, *SECURITY_ROWS, *CONTAINERS, *RUNNING, *NETWORK, *RESOURCES, *METADATA]
SILENT = [
    ("a comparison of a taint with a number", toleration(key="a", operator="Gt", value="5"), "TaintTolerationComparisonOperators"),
    ("a user namespace with the network of the node", pod(hostUsers=False, hostNetwork=True), "UserNamespacesHostNetworkSupport"),
    ("labels of SELinux by a mount", security(seLinuxChangePolicy="MountOption"), "SELinuxMount"),
]
"""Rows of a reason, a template, and the feature gate with which a server accepts it."""
