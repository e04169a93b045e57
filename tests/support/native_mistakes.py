"""Native objects with one mistake each, which an API server refuses, and native objects at the limits, which it accepts.

A row of `MISTAKES` has a reason, an object, and the code and the path of its finding. `tests.support.drawn_objects` draws random objects;
the rows here are those that random values seldom reach.
"""

from __future__ import annotations

import base64
from typing import Any

Object = dict[str, Any]
Row = tuple[str, Object, str, str]

SPACE = "admission"
_RBAC = "rbac.authorization.k8s.io"
_LABELS = {"app": "a"}
_POD = {"containers": [{"name": "main", "image": "a:1"}]}
_RANGES = "service.beta.kubernetes.io/load-balancer-source-ranges"
_BACKEND = {"service": {"name": "a", "port": {"number": 80}}}
_MANY = 200_000


def native(api: str, kind: str, fields: Object, **metadata: Any) -> Object:
    """A native object with the name `a`."""
    return {"apiVersion": api, "kind": kind, "metadata": {"name": "a", "namespace": SPACE, **metadata}, **fields}


def config_map(data: Any = None, binary: Any = None, **metadata: Any) -> Object:
    """A ConfigMap."""
    fields = {"data": data, "binaryData": binary}
    return native("v1", "ConfigMap", {key: value for key, value in fields.items() if value is not None}, **metadata)


def secret(kind: str = "Opaque", plain: Any = None, encoded: Any = None, **metadata: Any) -> Object:
    """A Secret."""
    fields = {"type": kind, "stringData": plain, "data": encoded}
    return native("v1", "Secret", {key: value for key, value in fields.items() if value is not None}, **metadata)


def service(annotations: Any = None, **spec: Any) -> Object:
    """A Service with one port."""
    return native("v1", "Service", {"spec": {"ports": [{"port": 80}], **spec}}, annotations=annotations or {})


def claim(annotations: Any = None, **spec: Any) -> Object:
    """A PersistentVolumeClaim of 1 GiB."""
    fields = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, **spec}
    return native("v1", "PersistentVolumeClaim", {"spec": fields}, annotations=annotations or {})


def ingress(annotations: Any = None, **spec: Any) -> Object:
    """An Ingress with one backend."""
    return native("networking.k8s.io/v1", "Ingress", {"spec": {"defaultBackend": _BACKEND, **spec}}, annotations=annotations or {})


def routed(path: str, kind: str = "Prefix", host: str = "a.example.org") -> Object:
    """An Ingress with one path."""
    return ingress(rules=[{"host": host, "http": {"paths": [{"path": path, "pathType": kind, "backend": _BACKEND}]}}])


def role(*rules: Object, kind: str = "Role", **fields: Any) -> Object:
    """A Role."""
    return native(f"{_RBAC}/v1", kind, {"rules": list(rules), **fields})


def binding(*subjects: Object, kind: str = "RoleBinding", **reference: Any) -> Object:
    """A RoleBinding to a ClusterRole."""
    of = {"apiGroup": _RBAC, "kind": "ClusterRole", "name": "view", **reference}
    return native(f"{_RBAC}/v1", kind, {"roleRef": of, "subjects": list(subjects)})


def deployment(template: Any = None, **spec: Any) -> Object:
    """A Deployment."""
    metadata = {"labels": _LABELS}
    fields = {"selector": {"matchLabels": _LABELS}, "template": template or {"metadata": metadata, "spec": _POD}, **spec}
    return native("apps/v1", "Deployment", {"spec": fields})


def stateful_set(**spec: Any) -> Object:
    """A StatefulSet."""
    return {**deployment(**spec), "kind": "StatefulSet"}


def daemon_set(**spec: Any) -> Object:
    """A DaemonSet."""
    return {**deployment(**spec), "kind": "DaemonSet"}


def job(name: str = "a", labels: Any = None, policy: str = "Never", **spec: Any) -> Object:
    """A Job."""
    template = {"metadata": {"labels": labels or {}}, "spec": {**_POD, "restartPolicy": policy}}
    return native("batch/v1", "Job", {"spec": {"template": template, **spec}}, name=name)


def indexed(**spec: Any) -> Object:
    """An indexed Job with five completions."""
    return job(completionMode="Indexed", **{"completions": 5, **spec})


def fails(*rules: Object, **spec: Any) -> Object:
    """A Job with a policy about failed pods."""
    return job(podFailurePolicy={"rules": list(rules)}, **spec)


def autoscaler(*metrics: Object, **spec: Any) -> Object:
    """A HorizontalPodAutoscaler of a Deployment."""
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"}
    fields = {"scaleTargetRef": target, "maxReplicas": 3, **({"metrics": list(metrics)} if metrics else {}), **spec}
    return native("autoscaling/v2", "HorizontalPodAutoscaler", {"spec": fields})


def owner(**fields: Any) -> Object:
    """An owner reference."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": "u", **fields}


def _affinity(seconds: int) -> Object:
    return {"sessionAffinity": "ClientIP", "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": seconds}}}


def _text(size: int) -> str:
    return "x" * size


_METADATA: list[Row] = [
    ("a name in capitals", config_map(name="A"), "DYN251", "metadata.name"),
    ("a name with 254 characters", config_map(name="a" * 254), "DYN251", "metadata.name"),
    ("a Service with a dot in its name", {**service(), "metadata": {"name": "a.b", "namespace": SPACE}}, "DYN251", "metadata.name"),
    ("a Role with a slash in its name", {**role(), "metadata": {"name": "a/b", "namespace": SPACE}}, "DYN251", "metadata.name"),
    ("a label value with a blank", config_map(labels={"a": "b c"}), "DYN204", "metadata.labels.a"),
    ("a label key with a blank", config_map(labels={"a b": "c"}), "DYN203", "metadata.labels.a b"),
    ("annotations over 256 KiB", config_map(annotations={"a": _text(256 * 1024)}), "DYN235", "metadata.annotations"),
    ("an owner without a uid", config_map(ownerReferences=[owner(uid="")]), "DYN250", "metadata.ownerReferences[0].uid"),
    ("an Event as owner", config_map(ownerReferences=[owner(kind="Event")]), "DYN258", "metadata.ownerReferences[0].kind"),
    (
        "two controllers",
        config_map(ownerReferences=[owner(controller=True), owner(uid="v", controller=True)]),
        "DYN258",
        "metadata.ownerReferences[1].controller",
    ),
    ("a finalizer without a domain", config_map(finalizers=["keep"]), "DYN258", "metadata.finalizers[0]"),
    ("two ways to delete", config_map(finalizers=["orphan", "foregroundDeletion"]), "DYN258", "metadata.finalizers"),
]
_DATA: list[Row] = [
    ("more than 1 MiB of data", config_map({"a": _text(1024 * 1024 + 1)}), "DYN257", "data"),
    ("a key with a slash", config_map({"a/b": ""}), "DYN251", "data['a/b']"),
    ("a key that leaves the folder", config_map({"..a": ""}), "DYN251", "data['..a']"),
    ("a key in both bags", config_map({"a": ""}, {"a": ""}), "DYN255", "data.a"),
    ("binary data that is plain text", config_map(binary={"a": "plain text"}), "DYN256", "binaryData.a"),
    ("Secret data that is plain text", secret(encoded={"a": "plain text"}), "DYN256", "data.a"),
    ("more than 1 MiB in a Secret", secret(plain={"a": _text(1024 * 1024 + 1)}), "DYN257", "stringData"),
    ("a pull secret without its key", secret("kubernetes.io/dockerconfigjson", {"a": "{}"}), "DYN250", "data['.dockerconfigjson']"),
    (
        "a pull secret that is no JSON",
        secret("kubernetes.io/dockerconfigjson", {".dockerconfigjson": "auths:"}),
        "DYN256",
        "data['.dockerconfigjson']",
    ),
    ("an old pull secret with a list", secret("kubernetes.io/dockercfg", {".dockercfg": "[]"}), "DYN256", "data['.dockercfg']"),
    ("a login without a name", secret("kubernetes.io/basic-auth", {"a": ""}), "DYN250", "data.username"),
    ("an empty key of SSH", secret("kubernetes.io/ssh-auth", {"ssh-privatekey": ""}), "DYN250", "data.ssh-privatekey"),
    ("a certificate without its key", secret("kubernetes.io/tls", {"tls.crt": ""}), "DYN250", "data['tls.key']"),
    (
        "a token without an account",
        secret("kubernetes.io/service-account-token"),
        "DYN250",
        "metadata.annotations['kubernetes.io/service-account.name']",
    ),
]
_SERVICES: list[Row] = [
    ("a Service without ports", service(ports=[]), "DYN250", "spec.ports"),
    ("an unnamed port of two", service(ports=[{"port": 1, "name": "a"}, {"port": 2}]), "DYN250", "spec.ports[1].name"),
    (
        "two node ports alike",
        service(type="NodePort", ports=[{"name": name, "port": port, "nodePort": 30001} for name, port in (("a", 1), ("b", 2))]),
        "DYN255",
        "spec.ports[1].nodePort",
    ),
    ("a node port of a ClusterIP", service(ports=[{"port": 1, "nodePort": 30001}]), "DYN254", "spec.ports[0].nodePort"),
    ("no external name", service(type="ExternalName"), "DYN250", "spec.externalName"),
    ("an external name with an address", service(type="ExternalName", externalName="a", clusterIP="None"), "DYN254", "spec.clusterIP"),
    ("a headless node port", service(type="NodePort", clusterIP="None"), "DYN254", "spec.clusterIP"),
    ("an affinity of more than a day", service(**_affinity(86401)), "DYN253", "spec.sessionAffinityConfig.clientIP.timeoutSeconds"),
    ("a loopback address", service(externalIPs=["127.0.0.1"]), "DYN256", "spec.externalIPs[0]"),
    ("an address with leading zeros", service(externalIPs=["192.0.2.01"]), "DYN256", "spec.externalIPs[0]"),
    (
        "a network with bits of a host",
        service(type="LoadBalancer", loadBalancerSourceRanges=["10.0.0.1/8"]),
        "DYN256",
        "spec.loadBalancerSourceRanges[0]",
    ),
    ("source ranges without a balancer", service({_RANGES: "10.0.0.0/8"}), "DYN254", f"metadata.annotations['{_RANGES}']"),
    ("a bad range in the annotation", service({_RANGES: "10.0.0.1"}, type="LoadBalancer"), "DYN256", f"metadata.annotations['{_RANGES}']"),
    ("a health check of a ClusterIP", service(healthCheckNodePort=30001), "DYN254", "spec.healthCheckNodePort"),
    ("three addresses", service(clusterIP="None", clusterIPs=["None", "10.0.0.9"]), "DYN254", "spec.clusterIPs"),
    (
        "two ways of topology",
        service({"service.kubernetes.io/topology-mode": "Auto", "service.kubernetes.io/topology-aware-hints": "Disabled"}),
        "DYN254",
        "metadata.annotations['service.kubernetes.io/topology-mode']",
    ),
    ("a family twice", service(ipFamilies=["IPv4", "IPv4"]), "DYN255", "spec.ipFamilies[1]"),
]
_CLAIMS: list[Row] = [
    ("a claim of nothing", claim(resources={"requests": {"storage": "0"}}), "DYN253", "spec.resources.requests.storage"),
    ("one pod and others", claim(accessModes=["ReadWriteOncePod", "ReadWriteOnce"]), "DYN254", "spec.accessModes"),
    ("a class in capitals", claim(storageClassName="Fast"), "DYN251", "spec.storageClassName"),
    (
        "two sources",
        claim(dataSource={"kind": "PersistentVolumeClaim", "name": "a"}, dataSourceRef={"kind": "PersistentVolumeClaim", "name": "b"}),
        "DYN254",
        "spec.dataSource",
    ),
    ("a source without a group", claim(dataSourceRef={"kind": "Thing", "name": "a"}), "DYN252", "spec.dataSourceRef.kind"),
    (
        "a bad selector",
        claim(selector={"matchExpressions": [{"key": "a", "operator": "In"}]}),
        "DYN231",
        "spec.selector.matchExpressions[0].values",
    ),
]
_INGRESSES: list[Row] = [
    ("nothing to route", native("networking.k8s.io/v1", "Ingress", {"spec": {}}), "DYN250", "spec.rules"),
    (
        "a class that differs",
        ingress({"kubernetes.io/ingress.class": "b"}, ingressClassName="a"),
        "DYN254",
        "metadata.annotations['kubernetes.io/ingress.class']",
    ),
    ("an address as host", routed("/", host="10.0.0.1"), "DYN256", "spec.rules[0].host"),
    ("an asterisk inside a host", routed("/", host="a.*.org"), "DYN256", "spec.rules[0].host"),
    ("dots in a path", routed("/a/../b"), "DYN256", "spec.rules[0].http.paths[0].path"),
    ("an escaped slash", routed("/a%2fb"), "DYN256", "spec.rules[0].http.paths[0].path"),
    ("a relative path", routed("a", "ImplementationSpecific"), "DYN256", "spec.rules[0].http.paths[0].path"),
    ("two backends", ingress(defaultBackend={**_BACKEND, "resource": {"kind": "A", "name": "a"}}), "DYN254", "spec.defaultBackend"),
    (
        "a name and a number",
        ingress(defaultBackend={"service": {"name": "a", "port": {"name": "b", "number": 1}}}),
        "DYN254",
        "spec.defaultBackend.service.port",
    ),
    ("a certificate in capitals", ingress(tls=[{"secretName": "TLS"}]), "DYN251", "spec.tls[0].secretName"),
]
_ACCESS: list[Row] = [
    ("a rule without verbs", role({"apiGroups": [""], "resources": ["pods"], "verbs": []}), "DYN250", "rules[0].verbs"),
    ("a rule without groups", role({"resources": ["pods"], "verbs": ["get"]}), "DYN250", "rules[0].apiGroups"),
    ("URLs in a Role", role({"nonResourceURLs": ["/a"], "verbs": ["get"]}), "DYN254", "rules[0].nonResourceURLs"),
    ("no selector to add up", role(kind="ClusterRole", aggregationRule={}), "DYN250", "aggregationRule.clusterRoleSelectors"),
    ("a binding to a Secret", binding(kind="RoleBinding", name="a", apiGroup="v1"), "DYN252", "roleRef.apiGroup"),
    (
        "a ClusterRoleBinding to an account anywhere",
        binding({"kind": "ServiceAccount", "name": "a"}, kind="ClusterRoleBinding"),
        "DYN250",
        "subjects[0].namespace",
    ),
    ("an account with a group", binding({"kind": "ServiceAccount", "name": "a", "apiGroup": _RBAC}), "DYN254", "subjects[0].apiGroup"),
    ("an unknown subject", binding({"kind": "Robot", "name": "a"}), "DYN252", "subjects[0].kind"),
]
_DEPLOYMENTS: list[Row] = [
    ("pods without the labels", deployment({"metadata": {"labels": {"app": "b"}}, "spec": _POD}), "DYN259", "spec.selector"),
    ("nothing selected", deployment(selector={}), "DYN250", "spec.selector.matchLabels"),
    (
        "a strategy without steps",
        deployment(strategy={"rollingUpdate": {"maxSurge": 0, "maxUnavailable": "0%"}}),
        "DYN254",
        "spec.strategy.rollingUpdate.maxUnavailable",
    ),
    (
        "too many at once",
        deployment(strategy={"rollingUpdate": {"maxUnavailable": "101%"}}),
        "DYN253",
        "spec.strategy.rollingUpdate.maxUnavailable",
    ),
    ("half a pod", deployment(strategy={"rollingUpdate": {"maxSurge": "0.5"}}), "DYN256", "spec.strategy.rollingUpdate.maxSurge"),
    ("two strategies", deployment(strategy={"type": "Recreate", "rollingUpdate": {}}), "DYN254", "spec.strategy.rollingUpdate"),
    ("a deadline too early", deployment(progressDeadlineSeconds=5, minReadySeconds=5), "DYN254", "spec.progressDeadlineSeconds"),
    ("a deadline before the default", deployment(minReadySeconds=600), "DYN254", "spec.progressDeadlineSeconds"),
    (
        "pods that end",
        deployment({"metadata": {"labels": _LABELS}, "spec": {**_POD, "restartPolicy": "Never"}}),
        "DYN252",
        "spec.template.spec.restartPolicy",
    ),
]
_SETS: list[Row] = [
    (
        "a StatefulSet with a dot in its name",
        {**stateful_set(), "metadata": {"name": "a.b", "namespace": SPACE}},
        "DYN251",
        "metadata.name",
    ),
    ("a Service in capitals", stateful_set(serviceName="A"), "DYN251", "spec.serviceName"),
    (
        "a claim template without a size",
        stateful_set(volumeClaimTemplates=[{"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"]}}]),
        "DYN250",
        "spec.volumeClaimTemplates[0].spec.resources.requests.storage",
    ),
    (
        "steps of OnDelete",
        stateful_set(updateStrategy={"type": "OnDelete", "rollingUpdate": {}}),
        "DYN254",
        "spec.updateStrategy.rollingUpdate",
    ),
    (
        "a partition below zero",
        stateful_set(updateStrategy={"rollingUpdate": {"partition": -1}}),
        "DYN253",
        "spec.updateStrategy.rollingUpdate.partition",
    ),
    ("an unknown order", stateful_set(podManagementPolicy="Any"), "DYN024", "spec.podManagementPolicy"),
    (
        "claims that vanish",
        stateful_set(persistentVolumeClaimRetentionPolicy={"whenScaled": "Drop"}),
        "DYN252",
        "spec.persistentVolumeClaimRetentionPolicy.whenScaled",
    ),
    (
        "two ways to replace pods",
        daemon_set(updateStrategy={"rollingUpdate": {"maxSurge": 1}}),
        "DYN254",
        "spec.updateStrategy.rollingUpdate.maxSurge",
    ),
    (
        "no way to replace pods",
        daemon_set(updateStrategy={"rollingUpdate": {"maxUnavailable": 0}}),
        "DYN254",
        "spec.updateStrategy.rollingUpdate.maxUnavailable",
    ),
    ("a DaemonSet that selects others", daemon_set(selector={"matchLabels": {"app": "b"}}), "DYN259", "spec.selector"),
]
_JOBS: list[Row] = [
    ("pods that never end", job(policy="Always"), "DYN250", "spec.template.spec.restartPolicy"),
    ("a name with 64 characters", job("a" * 64), "DYN251", "metadata.name"),
    ("no room for an index", {**indexed(completions=101), "metadata": {"name": "a" * 60, "namespace": SPACE}}, "DYN251", "metadata.name"),
    ("a label of the server", job(labels={"controller-uid": "a"}), "DYN254", "spec.template.metadata.labels.controller-uid"),
    ("the name of another Job", job(labels={"job-name": "b"}), "DYN254", "spec.template.metadata.labels.job-name"),
    ("a selector of the author", job(labels=_LABELS, selector={"matchLabels": _LABELS}), "DYN254", "spec.selector"),
    ("a selector by hand that is missing", job(manualSelector=True), "DYN250", "spec.selector"),
    ("a selector by hand of others", job(manualSelector=True, selector={"matchLabels": _LABELS}), "DYN254", "spec.selector"),
    ("a limit for each index without indexes", job(backoffLimitPerIndex=1), "DYN254", "spec.backoffLimitPerIndex"),
    ("failed indexes without a limit", indexed(maxFailedIndexes=1), "DYN250", "spec.backoffLimitPerIndex"),
    ("more failures than indexes", indexed(backoffLimitPerIndex=1, maxFailedIndexes=6), "DYN253", "spec.maxFailedIndexes"),
    ("an indexed work queue", job(completionMode="Indexed", parallelism=2), "DYN250", "spec.completions"),
    ("too many pods at once", indexed(parallelism=100_001), "DYN253", "spec.parallelism"),
    ("many indexes without a limit", indexed(completions=_MANY, backoffLimitPerIndex=1), "DYN250", "spec.maxFailedIndexes"),
    (
        "many indexes with many failures",
        indexed(completions=_MANY, backoffLimitPerIndex=1, maxFailedIndexes=10_001),
        "DYN253",
        "spec.maxFailedIndexes",
    ),
    ("a manager without a domain", job(managedBy="me"), "DYN251", "spec.managedBy"),
    ("success without indexes", job(successPolicy={"rules": [{"succeededCount": 1}]}), "DYN254", "spec.successPolicy"),
    (
        "an index too large",
        indexed(successPolicy={"rules": [{"succeededIndexes": "5"}]}),
        "DYN256",
        "spec.successPolicy.rules[0].succeededIndexes",
    ),
    (
        "indexes out of order",
        indexed(successPolicy={"rules": [{"succeededIndexes": "3,1"}]}),
        "DYN256",
        "spec.successPolicy.rules[0].succeededIndexes",
    ),
    (
        "more successes than indexes",
        indexed(successPolicy={"rules": [{"succeededIndexes": "0,2-3", "succeededCount": 4}]}),
        "DYN253",
        "spec.successPolicy.rules[0].succeededCount",
    ),
    (
        "exit codes out of order",
        fails({"action": "FailJob", "onExitCodes": {"operator": "In", "values": [2, 1]}}),
        "DYN254",
        "spec.podFailurePolicy.rules[0].onExitCodes.values",
    ),
    (
        "exit code 0",
        fails({"action": "FailJob", "onExitCodes": {"operator": "In", "values": [0]}}),
        "DYN253",
        "spec.podFailurePolicy.rules[0].onExitCodes.values[0]",
    ),
    (
        "an exit code of no container",
        fails({"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1], "containerName": "b"}}),
        "DYN252",
        "spec.podFailurePolicy.rules[0].onExitCodes.containerName",
    ),
    (
        "a failed index without indexes",
        fails({"action": "FailIndex", "onPodConditions": [{"type": "A", "status": "True"}]}),
        "DYN254",
        "spec.podFailurePolicy.rules[0].action",
    ),
    ("a rule about nothing", fails({"action": "Ignore"}), "DYN250", "spec.podFailurePolicy.rules[0].onExitCodes"),
    ("a policy for pods that restart", fails(policy="OnFailure"), "DYN254", "spec.template.spec.restartPolicy"),
    ("a new pod before the old one failed", fails(podReplacementPolicy="TerminatingOrFailed"), "DYN252", "spec.podReplacementPolicy"),
]
_CPU: Object = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}
_AUTOSCALERS: list[Row] = [
    ("fewer at most than at least", autoscaler(minReplicas=4), "DYN254", "spec.maxReplicas"),
    ("zero replicas", autoscaler(minReplicas=0), "DYN253", "spec.minReplicas"),
    (
        "a target without a group",
        autoscaler(scaleTargetRef={"kind": "Deployment", "name": "a"}),
        "DYN256",
        "spec.scaleTargetRef.apiVersion",
    ),
    ("a metric of another type", autoscaler({"type": "Pods", "resource": _CPU}), "DYN250", "spec.metrics[0].pods"),
    (
        "two targets",
        autoscaler({"type": "Resource", "resource": {"name": "cpu", "target": {**_CPU["target"], "averageValue": 1}}}),
        "DYN254",
        "spec.metrics[0].resource.target.averageUtilization",
    ),
    (
        "a container without a name",
        autoscaler({"type": "ContainerResource", "containerResource": {**_CPU, "container": "A"}}),
        "DYN251",
        "spec.metrics[0].containerResource.container",
    ),
    (
        "a window of more than an hour",
        autoscaler(behavior={"scaleUp": {"stabilizationWindowSeconds": 3601}}),
        "DYN253",
        "spec.behavior.scaleUp.stabilizationWindowSeconds",
    ),
    ("a pace without policies", autoscaler(behavior={"scaleDown": {"policies": []}}), "DYN250", "spec.behavior.scaleDown.policies"),
]


def _pods(**fields: Any) -> Object:
    return {"metadata": {"labels": _LABELS}, "spec": {**_POD, **fields}}


_MOUNTED = {"name": "main", "image": "a:1", "volumeMounts": [{"name": "data", "mountPath": "/data"}]}
_CLAIMED = {
    "template": _pods(containers=[_MOUNTED]),
    "volumeClaimTemplates": [
        {"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}
    ],
}
_OF_OBJECT = {
    "metric": {"name": "a"},
    "describedObject": {"kind": "Service", "name": "a"},
    "target": {"type": "Value", "value": 1, "averageValue": 1},
}
MISTAKES: list[Row] = [
    *(*_METADATA, *_DATA, *_SERVICES, *_CLAIMS, *_INGRESSES, *_ACCESS, *_DEPLOYMENTS, *_SETS, *_JOBS, *_AUTOSCALERS),
    ("an unknown field", service(portz=[]), "DYN029", "spec.portz"),
    ("a number as text", service(ports=[{"port": "80"}]), "DYN021", "spec.ports[0].port"),
]
LIMITS: list[tuple[str, Object]] = [
    ("a null, which means absent", service(selector=None)),
    ("a failure policy without rules", job(podFailurePolicy={})),
    ("annotations of 256 KiB", config_map(annotations={"a": _text(256 * 1024 - 1)})),
    ("1 MiB of data", config_map({"a": _text(1024 * 1024)})),
    ("Base64 with line breaks", secret(encoded={"a": base64.encodebytes(b"x" * 100).decode()})),
    ("a null pull secret", secret("kubernetes.io/dockerconfigjson", {".dockerconfigjson": "null"})),
    ("a login with a name only", secret("kubernetes.io/basic-auth", {"username": ""})),
    ("plain data over encoded data", secret(plain={"a": "b"}, encoded={"a": "YQ=="})),
    ("a Service that begins with a digit", {**service(), "metadata": {"name": "1a", "namespace": SPACE}}),
    ("an affinity without a configuration", service(sessionAffinity="ClientIP")),
    ("a configuration without an affinity", service(**{**_affinity(0), "sessionAffinity": "None"})),
    ("an external name with a dot", service(type="ExternalName", externalName="a.example.org.", ports=[])),
    ("source ranges with blanks", service(type="LoadBalancer", loadBalancerSourceRanges=[" 10.0.0.0/8 "])),
    ("a source that the server drops", claim(dataSource={"kind": "Thing", "name": ""})),
    ("a claim of a fraction", claim(resources={"requests": {"storage": 1.5}})),
    ("a wildcard", routed("/", host="*.example.org")),
    ("a path without a slash at its end", routed("", "ImplementationSpecific")),
    ("a Role with a colon and a blank in its name", {**role(), "metadata": {"name": "system:a b", "namespace": SPACE}}),
    ("URLs in a ClusterRole", role({"nonResourceURLs": ["/a"], "verbs": ["get"]}, kind="ClusterRole")),
    ("a group without an API group", binding({"kind": "Group", "name": "g"})),
    ("a surge over 100 %", deployment(strategy={"rollingUpdate": {"maxSurge": "300%"}})),
    ("an expression as selector", deployment(selector={"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["b"]}]})),
    ("a mount of a claim template", stateful_set(**_CLAIMED)),
    ("a StatefulSet with a subdomain in capitals", stateful_set(template=_pods(subdomain="A"))),
    ("surge instead of gaps", daemon_set(updateStrategy={"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}})),
    ("a work queue", job(parallelism=2)),
    ("the own name as a label", job(labels={"job-name": "a"})),
    ("a selector by hand", job(labels=_LABELS, manualSelector=True, selector={"matchLabels": _LABELS})),
    ("all indexes", indexed(successPolicy={"rules": [{"succeededIndexes": "0-4", "succeededCount": 5}]})),
    ("a deadline for pods", {**job(), "spec": {"template": {"spec": {**_POD, "restartPolicy": "Never", "activeDeadlineSeconds": 5}}}}),
    ("a metric by default", autoscaler(behavior={"scaleUp": {}})),
    ("both targets of an object", autoscaler({"type": "Object", "object": _OF_OBJECT})),
]
