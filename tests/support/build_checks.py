"""Checks for every finished build, of any tool: they read the objects alone, without the product's own code.

`faults` reports objects that no cluster could run. `lies` reports objects that name a missing or renamed object. Both yield sentences, and
nothing if the build is right.
"""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import yaml

from tests.support import workload_templates

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Object = dict[str, Any]

DYNAMO = "nvidia.com/v1alpha1"
OWNER = "dynamo.krm-fn.io/owner"
WORKLOADS = "dynamo.krm-fn.io/workloads"
_DNS_LABEL = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")
_DNS_NAME = re.compile(r"(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_LABEL = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")


def read(text: str) -> list[Object]:
    """The objects of a YAML stream."""
    return [document for document in yaml.load_all(text, yaml.CSafeLoader) if document]


def assert_fit(objects: Sequence[Object]) -> None:
    """Assert that the objects have no faults."""
    assert objects
    assert [*faults(objects)] == []


def assert_nothing_lies(objects: Sequence[Object]) -> None:
    """Assert that at least one object is generated, and that all references are right."""
    assert any(OWNER in notes(each) for each in objects)
    assert [*lies(objects)] == []


def faults(objects: Sequence[Object]) -> Iterator[str]:
    """Duplicate objects, invalid names and labels, mounts without volumes, selectors that match no pods."""
    for identity, times in Counter(map(_identity, objects)).items():
        if times > 1:
            yield f"{identity} is there {times} times"
    for each in objects:
        yield from (f"{_name(each)}: {fault}" for fault in (*_names(each), *_mounts(each), *_own_selector(each)))
        if each["kind"] == "Service" and not any(_selects(each["spec"]["selector"], pod) for pod in _pods_beside(each, objects)):
            yield f"{_name(each)}: selects no pod"


def lies(objects: Sequence[Object]) -> Iterator[str]:
    """Generated objects with wrong references, and graphs whose workloads annotation differs from the workloads."""
    for graph in objects:
        if graph["kind"] == "DynamoGraphDeployment" and WORKLOADS in notes(graph):
            yield from (f"{_name(graph)}: {lie}" for lie in _listed(graph, objects))
    for each in objects:
        for owner in _owners(each):
            yield from (f"{_name(each)}: {lie}" for lie in _spoken(each, owner, objects))


def _spoken(each: Object, owner: str, objects: Sequence[Object]) -> Iterator[str]:
    """Wrong references of a generated object. The owner annotation names the graph, also if the graph is not among the objects."""
    kind, _, name = owner.partition("/")
    space = each["metadata"]["namespace"]
    sources = [other for other in objects if other["kind"] == kind]
    if sources and not any((other["metadata"]["name"], other["metadata"]["namespace"]) == (name, space) for other in sources):
        yield f"its owner {owner} is not in {space}"
    alone = kind == "DynamoComponentDeployment"
    parent = dict(_sayings(each)).get("DYN_PARENT_DGD_K8S_NAME", "")  # 0.9 knows no graph of a standalone component
    truth = {
        "DYN_PARENT_DGD_K8S_NAMESPACE": space,
        "DYN_NAMESPACE": f"{space}-{parent}" if alone else f"{space}-{name}",
    }
    if not alone:
        truth |= {
            "DYN_PARENT_DGD_K8S_NAME": name,
            "nvidia.com/dynamo-graph-deployment-name": name,
            "nvidia.com/dynamo-namespace": f"{space}-{name}",
            "-pool-name": f"{name}-pool",
            "-pool-namespace": space,
        }
    for says, value in _sayings(each):
        if says in truth and value != truth[says]:
            yield f"{says} is {value!r}, not {truth[says]!r}"
    yield from _pointers(each, objects)


def _sayings(value: Any) -> Iterator[tuple[str, Any]]:
    """All variables, labels and flags inside a value, with their values."""
    if isinstance(value, dict):
        if {"name", "value"} <= value.keys():
            yield value["name"], value["value"]
        for key, inner in value.items():
            if isinstance(inner, str):
                yield key, inner
            yield from _sayings(inner)
    elif isinstance(value, list):
        yield from ((flag, said) for flag, said in itertools.pairwise(value) if isinstance(flag, str))
        for inner in value:
            yield from _sayings(inner)


def _pointers(each: Object, objects: Sequence[Object]) -> Iterator[str]:
    """References to missing objects of the same graph."""
    there = {(other["kind"], other["metadata"]["name"]) for other in objects if _space(other) == _space(each)}
    for subject in each.get("subjects", ()):
        if subject["namespace"] != _space(each):
            yield f"binds an account of {subject['namespace']}"
    for kind, name in _references(each):
        if (kind, name) not in there:
            yield f"names {kind} {name}, which is not there"


def _references(each: Object) -> Iterator[tuple[str, str]]:
    spec = each.get("spec", {})
    yield from ((subject["kind"], subject["name"]) for subject in each.get("subjects", ()))
    if each.get("roleRef", {}).get("kind") == "Role":
        yield "Role", each["roleRef"]["name"]
    if "dgdRef" in spec:
        yield "DynamoGraphDeployment", spec["dgdRef"]["name"]
    if "endpointPickerRef" in spec:
        yield "Service", spec["endpointPickerRef"]["name"]
    if each["kind"] == "Ingress":
        yield from (("Service", path["backend"]["service"]["name"]) for rule in spec["rules"] for path in rule["http"]["paths"])
    if each["kind"] == "VirtualService":
        yield from (("Service", route["destination"]["host"]) for http in spec["http"] for route in http["route"])
    for pod in (template["spec"] for template in workload_templates.templates(each)):
        if pod.get("serviceAccountName", "default") != "default":
            yield "ServiceAccount", pod["serviceAccountName"]
        for volume in pod.get("volumes", ()):
            if volume["name"] == "epp-config":
                yield "ConfigMap", volume["configMap"]["name"]


def _listed(graph: Object, objects: Sequence[Object]) -> Iterator[str]:
    """Differences between the workloads annotation and the workloads, in both directions."""
    listed = {(entry["apiVersion"], entry["kind"], entry["name"], entry["service"]) for entry in json.loads(notes(graph)[WORKLOADS])}
    owner = f"DynamoGraphDeployment/{graph['metadata']['name']}"
    mine = [each for each in objects if owner in _owners(each) and _space(each) == _space(graph)]
    there = {workload for each in mine for workload in workload_templates.workloads(each)}
    yield from (f"lists {kind} {name}, which is not there" for _, kind, name, _ in sorted(listed - there))
    yield from (f"does not list {kind} {name}" for _, kind, name, _ in sorted(there - listed))


def _names(each: Object) -> Iterator[str]:
    rule = _DNS_LABEL if each["kind"] == "Service" else _DNS_NAME
    if not rule.fullmatch(each["metadata"]["name"]):
        yield "its name is not one"
    for holder in (each["metadata"], *(template["metadata"] for template in workload_templates.templates(each))):
        yield from (f"its label {key}={value} is none" for key, value in holder.get("labels", {}).items() if not _LABEL.fullmatch(value))


def _mounts(each: Object) -> Iterator[str]:
    for pod in (template["spec"] for template in workload_templates.templates(each)):
        volumes = [volume["name"] for volume in pod.get("volumes", ())]
        if len(volumes) != len({*volumes}):
            yield f"has volumes twice: {volumes}"
        for container in pod["containers"]:
            yield from (f"mounts {m['name']}, no volume" for m in container.get("volumeMounts", ()) if m["name"] not in volumes)


def _own_selector(each: Object) -> Iterator[str]:
    if each["kind"] == "Deployment" and not _selects(each["spec"]["selector"]["matchLabels"], each["spec"]["template"]):
        yield "its selector does not select its own pods"


def _selects(selector: dict[str, str], template: Object) -> bool:
    return all(template["metadata"]["labels"].get(key) == value for key, value in selector.items())


def _pods_beside(each: Object, objects: Sequence[Object]) -> Iterator[Object]:
    return (template for other in objects if _space(other) == _space(each) for template in workload_templates.templates(other))


def _identity(each: Object) -> tuple[str, ...]:
    return each["apiVersion"].rpartition("/")[0], each["kind"], _space(each), each["metadata"]["name"]


def _name(each: Object) -> str:
    return f"{each['kind']} {each['metadata']['name']}"


def _space(each: Object) -> str:
    space: str = each["metadata"].get("namespace", "")
    return space


def notes(each: Object) -> dict[str, str]:
    """The annotations of an object."""
    found: dict[str, str] = each["metadata"].get("annotations") or {}
    return found


def _owners(each: Object) -> list[str]:
    return [owner for owner in notes(each).get(OWNER, "").split(",") if owner]
