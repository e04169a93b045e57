# ruff: noqa: INP001 - see __main__.py
"""The objects of a graph in the cluster, as kubectl shows them, and what can be read from them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

Resource = dict[str, Any]

GRAPH, SERVICE = "nvidia.com/dynamo-graph-deployment-name", "nvidia.com/dynamo-component"
HASH, GENERATION = "nvidia.com/last-applied-hash", "nvidia.com/last-applied-generation"
OWNER = "dynamo.krm-fn.io/owner"
ADAPTER, GROUP, SET = "DynamoGraphDeploymentScalingAdapter", "LeaderWorkerSet", "PodCliqueSet"
WORKLOADS = ("deployments.apps", "leaderworkersets.leaderworkerset.x-k8s.io", "podcliquesets.grove.io")
GROVE = ("podcliques.grove.io", "podcliquescalinggroups.grove.io")
ADAPTERS = "dynamographdeploymentscalingadapters.nvidia.com"
GRAPHS, COMPONENTS = "dynamographdeployments.nvidia.com", "dynamocomponentdeployments.nvidia.com"
BINDINGS = "rolebindings.rbac.authorization.k8s.io"
# What the operator makes, besides what a graph keeps.
MADE = (
    "services",
    "ingresses.networking.k8s.io",
    "virtualservices.networking.istio.io",
    "destinationrules.networking.istio.io",
    "podgroups.scheduling.volcano.sh",
    "configmaps",
    "inferencepools.inference.networking.k8s.io",
    "serviceaccounts",
    "roles.rbac.authorization.k8s.io",
    BINDINGS,
)
VOLUMES = ("persistentvolumeclaims", "resourceclaimtemplates.resource.k8s.io")
JOBS = "jobs.batch"
READ = (*WORKLOADS, *GROVE, ADAPTERS, GRAPHS, COMPONENTS, *MADE, *VOLUMES, JOBS)
WEBHOOKS = "validatingwebhookconfigurations,mutatingwebhookconfigurations"
OPERATOR = "app.kubernetes.io/name=dynamo-operator"


class StopError(Exception):
    """The command cannot go on. The message says why and how to fix it."""


class Snapshot:
    """The objects of a namespace by resource, as one kubectl reads them. Several graphs share a snapshot until a command writes.

    If `namespace` is empty, it has the objects of all namespaces. `versions` holds the API version in which to read a resource; without an
    entry, the API server chooses it.
    """

    def __init__(self, namespace: str) -> None:
        self.namespace = namespace
        self.versions: dict[str, str] = {}
        self._served: set[str] = set()
        self._objects: dict[str, list[Resource]] = {}

    def objects(self, resource: str) -> list[Resource]:
        """The objects of a resource of `READ`; a resource that the cluster does not serve has none."""
        if not self._objects:
            self._objects = {name: [] for name in READ}
            names = [versioned(name, self.versions.get(name, "")) for name in READ if name in self._resources()]
            where = f"--namespace={self.namespace}" if self.namespace else "--all-namespaces"
            for found in items(kubectl("get", ",".join(names), where, "-o=json")):
                self._objects[_resource(found)].append(found)
        return self._objects[resource]

    def forget(self) -> None:
        """Read again at the next question."""
        self._objects = {}

    def _resources(self) -> set[str]:
        """The resources that the cluster serves. An API that does not answer, such as that of metrics, hides no other."""
        if not self._served:
            self._served = {*kubectl("api-resources", "--namespaced", "--verbs=list", "--output=name", partial=True).split()}
        return self._served


class Move(NamedTuple):
    """One graph, and what Git makes of it. `flux` is NAMESPACE/NAME of the Kustomization that will apply it, or empty."""

    namespace: str
    graph: str
    objects: list[Resource]
    manager: str
    flux: str
    snapshot: Snapshot

    def kubectl(self, *arguments: str, given: Any = None) -> str:
        """What kubectl prints in the namespace of the graph; see `kubectl`."""
        if arguments[0] != "get" and "--dry-run=server" not in arguments:
            self.snapshot.forget()
        return kubectl(f"--namespace={self.namespace}", *arguments, given=given)

    def live(self, *resources: str) -> list[Resource]:
        """The objects of some resources of `READ` in the namespace; resources that the cluster does not serve have none."""
        return [each for resource in resources for each in self.snapshot.objects(resource)]

    def ours(self) -> list[Resource]:
        """The live state of the rendered objects that are in the cluster."""
        return items(self.kubectl("get", "--ignore-not-found", "--show-managed-fields", "-o=json", "-f=-", given=listed(self.objects)))

    def running(self) -> dict[str, Resource]:
        """The workloads of the graph in the cluster, by `key`."""
        found = {key(each): each for each in self.live(*WORKLOADS)}
        return {one: each for one, each in found.items() if self.graph == (name(each) if each["kind"] == SET else labels(each).get(GRAPH))}

    def adapters(self) -> dict[str, Resource]:
        """The scaling adapters of the graph in the cluster, by `key`."""
        return {key(each): each for each in self.live(ADAPTERS) if each["spec"]["dgdRef"]["name"] == self.graph}

    def components(self) -> list[Resource]:
        """The DynamoComponentDeployments of the graph in the cluster."""
        return [each for each in self.live(COMPONENTS) if labels(each).get(GRAPH) == self.graph]

    def graphs(self) -> list[Resource]:
        """The graph in the cluster, or nothing."""
        return [each for each in self.live(GRAPHS) if name(each) == self.graph]

    def operators(self) -> list[Resource]:
        """The Deployments of operators that watch the namespace; without a namespace, those of all operators."""
        found = items(
            kubectl("get", "deployments", "--all-namespaces", f"--selector={OPERATOR},control-plane=controller-manager", "-o=json")
        )
        return [each for each in found if not self.namespace or dict(flags(each)).get("restrictedNamespace") in {None, "", self.namespace}]


def desired(adapter: Resource) -> int | None:
    """The number of an adapter; None before its first. An adapter of an earlier version has it in `desiredReplicas`."""
    number: int | None = adapter["spec"].get("desiredReplicas", adapter["spec"].get("replicas"))
    return number


def kubectl(*arguments: str, given: Any = None, partial: bool = False) -> str:
    """What kubectl prints; `given` goes to its stdin as JSON. Raises StopError with what it complains of, unless a part is enough."""
    stdin = None if given is None else json.dumps(given)
    ran = subprocess.run(["kubectl", *arguments], input=stdin, capture_output=True, text=True, check=False)
    if ran.returncode and not (partial and ran.stdout):
        raise StopError(f"{ran.stderr.strip()}\n(kubectl {' '.join(arguments)})")
    return ran.stdout


def versioned(resource: str, version: str) -> str:
    """The name by which kubectl reads a resource in an API version; empty: the API server chooses it."""
    plural, _, group = resource.partition(".")
    return f"{plural}.{version}.{group}" if version else resource


def _resource(resource: Resource) -> str:
    """The resource of `READ` that an object belongs to."""
    kind, *group = key(resource).partition("/")[0].split(".")
    return next(name for name in READ if name.split(".")[1:] == group and name.split(".")[0] in {f"{kind}s", f"{kind}es"})


def read(file: str) -> list[Resource]:
    """The objects of a YAML file. Raises StopError."""
    return items(kubectl("create", "--dry-run=client", "--validate=false", "-o=json", f"--filename={file}"))


def items(text: str) -> list[Resource]:
    """The objects that kubectl printed: Lists, or one after the other."""
    found: list[Resource] = []
    while text := text.strip():
        printed, end = json.JSONDecoder().raw_decode(text)
        found.extend(printed.get("items", [printed]))
        text = text[end:]
    return found


def listed(objects: Iterable[Resource]) -> Resource:
    """Objects as one List."""
    return {"apiVersion": "v1", "kind": "List", "items": list(objects)}


def key(resource: Resource) -> str:
    """How kubectl calls an object: `kind.group/name`."""
    return f"{'.'.join([resource['kind'].lower(), *resource['apiVersion'].split('/')[:-1]])}/{name(resource)}"


def name(resource: Resource) -> str:
    """Its `metadata.name`."""
    found: str = resource["metadata"]["name"]
    return found


def labels(resource: Resource) -> dict[str, str]:
    """Its labels."""
    return resource["metadata"].get("labels") or {}


def annotated(resource: Resource) -> dict[str, str]:
    """Its annotations."""
    return resource["metadata"].get("annotations") or {}


def owned_by(resource: Resource, owner: Resource) -> bool:
    """True if an ownerReference names the owner by kind and name."""
    found = resource["metadata"].get("ownerReferences", ())
    return any((each["kind"], each["name"]) == (owner["kind"], name(owner)) for each in found)


def manager(operator: Resource) -> Resource:
    """The container of the operator's Deployment in which the operator runs."""
    found: Resource = next(each for each in operator["spec"]["template"]["spec"]["containers"] if each["name"] == "manager")
    return found


def flags(operator: Resource) -> Iterator[tuple[str, str]]:
    """The operator's flags, without dashes, and their values."""
    for argument in manager(operator).get("args", ()):
        flag, _, value = argument.lstrip("-").partition("=")
        yield flag, value


def configuration(operator: Resource) -> str:
    """The configuration file of the operator; empty for operators before 1.0, which have flags instead. Raises StopError."""
    path = dict(flags(operator)).get("config", "")
    volumes = {each["name"]: each for each in operator["spec"]["template"]["spec"].get("volumes", ())}
    for mount in manager(operator).get("volumeMounts", ()):
        source = volumes[mount["name"]].get("configMap")
        if source and path.startswith(mount["mountPath"]):
            namespace = operator["metadata"]["namespace"]
            (found,) = items(kubectl(f"--namespace={namespace}", "get", "configmap", source["name"], "-o=json"))
            return str(found["data"][path.rpartition("/")[2]])
    if path:
        raise StopError(f"no ConfigMap is mounted at {path} of {name(operator)}; write the configuration as docs/operator-map.md says")
    return ""


def pods(workload: Resource) -> Iterator[tuple[str, Resource]]:
    """The pod specs of a workload, each with the name of its service in the graph."""
    spec = workload["spec"]
    groups = spec.get("leaderWorkerTemplate", {})
    for template in (spec.get("template", {}), groups.get("leaderTemplate", {}), groups.get("workerTemplate", {})):
        if "spec" in template:
            yield template["metadata"]["labels"][SERVICE], template["spec"]
    for clique in spec.get("template", {}).get("cliques", ()):
        yield clique["labels"][SERVICE], clique["spec"]["podSpec"]


def stopped(move: Move) -> None:
    """Return if no operator runs that watches the namespace. Raises StopError."""
    running = [f"{each['metadata']['namespace']}/{name(each)}" for each in move.operators() if each.get("status", {}).get("replicas")]
    if running:
        raise StopError(f"the operator runs: {', '.join(running)}; scale it to 0 replicas")
    webhooks = kubectl("get", WEBHOOKS, f"--selector={OPERATOR}", "-o=name").split()
    if webhooks:
        raise StopError(f"webhooks of the operator are left: {', '.join(webhooks)}; delete them")
