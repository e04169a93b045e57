"""References in a build to objects that are not in it: objects that kustomize renamed, and the scaling adapters of autoscalers.

An API server accepts such a reference, and the pods or the autoscaler then wait for an object that nobody makes.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence

from krm_fn import results
from krm_fn.config import Config
from krm_fn.kube import identity, paths, references
from krm_fn.kube.identity import ObjectKey
from krm_fn.kube.references import Reference, kustomize_fields, name_fields
from krm_fn.kube.types import Resource
from krm_fn.manifests import ownership
from krm_fn.resolve import cluster
from krm_fn.results import Result
from krm_fn.review import build_index

_HASHED = (name_fields.CONFIG_MAP, name_fields.SECRET)
_CONFIGURATIONS = "list the file of `krm-fn schema --for names` under configurations of the layer with the"
_Names = dict[tuple[str, str, str], dict[str, Resource]]
"""The objects of a build by name, by group, kind and namespace."""


def check_names(resources: Sequence[Resource], config: Config) -> Iterator[Result]:
    """Yields an error for each name of an object that is in the build under another name, because kustomize changed it there only.

    kustomize follows the fields that it knows, and those in a file under `configurations`. It never follows objects that a function makes.
    """
    default = config.namespace or cluster.NAMESPACE
    built: _Names = {}
    for resource in resources:
        key = identity.key(resource, default)
        built.setdefault((key.group, key.kind, key.namespace), {})[key.name] = resource
    for resource in resources:
        if not identity.is_dynamo(resource):  # the graph in a build may keep the names with which it was rendered
            for reference in references.of(resource):
                yield from _check_name(resource, reference, identity.key(resource, default), built)


def _check_name(resource: Resource, reference: Reference, key: ObjectKey, built: _Names) -> Iterator[Result]:
    namespace = (reference.namespace or key.namespace) if name_fields.is_namespaced(reference.group, reference.kind) else ""
    names = built.get((reference.group, reference.kind, namespace), {})
    if not names or reference.name in names or reference.kind == identity.ADAPTER:
        return
    code, name, reason = _renaming(resource, reference, key, names)
    if name:
        message = f"{reference.kind} {reference.name} is not in the build, but {name} is, because {reason}"
        yield results.error(code, message, results.ref(resource), reference.path, current=reference.name, proposed=name)


def _renaming(resource: Resource, reference: Reference, key: ObjectKey, names: dict[str, Resource]) -> tuple[str, str, str]:
    """Returns the code, the new name of the named object, and the reason with the fix; an empty name if the object was not renamed."""
    target = (reference.group, reference.kind)
    hashed = [
        name for name in names if (match := build_index.HASHED_NAME.fullmatch(name)) and build_index.is_like(match[1], reference.name)
    ]
    if target in _HASHED and len(hashed) == 1:
        return "DYN501", hashed[0], f"kustomize changed the name without this reference; {_CONFIGURATIONS} generator"
    renamed = [name for name, other in names.items() if _is_renamed(reference.name, name, other, resource)]
    if len(renamed) == 1 and ownership.is_marked(names[renamed[0]]):
        reason = "a prefix or suffix changed the graph, and kustomize cannot follow objects that the function makes"
        return "DYN671", renamed[0], f"{reason}; write {renamed[0]}, for example with a patch in the layer with the function"
    if len(renamed) == 1 and not kustomize_fields.is_known((key.group, key.kind), reference.path, target):
        return "DYN671", renamed[0], f"a prefix or suffix changed the name without this reference; {_CONFIGURATIONS} prefix or suffix"
    return "", "", ""


def _is_renamed(name: str, other: str, named: Resource, referrer: Resource) -> bool:
    """True if `other` is `name` with a prefix or a suffix that the object with the reference has in its name, too.

    A generated object has them in the name of its graph, with which its own name begins.
    """
    referrers = (results.ref(referrer).name, *_owners(referrer))
    for owner in (*_owners(named), other):
        rest = other.removeprefix(owner)
        before = name.removesuffix(rest)
        at = owner.find(before)
        if other.startswith(owner) and name.endswith(rest) and before not in ("", owner) and at >= 0:
            prefix, suffix = owner[:at], owner[at + len(before) :]
            if any(known.startswith(prefix) and known.endswith(suffix) for known in referrers):
                return True
    return False


def _owners(resource: Resource) -> Iterable[str]:
    return (mark.partition("/")[2] for mark in ownership.owners(resource))


def check_autoscalers(resources: Sequence[Resource], config: Config) -> Iterator[Result]:
    """Yields a finding for each autoscaler whose scaling adapter is not among the rendered objects of its namespace.

    A warning, or an error if a similar name shows a mistake. Without adapters and graphs in the namespace, nothing is known about it.
    """
    adapters: dict[str, dict[str, Resource]] = {}
    workloads: set[tuple[str, str]] = set()
    for resource in resources:
        ref, namespace = results.ref(resource), cluster.namespace(resource, config)
        if identity.is_dynamo(resource) and ref.kind in (identity.ADAPTER, identity.GRAPH):
            adapters.setdefault(namespace, {}).update({ref.name: resource} if ref.kind == identity.ADAPTER else {})
        elif ownership.is_marked(resource) and any(paths.find(resource, [template.spec for template in paths.POD_TEMPLATES])):
            workloads.add((namespace, ref.name))
    for resource in resources:
        name, namespace = _adapter_of(resource), cluster.namespace(resource, config)
        if name and namespace in adapters and name not in adapters[namespace]:
            yield _missing_adapter(resource, name, adapters[namespace], has_workload=(namespace, name) in workloads)


def _adapter_of(resource: Resource) -> str:
    """Returns the name of the scaling adapter that an autoscaler scales; empty for other resources and targets."""
    targets = (target for target in references.of(resource) if target.path == references.SCALED and target.kind == identity.ADAPTER)
    return next((target.name for target in targets), "")


def _missing_adapter(resource: Resource, name: str, adapters: dict[str, Resource], *, has_workload: bool) -> Result:
    ref, message = results.ref(resource), f"no graph has the scaling adapter {name}, so this autoscaler scales nothing"
    if has_workload:
        return results.error("DYN502", f"{message}; enable the scaling adapter of this service", ref, references.SCALED)
    renamed = [
        other for other in sorted(adapters) if build_index.is_like(other, name) or _is_renamed(name, other, adapters[other], resource)
    ]
    if renamed:
        fix = f"write {renamed[0]}, for example with a patch in the layer with the function"
        return results.error("DYN502", f"{message}; {fix}", ref, references.SCALED, current=name, proposed=renamed[0])
    if similar := difflib.get_close_matches(name, sorted(adapters), 1, 0.8):
        return results.error("DYN502", f"{message}; write {similar[0]}", ref, references.SCALED, current=name, proposed=similar[0])
    return results.warning("DYN502", f"{message}; correct the name, or check it together with its graph", ref, references.SCALED)
