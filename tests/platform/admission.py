"""A cluster with the admission policies, and users who make requests, for the tests of the policies."""

from __future__ import annotations

import contextlib
import json
import subprocess
import zlib
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlparse

import yaml

from tests.testbed import api, programs, server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.testbed.control_plane import ControlPlane

PLATFORM = programs.ROOT / "platform"
PAGE = programs.ROOT / "docs" / "admission.md"
LABEL = "dynamo.krm-fn.io/admission"
ENFORCED, STRICT = {LABEL: "enforced"}, {LABEL: "strict"}

_RBAC = "rbac.authorization.k8s.io"
_ROLE: dict[str, Any] = {
    "apiVersion": f"{_RBAC}/v1",
    "kind": "ClusterRole",
    "metadata": {"name": "everything-of-dynamo"},
    "rules": [{"apiGroups": ["nvidia.com"], "resources": ["*"], "verbs": ["*"]}],
}


class Edit(NamedTuple):
    """The spec of a resource before and after a request. Without `before`, the request creates the resource."""

    kind: str
    before: dict[str, Any] | None
    after: dict[str, Any]
    version: str = "v1alpha1"


def build(kustomize: Path, folder: Path) -> list[dict[str, Any]]:
    """The objects that the real kustomize builds from a folder."""
    built = subprocess.run([kustomize, "build", folder], capture_output=True, text=True, check=True).stdout
    return list(yaml.safe_load_all(built))


def resource(kind: str, name: str, namespace: str, spec: dict[str, Any], version: str = "v1alpha1") -> dict[str, Any]:
    return {"apiVersion": f"nvidia.com/{version}", "kind": kind, "metadata": {"name": name, "namespace": namespace}, "spec": spec}


def graph(name: str, namespace: str, count: int) -> dict[str, Any]:
    """A graph of one service, Decode, with a scaling adapter."""
    service = {"componentType": "worker", "scalingAdapter": {"enabled": True}, "replicas": count}
    return resource("DynamoGraphDeployment", name, namespace, {"services": {"Decode": service}})


def serve(plane: ControlPlane, definitions: list[dict[str, Any]]) -> None:
    """Apply definitions, and return as soon as the control plane serves their kinds."""
    for each in definitions:
        keep(plane.client, each)
        server.eventually(lambda: plane.client.knows("nvidia.com/v1alpha1", each["spec"]["names"]["kind"]))  # noqa: B023 - called at once


@contextlib.contextmanager
def policies(plane: ControlPlane, objects: list[dict[str, Any]]) -> Iterator[None]:
    """Install policies and the objects that they need, and delete them at the end. They take effect after a moment."""
    for each in objects:
        if "namespace" in each["metadata"]:
            home(plane, each["metadata"]["namespace"])
        keep(plane.client, each)
    try:
        yield
    finally:
        for each in objects:
            plane.client.request("DELETE", plane.client.path(each))


def keep(client: api.Client, wanted: dict[str, Any]) -> None:
    """Apply a resource. Raises AssertionError with the message of the server."""
    answer = client.apply(wanted, dry_run=False)
    assert answer.ok, answer.message


def namespace(plane: ControlPlane, name: str, labels: dict[str, str]) -> str:
    """Apply a namespace with labels; returns its name."""
    keep(plane.client, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}})
    return name


@contextlib.contextmanager
def unguarded(plane: ControlPlane, name: str) -> Iterator[None]:
    """Remove the labels of a namespace inside the context. This takes effect after a moment."""
    labels = plane.client.get(f"/api/v1/namespaces/{name}")["metadata"]["labels"]
    plane.namespace(name)
    try:
        yield
    finally:
        namespace(plane, name, {key: value for key, value in labels.items() if key == LABEL})


def home(plane: ControlPlane, name: str) -> None:
    """Create a namespace if it does not exist; do not change the labels of an existing one."""
    answer = plane.client.request("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    assert answer.ok or answer.status == 409, answer.message


@contextlib.contextmanager
def account(plane: ControlPlane, where: str, name: str) -> Iterator[api.Client]:
    """A client of a service account with its own token and all rights to Dynamo's resources, so that only admission can refuse it."""
    home(plane, where)
    keep(plane.client, {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": where}})
    keep(plane.client, _ROLE)
    keep(plane.client, _binding(where, name))
    wanted = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    answer = plane.client.request("POST", f"/api/v1/namespaces/{where}/serviceaccounts/{name}/token", wanted)
    assert answer.ok, answer.message
    (cluster,) = json.loads(plane.kubeconfig.read_text())["clusters"]
    port = urlparse(cluster["cluster"]["server"]).port
    assert port
    authority = plane.folder / "certs" / "apiserver.crt"
    with contextlib.closing(api.Client(port, authority, answer.body["status"]["token"])) as client:
        yield client


def _binding(where: str, name: str) -> dict[str, Any]:
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": f"{where}-{name}-everything-of-dynamo"},
        "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": _ROLE["metadata"]["name"]},
        "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": where}],
    }


def attempt(plane: ControlPlane, user: api.Client, where: str, edit: Edit) -> api.Answer:
    """The answer to an edit by a user, as a dry run. The administrator creates the state before it."""
    name = f"edit-{zlib.crc32(repr(edit).encode()):08x}"
    if edit.before is not None:
        before = resource(edit.kind, name, where, edit.before, edit.version)
        if plane.client.request("GET", plane.client.path(before)).status == 404:
            keep(plane.client, before)
    return user.apply(resource(edit.kind, name, where, edit.after, edit.version))
