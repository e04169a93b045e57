"""References in a build to objects that are not in it: objects that kustomize renamed, and the scaling adapters of autoscalers.

An API server accepts such a reference, and the pods or the autoscaler then wait for an object that nobody makes.
"""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Collection, Iterator, Sequence

from krm_fn.base import codes, results
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Result
from krm_fn.kubernetes import identity, paths, references
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.references import Reference, kustomize_fields, name_fields
from krm_fn.kubernetes.types import Resource
from krm_fn.render import dynamo_api, dynamo_references
from krm_fn.render.config import Config
from krm_fn.render.manifests import ownership
from krm_fn.render.resolve import cluster
from krm_fn.review import build_index

_WORKLOADS = ("Deployment", "LeaderWorkerSet", "PodClique", "PodCliqueScalingGroup")
_HASHED = ("ConfigMap", "Secret")
_MOST = 500
"""The largest number of objects with whose names a missing one is compared."""
_CONFIGURATIONS = "list the file of `krm-fn schema --for names` under configurations of the layer with the"


class _Built(NamedTuple):
    """The objects of a build by name, by group, kind and namespace.

    `generated` are the names of generated objects, and `owners` those of the graphs and other owners of generated objects.
    """

    objects: dict[tuple[str, str, str], dict[str, Resource]]
    generated: frozenset[str]
    owners: frozenset[str]


def check_names(resources: Sequence[Resource], config: Config) -> Iterator[Result]:
    """Yields an error for each name of an object that is in the build under another name, because kustomize changed it there only.

    kustomize follows the fields that it knows, and those in a file under `configurations`. It never follows objects that a function makes.
    """
    default = cluster.default_namespace(config)
    objects: dict[tuple[str, str, str], dict[str, Resource]] = {}
    for resource in resources:
        key = identity.key(resource, default)
        objects.setdefault((key.group, key.kind, key.namespace), {})[key.name] = resource
    generated = frozenset(results.ref(resource).name for resource in resources if ownership.is_marked(resource))
    built = _Built(objects, generated, frozenset(name for resource in resources for name in _owners(resource)))
    for resource in resources:
        if not dynamo_api.is_dynamo(resource):  # the graph in a build may keep the names with which it was rendered
            for reference in dynamo_references.of(resource):
                yield from _check_name(resource, reference, identity.key(resource, default), built)


def _check_name(resource: Resource, reference: Reference, key: ObjectKey, built: _Built) -> Iterator[Result]:
    namespace = (reference.namespace or key.namespace) if name_fields.is_namespaced(reference.group, reference.kind) else ""
    objects = built.objects.get((reference.group, reference.kind, namespace), {})
    if not objects or reference.name in objects or reference.kind == dynamo_api.ADAPTER:
        return
    is_known = kustomize_fields.is_known((key.group, key.kind), reference.path, (reference.group, reference.kind))
    for name, other in itertools.islice(objects.items(), _MOST):
        is_generated = name in built.generated
        if not is_generated and reference.name not in name:
            continue
        code, reason = _renaming(resource, reference.name, name, other, built.owners) if is_generated or not is_known else ("", "")
        if code:
            message = f"{reference.kind} {reference.name} is not in the build, but {name} is, because {reason}"
            yield results.error(code, message, results.ref(resource), reference.path, current=reference.name, proposed=name)
            return


def _renaming(resource: Resource, name: str, other: str, named: Resource, owners: Collection[str]) -> tuple[str, str]:
    """Returns the code and the reason with the fix, if `other` is the new name of what a resource calls `name`; otherwise empty texts."""
    if ownership.is_marked(named):
        reason = "a prefix or suffix changed the graph, and kustomize cannot follow objects that the function makes"
        return (codes.REFERENCE_TO_RENAMED_OBJECT, f"{reason}; {_write(other)}") if _has_affixes(name, other, named, resource) else ("", "")
    hashed = build_index.HASHED_NAME.fullmatch(other) if results.ref(named).kind in _HASHED else None
    if hashed and (hashed[1] == name or _is_renamed(name, hashed[1], resource, owners)):
        return codes.REFERENCE_WITHOUT_HASH, f"kustomize changed the name without this reference; {_CONFIGURATIONS} generator"
    if _is_renamed(name, other, resource, owners):
        return (
            codes.REFERENCE_TO_RENAMED_OBJECT,
            f"a prefix or suffix changed the name without this reference; {_CONFIGURATIONS} prefix or suffix",
        )
    return "", ""


def _write(name: str) -> str:
    return f"write {name}, for example with a patch in the layer with the function"


def _has_affixes(name: str, other: str, named: Resource, referrer: Resource) -> bool:
    """True if a generated object is called `other` because its graph got a prefix or a suffix, as the object with the reference did.

    The name of a generated object begins with that of the graph.
    """
    for owner in _owners(named):
        rest = other.removeprefix(owner)
        if other.startswith(owner) and name.endswith(rest) and _is_renamed(name.removesuffix(rest), owner, referrer, (owner,)):
            return True
    return False


def _is_renamed(name: str, other: str, referrer: Resource, owners: Collection[str]) -> bool:
    """True if `other` is `name` with a prefix or a suffix that an owner and the object with the reference have in their names, too."""
    prefix, middle, suffix = other.partition(name) if name else ("", "", "")
    referrers = (results.ref(referrer).name, *_owners(referrer))
    is_shared = all(any(known.startswith(prefix) and known.endswith(suffix) for known in names) for names in (owners, referrers))
    return bool(middle) and other != name and is_shared


def _owners(resource: Resource) -> Iterator[str]:
    """Yields the names of the owners of a generated object, and the name of a Dynamo resource itself."""
    yield from (mark.partition("/")[2] for mark in ownership.owners(resource))
    if dynamo_api.is_dynamo(resource):
        yield results.ref(resource).name


_UNSCALABLE = (
    (dynamo_api.GROUP, dynamo_api.GRAPH),
    (dynamo_api.GROUP, dynamo_api.COMPONENT),
    ("disaggregatedset.x-k8s.io", "DisaggregatedSet"),
)
"""Group and kind of objects without the subresource scale (the operator's definitions in deploy/operator/config/crd/bases, and those of
LeaderWorkerSet in config/crd/bases)."""


def check_autoscalers(resources: Sequence[Resource], config: Config) -> Iterator[Result]:
    """Yields a finding for each autoscaler whose scaling adapter is not among the rendered objects of its namespace.

    A warning, or an error if a similar name shows a mistake. Without adapters and graphs in the namespace, nothing is known about it.
    """
    adapters: dict[str, dict[str, Resource]] = {}
    workloads: set[tuple[str, str]] = set()
    for resource in resources:
        ref, namespace = results.ref(resource), cluster.namespace(resource, config)
        if dynamo_api.is_dynamo(resource) and ref.kind in (dynamo_api.ADAPTER, dynamo_api.GRAPH):
            adapters.setdefault(namespace, {}).update({ref.name: resource} if ref.kind == dynamo_api.ADAPTER else {})
        elif ownership.is_marked(resource) and any(paths.find(resource, [template.spec for template in paths.POD_TEMPLATES])):
            workloads.add((namespace, re.sub(r"-[0-9]+$", "", ref.name) if ref.kind == "LeaderWorkerSet" else ref.name))
    for resource in resources:
        target = paths.at(resource, references.SCALED[:-1])
        if isinstance(target, dict) and (f"{target.get('apiVersion')}".rpartition("/")[0], target.get("kind")) in _UNSCALABLE:
            yield _unscalable(resource, target)
        workload = _workload_of(resource)
        if (
            workload
            and (cluster.namespace(resource, config), workload) in workloads
            and workload in (known := adapters.get(cluster.namespace(resource, config), {}))
        ):
            yield _beside_adapter(resource, f"{target['kind']}", known[workload])
        name, namespace = _adapter_of(resource), cluster.namespace(resource, config)
        if name and namespace in adapters and name not in adapters[namespace]:
            yield _missing_adapter(resource, name, adapters[namespace], has_workload=(namespace, name) in workloads)


def _unscalable(resource: Resource, target: Resource) -> Result:
    """Returns the error about an autoscaler of an object that nobody can scale. A fix changes the kind alone, so only within the group."""
    kind = f"{target['kind']}"
    problem = f"{kind} has no scale subresource, so this autoscaler scales nothing"
    message = f"{problem}; write {dynamo_api.ADAPTER} of {dynamo_api.GROUP}, and the name of the adapter of a service"
    path = (*references.SCALED[:-1], "kind")
    proposed = dynamo_api.ADAPTER if dynamo_api.is_dynamo(target) else None
    return results.error(codes.AUTOSCALER_WITHOUT_ADAPTER, message, results.ref(resource), path, current=kind, proposed=proposed)


def _workload_of(resource: Resource) -> str:
    """Returns the name of the object of Kubernetes that an autoscaler scales; empty for other resources and targets."""
    target = paths.at(resource, references.SCALED[:-1])
    return f"{target.get('name')}" if isinstance(target, dict) and target.get("kind") in _WORKLOADS else ""


def _beside_adapter(resource: Resource, kind: str, adapter: Resource) -> Result:
    """Returns the warning about an autoscaler of a workload whose replicas a scaling adapter sets."""
    message = f"the scaling adapter {results.ref(adapter).name} sets the replicas of this {kind}, and undoes what the autoscaler sets"
    fix = f"write apiVersion: {adapter['apiVersion']} and kind: {dynamo_api.ADAPTER}"
    return results.warning(
        codes.AUTOSCALER_WITHOUT_ADAPTER, f"{message}; {fix}", results.ref(resource), (*references.SCALED[:-1], "kind"), current=kind
    )


def _adapter_of(resource: Resource) -> str:
    """Returns the name of the scaling adapter that an autoscaler scales; empty for other resources and targets."""
    if paths.at(resource, references.SCALED) is None:  # most resources: their other references need not be read
        return ""
    scaled = (reference for reference in dynamo_references.of(resource) if reference.path == references.SCALED)
    return next((reference.name for reference in scaled if reference.kind == dynamo_api.ADAPTER), "")


def _missing_adapter(resource: Resource, name: str, adapters: dict[str, Resource], *, has_workload: bool) -> Result:
    ref, message = results.ref(resource), f"no graph has the scaling adapter {name}, so this autoscaler scales nothing"
    if has_workload:
        return results.error(
            codes.AUTOSCALER_WITHOUT_ADAPTER, f"{message}; enable the scaling adapter of this component", ref, references.SCALED
        )
    renamed = [
        other for other in sorted(adapters) if build_index.is_like(other, name) or _has_affixes(name, other, adapters[other], resource)
    ]
    if renamed:
        return results.error(
            codes.AUTOSCALER_WITHOUT_ADAPTER, f"{message}; {_write(renamed[0])}", ref, references.SCALED, current=name, proposed=renamed[0]
        )
    if similar := difflib.get_close_matches(name, sorted(adapters), 1, 0.8):
        return results.error(
            codes.AUTOSCALER_WITHOUT_ADAPTER, f"{message}; write {similar[0]}", ref, references.SCALED, current=name, proposed=similar[0]
        )
    return results.warning(
        codes.AUTOSCALER_WITHOUT_ADAPTER, f"{message}; correct the name, or check it together with its graph", ref, references.SCALED
    )
