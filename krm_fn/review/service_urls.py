"""Warns of addresses in Jobs and other pods beside a graph that mean the Service of its frontend, and have another name or port.

Such pods send requests to the graph: benchmarks, gateways and applications. The name of another Service can be that of another repository,
so only the name of a graph, and that of a frontend with a word more or less, counts.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence

from krm_fn.base import codes, results
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Path, Result
from krm_fn.kubernetes import identity, paths
from krm_fn.kubernetes.paths import EVERY
from krm_fn.kubernetes.references import name_fields
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import mapping, objects, text
from krm_fn.render import dynamo_api, labels
from krm_fn.render.config import Config
from krm_fn.render.manifests import ownership
from krm_fn.render.resolve import cluster
from krm_fn.review import pods

_CODE = codes.WRONG_ADDRESS_OF_FRONTEND
_ADDRESS = re.compile(
    r"(?:(?P<scheme>https?)://|(?<![\w./:@$-]))(?P<host>[a-z][a-z0-9-]{0,62})(?P<domain>(?:\.[a-z][a-z0-9-]*)*)(?::(?P<port>\d{2,5}))?(?![\w.:@-])"
)
"""An address of HTTP, or a host with a port."""
_TEXTS: tuple[Path, ...] = tuple(
    (kind, EVERY, *path)
    for kind in ("containers", "initContainers")
    for path in (("command", EVERY), ("args", EVERY), ("env", EVERY, "value"))
)
_FRONTEND = "frontend"
_ENDS = ("-svc", "-service")
_MOST = 20
"""The largest number of addresses that are read in one text."""


class _Frontend(NamedTuple):
    """The Service of the frontend of a graph, and its ports."""

    graph: str
    service: str
    ports: tuple[int, ...]


class _Services(NamedTuple):
    """The Services of a namespace: their names, and the frontend that each host means."""

    namespace: str
    names: set[str]
    by_host: Mapping[str, _Frontend]


class _Mistake(NamedTuple):
    """A wrong part of an address: where it is in its text, what is right, and the problem."""

    span: tuple[int, int]
    right: str
    problem: str


def check(resources: Sequence[Resource], rendered: Sequence[Resource], config: Config) -> Iterator[Result]:
    """Yields the warnings about resources that no render has made. `rendered` are the resources after a render."""
    default = cluster.default_namespace(config)
    services: dict[str, set[str]] = {}
    frontends: dict[str, list[_Frontend]] = {}
    for resource in (*rendered, *resources):
        key = identity.key(resource, default)
        if (key.group, key.kind) == name_fields.SERVICE:
            services.setdefault(key.namespace, set()).add(key.name)
            if ownership.is_marked(resource) and _is_frontend(resource):
                ports = (port.get("port") for port in objects(mapping(resource, "spec").get("ports")))
                graph = text(mapping(resource, "metadata", "labels").get(labels.GRAPH))
                found = _Frontend(graph, key.name, tuple(port for port in ports if isinstance(port, int)))
                if found not in frontends.setdefault(key.namespace, []):
                    frontends[key.namespace].append(found)
    for resource in resources if frontends else ():
        namespace = identity.key(resource, default).namespace
        if not dynamo_api.is_dynamo(resource) and not ownership.is_marked(resource) and namespace in frontends:
            known = _Services(namespace, services[namespace], _by_host(frontends[namespace]))
            for template in pods.of(resource):
                for path, value in paths.find(template.spec, _TEXTS):
                    for mistake in _mistakes(value, known) if isinstance(value, str) else ():
                        start, end = mistake.span
                        message = f"{mistake.problem}; write {mistake.right}"
                        right = f"{value[:start]}{mistake.right}{value[end:]}"
                        at = (*template.path, *path)
                        yield results.warning(_CODE, message, results.ref(resource), at, current=value, proposed=right)


def _is_frontend(service: Resource) -> bool:
    return mapping(service, "spec", "selector").get(labels.COMPONENT_TYPE) == _FRONTEND or text(
        mapping(service, "metadata").get("name")
    ).lower().endswith(_FRONTEND)


def _by_host(frontends: Sequence[_Frontend]) -> dict[str, _Frontend]:
    """Returns the frontend that a host means: its own name, that of its graph, and both with a word for a Service."""
    named = {frontend.service: frontend for frontend in frontends}
    for frontend in frontends:
        for name in (frontend.graph, *(f"{name}{end}" for end in _ENDS for name in (frontend.graph, frontend.service))):
            named.setdefault(name, frontend)
    if len(frontends) == 1:
        named.setdefault(_FRONTEND, frontends[0])
    return named


def _mistakes(value: str, known: _Services) -> Iterator[_Mistake]:
    """Yields the wrong hosts and ports in a text."""
    for match in itertools.islice(_ADDRESS.finditer(value), _MOST):
        host, port = match["host"], match["port"]
        is_here = match["domain"].split(".")[1:2] in ([], [known.namespace])
        frontend = known.by_host.get(host) if is_here and (match["scheme"] or port) else None
        if frontend is None:
            continue
        if host != frontend.service and host not in known.names:
            problem = f"no Service has the name {host}, and that of the frontend of {frontend.graph} is {frontend.service}"
            yield _Mistake(match.span("host"), frontend.service, problem)
        elif host == frontend.service and port and frontend.ports and int(port) not in frontend.ports:
            yield _Mistake(match.span("port"), f"{frontend.ports[0]}", f"the Service {host} has no port {port}")
