"""Plays Grove: makes the pods of PodCliqueSets, and replaces them when the template of their clique changes.

Grove's operator itself does not run here: see `tests/running/cliques.py`. As in Grove, the hash of a clique is of its labels, annotations
and pod spec as the API server stores them, with the priority class of the set (`ComputePCLQPodTemplateHash`). A replica of a scaling group
is replaced as a whole, one after the other, and so are the pods of a clique without a group.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.running import cliques

if TYPE_CHECKING:
    from tests.testbed.api import Client

Object = dict[str, Any]

SETS = "/apis/grove.io/v1alpha1/podcliquesets"
_HASH, _UNIT, _SET = "tests/template-hash", "tests/unit", "app.kubernetes.io/part-of"


class _Unit(NamedTuple):
    """Pods that are replaced at once. Units with the same `sequence` wait for each other."""

    sequence: str
    name: str
    digest: str
    pods: tuple[Object, ...]


def reconcile(client: Client) -> bool:
    """Acts once for each set, as far as it can without waiting; returns true if nothing is left to do."""
    sets = client.get(SETS)["items"]
    pods = client.get(f"/api/v1/pods?labelSelector={_UNIT.replace('/', '%2F')}")["items"]
    done = True
    for clique_set in sets:
        own = [pod for pod in pods if _owner(pod) == clique_set["metadata"]["uid"]]
        done &= _reconcile(client, [*_units(clique_set)], own)
    return done


def _owner(pod: Object) -> str:
    return str(pod["metadata"]["ownerReferences"][0]["uid"])


def _reconcile(client: Client, units: list[_Unit], pods: list[Object]) -> bool:
    """Creates missing units, and deletes one outdated unit of each sequence at a time."""
    done = True
    by_unit: dict[str, list[Object]] = {}
    for pod in pods:
        by_unit.setdefault(pod["metadata"]["labels"][_UNIT], []).append(pod)
    busy = {unit.sequence for unit in units if len(by_unit.get(unit.name, ())) < len(unit.pods)}
    busy |= {unit.sequence for unit in units if not all(cliques.is_ready(pod) for pod in by_unit.get(unit.name, ()))}
    for unit in units:
        present = by_unit.pop(unit.name, [])
        if not present:
            for pod in unit.pods:
                _request(client, "POST", pod)
            done = False
        elif present[0]["metadata"]["annotations"][_HASH] != unit.digest:
            done = False
            if unit.sequence not in busy:
                busy.add(unit.sequence)
                _delete(client, present)
    for surplus in by_unit.values():
        _delete(client, surplus)
    return done and not busy and not by_unit


def _delete(client: Client, pods: list[Object]) -> None:
    for pod in pods:
        _request(client, "DELETE", pod)


def _request(client: Client, method: str, pod: Object) -> None:
    path = f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods"
    answer = client.request(method, path if method == "POST" else f"{path}/{pod['metadata']['name']}", pod if method == "POST" else None)
    assert answer.ok, answer.message


def _units(clique_set: Object) -> list[_Unit]:
    """The units of a set."""
    template = clique_set["spec"]["template"]
    by_name = {clique["name"]: clique for clique in template["cliques"]}
    groups = {group["name"]: group for group in template.get("podCliqueScalingGroups") or ()}
    grouped = {name for group in groups.values() for name in group["cliqueNames"]}
    units = []
    for name, group in groups.items():
        members = [by_name[member] for member in group["cliqueNames"]]
        pods = [(clique, number) for clique in members for number in range(_replicas(clique))]
        units += [_unit(clique_set, name, f"{name}-{replica}", pods) for replica in range(group.get("replicas", 1))]
    for name, clique in by_name.items():
        if name not in grouped:
            units += [_unit(clique_set, name, f"{name}-{number}", [(clique, number)]) for number in range(_replicas(clique))]
    return units


def _replicas(clique: Object) -> int:
    """The pods of a clique; Grove's webhook writes 1 in place of 0 (`defaultPodCliqueTemplateSpecs`)."""
    return clique["spec"].get("replicas") or 1


def _unit(clique_set: Object, sequence: str, name: str, members: list[tuple[Object, int]]) -> _Unit:
    metadata = clique_set["metadata"]
    priority = clique_set["spec"]["template"].get("priorityClassName")
    hashed = [[clique.get("labels"), clique.get("annotations"), clique["spec"]["podSpec"], priority] for clique, _ in members]
    digest = hashlib.sha256(json.dumps(hashed, sort_keys=True).encode()).hexdigest()[:16]
    reference = {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "name": metadata["name"],
        "uid": metadata["uid"],
        "controller": True,
    }
    pods = []
    for clique, number in members:
        pod_name = f"{metadata['name']}-{name}-{clique['name']}-{number}"
        pods.append(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {
                    "name": f"{pod_name[:50]}-{hashlib.sha256(pod_name.encode()).hexdigest()[:8]}",
                    "namespace": metadata["namespace"],
                    "labels": {**(clique.get("labels") or {}), _SET: metadata["name"], _UNIT: f"{name}"},
                    "annotations": {**(clique.get("annotations") or {}), _HASH: digest},
                    "ownerReferences": [reference],
                },
                "spec": clique["spec"]["podSpec"],
            }
        )
    return _Unit(sequence, name, digest, tuple(pods))
