"""The objects that v1alpha1 graphs ask for in fields that v1beta1 does not have: claims, Ingresses and VirtualServices."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from krm_fn import resolve, results
from krm_fn.convert import lost, versions
from krm_fn.convert.lost import Lost
from krm_fn.kube import identity
from krm_fn.manifests import ingress, volumes
from krm_fn.resolve import cluster

if TYPE_CHECKING:
    from krm_fn.config import Config
    from krm_fn.kube.types import Resource
    from krm_fn.results import Path


class Made(NamedTuple):
    """The objects, and the fields for which there is none."""

    objects: list[Resource]
    missing: list[Lost]


def make(resource: Resource, config: Config) -> Made:
    """The objects that a render makes of these fields. They have a namespace only if the resource has one.

    An Ingress needs `ingressControllerClassName`; a VirtualService needs a gateway, and `ingress.istioGateway` in the configuration.
    """
    is_graph = results.ref(resource).kind == identity.GRAPH
    if not is_graph and results.ref(resource).kind != identity.COMPONENT:
        return Made([], [])
    settings = config._replace(behaviour="v0.9")
    plan, _ = (resolve.graph if is_graph else resolve.component)(resource, settings, cluster.read([], settings)[0])
    made, missing = [*volumes.claims(plan)], []
    asking = {path for path, _ in lost.fields(resource, versions.V1BETA1) if path[-1] == "ingress"}
    for component in plan.components:
        path: Path = ("spec", "services", component.who.service, "ingress") if is_graph else ("spec", "ingress")
        if path in asking:
            entrances = [*ingress.of(component)]
            made += entrances
            missing += [] if entrances else [Lost(path, "")]
    return Made(made if results.ref(resource).namespace else [_without_namespace(each) for each in made], missing)


def _without_namespace(made: Resource) -> Resource:
    return {**made, "metadata": {key: value for key, value in made["metadata"].items() if key != "namespace"}}
