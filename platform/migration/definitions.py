# ruff: noqa: INP001 - see __main__.py
"""The definitions of the operator's kinds: their copy, the versions that they store, and what the operator needs of them."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator

import cluster
from cluster import Move, Resource, name

# The kinds of two API versions, between which an operator from 1.2 on converts.
CONVERTED = (cluster.GRAPHS, cluster.COMPONENTS, cluster.ADAPTERS, "dynamographdeploymentrequests.nvidia.com")
CONVERTS_SINCE = (1, 2)
PUT_BACK = "put back the operator's definitions (docs/migration.md, From Git to the operator)"
STORED = '{range .items[*]}{.metadata.name}={.spec.versions[?(@.storage==true)].name}{"\\n"}{end}'


def save() -> None:
    """Print the definitions that are in the cluster, so that `kubectl replace` can put them back."""
    copies = [
        {
            "apiVersion": live["apiVersion"],
            "kind": live["kind"],
            "metadata": {field: live["metadata"][field] for field in ("name", "labels", "annotations") if field in live["metadata"]},
            "spec": live["spec"],
        }
        for live in definitions()
    ]
    sys.stdout.write(f"{json.dumps(cluster.listed(copies), indent=1)}\n")


def definitions() -> list[Resource]:
    """The definitions in the cluster. Raises StopError."""
    return cluster.items(cluster.kubectl("get", "customresourcedefinitions", *CONVERTED, "--ignore-not-found", "-o=json"))


def unserved() -> list[str]:
    """The versions of the definitions that the cluster does not serve, each with the name of its definition."""
    return [
        f"{name(definition)} {version['name']}"
        for definition in definitions()
        for version in definition["spec"]["versions"]
        if not version["served"]
    ]


def let_go() -> None:
    """Remove the owner references in API versions that are not stored from the objects of all namespaces, and print their number.

    The garbage collector reads an owner in the version of the reference. For half a minute after the cluster stops serving this version,
    it treats the owner as deleted, and deletes the object. Raises StopError if an operator runs.
    """
    snapshot = cluster.Snapshot("")
    snapshot.versions |= stored_versions()
    cluster.stopped(Move("", "", [], "", "", snapshot))
    leaving = {
        f"{definition['spec']['group']}/{version['name']}"
        for definition in definitions()
        for version in definition["spec"]["versions"]
        if not version["storage"]
    }
    changed = 0
    for resource in cluster.READ:
        for item in snapshot.objects(resource):
            references = item["metadata"].get("ownerReferences", [])
            remaining = [reference for reference in references if reference["apiVersion"] not in leaving]
            if len(remaining) < len(references):
                address = f"{cluster.versioned(resource, snapshot.versions.get(resource, ''))}/{name(item)}"
                patch = json.dumps({"metadata": {"ownerReferences": remaining}})
                cluster.kubectl(f"--namespace={item['metadata']['namespace']}", "patch", address, "--type=merge", f"--patch={patch}")
                changed += 1
    sys.stdout.write(f"removed owner references in versions that the cluster will not serve from {changed} objects\n")


def stored_versions() -> dict[str, str]:
    """The version that the cluster stores, by definition."""
    lines = cluster.kubectl("get", "customresourcedefinitions", *CONVERTED, "--ignore-not-found", f"-o=jsonpath={STORED}").split()
    return dict(line.split("=") for line in lines)


def read_stored(move: Move) -> None:
    """Read resources in the version that the cluster stores: the webhook that converts them does not run without the operator."""
    move.snapshot.versions |= stored_versions()
    move.snapshot.forget()


def stored_name(move: Move, graph: Resource) -> str:
    """The name by which kubectl finds a graph in the version that the cluster stores."""
    plural, _, group = cluster.GRAPHS.partition(".")
    return f"{plural}.{move.snapshot.versions[cluster.GRAPHS]}.{group}/{name(graph)}"


def problems(operator: Resource) -> Iterator[str]:
    """Definitions with which an operator ends at its start: it needs the address of its webhook in each, and writes the CA itself."""
    if not converts(operator):
        return
    namespace = operator["metadata"]["namespace"]
    for definition in definitions():
        conversion = definition["spec"].get("conversion", {})
        service = conversion.get("webhook", {}).get("clientConfig", {}).get("service")
        unserved = [version["name"] for version in definition["spec"]["versions"] if not version["served"]]
        if conversion.get("strategy") != "Webhook" or not service:
            yield f"{name(definition)} names no conversion webhook of the operator; {PUT_BACK}"
        elif service["namespace"] != namespace:
            yield f"{name(definition)} names a webhook in {service['namespace']}, and the operator is in {namespace}; {PUT_BACK}"
        elif unserved:
            yield f"{name(definition)} does not serve {', '.join(unserved)}; {PUT_BACK}"


def converts(operator: Resource) -> bool:
    """True if an operator converts between two API versions: by its flag or image, else by its configuration file."""
    flags = dict(cluster.flags(operator))
    image = cluster.manager(operator).get("image") or ""
    for text in (flags.get("operator-version", ""), image.partition("@")[0].rpartition(":")[2]):
        if version := re.match(r"v?([0-9]+)\.([0-9]+)\.", text):
            return (int(version[1]), int(version[2])) >= CONVERTS_SINCE
    return "config" in flags
