"""Warns of keys and ports that an object in the input does not have: keys of Secrets and ConfigMaps, and ports of rendered Services.

An API server accepts them. A container then waits for its key, and an Ingress answers with an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from krm_fn.base import codes, results, spelling
from krm_fn.base.results import Path, Result
from krm_fn.kubernetes import identity, paths
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.references import Reference, name_fields
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import mapping, name_of, objects, text
from krm_fn.render import dynamo_api, dynamo_references, labels
from krm_fn.render.config import Config
from krm_fn.render.manifests import ownership
from krm_fn.render.resolve import cluster
from krm_fn.review import mounted_files, required_objects

_CODE = codes.MISSING_KEY_OR_PORT
_DATA = ("data", "stringData", "binaryData")
_KINDS = (name_fields.SECRET, name_fields.CONFIG_MAP)
_FILLED = ("kubernetes.io/service-account-token",)
"""Types of Secrets whose keys a controller writes."""
_BACKENDS = (name_fields.SERVICE, name_fields.POOL, name_fields.OLD_POOL)
_POOL = name_fields.POOL[1]
_CORE = '""'
"""The name of the core group in YAML."""
_ROUTES = ("Ingress", "HTTPRoute", "GRPCRoute")
_MOST = 200
"""The largest number of names with which one is compared."""
_LISTED = 5
"""The largest number of keys or ports in a message."""


def check_keys(resources: Sequence[Resource], config: Config) -> Iterator[Result]:
    """Yields a warning for each key that a Dynamo resource needs and its Secret or ConfigMap in the input does not have.

    Objects without any key are left out, and those that a controller makes: they get their keys later.
    """
    default = cluster.default_namespace(config)
    promised = {*required_objects.promised_secrets(resources, default)}
    known: dict[ObjectKey, set[str]] = {}
    for resource in resources:
        key = identity.key(resource, default)
        if (key.group, key.kind) in _KINDS and key not in promised and resource.get("type") not in _FILLED:
            fields = (resource.get(name) for name in _DATA)
            known.setdefault(key, set()).update(str(entry) for data in fields if isinstance(data, dict) for entry in data)
        elif key.kind == "ExternalSecret" and (names := _external_keys(resource)):
            target = text(mapping(resource, "spec", "target").get("name")) or key.name
            known.setdefault(ObjectKey(*name_fields.SECRET, key.namespace, target), set()).update(names)
    yield from mounted_files.check(resources, {key: names for key, names in known.items() if names}, config)
    for resource in resources:
        if dynamo_api.is_dynamo(resource) and not ownership.is_generated(resource):
            namespace = identity.key(resource, default).namespace
            for reference in dynamo_references.of(resource):
                held = known.get(ObjectKey(reference.group, reference.kind, reference.namespace or namespace, reference.name))
                for name in reference.keys if held and not reference.is_optional else ():
                    if held and name not in held:
                        path = _key_path(resource, reference, name)
                        problem = f"the {reference.kind} {reference.name} has no key {name}"
                        yield _finding(resource, path, problem, name, sorted(held))


def _external_keys(resource: Resource) -> list[str]:
    """Returns the keys of the Secret that an External Secret makes; none if a template or a whole secret can have more.

    Reference: https://external-secrets.io/latest/api/externalsecret/.
    """
    spec = mapping(resource, "spec")
    if spec.get("dataFrom") or mapping(spec, "target").get("template") or text(mapping(spec, "target").get("creationPolicy")) == "Merge":
        return []
    return [name for entry in objects(spec.get("data")) if (name := text(entry.get("secretKey")))]


def _key_path(resource: Resource, reference: Reference, name: str) -> Path:
    """Returns the path of a key that stands beside the name of its object, or in one of the items there."""
    parent = reference.path[:-1]
    keys = paths.find(paths.at(resource, parent), (("key",), ("items", paths.EVERY, "key")))
    return next(((*parent, *path) for path, key in keys if key == name), reference.path)


def _variable(resource: Resource, path: Path) -> str:
    """Returns the name of the variable that reads a key; empty if no variable does."""
    name = paths.at(resource, (*path[:-3], "name")) if path[-3:-2] == ("valueFrom",) else None
    return name if isinstance(name, str) else ""


def check_ports(resources: Sequence[Resource], rendered: Sequence[Resource], config: Config) -> Iterator[Result]:
    """Yields a warning for each port of an Ingress or a route that the Service of a graph does not have.

    `rendered` are the resources after a render. A layer may have added ports to a Service among `resources`, so the ports of both count.
    """
    default = cluster.default_namespace(config)
    ports: dict[ObjectKey, list[dict[str, Any]]] = {}
    for service in (*rendered, *resources):
        key = identity.key(service, default)
        if (key.group, key.kind) == name_fields.SERVICE and ownership.is_marked(service):
            ports.setdefault(key, []).extend(objects(mapping(service, "spec").get("ports")))
    for route in resources if ports else ():
        if results.ref(route).kind in _ROUTES and not ownership.is_marked(route):
            namespace = identity.key(route, default).namespace
            for reference in dynamo_references.of(route):
                served = ports.get(ObjectKey(reference.group, reference.kind, reference.namespace or namespace, reference.name), ())
                yield from _port(route, reference, served) if served else ()


def check_backends(resources: Sequence[Resource], rendered: Sequence[Resource], config: Config) -> Iterator[Result]:
    """Yields a warning for each backend of an Ingress or a route with almost the name of an object of a graph: one word more or less.

    Backends among `resources` or `rendered` are right, and those of other names can be in the cluster.
    """
    default = cluster.default_namespace(config)
    routes = [route for route in resources if results.ref(route).kind in _ROUTES and not ownership.is_marked(route)]
    known: set[ObjectKey] = set()
    names: dict[tuple[str, str, str], list[str]] = {}
    kinds: dict[tuple[str, str], list[ObjectKey]] = {}
    graphs: dict[ObjectKey, str] = {}
    pools: dict[tuple[str, str], list[ObjectKey]] = {}
    for resource in (*rendered, *resources) if routes else ():
        key = identity.key(resource, default)
        if key not in known and ownership.is_marked(resource):
            names.setdefault(key[:3], []).append(key.name)
            if (key.group, key.kind) in _BACKENDS:
                kinds.setdefault((key.namespace, key.name), []).append(key)
                graphs[key] = text(mapping(resource, "metadata", "labels").get(labels.GRAPH))
                if key.kind == _POOL:
                    pools.setdefault((key.namespace, graphs[key]), []).append(key)
        known.add(key)
    for route in routes:
        yield from _without_group(route)
        namespace = identity.key(route, default).namespace
        for reference in dynamo_references.of(route):
            key = ObjectKey(reference.group, reference.kind, reference.namespace or namespace, reference.name)
            others = kinds.get((key.namespace, key.name), ())
            if key not in known and len(others) == 1:
                same_graph = pools.get((key.namespace, graphs[others[0]]), ()) if key.kind == _POOL != others[0].kind else ()
                if len(same_graph) == 1:
                    yield from _other_pool(route, reference.path, key, same_graph[0])
                else:
                    yield from _other_kind(route, reference.path, key, others[0])
            elif key not in known and (near := _near_backend(key.name, names.get(key[:3], ()), name_of(mapping(route, "metadata")))):
                message = (
                    f"{key.kind} {key.name} is not in the input, but a graph makes {near}; write {near}, or ignore {_CODE} if it exists"
                )
                yield results.warning(_CODE, message, results.ref(route), reference.path, current=key.name, proposed=near)


def _other_kind(route: Resource, path: Path, key: ObjectKey, other: ObjectKey) -> Iterator[Result]:
    """Finds a backend with the name of an object of another kind, or of another group."""
    is_kind = key.kind != other.kind
    field, written, right = ("kind", key.kind, other.kind) if is_kind else ("group", key.group, other.group)
    also = f" and group: {other.group or _CORE}" if is_kind and key.group != other.group else ""
    message = (
        f"a graph makes {other.name} as {other.kind} of the group {other.group or 'core'}, and not as {key.kind} of {key.group or 'core'}"
    )
    fix = f"write {field}: {right or _CORE}{also}, or ignore {_CODE} if this object exists, too"
    yield results.warning(_CODE, f"{message}; {fix}", results.ref(route), (*path[:-1], field), current=written)


def _other_pool(route: Resource, path: Path, key: ObjectKey, pool: ObjectKey) -> Iterator[Result]:
    """Finds a pool with the name of the endpoint picker, or of another Service of its graph: the kind is right, and the name is not."""
    also = f" and group: {pool.group}" if key.group != pool.group else ""
    message = f"{key.name} is a Service of a graph, whose {_POOL} is {pool.name}; write {pool.name}{also}"
    fix = f"{message}, or ignore {_CODE} if this pool exists, too"
    yield results.warning(_CODE, fix, results.ref(route), path, current=key.name, proposed=None if also else pool.name)


def _without_group(route: Resource) -> Iterator[Result]:
    """Finds backends of the kind InferencePool without a group: then the group is the core one, which has no such kind.

    A gateway answers requests to such a backend with an error (Gateway API, `BackendObjectReference`).
    """
    group, kind = name_fields.POOL
    for path, backend in paths.find(route, (("spec", "rules", paths.EVERY, "backendRefs", paths.EVERY),)):
        if isinstance(backend, dict) and backend.get("kind") == kind and not backend.get("group"):
            message = f"without a group, {kind} is a kind of the core group, which does not have it; write group: {group}"
            yield results.warning(_CODE, message, results.ref(route), (*path, "kind"), current=kind)


def _near_backend(name: str, backends: Sequence[str], route: str) -> str:
    """Returns the only name that a graph makes and that a backend of a route means; empty without one.

    A component can be named without its graph if the name of the route begins with that of the graph.

    >>> _near_backend("chat-frontend-svc", ["chat-frontend"], ""), _near_backend("chat", ["chat-pool"], "")
    ('chat-frontend', 'chat-pool')
    >>> [_near_backend("frontend", ["chat-frontend"], route) for route in ("chat", "chat-api", "search")]
    ['chat-frontend', 'chat-frontend', '']
    """
    longer = {f"{name}-frontend", f"{name}-pool", f"{route}-{name}"}
    longer |= {known for known in backends[:_MOST] if known.endswith(f"-{name}") and route.startswith(f"{known.removesuffix(name)}")}
    near = [known for known in backends[:_MOST] if known in longer or name.startswith(f"{known}-") or _has_prefix(known, name)]
    return near[0] if len(near) == 1 else ""


def _has_prefix(backend: str, name: str) -> bool:
    """True for a name without the prefix that kustomize writes before it. One word, such as `frontend`, can be another program."""
    return "-" in name and backend.endswith(f"-{name}")


def _port(route: Resource, reference: Reference, served: Sequence[dict[str, Any]]) -> Iterator[Result]:
    parent = reference.path[:-1]
    for path, wanted in paths.find(paths.at(route, parent), (("port",), ("port", "number"), ("port", "name"))):
        field = "name" if path[-1] == "name" else "port"
        known = list(dict.fromkeys(port[field] for port in served if isinstance(port.get(field), int | str)))
        if isinstance(wanted, int | str) and known and wanted not in known:
            problem = f"the Service {reference.name} has no port {wanted}"
            yield _finding(route, (*parent, *path), problem, wanted, known)


def _finding(resource: Resource, path: Path, problem: str, wanted: str | int, known: Sequence[str | int]) -> Result:
    """Returns the finding about a key or a port, with the known one that is meant: by a slip, or by the variable that reads it."""
    variable = _variable(resource, path)
    near = spelling.nearest_name(str(wanted), map(str, known)) or (variable if variable in known else "")
    others = ", ".join((*map(str, known[:_LISTED]), *["..."] * (len(known) > _LISTED)))
    proposed = near or (str(known[0]) if len(known) == 1 else "")
    fix = f"write {proposed}" if proposed else f"write one of {others}"
    return results.warning(_CODE, f"{problem}; {fix}", results.ref(resource), path, current=wanted, proposed=proposed or None)
