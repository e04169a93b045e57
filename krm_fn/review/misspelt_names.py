"""Warns of names in a graph that are a slip of the pen away from what is beside it: objects, volumes, and plugins of endpoint pickers.

An object that is missing in the input may be in the cluster, from another repository or a controller. So a missing name alone is no
finding: only a name next to that of an object which the input does have. These are findings of `krm-fn check`. A render leaves them out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from krm_fn.base import results, spelling
from krm_fn.base.results import Path, Result
from krm_fn.kubernetes import identity, paths
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.references import name_fields
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import mapping, name_of, objects, text
from krm_fn.render import dynamo_api, dynamo_references
from krm_fn.render.config import Config
from krm_fn.render.manifests import ownership
from krm_fn.render.resolve import cluster
from krm_fn.review import required_objects

_CODE = "DYN707"
_KINDS = (name_fields.CLAIM, name_fields.SECRET, name_fields.CONFIG_MAP)
_COMPONENTS: tuple[Path, ...] = (("spec", "components", paths.EVERY), ("spec", "services", paths.EVERY), ("spec",))
_DECLARED: Path = ("spec", "pvcs", paths.EVERY)


def check(resources: Sequence[Resource], config: Config) -> Iterator[Result]:
    """Yields a warning for each misspelt name in Dynamo's resources that no render has made. Fields may have wrong types."""
    default = cluster.default_namespace(config)
    existing = {identity.key(resource, default) for resource in resources} | {*required_objects.promised_secrets(resources, default)}
    graphs = [resource for resource in resources if dynamo_api.is_dynamo(resource) and not ownership.is_generated(resource)]
    existing |= {*_claims(graphs, default, only_created=True)}
    declared = existing | {*_claims(graphs, default, only_created=False)}
    names_to_declare, names = _by_kind(existing), _by_kind(declared)
    for graph in graphs:
        namespace = identity.key(graph, default).namespace
        for reference in dynamo_references.of(graph):
            key = ObjectKey(reference.group, reference.kind, reference.namespace or namespace, reference.name)
            is_declaration = reference.path[:2] == _DECLARED[:2]
            known = (names_to_declare if is_declaration else names).get(key[:3], {})
            if (reference.group, reference.kind) in _KINDS and not reference.is_optional and key.name not in known:
                near = spelling.nearest_name(reference.name, known)
                problem = f"{reference.kind} {reference.name} is not in the input, but {near} is"
                fix = f"write {near}, or ignore {_CODE} if {reference.name} exists too"
                yield from _finding(graph, reference.path, near, f"{problem}; {fix}", reference.name)
        claims = names.get((*name_fields.CLAIM, namespace), {})
        for path, component in paths.find(graph, _COMPONENTS):
            if isinstance(component, dict):
                yield from _mounts(graph, path, component, claims)
                yield from _plugins(graph, path, component)


def _claims(graphs: Iterable[Resource], default: str, *, only_created: bool) -> Iterator[ObjectKey]:
    """Yields the claims that graphs create, or that they declare."""
    for graph in graphs:
        for _, claim in paths.find(graph, (_DECLARED,)):
            if isinstance(claim, dict) and (not only_created or claim.get("create") is True):
                yield ObjectKey(*name_fields.CLAIM, identity.key(graph, default).namespace, text(claim.get("name")))


def _by_kind(keys: Iterable[ObjectKey]) -> dict[tuple[str, str, str], dict[str, None]]:
    """Returns the sorted names of objects by group, kind and namespace. The names are keys, so that one is found at once."""
    names: dict[tuple[str, str, str], dict[str, None]] = {}
    for key in sorted(keys):
        names.setdefault(key[:3], {})[key.name] = None
    return names


def _mounts(graph: Resource, path: Path, component: dict[str, Any], claims: Iterable[str]) -> Iterator[Result]:
    """Finds mounts of `main` in v1beta1 that mean a volume of the pod. A name without a volume is mounted as the claim of this name.

    The operator does so in its conversion to v1alpha1 (api/v1alpha1/dynamographdeployment_conversion.go).
    """
    spec = mapping(component, "podTemplate", "spec")
    volumes = [name_of(volume) for volume in objects(spec.get("volumes"))]
    for at, container in enumerate(objects(spec.get("containers"))):
        for index, mount in enumerate(objects(container.get("volumeMounts"))) if container.get("name") == "main" else ():
            name = name_of(mount)
            if name not in volumes and name not in claims:
                near = spelling.nearest_name(name, (*volumes, *claims))
                problem = f"the pod has no volume {name}, so main mounts a claim {name}, which is not in the input"
                field = (*path, "podTemplate", "spec", "containers", at, "volumeMounts", index, "name")
                yield from _finding(graph, field, near, f"{problem}; write {near}, or ignore {_CODE} if the claim exists", name)


def _plugins(graph: Resource, path: Path, component: dict[str, Any]) -> Iterator[Result]:
    """Finds plugins of scheduling profiles that the configuration of an endpoint picker does not have. The picker ends at its start.

    A plugin without a name has the name of its type (Gateway API Inference Extension, pkg/epp/config/loader: `applyStaticDefaults` in
    defaults.go, and `buildSchedulerConfig` in configloader.go).
    """
    config = mapping(component, "eppConfig", "config")
    plugins = [name_of(plugin) or text(plugin.get("type")) for plugin in objects(config.get("plugins"))]
    for inner, name in paths.find(config, (("schedulingProfiles", paths.EVERY, "plugins", paths.EVERY, "pluginRef"),)):
        if isinstance(name, str) and name not in plugins:
            near = spelling.nearest_name(name, plugins)
            message = f"this configuration has no plugin {name}; write {near}, or add the plugin"
            yield from _finding(graph, (*path, "eppConfig", "config", *inner), near, message, name)


def _finding(graph: Resource, path: Path, near: str, message: str, name: str) -> Iterator[Result]:
    if near:
        yield results.warning(_CODE, message, results.ref(graph), path, current=name, proposed=near)
