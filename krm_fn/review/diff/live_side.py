"""Makes the two states of a comparison with a cluster: the live objects, and what applying the render makes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn import results
from krm_fn.kube import identity
from krm_fn.kube.values import mapping
from krm_fn.manifests import ownership
from krm_fn.records import NamedTuple
from krm_fn.review.diff import Side
from krm_fn.review.diff.sides import home, is_expanded, owner_keys
from krm_fn.review.live import cluster_export, comparable, field_ownership, server_fields

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from krm_fn.kube.identity import ObjectKey
    from krm_fn.kube.types import Resource
    from krm_fn.results import Result
    from krm_fn.review.live.cluster_export import Export

_SECRET = ("", "Secret")


class Sides(NamedTuple):
    """The state before the change, from the cluster, and the state after it. With an error finding, they cannot be compared."""

    old: Side
    new: Side
    results: list[Result]


def sides(exported: Export, now: Side) -> Sides:
    """Both states of the objects that the render has, or had: live objects with a mark of one of its Dynamo resources.

    Secrets are left out, and so are objects of namespaces that the export does not have. Numbers of replicas that applying leaves alone are
    those of the cluster in both states.
    """
    there = {identity.key(each): each for each in exported.objects}
    keyed = ((identity.key(each, home(now.config)), each) for each in now.objects)
    wanted = {key: each for key, each in keyed if key[:2] != _SECRET}
    wrong = list(cluster_export.check_namespace(exported, {key.namespace for key in wanted if key.namespace}))
    covered = {key: each for key, each in wanted.items() if _is_covered(key, exported.namespaces)}
    managers = field_ownership.appliers(exported.objects)
    both = {key: _both(there[key], each, managers) for key, each in covered.items() if key in there}
    owners = {identity.key(each, home(now.config)) for each in now.inputs if is_expanded(each)}
    pruned = [server_fields.native(each) for key, each in there.items() if key not in wanted and _is_of(each, key, owners)]
    notes = (
        *_not_covered(wanted, covered),
        *_missing_kinds(covered, there),
        *_unknown_owners([key for key in both if field_ownership.of(there[key], managers) is None]),
        *_others(there, owners),
    )
    old = (*(before for before, _ in both.values()), *pruned)
    new = tuple(both[key][1] if key in both else each for key, each in covered.items())
    before = Side(old, (), now.config, built=frozenset(owners))
    return Sides(before, now._replace(objects=new), wrong or [*notes])


def _is_covered(key: ObjectKey, namespaces: Collection[str]) -> bool:
    """False for an object of a namespace that the export does not have. An export without objects covers all namespaces."""
    return not namespaces or not key.namespace or key.namespace in namespaces


def _both(live: Resource, rendered: Resource, managers: frozenset[str]) -> tuple[Resource, Resource]:
    """The live object as its file would be, and the rendered one. Replicas are those of the cluster if applying leaves them alone.

    Between two API versions, only metadata is compared.
    """
    same = live if live["apiVersion"] == rendered["apiVersion"] else {**rendered, "metadata": live["metadata"]}
    return _with_replicas(live, comparable.comparable(same, rendered, managers), rendered)


def _with_replicas(live: Resource, before: Resource, rendered: Resource) -> tuple[Resource, Resource]:
    """Both states with the live number of replicas, if the render has none or an adapter has it: something else sets it then."""
    number = mapping(live.get("spec")).get("replicas")
    stays = "replicas" not in mapping(rendered.get("spec")) and "replicas" not in mapping(before.get("spec"))
    if not isinstance(number, int) or not (stays or rendered["kind"] == identity.ADAPTER):
        return before, rendered
    return _scaled(before, number), _scaled(rendered, number)


def _scaled(resource: Resource, number: int) -> Resource:
    return {**resource, "spec": {**mapping(resource.get("spec")), "replicas": number}}


def _is_of(resource: Resource, key: ObjectKey, owners: Collection[ObjectKey]) -> bool:
    """True for a generated object of one of the Dynamo resources."""
    return ownership.is_generated(resource) and not {*owner_keys(resource, key.namespace)}.isdisjoint(owners)


def _not_covered(wanted: Mapping[ObjectKey, Resource], covered: Collection[ObjectKey]) -> Iterator[Result]:
    """Warns of objects in namespaces that the export does not have."""
    missing = sorted({key.namespace for key in wanted if key not in covered})
    if missing:
        message = f"the export has no object of the namespace {', '.join(missing)}, so the objects there are not compared"
        yield results.warning("DYN520", f"{message}; export these namespaces too, and join the exports in one file")


def _missing_kinds(covered: Mapping[ObjectKey, Resource], there: Iterable[ObjectKey]) -> Iterator[Result]:
    """Notes kinds without an object in the export: their objects count as new, but perhaps they were not exported."""
    known = {key[:2] for key in there}
    missing = sorted({f"{key.kind}.{key.group}".rstrip(".").lower() for key in covered if key[:2] not in known})
    if missing:
        message = f"the export has no object of {', '.join(missing)}, so all of them count as new"
        yield results.info("DYN521", f"{message}; if the cluster has some, add the kinds to `kubectl get`")


def _unknown_owners(unowned: Sequence[ObjectKey]) -> Iterator[Result]:
    """Notes that what left a render cannot be told from what others added."""
    if unowned:
        message = f"nothing in the export says which fields of {len(unowned)} objects were applied"
        mend = "what others added to pods, labels and annotations shows as removed; export with `--show-managed-fields`"
        yield results.info("DYN522", f"{message}, such as {unowned[0].kind} {unowned[0].name}; {mend}")


def _others(there: Mapping[ObjectKey, Resource], owners: Collection[ObjectKey]) -> Iterator[Result]:
    """Notes generated objects of Dynamo resources that are not compared."""
    found = {owner for key, each in there.items() if ownership.is_generated(each) for owner in owner_keys(each, key.namespace)}
    names = sorted(f"{key.kind} {key.namespace}/{key.name}" for key in found - {*owners})
    if names:
        message = f"the export has objects of {', '.join(names)}, which the paths do not have, so they are not compared"
        yield results.info("DYN523", f"{message}; if they left Git, their objects are pruned")
