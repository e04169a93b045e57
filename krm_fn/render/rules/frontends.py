"""Rules about the frontends of graphs: they find the workers of their own Dynamo namespace, and clients need one.

A frontend serves the workers whose Dynamo namespace is its own, `DYN_NAMESPACE` (ai-dynamo/dynamo, pull request 2394). Images before 1.6
take it for a prefix. The operator joins the names of the namespace and of the graph, and ignores `dynamoNamespace`.
"""

from __future__ import annotations

from krm_fn.base import codes, results
from krm_fn.base.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from krm_fn.base.results import Ref, Result
    from krm_fn.render.manifests.pod_builder import Pods
    from krm_fn.render.plan import ComponentPlan

_NAMESPACE = "DYN_NAMESPACE"
_MODULE = "dynamo.frontend"
_FLAG = "--namespace"
_SDK = "dynamo serve"
"""The command of the SDK of Dynamo, which ai-dynamo 0.3.2 has and 0.4.0 no longer has."""
_LISTED = 3
"""The largest number of graphs in a message."""


class _ServedGraph(NamedTuple):
    """A graph: the Dynamo namespaces of its frontends and of its engines, and the values of its `dynamoNamespace`s.

    The Dynamo namespace is empty if only the running container knows it. `is_of_sdk` is true for a graph of Dynamo 0.3 or older.
    """

    plan: ComponentPlan
    is_of_sdk: bool
    frontends: frozenset[str]
    engines: frozenset[str]
    written: frozenset[str]

    def finding(self, make: Callable[..., Result], problem: str, fix: str) -> Result:
        """Returns a finding at the components of the graph."""
        return make(codes.FRONTEND_APART_FROM_ENGINES, f"{problem}; {fix}", self.plan.ref, self.plan.paths.path[:2])


class _Neighbours:
    """The graphs and standalone components of one namespace, in which frontends look for engines."""

    def __init__(self, graphs: Sequence[_ServedGraph]) -> None:
        self.frontends = {namespace for graph in graphs for namespace in graph.frontends}
        engines = {namespace for graph in graphs for namespace in graph.engines}
        self.beginnings = {namespace[:length] for namespace in engines for length in range(len(namespace) + 1)}

    def serve(self, graph: _ServedGraph) -> bool:
        """True if a frontend finds an engine of a graph, or may find one."""
        prefixes = {namespace[:length] for namespace in graph.engines for length in range(len(namespace) + 1)}
        return "" in graph.engines or not prefixes.isdisjoint(self.frontends)

    def are_served(self, graph: _ServedGraph) -> bool:
        """True if a frontend of a graph finds an engine, or may find one."""
        return not graph.frontends.isdisjoint(self.beginnings)


def check(graphs: Iterable[Sequence[Pods]]) -> Iterator[Result]:
    """Yields a warning for each graph whose frontends are in another graph that does not find its workers, and for graphs of Dynamo 0.3."""
    for described in _by_namespace(graphs):
        for graph in described:
            if graph.is_of_sdk:
                problem = f"{_SDK} is a command of Dynamo 0.3, whose graphs have no types of components, and later images do not have it"
                fix = "start dynamo.frontend and an engine such as dynamo.vllm in its place, and write the types frontend and worker"
                yield graph.finding(results.warning, problem, fix)
        yield from _check_shared(described, _Neighbours(described))


def missing(graphs: Iterable[Sequence[Pods]], invalid: Collection[Ref]) -> Iterator[Result]:
    """Yields a note for each graph with engines that no frontend of the build serves.

    There is none about the graphs in `invalid`, whose errors may be the cause, and about those that have a warning of `check`.
    """
    for described in _by_namespace(graphs):
        neighbours = _Neighbours(described)
        reported = {*invalid, *(result.ref for result in _check_shared(described, neighbours))}
        for graph in described:
            if graph.engines and not graph.plan.identity.standalone and graph.plan.ref not in reported and not neighbours.serve(graph):
                problem = f"no frontend here serves the Dynamo namespace {min(graph.engines)}, so clients reach no engine of this graph"
                yield graph.finding(results.info, problem, "add a component of the type frontend, unless something else calls the engines")


def _check_shared(graphs: Sequence[_ServedGraph], neighbours: _Neighbours) -> Iterator[Result]:
    """Reports graphs with one `dynamoNamespace`, of which some have the frontends and others the workers."""
    sharing: dict[str, list[_ServedGraph]] = {}
    for graph in graphs:
        for name in graph.written:
            sharing.setdefault(name, []).append(graph)
    for group in sharing.values():
        clients = [graph for graph in group if graph.frontends and not graph.engines and not neighbours.are_served(graph)]
        servers = [graph for graph in group if graph.engines and not graph.frontends and not neighbours.serve(graph)]
        for graph in clients if servers else ():
            yield _report_unserved(graph, f"the frontend of this graph finds no worker of {_names(servers)}")
        for graph in servers if clients else ():
            yield _report_unserved(graph, f"the frontend of {_names(clients)} finds no worker of this graph")


def _report_unserved(graph: _ServedGraph, effect: str) -> Result:
    fix = f"write all components into one graph, or {graph.plan.word('globalDynamoNamespace')}: true on each of them"
    return graph.finding(results.warning, f"Dynamo ignores {graph.plan.word('dynamoNamespace')}, so {effect}", fix)


def _names(graphs: Sequence[_ServedGraph]) -> str:
    """Returns the names of the first graphs, and the number of the others."""
    rest = [f"{len(graphs) - _LISTED} more"] if len(graphs) > _LISTED else []
    return " and ".join([*(graph.plan.ref.name for graph in graphs[:_LISTED]), *rest])


def _by_namespace(graphs: Iterable[Sequence[Pods]]) -> Iterable[list[_ServedGraph]]:
    described: dict[str, list[_ServedGraph]] = {}
    for components in graphs:
        if components:
            described.setdefault(components[0].plan.identity.namespace, []).append(_describe_graph(components))
    return described.values()


def _describe_graph(components: Sequence[Pods]) -> _ServedGraph:
    plans = [pods.plan for pods in components]
    frontends = [_namespace(pods) for pods in components if _is_frontend(pods)]
    engines = [_namespace(pods) for pods in components if pods.plan.type.runs_engine]
    written = [name for plan in plans if isinstance(name := plan.paths.written.get(f"{plan.at('dynamoNamespace')[-1]}"), str)]
    is_of_sdk = any(_SDK in _text(pods) for pods in components)
    return _ServedGraph(plans[0], is_of_sdk, frozenset(frontends), frozenset(engines), frozenset(written))


def _is_frontend(pods: Pods) -> bool:
    """True if clients call a component: a frontend, an endpoint picker, and a component with a frontend in one of its containers."""
    plan = pods.plan
    return plan.type.is_frontend or plan.type.picks_workers or bool(plan.features.frontend_sidecar) or _MODULE in _text(pods)


def _namespace(pods: Pods) -> str:
    """Returns the Dynamo namespace of a component; empty if only the running container knows it."""
    entries = [entry for entry in pods.main.get("env") or () if entry.get("name") == _NAMESPACE]
    if not entries or _FLAG in _text(pods) or _NAMESPACE in _text(pods):
        return ""
    return entries[-1].get("value") or ""


def _text(pods: Pods) -> str:
    """Returns the command lines of all containers of a component."""
    words = [
        word
        for pod in pods.roles
        for container in pod.spec.get("containers") or ()
        for field in (container.get("command"), container.get("args"))
        for word in field or ()
    ]
    return " ".join(words)
