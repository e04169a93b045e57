"""Pod templates and workloads of all workload kinds, read without the product's own code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

Object = dict[str, Any]
Workload = tuple[str, str, str, str]


def templates(each: Object) -> Iterator[Object]:
    """The pod templates of a workload of any kind; empty for other objects."""
    spec = each.get("spec", {})
    if each["kind"] in ("Deployment", "Job"):
        yield spec["template"]
    elif each["kind"] == "LeaderWorkerSet":
        yield from (spec["leaderWorkerTemplate"][role] for role in ("leaderTemplate", "workerTemplate"))
    elif each["kind"] == "DisaggregatedSet":
        groups = (role["spec"]["leaderWorkerTemplate"] for role in spec["roles"])
        yield from (group[role] for group in groups for role in ("leaderTemplate", "workerTemplate") if role in group)
    elif each["kind"] == "PodCliqueSet":
        for clique in spec["template"]["cliques"]:
            yield {"metadata": {key: clique.get(key, {}) for key in ("labels", "annotations")}, "spec": clique["spec"]["podSpec"]}


def pod_templates(each: Object) -> Iterator[Object]:
    """The pod templates of a workload as PodTemplate objects, so that an API server can validate them."""
    for index, template in enumerate(templates(each)):
        metadata = {"name": f"{each['metadata']['name']}-{index}", "namespace": each["metadata"]["namespace"]}
        yield {"apiVersion": "v1", "kind": "PodTemplate", "metadata": metadata, "template": template}


def workloads(each: Object) -> Iterator[Workload]:
    """API version, kind, name and service of the workload, or of each workload that Grove creates from a PodCliqueSet."""
    label, name = "nvidia.com/dynamo-component", each["metadata"]["name"]
    if each["kind"] in ("Deployment", "LeaderWorkerSet"):
        yield each["apiVersion"], each["kind"], name, each["metadata"]["labels"][label]
    elif each["kind"] == "DisaggregatedSet":
        yield from ((each["apiVersion"], each["kind"], name, role["metadata"]["labels"][label]) for role in each["spec"]["roles"])
    elif each["kind"] == "PodCliqueSet":
        template = each["spec"]["template"]
        groups = {clique: group["name"] for group in template.get("podCliqueScalingGroups", ()) for clique in group["cliqueNames"]}
        for clique in template["cliques"]:
            kind = "PodCliqueScalingGroup" if clique["name"] in groups else "PodClique"
            yield each["apiVersion"], kind, f"{name}-0-{groups.get(clique['name'], clique['name'])}", clique["labels"][label]
