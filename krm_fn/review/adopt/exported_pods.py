"""The pod templates of workloads, by workload and name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.kube import identity, paths
from krm_fn.kube.identity import ObjectKey
from krm_fn.manifests import workloads
from krm_fn.records import NamedTuple
from krm_fn.review import pods

if TYPE_CHECKING:
    from collections.abc import Iterable

    from krm_fn.kube.types import Resource
    from krm_fn.results import Path
    from krm_fn.review.pods import Template


class TemplateKey(NamedTuple):
    """A pod template: its workload, and the name of the template in it. A Deployment has one template, without a name."""

    workload: ObjectKey
    template: str


def templates_of(resources: Iterable[Resource], default_namespace: str) -> dict[TemplateKey, Template]:
    """The pod templates of all workloads among the resources. `default_namespace` is the namespace of resources without one."""
    return {
        TemplateKey(identity.key(resource, default_namespace), _name(resource, template.path)): template
        for resource in filter(workloads.is_workload, resources)
        for template in pods.of(resource)
    }


def _name(workload: Resource, path: Path) -> str:
    """The name of a clique, or the role of a template in a LeaderWorkerSet."""
    if path[-1] == "podSpec":
        return f"{paths.at(workload, (*path[:-2], 'name'))}"
    return "" if path[-2] == "template" else f"{path[-2]}"
