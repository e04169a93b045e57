"""Makes the two states of a comparison with a cluster: the live objects, and the objects after the render is applied."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from krm_fn.base import codes, report, results
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Result
from krm_fn.kubernetes import identity
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import mapping
from krm_fn.render import dynamo_api
from krm_fn.render.dynamo_resources import is_expanded, owner_keys
from krm_fn.render.manifests import ownership
from krm_fn.render.resolve.cluster import default_namespace
from krm_fn.review.diff.rendered_state import Render
from krm_fn.review.live import cluster_export, field_ownership, server_fields
from krm_fn.review.live.cluster_export import Export

_SECRET = ("", "Secret")


class LiveStates(NamedTuple):
    """The state before the change, from the cluster, and the state after it. With an error finding, they cannot be compared."""

    old: Render
    new: Render
    results: list[Result]


def owners(rendered: Render) -> frozenset[ObjectKey]:
    """Returns the keys of the Dynamo resources of a render."""
    namespace = default_namespace(rendered.config)
    return frozenset(identity.key(resource, namespace) for resource in rendered.inputs if is_expanded(resource))


def states(exported: Export, rendered: Render, known: Collection[ObjectKey] = ()) -> LiveStates:
    """Returns both states of the objects that the render has, or had: live objects with a mark of one of its Dynamo resources.

    `known` are the Dynamo resources of other renders that are compared with the same cluster.

    Secrets are left out, and so are objects of namespaces that the export does not have. Numbers of replicas that applying leaves alone are
    those of the cluster in both states.
    """
    namespace = default_namespace(rendered.config)
    live = {identity.key(resource): resource for resource in exported.objects}
    keyed = ((identity.key(resource, namespace), resource) for resource in rendered.objects)
    wanted = {key: resource for key, resource in keyed if key[:2] != _SECRET}
    errors = list(cluster_export.check_namespace(exported, {key.namespace for key in wanted if key.namespace}))
    covered = {key: resource for key, resource in wanted.items() if _is_covered(key, exported.namespaces)}
    managers = field_ownership.appliers(exported.objects)
    pairs = {key: _comparable_pair(live[key], resource, managers) for key, resource in covered.items() if key in live}
    unlisted = frozenset(key[:2] for key in covered) - {key[:2] for key in live}
    rendered_owners = owners(rendered)
    pruned = [
        server_fields.native(resource) for key, resource in live.items() if key not in wanted and _is_of(resource, key, rendered_owners)
    ]
    notes = (
        *_not_covered(wanted, covered),
        *_missing_kinds(unlisted),
        *_unknown_owners([key for key in pairs if field_ownership.of(live[key], managers) is None]),
        *_other_owners(live, {*rendered_owners, *known}),
    )
    old_objects = (*(old for old, _ in pairs.values()), *pruned)
    new_objects = tuple(pairs[key][1] if key in pairs else resource for key, resource in covered.items())
    old = Render(old_objects, (), rendered.config, built=rendered_owners, unlisted=unlisted if live else frozenset())
    return LiveStates(old, rendered._replace(objects=new_objects, sources=()), errors or [*notes])


def _is_covered(key: ObjectKey, namespaces: Collection[str]) -> bool:
    """False for an object of a namespace that the export does not have. An export without objects covers all namespaces."""
    return not namespaces or not key.namespace or key.namespace in namespaces


def _comparable_pair(live: Resource, rendered: Resource, managers: frozenset[str]) -> tuple[Resource, Resource]:
    """Returns the live object as its file would be, and the rendered one. Replicas are those of the cluster if applying leaves them alone.

    Between two API versions, only metadata is compared.
    """
    same = live if live["apiVersion"] == rendered["apiVersion"] else {**rendered, "metadata": live["metadata"]}
    return _with_replicas(live, server_fields.comparable(same, rendered, managers), rendered)


def _with_replicas(live: Resource, old: Resource, rendered: Resource) -> tuple[Resource, Resource]:
    """Returns both states with the live number of replicas, if the render has no number or an adapter has it.

    An adapter that has no number yet gets the first one, which is in the rendered state.
    """
    spec = mapping(live.get("spec"))
    number = spec.get("replicas")
    stays = "replicas" not in mapping(rendered.get("spec")) and "replicas" not in mapping(old.get("spec"))
    if rendered["kind"] == dynamo_api.ADAPTER:
        number = spec.get("desiredReplicas", spec.get("replicas", mapping(rendered.get("spec")).get("replicas")))
        stays = True
    if not isinstance(number, int) or not stays:
        return old, rendered
    return _set_replicas(old, number), _set_replicas(rendered, number)


def _set_replicas(resource: Resource, number: int) -> Resource:
    return {**resource, "spec": {**mapping(resource.get("spec")), "replicas": number}}


def _is_of(resource: Resource, key: ObjectKey, owners: Collection[ObjectKey]) -> bool:
    """True for a generated object of one of the Dynamo resources."""
    return ownership.is_generated(resource) and not {*owner_keys(resource, key.namespace)}.isdisjoint(owners)


def _not_covered(wanted: Mapping[ObjectKey, Resource], covered: Collection[ObjectKey]) -> Iterator[Result]:
    """Warns of objects in namespaces that the export does not have."""
    missing = sorted({key.namespace for key in wanted if key not in covered})
    if missing:
        message = f"the export has no object of the namespace {', '.join(missing)}, so the objects there are not compared"
        yield results.warning(codes.NAMESPACE_NOT_IN_EXPORT, f"{message}; export these namespaces too, and join the exports in one file")


def _missing_kinds(unlisted: Iterable[tuple[str, str]]) -> Iterator[Result]:
    """Notes kinds without an object in the export: their objects count as new, but perhaps they were not exported."""
    missing = sorted(f"{kind}.{group}".rstrip(".").lower() for group, kind in unlisted)
    if missing:
        message = f"the export has no object of {', '.join(missing)}, so all of them are reported as new"
        yield results.info(codes.KIND_NOT_IN_EXPORT, f"{message}; if the cluster has some, add the kinds to `kubectl get`")


def _unknown_owners(unowned: Sequence[ObjectKey]) -> Iterator[Result]:
    """Reports objects without managed fields: their removed fields look like fields that controllers added."""
    if unowned:
        message = (
            f"the export lacks managedFields for {report.pluralize(len(unowned), 'object')}, such as {unowned[0].kind} {unowned[0].name}"
        )
        effect = "fields that controllers set in their pods appear as removed, and labels and annotations that left the files do not"
        yield results.info(codes.EXPORT_WITHOUT_MANAGED_FIELDS, f"{message}, so {effect}; export again with `--show-managed-fields`")


def _other_owners(live: Mapping[ObjectKey, Resource], owners: Collection[ObjectKey]) -> Iterator[Result]:
    """Reports generated objects of Dynamo resources that are not compared."""
    generated = ((key, resource) for key, resource in live.items() if ownership.is_generated(resource))
    others = {owner for key, resource in generated for owner in owner_keys(resource, key.namespace)} - {*owners}
    names = sorted(f"{key.kind} {key.namespace}/{key.name}" for key in others)
    if names:
        message = f"the export has objects of {', '.join(names)}, which the paths do not have, so they are not compared"
        yield results.info(codes.LIVE_OBJECTS_NOT_COMPARED, f"{message}; if they left Git, their objects are pruned")
