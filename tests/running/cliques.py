"""The objects that Grove makes from a PodCliqueSet: pods with its names, host names and variables, and a headless Service.

Grove's operator itself does not run here: its modules require each other as v0.0.0, which only paths in its own repository replace, and the
Go module proxy served no release of them to the test machines. These are the pods of its release v0.1.0-alpha.14. Sources:
`configurePodHostname` and `addEnvironmentVariables` in its `operator/internal/controller/podclique/components/pod/pod.go`,
`podcliquescalinggroup/components/podclique/podclique.go`, and its user guide, "Environment Variables". A pod whose clique starts after
others waits for them behind a scheduling gate, where Grove's own init container waits.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.testbed.place import Place

Object = dict[str, Any]

_PCS, _PCS_INDEX, _PCLQ_POD_INDEX = "app.kubernetes.io/part-of", "grove.io/podcliqueset-replica-index", "grove.io/podclique-pod-index"
_PCSG, _PCSG_INDEX = "grove.io/podcliquescalinggroup", "grove.io/podcliquescalinggroup-replica-index"
_PCSG_POD_INDEX = "grove.io/podcliquescalinggroup-pod-index"
_CLIQUE = "grove.io/podclique"
_GATE = "tests/starts-after"


def objects(clique_set: Object) -> Iterator[Object]:
    """The headless Service of a set, and the pods of its scaling groups."""
    metadata, template = clique_set["metadata"], clique_set["spec"]["template"]
    service = f"{metadata['name']}-0"
    spec = {
        "clusterIP": "None",
        "publishNotReadyAddresses": template["headlessServiceConfig"]["publishNotReadyAddresses"],
        "selector": {_PCS: metadata["name"], _PCS_INDEX: "0"},
    }
    yield {"apiVersion": "v1", "kind": "Service", "metadata": {"name": service, "namespace": metadata["namespace"]}, "spec": spec}
    cliques = {clique["name"]: clique for clique in template["cliques"]}
    for scaling_group in template.get("podCliqueScalingGroups") or ():
        for replica in range(scaling_group["replicas"]):
            yield from _group(
                metadata, [cliques[name] for name in scaling_group["cliqueNames"]], f"{service}-{scaling_group['name']}", replica
            )


def release(here: Place) -> None:
    """Let the pods start whose cliques start after others, if all pods of those are ready."""
    pods = here.listed("Pod")
    ready = {pod["metadata"]["labels"].get(_CLIQUE) for pod in pods} - {
        pod["metadata"]["labels"].get(_CLIQUE) for pod in pods if not is_ready(pod)
    }
    for pod in pods:
        awaited = pod["metadata"].get("annotations", {}).get(_GATE, "").split()
        if pod["spec"].get("schedulingGates") and ready.issuperset(awaited):
            here.patch("Pod", pod["metadata"]["name"], {"spec": {"schedulingGates": None}})


def _group(metadata: Object, cliques: list[Object], scaling_group: str, replica: int) -> Iterator[Object]:
    """The pods of one replica of a scaling group; their indices in it follow the order of its cliques."""
    index, pods = 0, sum(clique["spec"]["replicas"] for clique in cliques)
    for clique in cliques:
        name = f"{scaling_group}-{replica}-{clique['name']}"
        for number in range(clique["spec"]["replicas"]):
            labels = {
                **(clique.get("labels") or {}),
                _PCS: metadata["name"],
                _PCS_INDEX: "0",
                _CLIQUE: name,
                _PCLQ_POD_INDEX: str(number),
                _PCSG: scaling_group,
                _PCSG_INDEX: str(replica),
                _PCSG_POD_INDEX: str(index),
            }
            spec = _spec(clique, metadata, name, number, pods)
            after = " ".join(f"{scaling_group}-{replica}-{other}" for other in clique["spec"].get("startsAfter") or ())
            annotations = {**(clique.get("annotations") or {}), **({_GATE: after} if after else {})}
            yield {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": f"{name}-x{number}", "namespace": metadata["namespace"], "labels": labels, "annotations": annotations},
                "spec": {**spec, **({"schedulingGates": [{"name": _GATE}]} if after else {})},
            }
            index += 1


def _spec(clique: Object, metadata: Object, name: str, number: int, pods: int) -> Object:
    """The pod spec of a clique with host name, subdomain, and Grove's variables before those of each container."""
    spec = copy.deepcopy(clique["spec"]["podSpec"])
    service = f"{metadata['name']}-0"
    literal = {
        "GROVE_PCS_NAME": metadata["name"],
        "GROVE_PCS_INDEX": "0",
        "GROVE_PCLQ_NAME": name,
        "GROVE_HEADLESS_SERVICE": f"{service}.{metadata['namespace']}.svc.cluster.local",
        "GROVE_PCSG_TEMPLATE_NUM_PODS": str(pods),
    }
    from_labels = {
        "GROVE_PCLQ_POD_INDEX": _PCLQ_POD_INDEX,
        "GROVE_PCSG_NAME": _PCSG,
        "GROVE_PCSG_INDEX": _PCSG_INDEX,
        "GROVE_PCSG_POD_INDEX": _PCSG_POD_INDEX,
    }
    variables = [
        *({"name": key, "value": value} for key, value in literal.items()),
        *({"name": key, "valueFrom": {"fieldRef": {"fieldPath": f"metadata.labels['{label}']"}}} for key, label in from_labels.items()),
    ]
    for container in [*(spec.get("initContainers") or ()), *spec["containers"]]:
        container["env"] = [*variables, *(container.get("env") or ())]
    return {**spec, "hostname": f"{name}-{number}", "subdomain": service}


def is_ready(pod: Object) -> bool:
    """True if the condition `Ready` of a pod is true."""
    return any(each["type"] == "Ready" and each["status"] == "True" for each in pod.get("status", {}).get("conditions", ()))
