"""A namespace in which tests apply rendered graphs with kubectl, change objects, and read statuses."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.testbed import api, programs, server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tests.testbed.control_plane import ControlPlane

Object = dict[str, Any]

VERSIONS = {
    "Job": "batch/v1",
    "ConfigMap": "v1",
    "Deployment": "apps/v1",
    "LeaderWorkerSet": "leaderworkerset.x-k8s.io/v1",
    "DisaggregatedSet": "disaggregatedset.x-k8s.io/v1",
    "DisaggregatedSetRoleScaler": "disaggregatedset.x-k8s.io/v1",
    "PodClique": "grove.io/v1alpha1",
    "PodCliqueScalingGroup": "grove.io/v1alpha1",
    "PodCliqueSet": "grove.io/v1alpha1",
    "DynamoModel": "nvidia.com/v1alpha1",
    "Pod": "v1",
}
GRAPH = "DynamoGraphDeployment"


class Place(NamedTuple):
    """A namespace of a control plane, which serves Dynamo's kinds in the version `dynamo`. Models have one version only."""

    plane: ControlPlane
    namespace: str
    dynamo: str = "nvidia.com/v1alpha1"

    def deploy(self, *resources: Object, **settings: Any) -> None:
        """`krm-fn render … | kubectl apply --server-side -f -` with these settings of a DynamoRender."""
        self.apply(self.render(*resources, **settings))

    def render(self, *resources: Object, **settings: Any) -> list[Object]:
        """The objects that the command prints. Raises AssertionError with its findings.

        Graphs of v1alpha1 follow release 0.9, whatever their images are: a tag can be the fate of a pod.
        """
        here = [{**each, "metadata": {**each["metadata"], "namespace": self.namespace}} for each in resources]
        release = {"behaviour": "v0.9"} if self.dynamo.endswith("v1alpha1") else {}
        return render(*here, **{**release, **settings})

    def apply(self, objects: Iterable[Object]) -> None:
        """Apply objects with kubectl, on the server, as one who owns all their fields."""
        listed = json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)})
        self.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", input=listed)

    def kubectl(self, *arguments: str, input: str | None = None) -> str:  # noqa: A002 - as subprocess calls it
        """Run kubectl in this namespace; returns its stdout. Raises AssertionError with its stderr."""
        try:
            return self.plane.kubectl("--namespace", self.namespace, *arguments, input=input)
        except subprocess.CalledProcessError as failed:
            raise AssertionError(failed.stderr) from None

    def version(self, kind: str) -> str:
        """The apiVersion of a kind."""
        return VERSIONS.get(kind, self.dynamo)

    def path(self, kind: str, name: str = "") -> str:
        """The API path of an object, or of the list of its kind."""
        whole = self.plane.client.path(
            {"apiVersion": self.version(kind), "kind": kind, "metadata": {"name": name, "namespace": self.namespace}}
        )
        return whole.rstrip("/")

    def get(self, kind: str, name: str) -> Object:
        """An object. Raises LookupError if it does not exist."""
        found: Object = self.plane.client.get(self.path(kind, name))
        return found

    def listed(self, kind: str) -> list[Object]:
        """All objects of a kind."""
        return [{"apiVersion": self.version(kind), "kind": kind, **each} for each in self.plane.client.get(self.path(kind))["items"]]

    def status(self, name: str, kind: str = GRAPH) -> Object:
        """The status of an object; empty if it has none."""
        found: Object = self.get(kind, name).get("status", {})
        return found

    def patch(self, kind: str, name: str, change: Object, part: str = "") -> Object:
        """Merge-patch an object or a subresource as `/status`; returns the object. Raises AssertionError with the message of the server."""
        answer = self.plane.client.request("PATCH", self.path(kind, name) + part, change, api.MERGE)
        assert answer.ok, answer.message
        patched: Object = answer.body
        return patched

    def wait(self, name: str, holds: Callable[[Object], bool], kind: str = GRAPH, seconds: float = 180) -> Object:
        """The status of an object as soon as `holds` is true for it. Raises TimeoutError with the last status."""
        seen: list[Object] = [{}]

        def asked() -> bool:
            seen[0] = self.status(name, kind)
            return holds(seen[0])

        try:
            server.eventually(asked, seconds)
        except TimeoutError:
            raise TimeoutError(f"{kind} {name} after {seconds:.0f} s: {json.dumps(seen[0], indent=1)}") from None
        return seen[0]


def render(*resources: Object, **settings: Any) -> list[Object]:
    """The objects that `krm-fn render` prints, with these settings of a DynamoRender. Raises AssertionError with its findings."""
    chosen = {"apiVersion": "dynamo.krm-fn.io/v1alpha1", "kind": "DynamoRender", "metadata": {"name": "render"}, "spec": settings}
    given = json.dumps({"apiVersion": "v1", "kind": "List", "items": [chosen, *resources]})
    command = [sys.executable, "-m", "krm_fn", "render", "-o", "json", "-"]
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=False, cwd=programs.ROOT, timeout=300)
    assert done.returncode == 0, done.stderr
    objects: list[Object] = json.loads(done.stdout)["items"]
    return objects


def conditions(status: Object) -> dict[str, Object]:
    """The conditions of a status by type."""
    return {each["type"]: each for each in status.get("conditions", ())}
