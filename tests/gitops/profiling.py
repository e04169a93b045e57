"""The request of examples/request in a namespace, and what the pod of its Job does, with the account and the rights of that pod."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from krm_fn.render import labels as marks
from krm_fn.render import names
from tests.gitops import cluster
from tests.support import golden
from tests.testbed import kubelet, programs, server, syncer

if TYPE_CHECKING:
    from pathlib import Path

    from tests.testbed.control_plane import ControlPlane

NAME = "support"
JOB, OUTPUT = f"Job/{names.profiling_job(NAME)}", f"ConfigMap/{names.profiling_output(NAME)}"
REQUEST = f"DynamoGraphDeploymentRequest/{NAME}"
OBJECTS = {JOB, REQUEST, f"ServiceAccount/{names.PROFILING_ACCOUNT}", f"RoleBinding/{names.PROFILING_ACCOUNT}-binding"}
"""What the request becomes, without its output."""
_GRAPH = """\
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata:
  name: support
spec:
  services:
    Frontend:
      componentType: frontend
"""


class Run(NamedTuple):
    """The example's request in a namespace. Git has it in `file`."""

    plane: ControlPlane
    namespace: str
    file: Path

    def write(self, labels: dict[str, str] | None = None, **spec: Any) -> None:
        """Write the request; `spec` replaces fields of its spec. The fake kubelet lets the profiler run until `profile` ends it."""
        request = cluster.read(golden.EXAMPLES / "request" / "request.yaml")[0]
        request["metadata"] |= {"labels": labels} if labels else {}
        request["spec"]["profilingConfig"]["profilerImage"] = "profiler:Runs"
        request["spec"] |= spec
        self.file.write_text(yaml.safe_dump(request))

    def leave(self) -> None:
        """Write another object in place of the request."""
        self.file.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\n")

    def objects(self) -> dict[str, cluster.Object]:
        """See `cluster.objects`."""
        return cluster.objects(self.plane, self.namespace)

    def job(self) -> str:
        """The uid of the Job; empty if it does not exist."""
        return str(self.objects().get(JOB, {}).get("metadata", {}).get("uid", ""))

    def is_in(self, state: str) -> None:
        """Return as soon as the syncer has written that state. Raises TimeoutError."""
        server.eventually(lambda: self.objects().get(REQUEST, {}).get("status", {}).get("state") == state)

    def profile(self) -> None:
        """Write the output as the pod's last container does, and end the pod."""
        pod, found = self._pod(), self.objects()
        notes = {marks.PROFILE_HASH: found[JOB]["metadata"]["annotations"][marks.PROFILE_HASH]}
        notes[marks.OUTPUT_HASH] = hashlib.sha256(_GRAPH.encode()).hexdigest()
        owner = {key: found[REQUEST][key] for key in ("apiVersion", "kind")} | {
            "name": NAME,
            "uid": found[REQUEST]["metadata"]["uid"],
        }
        metadata: cluster.Object = {"name": names.profiling_output(NAME), "labels": {marks.REQUEST_NAME: NAME}, "annotations": notes}
        metadata["ownerReferences"] = [owner]
        output = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"config_with_planner.yaml": _GRAPH}}
        self._kubectl("apply", "--server-side", "--field-manager=krm-fn-profiling", "-f", "-", text=json.dumps(output))
        cluster.report(self.plane, pod, kubelet.end(pod, profiler=0))

    def suspend(self) -> None:
        """Suspend the Job as the pod's first container does if the output is there, and return when the Job has no pod."""
        self._pod()
        self._kubectl("patch", JOB, "--type=merge", "--patch", '{"spec": {"suspend": true}}')
        server.eventually(lambda: not self._pods())

    def _kubectl(self, *arguments: str, text: str = "") -> None:
        token = syncer.token(self.plane, self.namespace, names.PROFILING_ACCOUNT)
        self.plane.kubectl("--token", token, "--namespace", self.namespace, *arguments, input=text)

    def _pod(self) -> cluster.Object:
        """The one pod of the Job, once it runs."""
        server.eventually(lambda: len(self._pods()) == 1 and "containerStatuses" in self._pods()[0]["status"])
        return {"apiVersion": "v1", "kind": "Pod", **self._pods()[0]}

    def _pods(self) -> list[cluster.Object]:
        path = f"/api/v1/namespaces/{self.namespace}/pods?labelSelector=batch.kubernetes.io/controller-uid={self.job()}"
        return [each for each in self.plane.client.get(path)["items"] if "deletionTimestamp" not in each["metadata"]]


def grant(plane: ControlPlane) -> None:
    """Install the role that profiling Jobs are bound to."""
    cluster.put(plane, *cluster.read(programs.ROOT / "platform" / "roles" / "profiling.yaml"))
