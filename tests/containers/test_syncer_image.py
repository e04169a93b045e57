"""The image of the syncer: packages of its own, the pod's user, and nothing else that the function's image lacks."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
from pathlib import PurePath
from urllib.parse import urlsplit

import krm_fn
from krm_fn.cluster import leader_election
from krm_fn.cluster.access import kubeconfig
from tests.containers import images
from tests.platform import admission, installation
from tests.support import given
from tests.testbed import programs, server
from tests.testbed import syncer as syncers
from tests.testbed.place import Place

BILL = "usr/share/doc/dynamo-krm-fn/sbom.cdx.json"
PINS = programs.ROOT / "tools" / "image"
# As in platform/syncer/core/deployment.yaml.
STRICT = ("--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges", "--user=65532:65532")


def packages(files):
    """The Python packages of an image and their versions, from its bill of materials."""
    purls = [component["purl"] for component in json.load(files.extractfile(BILL))["components"]]
    return dict(purl.removeprefix("pkg:pypi/").split("@") for purl in purls if purl.startswith("pkg:pypi/"))


def pinned(name):
    """The packages of a requirements file and their versions."""
    return dict(re.findall(r"^([-\w]+)==(\S+)", (PINS / name).read_text(), re.MULTILINE))


def test_only_this_image_has_the_packages_of_the_syncer(files, syncer_files):
    function, syncer = packages(files), packages(syncer_files)
    assert {"aiohttp", "prometheus-client"} <= syncer.keys() - function.keys()
    assert {name: version for name, version in syncer.items() if name not in function}.items() <= pinned("requirements-sync.txt").items()
    assert function.items() <= syncer.items()


def test_shared_packages_have_one_version():
    shared, more = pinned("requirements.txt"), pinned("requirements-sync.txt")
    assert shared.keys() & more.keys() == {"typing-extensions"}
    assert more["typing-extensions"] == shared["typing-extensions"]


def test_it_starts_the_syncer(syncer):
    """With the restrictions of its pod. Without arguments it is the syncer, and needs a cluster."""
    said = syncer.run(*STRICT, arguments=["sync", "--help"]).stdout
    assert said.startswith("Usage: krm-fn sync")
    alone = syncer.run(*STRICT, check=False)
    assert alone.returncode != 0
    assert "Traceback" not in alone.stderr
    assert "KUBERNETES_SERVICE_HOST" in alone.stderr or "kubeconfig" in alone.stderr


@contextlib.contextmanager
def pod(image, plane, folder, port):
    """A container with the arguments, the environment and the account of the pod in platform/syncer, on the network of this machine."""
    deployment = next(each for each in installation.objects(admission.PLATFORM / "syncer") if each["kind"] == "Deployment")
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    address = urlsplit(json.loads(plane.kubeconfig.read_text())["clusters"][0]["cluster"]["server"])
    variables = {"KUBERNETES_SERVICE_HOST": address.hostname, "KUBERNETES_SERVICE_PORT": address.port}
    variables |= {"POD_NAME": "krm-fn-sync-0", "POD_NAMESPACE": syncers.NAMESPACE}
    flags = [*(f"--env={key}={value}" for key, value in variables.items()), f"--volume={folder}:{kubeconfig.SERVICE_ACCOUNT}:ro"]
    arguments = [*container["args"], f"--listen=127.0.0.1:{port}"]
    started = image.engine.run("run", "--detach", "--network=host", *STRICT, *flags, image.name, *arguments).stdout.strip()
    try:
        yield started
    finally:
        image.engine.run("rm", "--force", started)


def account(plane, kustomize, folder):
    """The files that Kubernetes mounts into the pod: token, certificate and namespace, readable by its user only as others."""
    config = json.loads(syncers.installed(plane, kustomize, folder).read_text())
    mounted = folder / "account"
    mounted.mkdir()
    (mounted / "token").write_text(config["users"][0]["user"]["token"])
    (mounted / "ca.crt").write_bytes((plane.folder / "certs" / "apiserver.crt").read_bytes())
    (mounted / "namespace").write_text(syncers.NAMESPACE)
    return mounted


def ready(port):
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=5)) as connection:
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        except OSError:
            return False


def test_it_works_as_in_its_pod(syncer, dynamo, kustomize, tmp_path):
    """Under the restrictions of the pod it finds the cluster, writes a status, and gives the Lease back after SIGTERM."""
    (port,) = server.free_ports(1)
    place = Place(dynamo, dynamo.namespace("image-syncer"))
    with pod(syncer, dynamo, account(dynamo, kustomize, tmp_path), port) as started:
        server.eventually(lambda: ready(port))
        place.deploy(given.graph())
        place.wait("chat", lambda status: status.get("state") == "pending")
        held = dynamo.client.get(leader_election.LEASES.path(syncers.NAMESPACE, leader_election.NAME))
        assert held["spec"]["holderIdentity"] == f"krm-fn {krm_fn.__version__} krm-fn-sync-0"
        syncer.engine.run("stop", "--time=20", started)
        (ended,) = json.loads(syncer.engine.run("inspect", started).stdout)
        assert ended["State"]["ExitCode"] == 0
    assert dynamo.client.get(leader_election.LEASES.path(syncers.NAMESPACE, leader_election.NAME))["spec"]["holderIdentity"] == ""


def test_it_says_what_it_is(syncer):
    (said,) = json.loads(syncer.engine.run("image", "inspect", syncer.name).stdout)
    configured = said["Config"]
    assert (configured["User"], configured["Entrypoint"], configured["Cmd"]) == ("65532:65532", ["/usr/local/bin/krm-fn"], ["sync"])
    labels = {key.removeprefix("org.opencontainers.image."): value for key, value in configured["Labels"].items()}
    assert labels["version"] == krm_fn.__version__
    assert re.fullmatch(r"[0-9a-f]{40}", labels["revision"])


def test_every_module_is_compiled(syncer_files):
    """The root file system is read-only, so Python could not keep what it compiles."""
    names = {*syncer_files.getnames()}
    sources = [PurePath(name) for name in names if name.endswith(".py")]
    assert any("aiohttp" in source.parts for source in sources)
    compiled = [any(name.startswith(f"{path.parent}/__pycache__/{path.stem}.cpython-") for name in names) for path in sources]
    assert all(compiled)


def test_size(syncer, measured):
    size = json.loads(syncer.engine.run("image", "inspect", syncer.name).stdout)[0]["Size"] / 1e6
    measured.append(f"image of the syncer: {size:.1f} MB")
    assert size < 95
    assert syncer.name == f"{images.NAME}-sync"
