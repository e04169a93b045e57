"""The graphs that move: the objects that a render makes of them, and the objects in their namespace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from krm_fn.base import codes, report, results
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Result
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import mapping
from krm_fn.render import dynamo_api, labels
from krm_fn.render.manifests import ownership
from krm_fn.repository.files import kubectl

GRAPHS, COMPONENTS = "dynamographdeployments.nvidia.com", "dynamocomponentdeployments.nvidia.com"
ADAPTERS = "dynamographdeploymentscalingadapters.nvidia.com"
GROUP, SET = "LeaderWorkerSet", "PodCliqueSet"
WORKLOADS = ("deployments.apps", "leaderworkersets.leaderworkerset.x-k8s.io", "podcliquesets.grove.io")
GROVE = ("podcliques.grove.io", "podcliquescalinggroups.grove.io")
BINDINGS = "rolebindings.rbac.authorization.k8s.io"
GENERATED = (
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
"""The objects that an operator generates, without workloads, adapters and volumes."""

_VOLUMES = ("persistentvolumeclaims", "resourceclaimtemplates.resource.k8s.io")
READ = (*WORKLOADS, *GROVE, ADAPTERS, GRAPHS, COMPONENTS, *GENERATED, *_VOLUMES, "jobs.batch")
"""All resources whose objects can have a Dynamo resource as their owner."""

_RENDER = "write the output of `krm-fn render` for one graph into a file of its own"


class RefusedMoveError(Exception):
    """A command of the migration cannot go on. `findings` say why."""

    def __init__(self, findings: Sequence[Result]) -> None:
        super().__init__("\n".join(finding.message for finding in findings))
        self.findings = [*findings]


class NamespaceObjects:
    """The objects of a namespace by resource, as one kubectl reads them. Several graphs share them until a command writes.

    Without a namespace, they are the objects of all namespaces. `versions` holds the API version in which to read a resource; without an
    entry, the API server chooses it.
    """

    def __init__(self, namespace: str) -> None:
        self.namespace = namespace
        self.versions: dict[str, str] = {}
        self._served: frozenset[str] = frozenset()
        self._objects: dict[str, list[Resource]] = {}

    def of(self, *resources: str) -> list[Resource]:
        """Returns the objects of resources of `READ`. A resource that the cluster does not serve has none. Raises KubectlError."""
        if not self._objects:
            self._served = self._served or kubectl.served_resources()
            self._objects = {resource: [] for resource in READ}
            names = ",".join(name_with_version(resource, self.versions) for resource in READ if resource in self._served)
            for live in kubectl.get(names, f"--namespace={self.namespace}" if self.namespace else "--all-namespaces"):
                self._objects[_resource(live)].append(live)
        return [live for resource in resources for live in self._objects[resource]]

    def forget(self) -> None:
        """Reads the objects again at the next question."""
        self._objects = {}


class Applier(NamedTuple):
    """The tool that applies the objects after the migration: its field manager, and NAMESPACE/NAME of a Kustomization of Flux."""

    manager: str = "kubectl"
    kustomization: str = ""


class MovedGraph(NamedTuple):
    """One graph: its namespace and name, the objects that a render makes of it, and the objects of its namespace."""

    namespace: str
    name: str
    rendered: list[Resource]
    cluster: NamespaceObjects
    applier: Applier = Applier()

    def kubectl(self, verb: str, *arguments: str, stdin: Any = None) -> str:
        """Returns the output of kubectl in the namespace of the graph. Raises KubectlError."""
        if verb != "get" and "--dry-run=server" not in arguments:
            self.cluster.forget()
        return kubectl.run(verb, f"--namespace={self.namespace}", *arguments, stdin=stdin)

    def patch(self, name: str, patch: str) -> None:
        """Merges a patch into an object in the cluster. Raises KubectlError."""
        self.kubectl("patch", name, "--type=merge", f"--patch={patch}")

    def live_rendered(self) -> list[Resource]:
        """Returns the live state of the rendered objects that are in the cluster. Raises KubectlError."""
        flags = ("--ignore-not-found", "--show-managed-fields", "--filename=-")
        return kubectl.get(f"--namespace={self.namespace}", *flags, stdin=kubectl.list_of(self.rendered))

    def workloads(self) -> dict[str, Resource]:
        """Returns the workloads of the graph in the cluster, by `object_name`."""
        live = {object_name(workload): workload for workload in self.cluster.of(*WORKLOADS)}
        return {name: workload for name, workload in live.items() if self.name == _graph_of(workload)}

    def adapters(self) -> dict[str, Resource]:
        """Returns the scaling adapters of the graph in the cluster, by `object_name`."""
        adapters = self.cluster.of(ADAPTERS)
        return {object_name(adapter): adapter for adapter in adapters if adapter["spec"]["dgdRef"]["name"] == self.name}

    def components(self) -> list[Resource]:
        """Returns the DynamoComponentDeployments of the graph in the cluster."""
        return [component for component in self.cluster.of(COMPONENTS) if labels.of(component).get(labels.GRAPH) == self.name]

    def resources(self) -> list[Resource]:
        """Returns the graph in the cluster, or nothing."""
        return [graph for graph in self.cluster.of(GRAPHS) if graph["metadata"]["name"] == self.name]


def read(files: Mapping[str, Sequence[Any]], applier: Applier) -> list[MovedGraph]:
    """Returns the graph of each file with rendered objects. `files` has the values of each file. Raises RefusedMoveError."""
    findings: list[Result] = []
    graphs: list[MovedGraph] = []
    namespaces: dict[str, NamespaceObjects] = {}
    for file, values in files.items():
        rendered = [member for value in values for member in _members(value)]
        wrong = [*_check(rendered)]
        findings += [finding._replace(file=file) for finding in wrong]
        if not wrong:
            (graph,) = filter(_is_graph, rendered)
            ref = results.ref(graph)
            cluster = namespaces.setdefault(ref.namespace, NamespaceObjects(ref.namespace))
            graphs.append(MovedGraph(ref.namespace, ref.name, rendered, cluster, applier))
    if findings:
        raise RefusedMoveError(findings)
    return graphs


def _members(value: Any) -> list[Any]:
    if value is None:
        return []
    items = mapping(value).get("items")
    return items if isinstance(items, list) else [value]


def _check(rendered: Sequence[Any]) -> Iterator[Result]:
    """Reports a file that is not the render of one graph."""
    if not all(isinstance(resource, dict) and all(results.ref(resource)[:3]) for resource in rendered):
        yield results.error(codes.FILE_NOT_ONE_GRAPH, f"the file has a value that is not an object of Kubernetes; {_RENDER}")
        return
    graphs = [*filter(_is_graph, rendered)]
    if len(graphs) != 1:
        yield results.error(codes.FILE_NOT_ONE_GRAPH, f"the file has {report.pluralize(len(graphs), 'graph')}; {_RENDER}")
        return
    graph = results.ref(graphs[0])
    for resource in rendered:
        ref = results.ref(resource)
        if not ref.namespace or ref.namespace != graph.namespace:
            message = f"the object has {f'the namespace {ref.namespace}' if ref.namespace else 'no namespace'}"
            yield results.error(codes.FILE_NOT_ONE_GRAPH, f"{message}; render the graph with the namespace in which it runs", ref)
        owners = ownership.owners(resource)
        if owners and f"{graph.kind}/{graph.name}" not in owners:
            yield results.error(
                codes.FILE_NOT_ONE_GRAPH, f"the object belongs to {', '.join(owners)}, and not to the graph {graph.name}; {_RENDER}", ref
            )


def _is_graph(resource: Resource) -> bool:
    return dynamo_api.is_dynamo(resource) and resource.get("kind") == dynamo_api.GRAPH


def _graph_of(workload: Resource) -> str | None:
    """The graph of a live workload. A PodCliqueSet has the name of its graph."""
    name: str = workload["metadata"]["name"]
    return name if workload["kind"] == SET else labels.of(workload).get(labels.GRAPH)


def _resource(live: Resource) -> str:
    """The resource of `READ` that an object belongs to."""
    kind, *group = object_name(live).partition("/")[0].split(".")
    plurals = {f"{kind}s", f"{kind}es"}
    return next(resource for resource in READ if resource.split(".")[1:] == group and resource.split(".")[0] in plurals)


def object_name(resource: Resource) -> str:
    """Returns the name by which kubectl finds an object: `kind.group/name`."""
    kind = [resource["kind"].lower(), *resource["apiVersion"].split("/")[:-1]]
    return f"{'.'.join(kind)}/{resource['metadata']['name']}"


def name_with_version(resource: str, versions: Mapping[str, str]) -> str:
    """Returns the name by which kubectl reads a resource in its API version, if it has one: `PLURAL.VERSION.GROUP`."""
    plural, _, group = resource.partition(".")
    return f"{plural}.{versions[resource]}.{group}" if versions.get(resource) else resource


def is_owned_by(resource: Resource, owner: Resource) -> bool:
    """Returns true if an owner reference has the kind and the name of the owner."""
    references = resource["metadata"].get("ownerReferences", ())
    return any((reference["kind"], reference["name"]) == (owner["kind"], owner["metadata"]["name"]) for reference in references)


def replicas(adapter: Resource) -> int | None:
    """Returns the number of an adapter; None before its first. An adapter of an earlier version has it in `desiredReplicas`."""
    number: int | None = adapter["spec"].get("desiredReplicas", adapter["spec"].get("replicas"))
    return number
