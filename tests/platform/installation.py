"""An empty cluster for the platform, with the controllers that its parts need."""

from __future__ import annotations

import contextlib
import json
import subprocess
from typing import TYPE_CHECKING, Any

import yaml

from tests.platform import admission
from tests.testbed import control_plane as planes
from tests.testbed import programs, server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.testbed.control_plane import ControlPlane

CONTROLLERS = (*planes.CONTROLLERS, "clusterrole-aggregation", "resourcequota")
ROOT = programs.ROOT


@contextlib.contextmanager
def cluster(folder: Path, *flags: str) -> Iterator[ControlPlane]:
    """A control plane with its files in an empty `folder`. `flags` are further flags of kube-apiserver."""
    needed = planes.Programs(programs.path("etcd"), programs.path("kube-apiserver"), programs.path("kubectl"))
    with planes.running(folder, needed, *flags) as plane:
        command: list[str | Path] = [
            programs.path("kube-controller-manager"),
            f"--kubeconfig={plane.kubeconfig}",
            f"--controllers={','.join(f'{name}-controller' for name in CONTROLLERS)}",
            "--resource-quota-sync-period=5s",  # or a quota made before its kind was seen waits five minutes
            "--secure-port=0",
            "--leader-elect=false",
            "--use-service-account-credentials=false",
        ]
        with server.running(command, plane.folder / "kube-controller-manager.log", planes.GO_VARIABLES):
            yield plane


def parts() -> list[Path]:
    """Every folder of the platform that kustomize can build alone, without the definitions that replace those in `crds`."""
    files = [file for file in admission.PLATFORM.rglob("kustomization.yaml") if "kind: Component" not in file.read_text()]
    return sorted({file.parent for file in files} - {admission.PLATFORM / "crds-v1beta1"})


def build(folder: Path) -> str:
    """The output of the real kustomize. Raises CalledProcessError with the reason in `stderr`."""
    command = [str(programs.path("kustomize")), "build", str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def objects(folder: Path) -> list[dict[str, Any]]:
    """The objects that the real kustomize builds from a folder."""
    return list(yaml.safe_load_all(build(folder)))


def overlay(folder: Path, **settings: Any) -> Path:
    """Write a kustomization into a folder. Paths in `resources` and `components` are relative to the root of the project."""
    folder.mkdir(parents=True)
    paths = {key: [f"{ROOT}/{path}" for path in settings.pop(key, ())] for key in ("resources", "components")}
    relative = {key: [_relative(folder, path) for path in found] for key, found in paths.items() if found}
    (folder / "kustomization.yaml").write_text(json.dumps(relative | settings))
    return folder


def _relative(folder: Path, path: str) -> str:
    return "/".join([".."] * (len(folder.resolve().parts) - 1)) + path


def apply(plane: ControlPlane, text: str, *options: str) -> str:
    """Apply with kubectl, server-side and strict. Raises CalledProcessError with the reason in `stderr`."""
    return plane.kubectl("apply", "--server-side", "--validate=strict", *options, "-f", "-", input=text)


def may(plane: ControlPlane, user: str, namespace: str, verb: str, group: str, resource: str, name: str = "") -> bool:
    """True if RBAC allows a request; `resource` may end with a slash and a subresource.

    A list or a watch has a `name` if its field selector has one (Kubernetes documentation, "Referring to resources" of RBAC).
    """
    plural, _, subresource = resource.partition("/")
    asked = {"namespace": namespace, "verb": verb, "group": group, "resource": plural, "subresource": subresource, "name": name}
    review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": {"user": user, "resourceAttributes": asked}}
    answer = plane.client.request("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", review)
    assert answer.ok, answer.message
    return bool(answer.body["status"]["allowed"])
