"""The audit log of an API server: which account wrote what. Kubernetes documentation, "Auditing"."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

_LOG = "audit.log"
_POD, _REASON = "authentication.kubernetes.io/pod-name", "authorization.k8s.io/reason"
_POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [{"level": "Metadata", "verbs": ["patch", "update"], "resources": [{"group": "nvidia.com"}, {"group": "apps"}]}],
}


class Write(NamedTuple):
    """A change of an object of Dynamo or of a workload. `pod` is the pod whose token was used; empty for other clients.

    `resource` is the plural of the kind with the subresource, as in `deployments/scale`. `reason` names the binding that allowed it.
    """

    resource: str
    name: str
    user: str
    pod: str
    reason: str


def flags(folder: Path) -> tuple[str, str]:
    """Flags of a kube-apiserver with its files in `folder`, which write the log. The folder must exist."""
    policy = folder / "audit-policy.json"
    policy.write_text(json.dumps(_POLICY))
    return f"--audit-policy-file={policy}", f"--audit-log-path={folder / _LOG}"


def writes(folder: Path, namespace: str) -> list[Write]:
    """The changes in a namespace that the server accepted, in their order."""
    whole, _, _ = (folder / _LOG).read_text().rpartition("\n")  # the server may be writing the next line
    events = [json.loads(line) for line in whole.splitlines()]
    return [_write(each) for each in events if each["objectRef"].get("namespace") == namespace and each["responseStatus"]["code"] < 300]


def _write(event: dict[str, Any]) -> Write:
    user, about = event["user"], event["objectRef"]
    resource = "/".join(filter(None, (about["resource"], about.get("subresource"))))
    pods = user.get("extra", {}).get(_POD, [""])
    return Write(resource, about["name"], user["username"], pods[0], event.get("annotations", {}).get(_REASON, ""))
