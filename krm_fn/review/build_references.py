"""References in a build to objects that are not in it: generated Secrets and ConfigMaps, and the scaling adapters of autoscalers.

An API server accepts such a reference, and the pods or the autoscaler then wait for an object that nobody makes.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence

from krm_fn import results
from krm_fn.config import Config
from krm_fn.kube import identity, paths
from krm_fn.kube.types import Resource
from krm_fn.kube.values import mapping, text
from krm_fn.manifests import ownership
from krm_fn.resolve import cluster
from krm_fn.results import Path, Result
from krm_fn.review import build_index
from krm_fn.review.forecast import object_rules

_HASH = re.compile(r"(.+)-[2456789bcdfghkmt]{10}")
"""The names that kustomize gives generated Secrets and ConfigMaps (kustomize `api/hasher`: these are the characters of a hash)."""
_AUTOSCALERS = {("autoscaling", "HorizontalPodAutoscaler"), ("keda.sh", "ScaledObject")}
_TARGET: Path = ("spec", "scaleTargetRef", "name")


def check_generated_names(resources: Sequence[Resource], config: Config) -> Iterator[Result]:
    """Yields an error for each name in a pod that kustomize changed on the generated Secret or ConfigMap only.

    kustomize knows the fields of LeaderWorkerSets and PodCliqueSets only from a file under `configurations`.
    """
    built: dict[tuple[str, str], set[str]] = {}
    for resource in resources:
        ref = results.ref(resource)
        if ref.kind in object_rules.REFERENCES:
            built.setdefault((ref.kind, cluster.namespace(resource, config)), set()).add(ref.name)
    for resource in resources if built else ():
        for kind, path, name in _pod_references(resource) if ownership.is_marked(resource) else ():
            names = built.get((kind, cluster.namespace(resource, config)), set())
            renamed = [other for other in names if (match := _HASH.fullmatch(other)) and build_index.is_like(match[1], name)]
            if name not in names and len(renamed) == 1:
                message = (
                    f"{kind} {name} is not in the build, but {renamed[0]} is, because kustomize changed the name without this reference"
                )
                fix = "list the file of `krm-fn schema --for names` under configurations of the layer with the generator"
                ref = results.ref(resource)
                yield results.error("DYN501", f"{message}; {fix}", ref, path, current=name, proposed=renamed[0])


def _pod_references(resource: Resource) -> Iterator[tuple[str, Path, str]]:
    """Yields the kind, the path and the name of each Secret and ConfigMap that the pods of a workload need."""
    for at, pod in paths.find(resource, [template.spec for template in paths.POD_TEMPLATES]):
        for kind, fields in object_rules.REFERENCES.items():
            yield from ((kind, (*at, *path), name) for path, name in paths.find(pod, fields) if isinstance(name, str))


def check_autoscalers(resources: Sequence[Resource], config: Config) -> Iterator[Result]:
    """Yields a finding for each autoscaler whose scaling adapter is not among the rendered objects of its namespace.

    A warning, or an error if a similar name shows a mistake. Without adapters and graphs in the namespace, nothing is known about it.
    """
    adapters: dict[str, set[str]] = {}
    workloads: set[tuple[str, str]] = set()
    for resource in resources:
        ref, namespace = results.ref(resource), cluster.namespace(resource, config)
        if identity.is_dynamo(resource) and ref.kind in (identity.ADAPTER, identity.GRAPH):
            adapters.setdefault(namespace, set()).update([ref.name] if ref.kind == identity.ADAPTER else [])
        elif ownership.is_marked(resource) and any(paths.find(resource, [template.spec for template in paths.POD_TEMPLATES])):
            workloads.add((namespace, ref.name))
    for resource in resources:
        name, namespace = _adapter_of(resource), cluster.namespace(resource, config)
        if name and namespace in adapters and name not in adapters[namespace]:
            yield _missing_adapter(resource, name, adapters[namespace], has_workload=(namespace, name) in workloads)


def _adapter_of(resource: Resource) -> str:
    """Returns the name of the scaling adapter that an autoscaler scales; empty for other resources and targets."""
    ref, target = results.ref(resource), mapping(mapping(resource.get("spec")).get("scaleTargetRef"))
    is_autoscaler = (ref.api_version.rpartition("/")[0], ref.kind) in _AUTOSCALERS
    return text(target.get("name")) if is_autoscaler and target.get("kind") == identity.ADAPTER else ""


def _missing_adapter(resource: Resource, name: str, adapters: set[str], *, has_workload: bool) -> Result:
    ref, message = results.ref(resource), f"no graph has the scaling adapter {name}, so this autoscaler scales nothing"
    if has_workload:
        return results.error("DYN502", f"{message}; enable the scaling adapter of this service", ref, _TARGET)
    renamed = [adapter for adapter in sorted(adapters) if build_index.is_like(adapter, name)]
    if renamed:
        fix = "list the file of `krm-fn schema --for names` under configurations of the layer with the prefix or suffix"
        return results.error("DYN502", f"{message}; write {renamed[0]}, or {fix}", ref, _TARGET, current=name, proposed=renamed[0])
    if similar := difflib.get_close_matches(name, sorted(adapters), 1, 0.8):
        return results.error("DYN502", f"{message}; write {similar[0]}", ref, _TARGET, current=name, proposed=similar[0])
    return results.warning("DYN502", f"{message}; correct the name, or check it together with its graph", ref, _TARGET)
