"""The real syncer with the arguments, the files and the account of platform/syncer, on a cluster with an audit log of its requests."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

import yaml

from tests.platform import admission, installation
from tests.testbed import api, kubelet, programs, server, syncer
from tests.testbed.place import Place

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.testbed.control_plane import ControlPlane
    from tests.testbed.syncer import Syncer

HOME, ACCOUNT = "dynamo-system", "krm-fn-sync"
_AUDIT = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [{"level": "Metadata", "userGroups": ["system:serviceaccounts"]}, {"level": "None"}],
}


class Run(NamedTuple):
    """A syncer that runs with the account of an installed layer."""

    plane: ControlPlane
    syncer: Syncer
    objects: list[dict[str, Any]]
    user: str
    kubeconfig: Path
    began: int

    def requests(self) -> list[dict[str, Any]]:
        """What the account asked of the server since the syncer started, from the audit log."""
        events = map(json.loads, (self.plane.folder / "audit.log").read_text().splitlines()[self.began :])
        return [each for each in events if each["user"]["username"] == self.user and "objectRef" in each]

    def granted(self, *roles: str) -> set[tuple[str, str, str]]:
        """The rights of the layer, or of some of its roles: verb, group and resource, of the resources that exist."""
        found_in = [each for each in self.objects if each["apiVersion"].startswith("rbac.")]
        rules = [rule for each in found_in for rule in each.get("rules", ()) if not roles or each["metadata"]["name"] in roles]
        found = {
            (verb, group, name) for rule in rules for group in rule["apiGroups"] for name in rule["resources"] for verb in rule["verbs"]
        }
        return self.of_existing(found)

    def of_existing(self, rights: set[tuple[str, str, str]]) -> set[tuple[str, str, str]]:
        """The rights for resources that exist: the cluster lacks those of newer versions, such as DisaggregatedSetRoleScalers."""
        served = {(group, name) for group in {group for _, group, _ in rights} for name in self.served(group)}
        return {right for right in rights if right[1:] in served}

    def served(self, group: str) -> list[str]:
        """The names of the resources of an API group, and of their subresources."""
        version = self.plane.client.get(f"/apis/{group}")["preferredVersion"]["groupVersion"] if group else "v1"
        return [each["name"] for each in self.plane.client.get(f"/apis/{version}" if group else "/api/v1")["resources"]]

    def used(self) -> set[tuple[str, str, str]]:
        """The rights that the requests for resources that exist needed.

        An API server since Kubernetes 1.34 sends the list with the watch; older ones need both. An apply that creates an object needs two
        rights.
        """
        requests = self.requests()
        found = {(each["verb"], *_resource(each)) for each in requests}
        created = {("create", *_resource(each)) for each in requests if each["verb"] == "patch" and each["responseStatus"]["code"] == 201}
        return self.of_existing(found | created | {("list", group, name) for verb, group, name in found if verb == "watch"})

    def refused(self) -> list[tuple[str, str]]:
        """The requests that RBAC or a policy refused."""
        return [(each["verb"], each["requestURI"]) for each in self.requests() if each["responseStatus"]["code"] in {401, 403}]

    def status_of(self, path: str) -> int:
        """The status code of a GET with the token of the account."""
        config = json.loads(self.kubeconfig.read_text())
        port = urlsplit(config["clusters"][0]["cluster"]["server"]).port
        authority = self.plane.folder / "certs" / "apiserver.crt"
        with contextlib.closing(api.Client(port, authority, config["users"][0]["user"]["token"])) as client:
            return client.request("GET", path).status


def _resource(event: dict[str, Any]) -> tuple[str, str]:
    """Group and resource of a request, the latter with a subresource."""
    reference = event["objectRef"]
    return reference.get("apiGroup", ""), "/".join(filter(None, (reference["resource"], reference.get("subresource"))))


@contextlib.contextmanager
def cluster(folder: Path) -> Iterator[ControlPlane]:
    """A cluster with all kinds, the admission policies, a fake kubelet, and an audit log of service accounts."""
    (folder / "audit.yaml").write_text(json.dumps(_AUDIT))
    flags = (f"--audit-policy-file={folder / 'audit.yaml'}", f"--audit-log-path={folder / 'audit.log'}", "--audit-log-mode=blocking")
    with installation.cluster(folder, *flags) as found:
        for file in (programs.ROOT / "tests" / "crds").glob("*.yaml"):
            installation.apply(found, file.read_text())
        for part in ("namespace", "crds", "roles", "admission"):
            installation.apply(found, installation.build(admission.PLATFORM / part))
        found.kubectl("wait", "--for=condition=Established", "crd", "--all")
        with kubelet.running(found):
            yield found


@contextlib.contextmanager
def running(plane: ControlPlane, folder: Path, *components: str, home: str = HOME, prelude: str = "", **settings: Any) -> Iterator[Run]:
    """Install a layer, and run its command as its pods would: with its arguments, its files, its account and its namespace.

    A process that ends is started again, because a syncer ends by design if a busy machine does not let it renew its Lease in time.
    `settings` are further settings of the kustomization, `prelude` is code that the process runs before.
    """
    paths = [f"platform/syncer/{name}" for name in components]
    layer = installation.overlay(folder / "layer", resources=["platform/syncer"], components=paths, namespace=home, **settings)
    objects = installation.objects(layer)
    installation.apply(plane, yaml.safe_dump_all(objects))
    (deployment,) = [each for each in objects if each["kind"] == "Deployment"]
    pod = deployment["spec"]["template"]["spec"]
    arguments = [word.replace("$(POD_NAMESPACE)", home) for word in pod["containers"][0]["args"][1:]]
    for mount, files in mounted(pod, objects):
        (folder / mount.strip("/")).mkdir(parents=True)
        for name, text in files.items():
            (folder / mount.strip("/") / name).write_text(text)
        arguments = [word.replace(mount, str(folder / mount.strip("/"))) for word in arguments]
    config = syncer.kubeconfig(plane, folder / "kubeconfig", syncer.token(plane, home, ACCOUNT))
    began = len((plane.folder / "audit.log").read_text().splitlines())
    arguments += ["--leader-election", f"--lease-namespace={home}"]
    with syncer.running(config, folder, *arguments, prelude=prelude, pod=f"{ACCOUNT}-{folder.name}") as found:
        with server.restarting(found.server):
            yield Run(plane, found, objects, f"system:serviceaccount:{home}:{ACCOUNT}", config, began)
        assert "please report it" not in found.log()


def mounted(pod: dict[str, Any], objects: list[dict[str, Any]]) -> Iterator[tuple[str, dict[str, str]]]:
    """The folders of ConfigMaps in the container, and their files."""
    data = {each["metadata"]["name"]: each["data"] for each in objects if each["kind"] == "ConfigMap"}
    volumes = {each["name"]: data[each["configMap"]["name"]] for each in pod["volumes"] if "configMap" in each}
    for each in pod["containers"][0]["volumeMounts"]:
        if each["name"] in volumes:
            yield each["mountPath"], volumes[each["name"]]


def guarded(plane: ControlPlane, name: str) -> Place:
    """A namespace in which the policies hold."""
    return Place(plane, admission.namespace(plane, name, admission.ENFORCED))
