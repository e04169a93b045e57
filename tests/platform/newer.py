"""An operator of 1.2 or later: its definitions of two versions with a webhook, its configuration file, and the marks on its graphs."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

from krm_fn.render import expand, labels
from krm_fn.render.config import Config, RbacSettings
from krm_fn.render.convert import versions
from krm_fn.schemas.generate import crds
from tests.platform import admission, installation, journey, reference

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.testbed.control_plane import ControlPlane

Resource = dict[str, Any]

BETA = "nvidia.com/v1beta1"
ROLE = "dynamo-platform-dynamo-operator-planner"
FILE = f"""
apiVersion: operator.config.dynamo.nvidia.com/v1alpha1
kind: OperatorConfiguration
orchestrators: {{grove: {{enabled: false}}, lws: {{enabled: true}}, kaiScheduler: {{enabled: false}}}}
dra: {{enabled: false}}
rbac: {{plannerClusterRoleName: {ROLE}}}
"""
OPERATOR = Config(behaviour="v1.5", worker_hash="names", rbac=RbacSettings(planner_role=ROLE))
MARKS = {labels.ORIGIN_VERSION: "1.5.0", labels.WORKLOAD_PROVIDER: "component"}
_FILE = "dynamo-platform-dynamo-operator-config"


def component(name: str, kind: str, version: str, **fields: Any) -> Resource:
    """A component of a graph with two replicas and an image of a version. `fields` are those of its main container."""
    main = {"name": "main", "image": f"nvcr.io/nvidia/ai-dynamo/vllm-runtime:{version}", **fields}
    return {"name": name, "type": kind, "replicas": 2, "podTemplate": {"spec": {"containers": [main]}}}


def graph(namespace: str, *components: Resource) -> Resource:
    """The graph chat of v1beta1 with these components."""
    metadata = {"name": "chat", "namespace": namespace}
    return {"apiVersion": BETA, "kind": "DynamoGraphDeployment", "metadata": metadata, "spec": {"components": [*components]}}


def install(plane: ControlPlane, conversion: Resource, file: str, stored: str = "v1beta1", version: str = "1.5.0") -> None:
    """Install the operator of a version with this configuration file.

    `conversion` is that of its definitions. `stored` is the version in which the cluster stores resources: v1alpha1 before 1.5.
    """
    for each in definitions(conversion, stored):
        installation.apply(plane, json.dumps(each))
    for part in ("namespace", "roles"):
        installation.apply(plane, installation.build(admission.PLATFORM / part))
    plane.kubectl("wait", "--for=condition=Established", "crd", "--all")
    for each in _operator(file, version):
        admission.keep(plane.client, each)


def definitions(conversion: Resource, stored_version: str) -> Iterator[Resource]:
    """The definitions of the operator: it stores one version, and both versions are served and converted."""
    for each in crds.definitions(stored_version):
        stored, *others = each["spec"]["versions"]
        if others:
            each["spec"]["conversion"] = conversion
            for version in others:
                version |= {"served": True, **({"subresources": stored["subresources"]} if "subresources" in stored else {})}
        yield each


def _operator(file: str, version: str) -> Iterator[Resource]:
    """The ConfigMap with the configuration file of the operator, and its Deployment."""
    found = copy.deepcopy(journey.DEPLOYMENT)
    pod = found["spec"]["template"]["spec"]
    (manager,) = [each for each in pod["containers"] if each["name"] == "manager"]
    manager["args"] = ["--config=/etc/dynamo/config.yaml", f"--operator-version={version}"]
    manager["volumeMounts"] = [{"name": "config", "mountPath": "/etc/dynamo"}]
    pod["volumes"] = [{"name": "config", "configMap": {"name": _FILE}}]
    yield {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": _FILE, "namespace": "dynamo-system"},
        "data": {"config.yaml": file},
    }
    yield found


def deploy(
    plane: ControlPlane, graph: Resource, settings: Config, marks: dict[str, str] = MARKS, noted: str = labels.WORKER_HASH_V2
) -> str:
    """Apply a graph as its author does, and reconcile it as the operator does; returns the worker hash.

    `marks` are the annotations of the operator's webhook. Its controller writes the worker hash into the annotation `noted`.
    """
    metadata = graph["metadata"] | {"annotations": marks}
    plane.kubectl("apply", "-f", "-", input=json.dumps({**graph, "metadata": metadata}))
    stored = {**versions.to("v1beta1", graph), "metadata": metadata}
    found = {labels.of(each).get(labels.WORKER_HASH) for each in expand.expand([stored], settings).resources} - {None}
    (digest,) = found
    patch = json.dumps({"metadata": {"annotations": {noted: digest}}})
    where = (f"dgd/{metadata['name']}", f"--namespace={metadata['namespace']}", f"--field-manager={reference.MANAGER}")
    plane.kubectl("patch", *where, "--type=merge", f"--patch={patch}")
    reference.reconcile(plane.client, stored, settings)
    return str(digest)
