"""Commits of teams, applied by the real Flux and Argo CD: what changes in the cluster is what `krm-fn diff` announced.

The repositories are those of `tests/company`. A real API server runs the pods with a fake kubelet, so pods are replaced for real.
"""

from __future__ import annotations

import json
import os
import subprocess

from tests.cli import console
from tests.company import judge
from tests.company.repositories import TeamRepository
from tests.gitops import application, argocd, cluster, flux
from tests.testbed import programs, server

COMMITS = 8
"""The number of commits of each repository that are applied, one after the other: the first that change a file of the root."""


def team_repository(name, folder, *paths):
    """A repository of a team, and its commits that change a file below the paths."""
    tools = [programs.ROOT / ".venv" / "bin", programs.path("kustomize").parent]
    repository = TeamRepository(name, folder / name, {**os.environ, "PATH": programs.search_path(*tools)})
    commits = [
        commit for commit in repository.create() if repository.git("diff", "--name-only", f"{commit.revision}~1", commit.revision, *paths)
    ]
    return repository, commits[:COMMITS]


def report(repository, root):
    """The report about one root of the checked out commit."""
    done = console.program(
        "diff", "--old", "HEAD~1", "--format", "json", root, folder=repository.folder, PATH=repository.environment["PATH"]
    )
    assert done.code == 0, done.err
    return json.loads(done.out)


class Watched:
    """The objects of a root in the cluster, and the pods of its Deployments."""

    def __init__(self, plane, namespace):
        self._plane, self._namespace, self._known = plane, namespace, {}

    def objects(self, built):
        """The live objects among all that any commit has built, without what servers and controllers write."""
        self._known |= {key: resource["apiVersion"] for key, resource in built.items()}
        live = {key: cluster.get(self._plane, version, key[1], key[3], self._namespace) for key, version in self._known.items()}
        return {key: _content(resource) for key, resource in live.items() if resource is not None}

    def pods(self):
        """The UIDs of the pods of each Deployment, as soon as all its pods are of its newest template."""
        server.eventually(lambda: all(map(_is_rolled_out, self._deployments())))
        sets = {
            entry["metadata"]["uid"]: entry["metadata"]["ownerReferences"][0]["name"]
            for entry in self._list("/apis/apps/v1", "replicasets")
        }
        pods: dict[judge.Key, set[str]] = {}
        for pod in self._list("/api/v1", "pods"):
            if "deletionTimestamp" not in pod["metadata"]:
                owner = sets[pod["metadata"]["ownerReferences"][0]["uid"]]
                pods.setdefault(("apps", "Deployment", self._namespace, owner), set()).add(pod["metadata"]["uid"])
        return pods

    def _deployments(self):
        return self._list("/apis/apps/v1", "deployments")

    def _list(self, api, plural):
        return self._plane.client.get(f"{api}/namespaces/{self._namespace}/{plural}")["items"]


def _content(resource):
    metadata = {name: resource["metadata"].get(name) or {} for name in ("labels", "annotations")}
    metadata["annotations"] = {
        name: value for name, value in metadata["annotations"].items() if not name.startswith("deployment.kubernetes.io/")
    }
    return {**{name: value for name, value in resource.items() if name not in ("metadata", "status")}, "metadata": metadata}


def _is_rolled_out(deployment):
    status, replicas = deployment.get("status", {}), deployment["spec"]["replicas"]
    is_seen = status.get("observedGeneration") == deployment["metadata"]["generation"]
    return is_seen and all(status.get(name, 0) == replicas for name in ("replicas", "updatedReplicas", "readyReplicas"))


def assert_announced(announced, watched, before, pods, built):
    """The live objects and pods differ from those of before as announced."""
    after = watched.objects(built)
    real = judge.effects(before, after)
    assert announced.created == real.created
    assert announced.deleted == real.deleted
    assert announced.changed == real.changed
    replaced = {key for key, uids in watched.pods().items() if uids and not uids & pods.get(key, set()) and key in pods and pods[key]}
    assert {key for key in announced.restarts if key in pods and key[1] == "Deployment"} == replaced


def walk(repository, commits, root, namespace, plane, apply):
    """Applies the commits one after the other, and compares each with its report. Returns the number of commits that changed an object."""
    watched, changes = Watched(plane, namespace), 0
    repository.git("checkout", "--quiet", "--detach", f"{commits[0].revision}~1")
    built = judge.built(repository, root, repository.environment, repository.folder.with_name("package"))
    apply()
    (objects,) = built.values()
    for commit in commits:
        before, pods = watched.objects(objects), watched.pods()
        repository.checkout(commit)
        (objects,) = judge.built(repository, root, repository.environment, repository.folder.with_name("package")).values()
        announced = judge.reported(report(repository, root))
        apply()
        assert_announced(announced, watched, before, pods, objects)
        changes += any(announced)
    return changes


def test_flux_does_what_was_announced(newer_plane, tmp_path_factory):
    """Flux applies the rendered folder of each commit, and prunes."""
    folder = tmp_path_factory.mktemp("flux-commits")
    repository, commits = team_repository("flux_clusters", folder, root := "deploy/eu/chat")
    newer_plane.namespace("chat")
    with flux.running(newer_plane, tmp_path_factory.mktemp("flux")) as controller:
        kustomization = {
            "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
            "kind": "Kustomization",
            "metadata": {"name": "commits", "namespace": flux.NAMESPACE},
            "spec": {"interval": "1h", "prune": True, "sourceRef": {"kind": "ExternalArtifact", "name": "commits"}},
        }
        cluster.put(newer_plane, kustomization)

        def apply():
            revision = controller.publish("commits", repository.folder / root)
            server.eventually(lambda: controller.says("commits", "True", revision))

        assert walk(repository, commits, root, "chat", newer_plane, apply) == COMMITS


def test_argo_cd_does_what_was_announced(newer_plane, tmp_path_factory):
    """Argo CD builds and applies the overlay of each commit, and prunes."""
    folder = tmp_path_factory.mktemp("argo-commits")
    repository, commits = team_repository("applications", folder, root := "apps/chat/overlays/us", "apps/chat/base")
    newer_plane.namespace("chat")
    remote = folder / "remote.git"
    subprocess.run(["git", "init", "--quiet", "--bare", "--initial-branch=main", remote], check=True)
    with argocd.running(newer_plane, tmp_path_factory.mktemp("argo")) as argo:
        spec = {
            "project": "default",
            "source": {"repoURL": f"file://{remote}", "targetRevision": "main", "path": root},
            "destination": {"server": "https://kubernetes.default.svc", "namespace": "chat"},
            "syncPolicy": {"automated": {"prune": True, "selfHeal": True}},
        }
        entry = {
            "apiVersion": argocd.API,
            "kind": "Application",
            "metadata": {"name": "commits", "namespace": argocd.NAMESPACE},
            "spec": spec,
        }

        def apply():
            repository.git("push", "--quiet", "--force", str(remote), "HEAD:refs/heads/main")
            revision = repository.git("rev-parse", "HEAD").strip()
            cluster.put(newer_plane, entry)
            argo.refresh("commits")
            argo.wait("commits", lambda status: application.synced(status, revision))

        assert walk(repository, commits, root, "chat", newer_plane, apply) == COMMITS
