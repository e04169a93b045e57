"""The definitions of the operator's kinds: their copy, the versions that they store, and what an operator needs of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from krm_fn.base import codes, results
from krm_fn.base.results import Result
from krm_fn.kubernetes.types import Resource
from krm_fn.migration.take_over import moved_graphs, operators
from krm_fn.migration.take_over.moved_graphs import NamespaceObjects, RefusedMoveError
from krm_fn.repository.files import kubectl

_CONVERTED = (moved_graphs.GRAPHS, moved_graphs.COMPONENTS, moved_graphs.ADAPTERS, "dynamographdeploymentrequests.nvidia.com")
"""The kinds of two API versions, between which an operator from 1.2 on converts."""

_PUT_BACK = "put back the definitions that `krm-fn adopt let-go` saved"


def live() -> list[Resource]:
    """Returns the definitions in the cluster. Raises KubectlError."""
    return kubectl.get("customresourcedefinitions", *_CONVERTED, "--ignore-not-found")


def copy() -> str:
    """Returns the definitions in the cluster as JSON, so that `kubectl replace` can put them back. Raises KubectlError."""
    copies = [
        {
            "apiVersion": definition["apiVersion"],
            "kind": definition["kind"],
            "metadata": {field: value for field, value in definition["metadata"].items() if field in ("name", "labels", "annotations")},
            "spec": definition["spec"],
        }
        for definition in live()
    ]
    return f"{json.dumps(kubectl.list_of(copies), indent=1)}\n"


def unserved_versions() -> list[str]:
    """Returns the versions of the definitions that the cluster does not serve, each with the name of its definition."""
    return [f"{definition['metadata']['name']} {name}" for definition in live() for name in _versions(definition, "served", value=False)]


def stored_versions() -> dict[str, str]:
    """Returns the version that the cluster stores, by the name of the definition. Raises KubectlError."""
    return {definition["metadata"]["name"]: name for definition in live() for name in _versions(definition, "storage", value=True)}


def _versions(definition: Resource, field: str, *, value: bool) -> list[str]:
    return [version["name"] for version in definition["spec"]["versions"] if version[field] is value]


def let_go(file: Path) -> tuple[bool, int]:
    """Saves the definitions in a file, and removes owner references in API versions that are not stored from the objects of all namespaces.

    An existing file stays, because a later copy is not that of the operator. Returns true if the file is new, and the number of changed
    objects. Raises RefusedMoveError if an operator runs, KubectlError, and OSError for the file.

    The garbage collector reads an owner in the version of the reference. For half a minute after the cluster stops serving this version,
    it treats the owner as deleted, and deletes the object.
    """
    if findings := [*operators.acting([""])]:
        raise RefusedMoveError(findings)
    is_new = not file.exists()
    if is_new:
        file.write_text(copy(), "utf-8")
    leaving = {f"{definition['spec']['group']}/{name}" for definition in live() for name in _versions(definition, "storage", value=False)}
    cluster = NamespaceObjects("")
    cluster.versions |= stored_versions()
    changed = 0
    for resource in moved_graphs.READ:
        for item in cluster.of(resource):
            references = item["metadata"].get("ownerReferences", [])
            remaining = [reference for reference in references if reference["apiVersion"] not in leaving]
            if len(remaining) < len(references):
                name = f"{moved_graphs.name_with_version(resource, cluster.versions)}/{item['metadata']['name']}"
                patch = json.dumps({"metadata": {"ownerReferences": remaining}})
                kubectl.run("patch", f"--namespace={item['metadata']['namespace']}", name, "--type=merge", f"--patch={patch}")
                changed += 1
    return is_new, changed


def problems(operator: Resource) -> Iterator[Result]:
    """Reports definitions with which an operator ends at its start: it needs the address of its webhook in each, and writes the CA itself.

    Raises KubectlError.
    """
    if not operators.converts(operator):
        return
    namespace = operator["metadata"]["namespace"]
    for definition in live():
        conversion = definition["spec"].get("conversion", {})
        service = conversion.get("webhook", {}).get("clientConfig", {}).get("service")
        unserved_versions = _versions(definition, "served", value=False)
        problem = ""
        if conversion.get("strategy") != "Webhook" or not service:
            problem = "the definition names no conversion webhook of the operator"
        elif service["namespace"] != namespace:
            problem = f"the definition names a webhook in {service['namespace']}, and the operator is in {namespace}"
        elif unserved_versions:
            problem = f"the definition does not serve {', '.join(unserved_versions)}"
        if problem:
            yield results.error(
                codes.OPERATOR_WOULD_NOT_START, f"{problem}, so the operator ends at its start; {_PUT_BACK}", results.ref(definition)
            )
