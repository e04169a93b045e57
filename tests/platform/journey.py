"""A reader of docs/migration.md with a graph that the operator runs, in its own namespace."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from krm_fn.render import config, function_config
from tests.platform import admission, pages, reference
from tests.support import markdown
from tests.testbed import programs, server

if TYPE_CHECKING:
    from tests.testbed.control_plane import ControlPlane

PAGE = (pages.DOCS / "migration.md").read_text()
STEPS = pages.steps(PAGE)
SETTINGS = markdown.files(PAGE)["example.yaml"]
DEPLOYMENT, WEBHOOKS = yaml.safe_load_all((programs.ROOT / "tests" / "platform" / "operator.yaml").read_text())
NOBODY = "00000000-0000-4000-8000-000000000000"

IMAGE = {"image": "nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.6.1"}
VLLM = {**IMAGE, "command": ["python3", "-m", "dynamo.vllm"], "args": ["--model", "Qwen/Qwen3-8B"]}
FRONTEND = {"componentType": "frontend", "extraPodSpec": {"mainContainer": IMAGE}}
PLANNER = {"componentType": "planner", "extraPodSpec": {"mainContainer": {**IMAGE, "command": ["python3", "-m", "planner_sla"]}}}
VOLUME = {"name": "chat-models", "create": True, "size": "100Gi", "storageClass": "shared", "volumeAccessMode": "ReadWriteMany"}
WORKER = {
    "componentType": "worker",
    "replicas": 2,
    "scalingAdapter": {"enabled": True},
    "modelRef": {"name": "Qwen/Qwen3-8B"},
    "resources": {"limits": {"gpu": "1"}},
    "volumeMounts": [{"name": "chat-models", "mountPoint": "/models"}],
    "extraPodSpec": {"mainContainer": VLLM},
}
BIG = {
    "componentType": "worker",
    "replicas": 2,
    "multinode": {"nodeCount": 2},
    "resources": {"limits": {"gpu": "8"}},
    "extraPodSpec": {"mainContainer": {**VLLM, "args": [*VLLM["args"], "--tensor-parallel-size", "16"]}},
}
KINDS = (
    "deployments",
    "services",
    "persistentvolumeclaims",
    "serviceaccounts",
    "roles",
    "rolebindings",
    "configmaps",
    "ingresses",
    "leaderworkersets",
    "podgroups",
    "podcliquesets",
    "inferencepools",
    "dynamographdeploymentscalingadapters",
)


class Journey(NamedTuple):
    """A reader with a graph in its own namespace, and the folder in which the commands run."""

    plane: ControlPlane
    folder: Path
    namespace: str
    graph: dict[str, Any]
    operator: config.Config

    def take(self, *headings: str) -> str:
        """Run all commands under some headings; returns their output."""
        return "".join(self.run(script) for heading in headings for script in self.scripts(heading))

    def run(self, script: str) -> str:
        """Run one script of the page; returns its output."""
        return pages.run(script, self.folder, self.plane)

    def scripts(self, heading: str) -> list[str]:
        """The commands under a heading, for the namespace of this journey."""
        return self.local(STEPS[heading])

    def local(self, scripts: list[str]) -> list[str]:
        """Commands of the page, for the namespace of this journey."""
        return [re.sub(r"\binference\b", self.namespace, script) for script in scripts]

    def reconcile(self) -> None:
        """Do one reconcile of the operator."""
        reference.reconcile(self.plane.client, self.graph, self.operator)

    def objects(self, *resources: str) -> dict[str, dict[str, Any]]:
        """The objects of some resources in the namespace, by kind and name."""
        asked = ("get", ",".join(resources), "-n", self.namespace, "-o", "json", "--show-managed-fields")
        return {f"{each['kind']}/{each['metadata']['name']}": each for each in json.loads(self.plane.kubectl(*asked))["items"]}

    def identities(self) -> dict[str, str]:
        """The UIDs of workloads, pods, Services, volumes, accounts and roles, without the Services for debugging."""
        running = self.objects("pods", "replicasets", "deployments", "services", "persistentvolumeclaims", "serviceaccounts", "roles")
        kept = {name: each for name, each in running.items() if not re.fullmatch(r"Service/.*-[pd]", name)}
        return {name: each["metadata"]["uid"] for name, each in kept.items()}

    def everything(self) -> dict[str, dict[str, Any]]:
        """All objects of kinds that the function writes, and the components of the operator."""
        found = self.objects(*KINDS, "dynamographdeployments", "dynamocomponentdeployments")
        return {name: each for name, each in found.items() if name not in {"ServiceAccount/default", "ConfigMap/kube-root-ca.crt"}}

    def wait_for_pods(self) -> None:
        """Return as soon as all Deployments have their pods in their status."""
        server.eventually(lambda: all(map(_settled, self.objects("deployments").values())))

    def collected(self) -> None:
        """Return as soon as the garbage collector has deleted everything that was garbage at the call."""
        collected(self.plane, {"apiVersion": "v1", "kind": "ConfigMap"}, self.namespace, self.graph["apiVersion"])


def collected(plane: ControlPlane, canary: dict[str, Any], namespace: str, owner: str = "nvidia.com/v1alpha1") -> None:
    """Return as soon as the garbage collector has deleted an object without an existing owner; it finds new kinds every 30 seconds.

    `owner` is a served version of the owner's kind.
    """
    gone = {"apiVersion": owner, "kind": "DynamoComponentDeployment", "name": "gone", "uid": NOBODY}
    canary = {**canary, "metadata": {"name": "canary", "namespace": namespace, "ownerReferences": [gone]}}
    admission.keep(plane.client, canary)
    server.eventually(lambda: plane.client.request("GET", plane.client.path(canary)).status == 404)


def depart(cluster: ControlPlane, folder: Path, namespace: str, services: dict[str, Any], settings: dict[str, Any], **spec: Any) -> Journey:
    """A graph that the operator runs, with its objects and pods."""
    admission.namespace(cluster, namespace, {})
    graph = admission.resource("DynamoGraphDeployment", "chat", namespace, {"services": services, **spec})
    cluster.kubectl("apply", "-f", "-", input=yaml.safe_dump(graph))
    read, found = function_config.read(settings)
    assert found == []
    role = read.rbac._replace(planner_role="dynamo-platform-dynamo-operator-planner")
    journey = Journey(cluster, pages.clone(folder, PAGE), namespace, graph, read._replace(rbac=role))
    (journey.folder / "config.yaml").write_text(yaml.safe_dump(settings))
    journey.reconcile()
    journey.wait_for_pods()
    return journey


def _settled(deployment: dict[str, Any]) -> bool:
    status, wanted = deployment.get("status", {}), deployment["spec"]["replicas"]
    seen = bool(status.get("observedGeneration") == deployment["metadata"]["generation"])
    return seen and [status.get(key, 0) for key in ("replicas", "updatedReplicas", "unavailableReplicas")] == [wanted] * 3


def owned(objects: dict[str, dict[str, Any]]) -> list[str]:
    """The names of objects that a Dynamo resource owns."""
    owners = {name: each["metadata"].get("ownerReferences", ()) for name, each in objects.items()}
    return [name for name, found in owners.items() if any(owner["apiVersion"].startswith("nvidia.com/") for owner in found)]


def managers(resource: dict[str, Any]) -> set[str]:
    """The field managers of an object, without those of its status."""
    return {entry["manager"] for entry in resource["metadata"]["managedFields"] if "subresource" not in entry}


def commit(reader: Journey, graph: dict[str, Any]) -> None:
    """Write the folder of `krm-fn adopt` as the reader has corrected it: a graph, and the settings of config.yaml."""
    folder = reader.folder / "adopted"
    folder.mkdir(exist_ok=True)
    (folder / "dynamographdeployment_chat.yaml").write_text(yaml.safe_dump(graph))
    (folder / "render.yaml").write_text((reader.folder / "config.yaml").read_text())


def without_roles_of_the_release(reader: Journey) -> None:
    """Do what the page asks for: the roles of the operator's release leave the settings."""
    file = reader.folder / "adopted" / "render.yaml"
    settings = yaml.safe_load(file.read_text())
    assert settings["spec"].pop("rbac") == {"plannerRole": "dynamo-platform-dynamo-operator-planner"}
    file.write_text(yaml.safe_dump(settings))


def autoscale(reader: Journey, service: str, replicas: int) -> None:
    """Scale as an autoscaler does: it writes the adapter, and the operator the graph and the workload."""
    reader.plane.kubectl("scale", "-n", reader.namespace, f"dgdsa/chat-{service.lower()}", f"--replicas={replicas}")
    patch = json.dumps({"spec": {"services": {service: {"replicas": replicas}}}})
    reader.plane.kubectl("patch", "dgd/chat", "-n", reader.namespace, "--field-manager=manager", "--type=merge", f"--patch={patch}")
    reader.reconcile()
    reader.wait_for_pods()


def remove_the_graph(reader: Journey) -> None:
    """Remove the finalizers as the operator does, and delete the graph; the garbage collector deletes the objects that have an owner."""
    for name in reader.objects("dgd", "dcd"):
        reader.plane.kubectl("patch", name, "-n", reader.namespace, "--type=merge", '-p={"metadata": {"finalizers": null}}')
    reader.plane.kubectl("delete", "dgd", "chat", "-n", reader.namespace)
    server.eventually(lambda: owned(reader.everything()) == [] and reader.objects("pods") == {})


def made_by_grove(kind: str) -> dict[str, Any]:
    """The definition of a kind that only Grove writes, of any shape."""
    names = {"kind": kind, "listKind": f"{kind}List", "plural": f"{kind.lower()}s", "singular": kind.lower()}
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    versions = [{"name": "v1alpha1", "served": True, "storage": True, "schema": schema}]
    spec = {"group": "grove.io", "scope": "Namespaced", "names": names, "versions": versions}
    metadata = {"name": f"{names['plural']}.grove.io"}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": metadata, "spec": spec}
