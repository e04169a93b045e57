"""Warns of graphs whose frontends find the workers of another graph, because its name begins with theirs.

The workers of a graph register in Dynamo namespaces that begin with that of the graph. A frontend of Dynamo 1.0 to 1.5 compares this
beginning only. Sources: the help of `--namespace-prefix` in `dynamo/frontend/frontend_args.py`, in the wheels of Dynamo 1.0.0 to 1.6.1, and
`DYN_NAMESPACE_PREFIX_STRICT`, which the runtimes from 1.6.0 on know.
"""

from __future__ import annotations

from bisect import bisect_right

from krm_fn.base import codes, results
from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import paths
from krm_fn.render import dynamo_api, labels, names
from krm_fn.render.kinds import gates, types
from krm_fn.render.manifests import ownership
from krm_fn.render.resolve import cluster, release_choice, runtime_version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from krm_fn.base.results import Path, Result
    from krm_fn.kubernetes.types import Resource
    from krm_fn.render.config import Config

_FIRST = (1, 0, 0)
"""The first version of Dynamo whose frontends read the beginning."""
_OWN_PREFIX = ("NAMESPACE_PREFIX", "--namespace")
"""A part of the variables and flags with which a user chooses the Dynamo namespaces of a frontend."""
_SHOWN = 3


class _Graph(NamedTuple):
    """A graph with its Kubernetes namespace and its Dynamo namespace. `number` is that of its group."""

    dynamo_namespace: str
    namespace: str
    uses_etcd: bool
    number: int
    resource: Resource
    config: Config


def check(groups: Iterable[Iterable[tuple[Resource, Config]]]) -> Iterator[tuple[Resource, Result]]:
    """Yields a warning for each graph whose frontends find workers of a graph in another group, with the graph that it is about.

    The groups are those of one cluster, such as its roots. Each resource comes with the configuration of its render. Fields may have wrong
    types.
    """
    graphs = sorted(
        (
            _graph(resource, config, number)
            for number, group in enumerate(groups)
            for resource, config in group
            if resource.get("kind") == dynamo_api.GRAPH and not ownership.is_generated(resource)
        ),
        key=lambda graph: (graph.dynamo_namespace, graph.number),
    )
    listed = [graph.dynamo_namespace for graph in graphs]
    for graph in graphs:
        start = bisect_right(listed, graph.dynamo_namespace)
        if start < len(listed) and listed[start].startswith(graph.dynamo_namespace):
            following = graphs[start:]
            longer = [other for other in _starting_with(graph.dynamo_namespace, following) if _is_found(graph, other)]
            frontend = _frontend(graph) if longer else None
            if frontend:
                yield graph.resource, _warning(graph, longer, frontend)


def _graph(resource: Resource, config: Config, number: int) -> _Graph:
    namespace = cluster.namespace(resource, config)
    uses_etcd = labels.annotations(resource).get(labels.DISCOVERY_BACKEND, config.discovery_backend) == "etcd"
    name = names.dynamo_namespace(namespace, results.ref(resource).name, shared=False)
    return _Graph(name, namespace, uses_etcd, number, resource, config)


def _starting_with(prefix: str, graphs: Iterable[_Graph]) -> Iterator[_Graph]:
    for graph in graphs:
        if not graph.dynamo_namespace.startswith(prefix):
            return
        yield graph


def _is_found(graph: _Graph, other: _Graph) -> bool:
    """True if both graphs register in one place: Kubernetes discovery looks into the namespace of a pod, and etcd is one for all."""
    in_one_place = (graph.uses_etcd and other.uses_etcd) or (graph.namespace == other.namespace and graph.uses_etcd == other.uses_etcd)
    return in_one_place and graph.number != other.number


def _frontend(graph: _Graph) -> Path | None:
    """Returns the path of the image of the first frontend or endpoint picker that compares the beginning only; None without one.

    A component of the shared Dynamo namespace, or with a namespace that its user chose, has another beginning.
    """
    release = release_choice.release(graph.resource, graph.config)
    origin = f"{labels.annotations(graph.resource).get(labels.ORIGIN_VERSION, '')}"
    for runtime in runtime_version.each(graph.resource):
        kind = types.get(runtime_version.component_type(graph.resource, runtime))
        component = paths.at(graph.resource, runtime.path[:3])
        defaults = release.types.get(kind.release_key)
        strict = gates.STRICT_PREFIX in gates.open_gates(release.number, runtime.version, origin)
        is_own = isinstance(component, dict) and (
            component.get("globalDynamoNamespace") or any(word in repr(component) for word in _OWN_PREFIX)
        )
        if defaults and defaults.finds_generations and runtime.version >= _FIRST and not strict and not is_own:
            return runtime.path
    return None


def _warning(graph: _Graph, longer: Sequence[_Graph], frontend: Path) -> Result:
    others = [_name_graph(other, graph) for other in longer[:_SHOWN]] + ([f"{len(longer) - _SHOWN} more"] if len(longer) > _SHOWN else [])
    first = longer[0].dynamo_namespace
    message = (
        f"this component also finds the workers of {', '.join(others)}, because it looks for all Dynamo namespaces that begin with "
        f"{graph.dynamo_namespace}, as {first} does; use an image of 1.6 or later here, or rename one of the graphs"
    )
    return results.warning(codes.FRONTEND_FINDS_OTHER_WORKERS, message, results.ref(graph.resource), frontend)


def _name_graph(other: _Graph, graph: _Graph) -> str:
    name = results.ref(other.resource).name
    return f"graph {name}" if other.namespace == graph.namespace else f"graph {name} of namespace {other.namespace}"
