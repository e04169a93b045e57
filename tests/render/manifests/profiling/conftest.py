"""A namespace of the control plane in which profiling pods run with the rights of the shipped role."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
import yaml

from krm_fn.render.config import RbacSettings
from tests.support import faults, given, pods
from tests.testbed import programs, server, syncer

if TYPE_CHECKING:
    from krm_fn.kubernetes.types import Resource
    from tests.testbed.control_plane import ControlPlane

ACCOUNT = "dgdr-profiling-job"
SYSTEM = (Path("/usr/bin"), Path("/bin"))


class Space(NamedTuple):
    """A namespace, and a machine that runs pods in it."""

    plane: ControlPlane
    name: str
    node: pods.Node

    def on(self, node: pods.Node) -> Space:
        """The namespace with another machine."""
        return self._replace(node=node)

    def create(self, *resources: Resource) -> None:
        """Store resources in the cluster."""
        for each in resources:
            answer = self.plane.apply(each, dry_run=False)
            assert answer.ok, answer.message

    def request(self, name: str = "chat", **fields: object) -> tuple[Resource, Resource]:
        """A rendered request and its Job."""
        rendered = given.rendered(faults.request(name=name, namespace=self.name, **fields))
        return rendered[f"DynamoGraphDeploymentRequest/{name}"], rendered[f"Job/profile-{name}"]

    def output(self, name: str = "chat") -> Resource | None:
        """The ConfigMap with the output of a request, or None."""
        return self._get(f"/api/v1/namespaces/{self.name}/configmaps/dgdr-output-{name}")

    def job(self, name: str = "chat") -> Resource | None:
        """The Job of a request in the cluster, or None."""
        return self._get(f"/apis/batch/v1/namespaces/{self.name}/jobs/profile-{name}")

    def _get(self, path: str) -> Resource | None:
        answer = self.plane.client.request("GET", path)
        assert answer.ok or answer.status == 404, answer.message
        return answer.body if answer.ok else None

    def without(self, verb: str, resource: str, group: str = "") -> None:
        """Take a right away from the service account, and wait until the authorizer knows."""
        role = _role(self.name)
        for rule in role["rules"]:
            if resource in rule["resources"]:
                rule["verbs"] = [each for each in rule["verbs"] if each != verb]
        role["rules"] = [rule for rule in role["rules"] if rule["verbs"]]
        self.create(role)
        server.eventually(lambda: not self.allowed(verb, resource, group))

    def allowed(self, verb: str, resource: str, group: str = "") -> bool:
        """True if the service account has a right now. The authorizer learns of a changed role a moment later."""
        spec = {
            "user": f"system:serviceaccount:{self.name}:{ACCOUNT}",
            "resourceAttributes": {"namespace": self.name, "verb": verb, "group": group, "resource": resource},
        }
        review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec}
        answer = self.plane.client.request("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", review)
        assert answer.ok, answer.message
        return bool(answer.body["status"]["allowed"])


def _role(namespace: str) -> Resource:
    """The shipped role, under a name of its own for each namespace, so that a test can change it."""
    (role,) = yaml.safe_load_all((programs.ROOT / "platform" / "roles" / "profiling.yaml").read_text())
    return {**role, "metadata": {"name": f"profiling-{namespace}"}}


@pytest.fixture
def space(dynamo, kubectl, tmp_path) -> Space:
    """A new namespace with the account and the binding of a rendered request. Its name is that of the test's folder."""
    name = dynamo.namespace(tmp_path.name.replace("_", "-"))
    data, home = tmp_path / "data", tmp_path / "home"
    data.mkdir()
    home.mkdir()
    rendered = given.rendered(faults.request(namespace=name), rbac=RbacSettings(profiling_role=f"profiling-{name}"))
    made = Space(dynamo, name, pods.Node(data, home, tmp_path / "kubeconfig", (kubectl.parent, *SYSTEM)))
    made.create(_role(name), rendered[f"ServiceAccount/{ACCOUNT}"], rendered[f"RoleBinding/{ACCOUNT}-binding"])
    syncer.kubeconfig(dynamo, made.node.kubeconfig, syncer.token(dynamo, name, ACCOUNT))
    server.eventually(lambda: made.allowed("patch", "configmaps"))
    return made
