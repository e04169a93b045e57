"""Valid values for the fields of native objects that no value of their type fits, by definition and field, or by field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

    from krm_fn.kubernetes.types import Resource

NOT_DRAWN = {
    **dict.fromkeys(
        [("ObjectMeta", field) for field in ("managedFields", "uid", "resourceVersion", "selfLink", "creationTimestamp", "generateName")],
        "the server owns the field, and the answer depends on the object in the cluster",
    ),
    **dict.fromkeys(
        [("ObjectMeta", field) for field in ("deletionTimestamp", "deletionGracePeriodSeconds", "generation", "namespace")],
        "the server sets the field, or it is part of the request's path",
    ),
    ("ServiceSpec", "ipFamilies"): "the families of the cluster decide",
    ("ServiceSpec", "ipFamilyPolicy"): "the families of the cluster decide",
    ("ServiceSpec", "healthCheckNodePort"): "the range of node ports of the cluster decides",
    ("ServicePort", "nodePort"): "the range of node ports of the cluster decides",
    ("PodSpec", "priority"): "the admission plugin Priority compares it with the PriorityClass",
    ("PodSpec", "ephemeralContainers"): "pod templates never have them",
    ("PodSpec", "schedulingGroup"): "the feature gate GenericWorkload is off",
    ("JobSpec", "selector"): "the server writes it, unless manualSelector is set",
    ("JobSpec", "manualSelector"): "without a selector of the author, the server cannot write one",
    ("ServiceAccount", "secrets"): "the server ignores it",
}
"""Fields that are not drawn, because the answer depends on the state or the settings of the cluster."""

_LABELS = [{"a": "b"}, {"app.kubernetes.io/name": "x"}, {"a": ""}]
_SELECTOR = {"matchLabels": {"app": "drawn"}}
_BACKEND = {"service": {"name": "web", "port": {"number": 80}}}
_HANDLERS = ("exec", "httpGet", "tcpSocket")
_VOLUMES = (
    *("configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "hostPath", "image", "nfs", "persistentVolumeClaim", "projected"),
    *("secret", "iscsi", "fc", "cephfs", "glusterfs", "rbd", "azureFile", "azureDisk", "awsElasticBlockStore", "flexVolume", "cinder"),
    *(
        "gcePersistentDisk",
        "gitRepo",
        "portworxVolume",
        "quobyte",
        "scaleIO",
        "storageos",
        "vsphereVolume",
        "photonPersistentDisk",
        "flocker",
    ),
)
UNIONS: dict[str, tuple[tuple[str, ...], ...]] = {
    "Volume": (_VOLUMES[:11] * 4 + _VOLUMES,),
    "LifecycleHandler": ((*_HANDLERS, "sleep"),),
    "Probe": ((*_HANDLERS, "grpc"),),
    "EnvVar": (("value", "valueFrom"),),
    "EnvVarSource": (("configMapKeyRef", "secretKeyRef", "fieldRef", "resourceFieldRef"),),
    "EnvFromSource": (("configMapRef", "secretRef"),),
    "DownwardAPIVolumeFile": (("fieldRef", "resourceFieldRef"),),
    "VolumeProjection": (("configMap", "secret", "downwardAPI", "serviceAccountToken"),),
    "PodResourceClaim": (("resourceClaimName", "resourceClaimTemplateName"),),
    "VolumeMount": (("subPath", "subPathExpr", "readOnly", "readOnly"),),
    "PodFailurePolicyRule": (("onExitCodes", "onPodConditions"),),
    "FCVolumeSource": (("wwids",), ("lun",)),
    "FlockerVolumeSource": (("datasetName", "datasetUUID"),),
    "HTTPIngressRuleValue": (),
    "PersistentVolumeClaimSpec": (("dataSource", "dataSourceRef", "volumeMode", "selector", "volumeName", "storageClassName"),),
    "PolicyRule": (),
}
"""Groups of fields of a definition of which an object has exactly one."""

REQUIRED: dict[str, tuple[str, ...]] = {
    "Deployment": ("metadata", "spec"),
    "Job": ("metadata", "spec"),
    "DaemonSet": ("metadata", "spec"),
    "ReplicaSet": ("metadata", "spec"),
    "StatefulSet": ("metadata", "spec"),
    "ReplicaSetSpec": ("template",),
    "Service": ("metadata", "spec"),
    "PersistentVolumeClaim": ("metadata", "spec"),
    "Ingress": ("metadata", "spec"),
    "HorizontalPodAutoscaler": ("metadata", "spec"),
    "Role": ("metadata", "rules"),
    "RoleBinding": ("metadata",),
    "ServiceSpec": ("ports", "selector"),
    "PersistentVolumeClaimSpec": ("accessModes", "resources"),
    "IngressSpec": ("rules",),
    "IngressRule": ("http",),
    "PodTemplateSpec": ("metadata", "spec"),
    "PodSpec": ("containers", "volumes"),
    "Container": ("image",),
    "PersistentVolumeClaimTemplate": ("spec",),
    "PersistentVolumeClaimVolumeSource": ("claimName",),
    "SecretVolumeSource": ("secretName",),
    "ConfigMapVolumeSource": ("name",),
    "ConfigMapEnvSource": ("name",),
    "SecretEnvSource": ("name",),
    "ConfigMapKeySelector": ("name",),
    "SecretKeySelector": ("name",),
    "ConfigMapProjection": ("name",),
    "SecretProjection": ("name",),
    "LocalObjectReference": ("name",),
    "ExecAction": ("command",),
    "EphemeralVolumeSource": ("volumeClaimTemplate",),
    "VolumeProjection": (),
    "HostAlias": ("hostnames",),
    "ResourceFieldSelector": ("containerName",),
    "Toleration": ("operator",),
    "PodFailurePolicyOnExitCodesRequirement": (),
    "PolicyRule": ("apiGroups", "resources"),
    "Subject": (),
    "ImageVolumeSource": ("reference",),
    "StorageOSVolumeSource": ("volumeName",),
    "ScaleIOVolumeSource": ("volumeName",),
    "HTTPIngressPath": ("path",),
    "TopologySpreadConstraint": (),
    "SuccessPolicyRule": ("succeededCount",),
    "PodDNSConfigOption": ("name",),
}
"""Fields that validation or use requires, beside those that the schema requires."""

ADDED_ONLY = {
    *(("PolicyRule", "nonResourceURLs"), ("EnvVarSource", "fileKeyRef"), ("FCVolumeSource", "targetWWNs"), ("ServiceSpec", "externalName")),
    *(("Toleration", "tolerationSeconds"), ("JobSpec", "maxFailedIndexes"), ("TopologySpreadConstraint", "minDomains")),
}
"""Optional fields of which most objects are not valid: only a change adds them."""

UNIQUE = {"rules": ("host",), "paths": ("path",), "subjects": ("name",), "items": ("path",)}

_QUANTITIES = [{"cpu": "500m"}, {"memory": "1Gi"}, {"cpu": 1, "memory": "1Gi"}]
_TEN = {"limits": {"storage": "10Gi"}}
_FIELD: dict[str, list[Any]] = {
    "labels": _LABELS,
    "annotations": [{"a": "b c"}, {"example.org/note": "ä"}],
    "nodeSelector": _LABELS,
    "finalizers": [["example.org/a"], ["foregroundDeletion"]],
    "fieldPath": ["metadata.name", "metadata.labels['a']", "metadata.annotations['a']"],
    "path": ["/a", "/b"],
    "mountPath": ["/a", "/b", "c"],
    "subPath": ["a", "a/b"],
    "subPathExpr": ["a", "$(A)"],
    "port": [80, 8080],
    "targetPort": [80, "http"],
    "mode": [0o644, 0],
    "defaultMode": [0o644, 0],
    "divisor": ["1", "1Mi", "0"],
    "key": ["a", "b.c"],
    "operator": ["Exists"],
    "command": [["true"], ["a", "b"]],
    "ip": ["10.0.0.1", "::1"],
    "hostIP": ["10.0.0.1"],
    "hostnames": [["a.b"], ["a", "b"]],
    "fsType": ["ext4"],
    "kind": ["Thing"],
    "restartPolicy": ["Always"],
    "seccompProfile": [{"type": "RuntimeDefault"}, {"type": "Localhost", "localhostProfile": "a/b"}],
    "appArmorProfile": [{"type": "RuntimeDefault"}, {"type": "Localhost", "localhostProfile": "a"}],
    "topologyKey": ["kubernetes.io/hostname", "zone"],
    "weight": [1, 50, 100],
    "storageClassName": ["fast", ""],
    "scope": ["Namespaced"],
    "sizeLimit": ["1Gi"],
    "claims": [[]],
}
"""Valid values by field."""
_OWNED: dict[tuple[str, str], list[Any]] = {
    ("ObjectMeta", "name"): ["drawn", "a", "a-1"],
    ("ObjectMeta", "ownerReferences"): [[{"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": "u"}]],
    ("PodTemplateSpec", "metadata"): [{"labels": {"app": "drawn"}}, {"labels": {"app": "drawn", "b": "c"}, "annotations": {"a": "b"}}],
    ("PersistentVolumeClaimTemplate", "metadata"): [{"labels": {"a": "b"}}, {"annotations": {"a": "b"}}],
    ("DeploymentSpec", "selector"): [_SELECTOR],
    ("DaemonSetSpec", "selector"): [_SELECTOR],
    ("ReplicaSetSpec", "selector"): [_SELECTOR],
    ("StatefulSetSpec", "selector"): [_SELECTOR],
    ("StatefulSetSpec", "podManagementPolicy"): ["OrderedReady", "Parallel"],
    ("StatefulSetSpec", "persistentVolumeClaimRetentionPolicy"): [{"whenDeleted": "Delete"}, {"whenScaled": "Retain"}],
    ("StatefulSetSpec", "updateStrategy"): [{"type": "OnDelete"}, {"rollingUpdate": {"partition": 1, "maxUnavailable": "50%"}}],
    ("StatefulSetSpec", "volumeClaimTemplates"): [
        [{"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}]
    ],
    ("DaemonSetSpec", "updateStrategy"): [{"type": "OnDelete"}, {"rollingUpdate": {"maxSurge": "25%", "maxUnavailable": 0}}],
    ("DeploymentSpec", "minReadySeconds"): [0, 5],
    ("DeploymentSpec", "progressDeadlineSeconds"): [100],
    ("DeploymentStrategy", "rollingUpdate"): [{"maxSurge": 1, "maxUnavailable": 0}, {"maxSurge": "25%"}],
    ("DeploymentStrategy", "type"): ["RollingUpdate"],
    ("ServiceSpec", "clusterIP"): ["None", ""],
    ("ServiceSpec", "clusterIPs"): [["None"]],
    ("ServiceSpec", "externalIPs"): [["192.0.2.1"], ["2001:db8::1"]],
    ("ServiceSpec", "externalName"): ["example.org"],
    ("ServiceSpec", "loadBalancerIP"): ["192.0.2.1"],
    ("ServiceSpec", "loadBalancerSourceRanges"): [["192.0.2.0/24"]],
    ("ServiceSpec", "loadBalancerClass"): ["example.org/lb"],
    ("ServiceSpec", "trafficDistribution"): ["PreferClose", "PreferSameNode", "PreferSameZone"],
    ("ServiceSpec", "type"): ["ClusterIP", "ClusterIP", "NodePort", "LoadBalancer", "ExternalName"],
    ("ServicePort", "appProtocol"): ["http", "kubernetes.io/h2c"],
    ("ServicePort", "name"): ["http", "a-1"],
    ("ServicePort", "port"): [80, 443],
    ("ClientIPConfig", "timeoutSeconds"): [1, 86400],
    ("SessionAffinityConfig", "clientIP"): [{"timeoutSeconds": 10}],
    ("PersistentVolumeClaimSpec", "accessModes"): [["ReadWriteOnce"], ["ReadWriteMany", "ReadOnlyMany"], ["ReadWriteOncePod"]],
    ("PersistentVolumeClaimSpec", "dataSource"): [
        {"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": "a"},
        {"kind": "PersistentVolumeClaim", "name": "a"},
    ],
    ("PersistentVolumeClaimSpec", "dataSourceRef"): [{"apiGroup": "example.org", "kind": "Thing", "name": "a"}],
    ("PersistentVolumeClaimSpec", "resources"): [{"requests": {"storage": size}, **limits} for size in ("1Gi", 5) for limits in ({}, _TEN)],
    ("IngressRule", "host"): ["a.example.org", "*.example.org", ""],
    ("IngressBackend", "service"): [{"name": "web", "port": {"number": 80}}, {"name": "web", "port": {"name": "http"}}],
    ("IngressSpec", "defaultBackend"): [_BACKEND],
    ("HTTPIngressPath", "backend"): [_BACKEND, {"resource": {"apiGroup": "example.org", "kind": "Bucket", "name": "a"}}],
    ("HTTPIngressPath", "pathType"): ["Prefix", "Exact", "ImplementationSpecific"],
    ("IngressTLS", "hosts"): [["a.example.org"], ["*.example.org", "b.c"]],
    ("PolicyRule", "apiGroups"): [[""], ["apps", "batch"], ["*"]],
    ("PolicyRule", "resources"): [["pods"], ["pods/log", "*"]],
    ("PolicyRule", "verbs"): [["get"], ["get", "list"], ["*"]],
    ("PolicyRule", "nonResourceURLs"): [["/healthz"]],
    ("RoleBinding", "roleRef"): [
        {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "a"},
        {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "system:a"},
    ],
    ("RoleBinding", "subjects[]"): [
        {"kind": "ServiceAccount", "name": "a", "namespace": "b"},
        {"kind": "ServiceAccount", "name": "a"},
        {"kind": "User", "name": "u", "apiGroup": "rbac.authorization.k8s.io"},
        {"kind": "Group", "name": "system:g"},
    ],
    ("Secret", "data{}"): ["YQ==", ""],
    ("Secret", "stringData{}"): ["a", "a: b"],
    ("Secret", "type"): ["Opaque", "example.org/a", "bootstrap.kubernetes.io/token"],
    ("ConfigMap", "binaryData{}"): ["YQ=="],
    ("ConfigMap", "data{}"): ["a", ""],
    ("JobSpec", "completionMode"): ["Indexed", "NonIndexed"],
    ("JobSpec", "completions"): [1, 5],
    ("JobSpec", "parallelism"): [0, 2],
    ("JobSpec", "managedBy"): ["example.org/a", "kubernetes.io/job-controller"],
    ("SuccessPolicyRule", "succeededIndexes"): ["0", "0,2-3"],
    ("PodFailurePolicyOnExitCodesRequirement", "operator"): ["In", "NotIn"],
    ("PodFailurePolicyOnExitCodesRequirement", "values"): [[1], [2, 3]],
    ("PodFailurePolicyOnExitCodesRequirement", "containerName"): ["a"],
    ("PodFailurePolicyOnPodConditionsPattern", "type"): ["DisruptionTarget", "example.org/A"],
    ("PodFailurePolicyOnPodConditionsPattern", "status"): ["True", "False", "Unknown"],
    ("PodFailurePolicyRule", "action"): ["FailJob", "Ignore", "Count"],
    ("HorizontalPodAutoscalerSpec", "maxReplicas"): [5, 10],
    ("HorizontalPodAutoscalerSpec", "minReplicas"): [1, 2],
    ("HorizontalPodAutoscalerSpec", "scaleTargetRef"): [
        {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"},
        {"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoGraphDeploymentScalingAdapter", "name": "a"},
    ],
    ("HorizontalPodAutoscalerSpec", "metrics[]"): [
        {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}},
        {
            "type": "ContainerResource",
            "containerResource": {"name": "cpu", "container": "a", "target": {"type": "AverageValue", "averageValue": 1}},
        },
        {"type": "Pods", "pods": {"metric": {"name": "a"}, "target": {"type": "AverageValue", "averageValue": "100m"}}},
        {"type": "External", "external": {"metric": {"name": "a", "selector": _SELECTOR}, "target": {"type": "Value", "value": 1}}},
        {
            "type": "Object",
            "object": {
                "metric": {"name": "a"},
                "describedObject": {"kind": "Service", "name": "a"},
                "target": {"type": "Value", "value": 1},
            },
        },
    ],
    ("HPAScalingRules", "policies"): [
        [{"type": "Pods", "value": 1, "periodSeconds": 10}],
        [{"type": "Percent", "value": 50, "periodSeconds": 1800}],
    ],
    ("HPAScalingRules", "stabilizationWindowSeconds"): [0, 3600],
    ("HPAScalingRules", "selectPolicy"): ["Max", "Min", "Disabled"],
    ("HPAScalingRules", "tolerance"): ["0.1"],
    ("PodSpec", "activeDeadlineSeconds"): [1, 5],
    ("PodSpec", "affinity"): [
        {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [
                        {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]},
                        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]},
                    ]
                },
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {"weight": 1, "preference": {"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["1"]}]}}
                ],
            }
        },
        {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "zone", "labelSelector": _SELECTOR}]}},
        {
            "podAntiAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {"weight": 100, "podAffinityTerm": {"topologyKey": "a", "namespaces": ["b"], "namespaceSelector": {}}}
                ]
            }
        },
    ],
    ("PodSpec", "dnsConfig"): [
        {"nameservers": ["10.0.0.1"], "searches": ["a.b"]},
        {"searches": ["a.b."], "options": [{"name": "ndots", "value": "2"}]},
    ],
    ("PodSpec", "dnsPolicy"): ["ClusterFirst", "Default", "ClusterFirstWithHostNet"],
    ("PodSpec", "hostNetwork"): [False],
    ("PodSpec", "hostUsers"): [True],
    ("PodSpec", "os"): [{"name": "linux"}],
    ("PodSpec", "overhead"): [{"cpu": "1m"}],
    ("PodSpec", "preemptionPolicy"): ["Never", "PreemptLowerPriority"],
    ("PodSpec", "priorityClassName"): ["high"],
    ("PodSpec", "readinessGates"): [[{"conditionType": "example.org/a"}]],
    ("PodSpec", "schedulingGates"): [[{"name": "example.org/a"}]],
    ("PodSpec", "resources"): [{"limits": {"cpu": 40, "memory": "40Gi"}}, {}],
    ("PodSpec", "terminationGracePeriodSeconds"): [30, 0],
    ("PodSpec", "setHostnameAsFQDN"): [True, False],
    ("PodSpec", "shareProcessNamespace"): [True, False],
    ("PodSecurityContext", "sysctls"): [
        [{"name": "net.ipv4.tcp_syncookies", "value": "1"}],
        [{"name": "kernel/shm_rmid_forced", "value": "1"}],
    ],
    ("PodSecurityContext", "seLinuxChangePolicy"): ["Recursive"],
    ("PodSecurityContext", "supplementalGroupsPolicy"): ["Merge"],
    ("PodSecurityContext", "windowsOptions"): [{"hostProcess": False}],
    ("SecurityContext", "windowsOptions"): [{"runAsUserName": "a\\b"}],
    ("SecurityContext", "privileged"): [True],
    ("SecurityContext", "allowPrivilegeEscalation"): [True],
    ("SecurityContext", "capabilities"): [{"add": ["NET_ADMIN"], "drop": ["ALL"]}],
    ("Container", "image"): ["a:1", "registry.example/a@sha256:" + "0" * 64],
    ("Container", "restartPolicyRules"): [[{"action": "Restart", "exitCodes": {"operator": "In", "values": [1]}}]],
    ("Container", "resizePolicy"): [[{"resourceName": "cpu", "restartPolicy": "NotRequired"}]],
    ("Container", "ports"): [[{"containerPort": 80, "name": "http"}, {"containerPort": 81}], [{"containerPort": 53, "protocol": "UDP"}]],
    ("Container", "volumeDevices"): [[]],
    ("ContainerPort", "containerPort"): [80, 81],
    ("EnvVar", "name"): ["A", "B_C", "a.b"],
    ("EnvVar", "value"): ["", "x", "$(A)"],
    ("EnvFromSource", "prefix"): ["A_"],
    ("ResourceRequirements", "limits"): _QUANTITIES,
    ("ResourceRequirements", "requests"): [{"cpu": "100m"}, {"memory": "1Mi"}],
    ("ResourceFieldSelector", "resource"): ["limits.cpu", "requests.memory"],
    ("ResourceFieldSelector", "divisor"): ["1", "0"],
    ("ResourceFieldSelector", "containerName"): ["main"],
    ("HTTPGetAction", "scheme"): ["HTTP", "HTTPS"],
    ("HTTPGetAction", "host"): ["a"],
    ("HTTPHeader", "name"): ["X-A"],
    ("SleepAction", "seconds"): [1, 30],
    ("Probe", "successThreshold"): [1],
    ("Lifecycle", "stopSignal"): ["SIGTERM"],
    ("Toleration", "operator"): ["Exists"],
    ("Toleration", "effect"): ["NoExecute"],
    ("Toleration", "value"): [""],
    ("TopologySpreadConstraint", "whenUnsatisfiable"): ["DoNotSchedule"],
    ("TopologySpreadConstraint", "nodeAffinityPolicy"): ["Honor", "Ignore"],
    ("TopologySpreadConstraint", "nodeTaintsPolicy"): ["Honor", "Ignore"],
    ("TopologySpreadConstraint", "labelSelector"): [_SELECTOR],
    ("TopologySpreadConstraint", "matchLabelKeys"): [["pod-template-hash"]],
    ("KeyToPath", "path"): ["a", "a/b"],
    ("DownwardAPIVolumeFile", "path"): ["a", "b/c"],
    ("ServiceAccountTokenProjection", "path"): ["token"],
    ("ServiceAccountTokenProjection", "expirationSeconds"): [600, 3600],
    ("EmptyDirVolumeSource", "medium"): ["", "Memory", "HugePages", "HugePages-2Mi"],
    ("HostPathVolumeSource", "type"): ["", "Directory", "FileOrCreate"],
    ("NFSVolumeSource", "path"): ["/a"],
    ("CephFSVolumeSource", "path"): ["/a"],
    ("ImageVolumeSource", "reference"): ["a:1"],
    ("ImageVolumeSource", "pullPolicy"): ["Always"],
    ("ISCSIVolumeSource", "iqn"): ["iqn.2001-04.com.example:storage", "eui.0123456789ABCDEF"],
    ("ISCSIVolumeSource", "targetPortal"): ["10.0.0.1:3260"],
    ("ISCSIVolumeSource", "lun"): [0, 255],
    ("FCVolumeSource", "lun"): [0, 255],
    ("FCVolumeSource", "targetWWNs"): [["a"]],
    ("AzureDiskVolumeSource", "kind"): ["Dedicated", "Shared"],
    ("AzureDiskVolumeSource", "diskURI"): ["https://a.blob.core.windows.net/b/c.vhd"],
    ("AzureDiskVolumeSource", "cachingMode"): ["None"],
    ("GlusterfsVolumeSource", "path"): ["a"],
    ("QuobyteVolumeSource", "registry"): ["a:1,b:2"],
    ("FlexVolumeSource", "driver"): ["a/b"],
    ("GitRepoVolumeSource", "directory"): ["a"],
    ("CSIVolumeSource", "driver"): ["csi.example.org"],
    ("SELinuxOptions", "level"): ["s0"],
    ("LabelSelectorRequirement", "operator"): ["Exists", "DoesNotExist"],
    ("LabelSelectorRequirement", "values"): [[]],
    ("Volume", "image"): [{"reference": "a:1"}],
    ("HTTPIngressPath", "path"): ["/a", "/b"],
    ("VolumeMount", "mountPropagation"): ["None", "HostToContainer"],
    ("VolumeMount", "recursiveReadOnly"): ["Disabled"],
    ("Container", "restartPolicy"): ["Always"],
}
"""Valid values by definition and field."""


def of(owner: str, field: str) -> list[Any] | None:
    """The valid values of a field; None if any value of its type is valid."""
    return _OWNED.get((owner, field), _FIELD.get(field))


def keys(field: str) -> list[str]:
    """Valid keys of a map."""
    return {"limits": ["cpu"], "requests": ["cpu"]}.get(field, ["a", "b", "c.d"])


def connect(drawn: Resource, rng: random.Random) -> None:
    """Makes the references inside a drawn object name something: mounts their volume, limits above requests."""
    spec: Resource = drawn.get("spec") or {}
    if drawn["kind"] == "Service":
        _service(drawn["spec"])
    template = spec.get("template")
    if template:
        _pod(template["spec"], rng)
        if drawn["kind"] == "Job":
            template["spec"]["restartPolicy"] = "Never" if spec.get("podFailurePolicy") else rng.choice(("Never", "OnFailure"))
            _job(spec)
        else:
            template["spec"].pop("restartPolicy", None)
            template["spec"].pop("activeDeadlineSeconds", None)


def _service(spec: Resource) -> None:
    """Leaves out the fields that the type of the Service does not have."""
    kind = spec.get("type", "ClusterIP")
    for index, port in enumerate(spec["ports"]):
        port["name"] = f"port-{index}"
    if kind != "LoadBalancer":
        for field in ("loadBalancerClass", "allocateLoadBalancerNodePorts", "loadBalancerSourceRanges"):
            spec.pop(field, None)
    if kind not in ("LoadBalancer", "NodePort"):
        spec.pop("externalTrafficPolicy", None)
    if kind != "ClusterIP":
        spec.pop("clusterIP", None)
    spec.pop("clusterIPs", None)
    if spec.get("clusterIP") == "None":
        spec["clusterIPs"] = ["None"]
    if kind == "ExternalName":
        spec["externalName"] = "a.example.org"
    if "sessionAffinityConfig" in spec:
        spec["sessionAffinity"] = "ClientIP"


def _job(spec: Resource) -> None:
    if spec.get("completionMode") == "Indexed" or {"backoffLimitPerIndex", "successPolicy", "maxFailedIndexes"} & spec.keys():
        spec |= {"completionMode": "Indexed", "completions": 5}
    for rule in spec.get("successPolicy", {}).get("rules", ()):
        rule["succeededCount"] = 1
    for rule in spec.get("podFailurePolicy", {}).get("rules", ()):
        rule.get("onExitCodes", {}).pop("containerName", None)
    if "podFailurePolicy" in spec:
        spec["podReplacementPolicy"] = "Failed"


def _pod(spec: Resource, rng: random.Random) -> None:
    volumes = spec["volumes"]
    for name, volume in zip(("v", "w", "x"), volumes, strict=False):
        volume["name"] = name
    spec["containers"][0]["name"] = "main"
    for kind in ("containers", "initContainers"):
        for index, container in enumerate(spec.get(kind) or ()):
            container["name"] = "main" if (kind, index) == ("containers", 0) else f"{kind[0]}{index}"
            container.setdefault("image", "a:1")
            _container(container, volumes, rng, first=kind == "initContainers")


def _container(container: Resource, volumes: Sequence[Resource], rng: random.Random, *, first: bool) -> None:
    if first and container.get("restartPolicy") != "Always":
        for field in ("livenessProbe", "readinessProbe", "startupProbe", "lifecycle"):
            container.pop(field, None)
    if not first:
        container.pop("restartPolicy", None)
    if "restartPolicyRules" in container:
        container["restartPolicy"] = "Never"
    for mount in container.get("volumeMounts") or ():
        mount["name"] = rng.choice(volumes)["name"] if volumes else "v"
    for probe in ("livenessProbe", "readinessProbe", "startupProbe"):
        if probe == "readinessProbe" and probe in container:
            container[probe].pop("terminationGracePeriodSeconds", None)
    if "lifecycle" in container:
        container["lifecycle"].pop("stopSignal", None)
