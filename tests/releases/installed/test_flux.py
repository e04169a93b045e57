"""The manifests of a release: Flux applies the OCI artifact, and kubectl the YAML files."""

from __future__ import annotations

import contextlib
import subprocess
import tarfile
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.gitops import cluster as objects
from tests.gitops import flux
from tests.platform import installation
from tests.testbed import programs, server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.testbed.control_plane import ControlPlane

OCI_REPOSITORY = "source.toolkit.fluxcd.io/v1"
KUSTOMIZATION = "kustomize.toolkit.fluxcd.io/v1"


@pytest.fixture(scope="module")
def plane(tmp_path_factory) -> Iterator[ControlPlane]:
    """A cluster with Flux's source-controller and kustomize-controller."""
    folder = tmp_path_factory.mktemp("flux")
    with installation.cluster(folder) as plane:
        (controllers := folder / "controllers").mkdir()
        program = programs.path("source-controller")
        for definition in sorted((program.parent / "crds").glob("*.yaml")):
            objects.put(plane, *objects.read(definition))
        with flux.running(plane, controllers), _sources(plane, folder):
            yield plane


@contextlib.contextmanager
def _sources(plane, folder):
    """A running source-controller with its files in a folder."""
    storage, metrics, health = server.free_ports(3)
    (folder / "storage").mkdir()
    command: list[str | Path] = [
        programs.path("source-controller"),
        f"--storage-path={folder / 'storage'}",
        f"--storage-addr=127.0.0.1:{storage}",
        f"--storage-adv-addr=127.0.0.1:{storage}",
        f"--metrics-addr=127.0.0.1:{metrics}",
        f"--health-addr=127.0.0.1:{health}",
        "--events-addr=",
        "--enable-leader-election=false",
        "--watch-all-namespaces=true",
    ]
    variables = {"RUNTIME_NAMESPACE": flux.NAMESPACE, "KUBECONFIG": str(plane.kubeconfig)}
    with server.running(command, folder / "source-controller.log", variables):
        yield


def test_flux_applies_the_artifact(built, registry, plane, tmp_path):
    """The digest in the registry is that of the file, so a user can compare them."""
    with tarfile.open(built.file("*.oci.tar")) as archive:
        archive.extractall(tmp_path / "layout", filter="data")
    name = f"{registry.address}/manifests"
    pushed = registry.crane("push", tmp_path / "layout", f"{name}:{built.release.version}")
    index = yaml.safe_load((tmp_path / "layout" / "index.json").read_text())
    assert pushed == f"{name}@{index['manifests'][0]['digest']}"

    source = {
        "apiVersion": OCI_REPOSITORY,
        "kind": "OCIRepository",
        "metadata": {"name": "krm-fn", "namespace": flux.NAMESPACE},
        "spec": {"url": f"oci://{name}", "ref": {"tag": built.release.version}, "interval": "1h", "insecure": True},
    }
    objects.put(plane, source)
    objects.put(plane, _kustomization("platform", "./"))
    _wait(plane, "platform")  # the syncer needs its namespace
    objects.put(plane, _kustomization("syncer", "./platform/syncer", "pods"))
    _wait(plane, "syncer")
    deployment: Any = objects.get(plane, "apps/v1", "Deployment", "krm-fn-sync", "dynamo-system")
    assert deployment["spec"]["template"]["spec"]["containers"][0]["args"][-1] == "--pods"
    assert plane.client.knows("nvidia.com/v1alpha1", "DynamoGraphDeployment")


def _kustomization(name, path, *components):
    spec = {
        "sourceRef": {"kind": "OCIRepository", "name": "krm-fn"},
        "path": path,
        "components": [f"./{component}" for component in components],
        "interval": "1h",
        "prune": True,
    }
    metadata = {"name": name, "namespace": flux.NAMESPACE}
    return {"apiVersion": KUSTOMIZATION, "kind": "Kustomization", "metadata": metadata, "spec": spec}


def _wait(plane, name):
    """Wait until Flux has applied a Kustomization. A failure has the statuses of Flux's objects in a note."""
    try:
        plane.kubectl("wait", "--for=condition=Ready", "--timeout=180s", f"--namespace={flux.NAMESPACE}", f"kustomization/{name}")
    except subprocess.CalledProcessError as failed:
        failed.add_note(plane.kubectl("get", "ocirepositories,kustomizations", "--all-namespaces", "--output=wide"))
        raise


def test_kubectl_applies_the_manifests(built, plane):
    """The files are what kustomize builds from the folders, and a cluster accepts each object."""
    for pattern, folder in (("krm-fn-platform-*.yaml", "."), ("krm-fn-sync-*.yaml", "platform/syncer")):
        text = built.file(pattern).read_text()
        assert text == installation.build(programs.ROOT / folder)
        plane.kubectl("apply", "--server-side", "--force-conflicts", "--validate=strict", "-f", str(built.file(pattern)))
