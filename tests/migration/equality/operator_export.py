"""An export of a namespace that an operator runs: rendered objects, changed as the operator writes them and as a cluster stores them."""

from __future__ import annotations

import copy
from typing import Any

from krm_fn.base import results
from krm_fn.migration.adopt import migration_files
from krm_fn.render import dynamo_api, expand, function_config, labels
from tests.support import given

WORKER = given.service("worker", main={"command": ["python3"], "args": ["-m", "dynamo.vllm"]}, replicas=2)
GRAPH = given.before_1_0(given.graph({"Frontend": given.service("frontend"), "Worker": WORKER}))


def export(graph: dict[str, Any], **settings: Any) -> list[dict[str, Any]]:
    """The graph and its objects as an operator with these settings leaves them, owned by the graph and without the marks of krm-fn."""
    read, wrong = function_config.read(migration_files.configuration(settings))
    assert not results.has_errors(wrong)
    expansion = expand.expand([graph], read)
    assert not results.has_errors(expansion.results)
    objects = [
        resource for resource in expansion.resources if not (dynamo_api.is_dynamo(resource) and resource["kind"] == dynamo_api.GRAPH)
    ]
    return [copy.deepcopy(graph), *(_owned(copy.deepcopy(resource), graph) for resource in objects)]


def _owned(resource: dict[str, Any], graph: dict[str, Any]) -> dict[str, Any]:
    metadata = resource["metadata"]
    metadata["labels"] = {**metadata.get("labels", {}), labels.MANAGED_BY: labels.OPERATOR}
    annotations = {name: value for name, value in metadata.get("annotations", {}).items() if not name.startswith(labels.PREFIX)}
    metadata["annotations"] = {**annotations, labels.LAST_APPLIED_HASH: "1"}
    metadata["ownerReferences"] = [{"apiVersion": graph["apiVersion"], "kind": graph["kind"], "name": graph["metadata"]["name"]}]
    (resource.get("spec") or {}).pop("progressDeadlineSeconds", None)
    return resource


def find(exported: list[dict[str, Any]], kind: str, name: str) -> dict[str, Any]:
    """The object of an export."""
    (match,) = [resource for resource in exported if (resource["kind"], resource["metadata"]["name"]) == (kind, name)]
    return match


def main(deployment: dict[str, Any]) -> dict[str, Any]:
    """The main container of a Deployment."""
    container: dict[str, Any] = deployment["spec"]["template"]["spec"]["containers"][0]
    return container
