"""Binds pods to the node, as a scheduler does on a cluster of one node; binds claims, as a volume controller does.

It looks at GPUs, at `nodeSelector` and at missing claims. It looks at no affinity, taint, priority or other resource.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.testbed.node.cluster import Cluster

Object = dict[str, Any]

GPU = "nvidia.com/gpu"


class Scheduler:
    """Binds pods to one node. `wake` after any change of a pod or a claim."""

    def __init__(self, cluster: Cluster, node: Object) -> None:
        self._cluster = cluster
        self._node = node
        self._changed = asyncio.Event()
        self._said: dict[str, str] = {}

    def wake(self) -> None:
        """Something has changed."""
        self._changed.set()

    async def work(self) -> None:
        """Bind pods until cancelled, the oldest first."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            pods = self._cluster.objects["pods"]
            for pod in sorted(pods.values(), key=lambda pod: (pod["metadata"]["creationTimestamp"], pod["metadata"]["name"])):
                if (
                    not pod["spec"].get("nodeName")
                    and not pod["spec"].get("schedulingGates")
                    and "deletionTimestamp" not in pod["metadata"]
                ):
                    await self._place(pod)
            for claim in list(self._cluster.objects["persistentvolumeclaims"].values()):
                if (claim.get("status") or {}).get("phase") != "Bound":
                    await self._cluster.request("PATCH", f"{_path('persistentvolumeclaims', claim)}/status", {"status": {"phase": "Bound"}})

    async def _place(self, pod: Object) -> None:
        why = self._refusal(pod)
        name, uid = self._node["metadata"]["name"], pod["metadata"]["uid"]
        if not why:
            target = {"apiVersion": "v1", "kind": "Node", "name": name}
            binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": pod["metadata"]["name"], "uid": uid}, "target": target}
            status, _ = await self._cluster.request("POST", f"{_path('pods', pod)}/binding", binding)
            if status == 201:
                pod["spec"]["nodeName"] = name  # until the watch says so: its GPUs are taken
        elif self._said.get(uid) != why:
            said = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": f"0/1 nodes are available: {why}"}
            await self._cluster.request(
                "PATCH", f"{_path('pods', pod)}/status", {"metadata": {"uid": uid}, "status": {"conditions": [said]}}
            )
            self._said[uid] = why

    def _refusal(self, pod: Object) -> str:
        """Why the node cannot take a pod, in the words of kube-scheduler."""
        claims = self._cluster.objects["persistentvolumeclaims"]
        for volume in pod["spec"].get("volumes") or ():
            claim = (volume.get("persistentVolumeClaim") or {}).get("claimName")
            if claim and (pod["metadata"]["namespace"], claim) not in claims:
                return f'persistentvolumeclaim "{claim}" not found.'
        labels = self._node["metadata"]["labels"]
        if any(labels.get(key) != value for key, value in (pod["spec"].get("nodeSelector") or {}).items()):
            return "1 node(s) didn't match Pod's node affinity/selector."
        others = self._cluster.objects["pods"].values()
        taken = sum(
            gpus(each) for each in others if each["spec"].get("nodeName") and each["status"].get("phase") not in ("Succeeded", "Failed")
        )
        if gpus(pod) and taken + gpus(pod) > int(self._node["status"]["allocatable"].get(GPU, 0)):
            return f"1 Insufficient {GPU}."
        return ""


def gpus(pod: Object) -> int:
    """The GPUs that a pod takes: those of its containers together, or of its largest init container."""
    counts = {
        part: [int(((each.get("resources") or {}).get("limits") or {}).get(GPU, 0)) for each in pod["spec"].get(part) or ()]
        for part in ("initContainers", "containers")
    }
    return max(sum(counts["containers"]), *counts["initContainers"], 0)


def _path(resource: str, found: Object) -> str:
    return f"/api/v1/namespaces/{found['metadata']['namespace']}/{resource}/{found['metadata']['name']}"
