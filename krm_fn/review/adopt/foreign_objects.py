"""Finds graphs and objects that another tool has marked as its own: it would undo a take-over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn import results
from krm_fn.kube import identity, labels
from krm_fn.kube.values import text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from krm_fn.kube.types import Resource
    from krm_fn.results import Result
    from krm_fn.review.adopt.exported_objects import Inventory

_MARKS = {
    "meta.helm.sh/release-name": "the Helm release",
    "argocd.argoproj.io/tracking-id": "the Argo CD application of",
    "argocd.argoproj.io/instance": "the Argo CD application",
    "kustomize.toolkit.fluxcd.io/name": "the Flux Kustomization",
    "helm.toolkit.fluxcd.io/name": "the Flux HelmRelease",
}


def check(rendered: Iterable[Resource], inventory: Inventory) -> Iterator[Result]:
    """Warns of graphs, and of live objects that a render makes, with the mark of a tool. Names come from labels and annotations."""
    keys = {identity.key(resource, inventory.namespace) for resource in rendered}
    for resource in inventory.exported:
        of_a_user = resource["kind"] in (identity.GRAPH, identity.COMPONENT, identity.MODEL)
        tool = _tool(resource) if of_a_user or identity.key(resource, inventory.namespace) in keys else ""
        if tool:
            fix = (
                "suspend it until the steps of MIGRATION.md are done, then give it the new files"
                if of_a_user
                else "take the object out of its files first, or it changes the object back"
            )
            yield results.warning("DYN572", f"{tool} applies this object; {fix}", results.ref(resource))


def _tool(resource: Resource) -> str:
    """The tool with the name that its mark has; empty without a mark."""
    marks = {**labels.of(resource), **labels.annotations(resource)}
    return next((f"{tool} {text(marks[key])[:80]}" for key, tool in _MARKS.items() if marks.get(key)), "")
