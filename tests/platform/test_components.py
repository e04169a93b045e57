"""Every part of the platform on a real API server: accepted, restricted pods, and exactly the rights that it needs."""

from __future__ import annotations

import base64
import json
import os
import shutil
import socket
import subprocess
import sys
import urllib.request

import pytest
import yaml

import krm_fn
from krm_fn.render import config
from tests.platform import admission, installation, pages
from tests.support import golden, markdown
from tests.support.cases import cases
from tests.testbed import programs, server

pytestmark = [pytest.mark.server, pytest.mark.xdist_group("platform")]

PAGE, UPGRADES, SYNCER = ((pages.DOCS / name).read_text() for name in ("platform.md", "upgrades.md", "syncer.md"))
PLATFORM = admission.PLATFORM
STATUS_WRITTEN = {"StatefulSet", "Deployment", "Job", "ValidatingAdmissionPolicy", "ClusterRole"}
NAMESPACES = {"ssh-key": "inference", "namespaced": "team"}
ELSEWHERE = ("Exchange the served version", "Roll back")
"""The sections of the page about upgrades whose commands `tests.docs.test_exchange` and `tests.docs.test_troubleshooting` run."""
OTHERS = ("inferencepool", "podmonitor", "prometheusrule", "queue")


def name(folder):
    return str(folder.relative_to(PLATFORM))


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A separate cluster with the kinds of other projects that the page needs."""
    with installation.cluster(tmp_path_factory.mktemp("platform")) as plane:
        for kind in OTHERS:
            definition = yaml.safe_load((programs.ROOT / "tests" / "crds" / f"{kind}.yaml").read_text())
            installation.apply(plane, yaml.safe_dump(definition))
            plane.kubectl("wait", "--for=condition=Established", f"crd/{definition['metadata']['name']}")
        yield plane


@pytest.fixture(scope="module")
def installed(cluster, tmp_path_factory):
    """The cluster after all commands of the page, in their order."""
    folder = pages.clone(tmp_path_factory.mktemp("clone"), PAGE)
    for scripts in pages.steps(PAGE).values():
        for script in scripts:
            pages.run(script, folder, cluster)
    return cluster


def test_the_page_has_commands_for_every_part():
    scripts = "\n".join(script for found in pages.steps(PAGE).values() for script in found) + "\n".join(markdown.files(PAGE).values())
    top = yaml.safe_load((programs.ROOT / "kustomization.yaml").read_text())["resources"]
    named = [f"platform/{name(part)}" for part in installation.parts() if name(part.parent) == "."]
    assert [part for part in named if part not in top and part not in scripts] == []


def at_hand():
    """The root kustomization, and every part that it does not include; of nested parts, the outer one."""
    top = yaml.safe_load((programs.ROOT / "kustomization.yaml").read_text())["resources"]
    found = [part for part in installation.parts() if f"platform/{name(part)}" not in top]
    return [programs.ROOT, *(part for part in found if part.parent not in found)]


@pytest.mark.parametrize("folder", at_hand(), ids=lambda folder: str(folder.relative_to(programs.ROOT)))
def test_a_second_time_changes_nothing(folder, installed, tmp_path):
    """After the commands of the page, applying every part again changes nothing. Parts without a namespace get that of the page."""
    named = {"namespace": NAMESPACES[folder.name]} if folder.name in NAMESPACES else {}
    text = installation.build(installation.overlay(tmp_path / "layer", resources=[str(folder.relative_to(programs.ROOT))], **named))
    before = versions(installed, text)
    installation.apply(installed, text)
    assert versions(installed, text) == before


def versions(plane, text):
    """The resource version of every object of a build, except objects whose status a controller writes."""
    still = [each for each in yaml.safe_load_all(text) if each["kind"] not in STATUS_WRITTEN]
    return [plane.client.get(plane.client.path(each))["metadata"]["resourceVersion"] for each in still]


PODS = [
    ("dynamo-system", "nats", 1),
    ("dynamo-system", "etcd", 1),
    ("dynamo-system", "krm-fn-sync", 2),
    ("inference", "mpi-run-ssh-key", 1),
]


@pytest.mark.parametrize(("space", "selector", "count"), PODS)
def test_pods_are_fit_for_the_strictest_namespace(space, selector, count, installed):
    """Both namespaces enforce the restricted standard and would refuse other pods."""
    asked = ("get", "pods", "-n", space, "-l", f"app.kubernetes.io/name={selector}", "-o", "name")
    server.eventually(lambda: len(installed.kubectl(*asked).splitlines()) == count)
    labels = installed.client.get(f"/api/v1/namespaces/{space}")["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"


def test_a_careless_pod_is_refused(installed):
    """The namespace refuses a pod that violates the standard, as the test above assumes."""
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "careless", "namespace": "dynamo-system"}}
    answer = installed.client.apply(pod | {"spec": {"containers": [{"name": "main", "image": "thing:1"}]}})
    assert "violates PodSecurity" in answer.message


def test_etcd_starts_with_the_arguments_of_its_container(tmp_path):
    """The real etcd of the same version accepts the flags and answers the probes."""
    (workload,) = [each for each in installation.objects(PLATFORM / "etcd") if each["kind"] == "StatefulSet"]
    (container,) = workload["spec"]["template"]["spec"]["containers"]
    assert container["image"].endswith(":v3.6.8")
    client, metrics, peer = server.free_ports(3)
    here = {"/data": str(tmp_path / "data"), "0.0.0.0:2379": f"127.0.0.1:{client}", "0.0.0.0:2381": f"127.0.0.1:{metrics}"}
    arguments = [changed(argument, here | {"$(NAMESPACE)": "dynamo-system"}) for argument in container["command"][1:]]
    peers = [f"--listen-peer-urls=http://127.0.0.1:{peer}"]
    with server.running([programs.path("etcd"), *arguments, *peers], tmp_path / "etcd.log") as etcd:
        for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
            path = container[probe]["httpGet"]["path"]
            etcd.wait(lambda: answers(f"http://127.0.0.1:{metrics}{path}"))  # noqa: B023 - called at once


def test_nats_starts_with_its_settings(tmp_path):
    """The real NATS of the same version answers the probes, and has JetStream and the configured payload."""
    (workload,) = [each for each in installation.objects(PLATFORM / "nats") if each["kind"] == "StatefulSet"]
    (container,) = workload["spec"]["template"]["spec"]["containers"]
    assert container["image"].endswith(":2.12.12-alpine")
    client, monitor = server.free_ports(2)
    here = {"/data": str(tmp_path / "data"), "4222": str(client), "8222": str(monitor)}
    (tmp_path / "nats.conf").write_text(changed((PLATFORM / "nats" / "nats.conf").read_text(), here))
    arguments = [changed(argument, {"/etc/nats": str(tmp_path)}) for argument in container["command"][1:]]
    with server.running([programs.path("nats-server"), *arguments], tmp_path / "nats.log") as nats:
        for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
            path = container[probe]["httpGet"]["path"]
            nats.wait(lambda: answers(f"http://127.0.0.1:{monitor}{path}"))  # noqa: B023 - called at once
        with socket.create_connection(("127.0.0.1", client), timeout=60) as connection:
            offered = json.loads(connection.makefile().readline().removeprefix("INFO "))
    assert (offered["jetstream"], offered["max_payload"]) == (True, 15 * 1024 * 1024)


def changed(text, replacements):
    for old, new in replacements.items():
        text = text.replace(old, new)
    return text


def answers(url):
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:  # noqa: S310 - of our own
            return answer.status == 200
    except OSError:
        return False


@pytest.fixture
def key_job(installed, tmp_path):
    """Run the command of the Job as in its container: the mounted script, with the token of its account."""
    job = next(each for each in installation.objects(PLATFORM / "ssh-key") if each["kind"] == "Job")
    (container,) = job["spec"]["template"]["spec"]["containers"]
    account = tmp_path / "account"
    account.mkdir()
    (account / "ca.crt").write_bytes((installed.folder / "certs" / "apiserver.crt").read_bytes())
    (account / "namespace").write_text("inference")
    (account / "token").write_text(
        installed.kubectl("create", "token", "-n", "inference", job["spec"]["template"]["spec"]["serviceAccountName"])
    )
    here = {"/script": str(PLATFORM / "ssh-key"), "/var/run/secrets/kubernetes.io/serviceaccount": str(account), "python3": sys.executable}
    (cluster,) = yaml.safe_load(installed.kubeconfig.read_text())["clusters"]
    host, port = cluster["cluster"]["server"].removeprefix("https://").split(":")
    address = {"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port}
    command = [changed(word, here) for word in container["command"]]
    return lambda: subprocess.run(command, env={**os.environ, **address}, capture_output=True, text=True, check=False)


def test_the_job_makes_a_key_once(key_job, installed, tmp_path):
    made = key_job()
    assert (made.returncode, made.stdout) == (0, "Secret mpi-run-ssh-secret: made\n"), made.stderr
    secret = installed.kubectl("get", "secret", "-n", "inference", config.Config().mpi_secret_name, "-o", "yaml")
    again = key_job()
    assert (again.returncode, again.stdout) == (0, "Secret mpi-run-ssh-secret: there already, and left as it is\n")
    assert installed.kubectl("get", "secret", "-n", "inference", config.Config().mpi_secret_name, "-o", "yaml") == secret


@pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="ssh-keygen is missing")
def test_the_key_is_one_for_ssh(key_job, installed, tmp_path):
    """The Secret has a private and a public key of one pair, under the names that the workers use."""
    assert key_job().returncode == 0
    data = installed.client.get("/api/v1/namespaces/inference/secrets/mpi-run-ssh-secret")["data"]
    assert sorted(data) == ["private.key", "private.key.pub"]
    file = tmp_path / "private.key"
    file.write_bytes(base64.b64decode(data["private.key"]))
    file.chmod(0o600)
    derived = subprocess.run(["ssh-keygen", "-y", "-f", file], capture_output=True, text=True, check=True).stdout
    assert derived.split()[:2] == base64.b64decode(data["private.key.pub"]).decode().split()[:2]


def test_the_job_says_what_went_wrong(key_job, tmp_path):
    (tmp_path / "account" / "namespace").write_text("elsewhere")
    failed = key_job()
    assert failed.returncode == 1
    assert failed.stderr.startswith("403: ")


TEAM = "system:serviceaccount:inference:"
ALLOWED = [
    ("the key's Job makes Secrets", f"{TEAM}mpi-run-ssh-key", "create", "", "secrets", True),
    ("and reads none", f"{TEAM}mpi-run-ssh-key", "get", "", "secrets", False),
    ("nor lists them", f"{TEAM}mpi-run-ssh-key", "list", "", "secrets", False),
    ("a planner scales adapters", "planner", "patch", "nvidia.com", "dynamographdeploymentscalingadapters/scale", True),
    ("it reads their scale, from 1.6 on", "planner", "get", "nvidia.com", "dynamographdeploymentscalingadapters/scale", True),
    ("and adapters, from 1.7 on", "planner", "get", "nvidia.com", "dynamographdeploymentscalingadapters", True),
    ("it annotates them, in batch mode", "planner", "patch", "nvidia.com", "dynamographdeploymentscalingadapters", True),
    ("but deletes none", "planner", "delete", "nvidia.com", "dynamographdeploymentscalingadapters", False),
    ("it lists pods, from 1.6 on", "planner", "list", "", "pods", True),
    ("but starts none in them", "planner", "create", "", "pods/exec", False),
    ("and changes graphs", "planner", "patch", "nvidia.com", "dynamographdeployments", True),
    ("but deletes none", "planner", "delete", "nvidia.com", "dynamographdeployments", False),
    ("nor Deployments", "planner", "patch", "apps", "deployments", False),
    ("a picker watches pods", "picker", "watch", "", "pods", True),
    ("and pools", "picker", "list", "inference.networking.k8s.io", "inferencepools", True),
    ("but no Secrets", "picker", "get", "", "secrets", False),
    ("a profiler makes graphs", "profiler", "create", "nvidia.com", "dynamographdeployments", True),
    ("and reads logs", "profiler", "get", "", "pods/log", True),
    ("but changes no request", "profiler", "update", "nvidia.com", "dynamographdeploymentrequests", False),
    ("nor sees nodes", "profiler", "list", "", "nodes", False),
    ("it publishes its output", "profiler", "patch", "", "configmaps", True),
    ("it suspends its Job", "profiler", "patch", "batch", "jobs", True),
    ("but creates none", "profiler", "create", "batch", "jobs", False),
    ("nor reads Secrets", "profiler", "get", "", "secrets", False),
    ("who may edit makes requests", "editor", "create", "nvidia.com", "dynamographdeploymentrequests", True),
    ("and models", "editor", "patch", "nvidia.com", "dynamomodels", True),
    ("and writes no status of them", "editor", "patch", "nvidia.com", "dynamographdeploymentrequests/status", False),
    ("who may view sees graphs", "viewer", "list", "nvidia.com", "dynamographdeployments", True),
    ("and changes none", "viewer", "patch", "nvidia.com", "dynamographdeployments", False),
    ("who may edit changes graphs", "editor", "patch", "nvidia.com", "dynamographdeployments", True),
    ("and scales", "editor", "patch", "nvidia.com", "dynamographdeploymentscalingadapters/scale", True),
    ("but writes no status", "editor", "patch", "nvidia.com", "dynamographdeployments/status", False),
    ("nor the workers' own records", "editor", "patch", "nvidia.com", "dynamoworkermetadatas", False),
    ("who may administer does", "owner", "patch", "nvidia.com", "dynamoworkermetadatas", True),
    ("but only there", "owner", "create", "rbac.authorization.k8s.io", "clusterroles", False),
]
BOUND = {
    "planner": "dynamo-planner",
    "picker": "dynamo-epp",
    "profiler": "dynamo-profiling",
    "viewer": "view",
    "editor": "edit",
    "owner": "admin",
}


@pytest.fixture(scope="module")
def people(installed):
    """Users with one role each in the namespace of the page."""
    for user, role in BOUND.items():
        installed.kubectl("create", "rolebinding", "-n", "inference", f"may-{user}", f"--clusterrole={role}", f"--user={user}")
    # The rules of platform/access join each role a moment after they are there.
    for user, verb, resource in (
        ("viewer", "list", "dynamographdeployments"),
        ("editor", "patch", "dynamographdeployments"),
        ("owner", "patch", "dynamoworkermetadatas"),
        ("owner", "patch", "dynamographdeployments"),
    ):
        server.eventually(lambda: installation.may(installed, user, "inference", verb, "nvidia.com", resource))  # noqa: B023 - called at once
    return installed


@cases(("reason", "user", "verb", "group", "resource", "allowed"), ALLOWED)
def test_rights(reason, user, verb, group, resource, allowed, people):
    assert installation.may(people, user, "inference", verb, group, resource) == allowed
    assert not installation.may(people, user, "dynamo-system", verb, group, resource)


def test_the_roles_are_those_of_the_defaults():
    kinds = {each["metadata"]["name"]: each["kind"] for each in installation.objects(PLATFORM / "roles")}
    assert kinds == dict.fromkeys(config.Config().rbac, "ClusterRole")
    assert set(BOUND.values()) > {*kinds}


def test_who_administers_one_namespace_needs_no_more(people, tmp_path):
    """An administrator of one namespace installs the namespaced variant, a graph with a planner, and a request."""
    people.kubectl("create", "namespace", "alone")
    people.kubectl("create", "rolebinding", "-n", "alone", "owner", "--clusterrole=admin", "--user=hermit")
    layer = installation.overlay(tmp_path / "layer", resources=["platform/namespaced"], namespace="alone")
    installation.apply(people, installation.build(layer), "--as=hermit")
    around = tmp_path / "graph"
    around.mkdir()
    text = "---\n".join((golden.EXAMPLES / name / "expected.yaml").read_text() for name in ("older-planner", "request"))
    (around / "objects.yaml").write_text(text.replace("team-planner", "dynamo-planner").replace("inference", "alone"))
    built = installation.build(with_own_roles(around))
    assert "kind: ClusterRole" not in built
    installation.apply(people, built, "--as=hermit")
    for account, group, resource in (
        ("planner-serviceaccount", "nvidia.com", "dynamographdeploymentscalingadapters/scale"),
        ("dgdr-profiling-job", "batch", "jobs"),
    ):
        user = f"system:serviceaccount:alone:{account}"
        server.eventually(lambda: installation.may(people, user, "alone", "patch", group, resource))  # noqa: B023 - called at once


def with_own_roles(folder):
    """A layer around rendered objects that uses the component."""
    layer = installation.overlay(folder / "layer", components=["platform/namespaced/bindings"])
    content = yaml.safe_load((layer / "kustomization.yaml").read_text())
    (layer / "kustomization.yaml").write_text(yaml.safe_dump(content | {"resources": ["objects.yaml"]}))
    (folder / "objects.yaml").rename(layer / "objects.yaml")
    return layer


def test_the_cluster_wide_parts_are_not_for_them(people):
    """Without rights in the cluster, the ClusterRoles are refused."""
    with pytest.raises(subprocess.CalledProcessError) as refused:
        installation.apply(people, installation.build(PLATFORM / "roles"), "--as=hermit")
    assert "clusterroles" in refused.value.stderr


@pytest.fixture(scope="module")
def apart(people, tmp_path_factory):
    """The cluster after the commands of the page on isolation and quotas; other tests run those of the sections in `ELSEWHERE`."""
    folder = pages.clone(tmp_path_factory.mktemp("apart"), UPGRADES)
    for heading, scripts in pages.steps(UPGRADES).items():
        for script in scripts if heading not in ELSEWHERE else ():
            pages.run(script, folder, people)
    return people


def test_a_server_of_ones_own_lets_in_nobody_elses_pods(apart):
    policy = apart.client.get("/apis/networking.k8s.io/v1/namespaces/team-a/networkpolicies/nats")
    (peer,) = policy["spec"]["ingress"][0]["from"]
    assert "namespaceSelector" not in peer
    assert peer["podSelector"]["matchExpressions"]


def test_a_quota_counts_graphs(apart):
    first, second = (admission.graph(name, "team-a", 1) for name in ("first", "second"))
    server.eventually(lambda: apart.client.apply(first, dry_run=False).ok)  # the controller looks for new kinds every half minute
    path = "/api/v1/namespaces/team-a/resourcequotas/inference"
    server.eventually(lambda: "1" in apart.client.get(path)["status"]["used"].values())
    assert "exceeded quota" in apart.client.apply(second, dry_run=False).message


def test_the_page_of_the_syncer_installs_it(apart, tmp_path):
    """The commands of docs/syncer.md, in their order; the restricted namespace admits a pod with the image of the page."""
    folder = pages.clone(tmp_path, SYNCER)
    for scripts in pages.steps(SYNCER).values():
        for script in scripts:
            pages.run(script.replace("kubectl create namespace team-a\n", ""), folder, apart)
    asked = ("get", "pods", "-n", "dynamo-system", "-l", "app.kubernetes.io/name=krm-fn-sync", "-o", "jsonpath={..image}")
    server.eventually(lambda: f"registry.example.com/krm-fn:{krm_fn.__version__}-sync" in apart.kubectl(*asked).split())
    assert apart.kubectl("get", "deployment", "-n", "team-a", "krm-fn-sync", "-o", "name")
