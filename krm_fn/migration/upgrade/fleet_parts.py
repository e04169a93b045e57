"""The resources of a fleet in the parts that are rendered together, each with its configuration, versions and facts of a cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from krm_fn.base import results
from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import identity
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import mapping, objects
from krm_fn.migration.upgrade import upgrade_steps
from krm_fn.migration.upgrade.upgrade_steps import Versions
from krm_fn.render import dynamo_api, dynamo_resources
from krm_fn.render.config import Config
from krm_fn.render.manifests import ownership
from krm_fn.render.resolve import cluster, release_choice, runtime_version
from krm_fn.review import render_settings
from krm_fn.review.forecast import object_rules
from krm_fn.review.forecast.rollouts import Service

GRAPHS = (dynamo_api.GRAPH, dynamo_api.COMPONENT)
"""The kinds whose images decide the steps of an upgrade."""


class FleetPart(NamedTuple):
    """Resources that are rendered together.

    `name` is the folder of their root; empty if there is none. `resources` are those of users: objects that a render or an operator
    generated are left out. `replicas` are those that scaling adapters have in a cluster.
    """

    name: str
    resources: tuple[Resource, ...]
    config: Config
    replicas: Mapping[Service, int] = {}

    def key(self, resource: Resource) -> ObjectKey:
        """Returns the key of a resource in this part."""
        return identity.key(resource, cluster.default_namespace(self.config))


def parts(name: str, resources: Sequence[Resource], config: Config, *, is_configured: bool) -> tuple[FleetPart, ...]:
    """Returns the parts of resources that are read together.

    Without a configuration (`is_configured` is false), the settings of a rendered graph are those that its render wrote on it, as in a
    finished build and in an export of a cluster. Graphs with other settings are then another part.
    """
    namespace = cluster.default_namespace(config)
    outputs = [resource for resource in resources if _is_output(resource)]
    output_ids = {id(resource) for resource in outputs}
    written = [resource for resource in resources if id(resource) not in output_ids]
    adapters = [(identity.key(resource, namespace).namespace, resource) for resource in outputs]
    replicas = object_rules.adapter_replicas(adapters)
    expanded = [resource for resource in written if dynamo_resources.is_expanded(resource)]
    others = tuple(resource for resource in written if not dynamo_resources.is_expanded(resource))
    by_config: dict[Config, list[Resource]] = {}
    for resource in expanded:
        by_config.setdefault(config if is_configured else render_settings.of(resource, config), []).append(resource)
    return tuple(FleetPart(name, (*members, *others), part_config, replicas) for part_config, members in by_config.items())


def _is_output(resource: Resource) -> bool:
    """True for an object that a render or an operator generated from a Dynamo resource."""
    owners = objects(mapping(resource.get("metadata")).get("ownerReferences"))
    is_owned = any(f"{owner.get('apiVersion')}".startswith(f"{dynamo_api.GROUP}/") for owner in owners)
    return is_owned or ownership.is_generated(resource)


def graphs(part: FleetPart) -> Iterator[tuple[int, Resource]]:
    """Yields the graphs and the standalone components of a part, with their numbers among its resources."""
    for number, resource in enumerate(part.resources):
        if dynamo_resources.is_expanded(resource) and results.ref(resource).kind in GRAPHS:
            yield number, resource


def wave_key(key: ObjectKey) -> Service:
    """Returns the key of a graph or a standalone component among the waves of a step."""
    return Service(key.namespace, key.name, "") if key.kind == dynamo_api.GRAPH else Service(key.namespace, "", key.name)


def versions(resource: Resource, config: Config, *, highest: bool) -> Versions | None:
    """Returns the release of a graph, and its lowest or highest runtime version.

    Without a version, it is that of the release, if the configuration pins the release; otherwise the result is None.
    """
    release = release_choice.release_name(resource, config)
    runtimes = [runtime.version for runtime in runtime_version.each(resource)]
    if runtimes:
        return Versions(release, max(runtimes) if highest else min(runtimes))
    runtime = upgrade_steps.target(release) if release_choice.is_pinned(config) else None
    return Versions(release, runtime) if runtime else None
