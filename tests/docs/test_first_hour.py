"""Runs every block of the README in order, on a fresh cluster. At the end the status of the graph says that it serves."""

from __future__ import annotations

import re

import pytest

from tests.platform import installation, pages
from tests.testbed import kubelet, programs, server, syncer

pytestmark = pytest.mark.server

PAGE = (programs.ROOT / "README.md").read_text()
TROUBLESHOOTING = (programs.ROOT / "docs" / "troubleshooting.md").read_text()
_PARTS = ("Render\n", "Render with kustomize", "Apply", "Look at the status")
_HOME, _ACCOUNT = "dynamo-system", "krm-fn-sync"


@pytest.fixture
def fresh_cluster(tmp_path_factory):
    """A cluster without Dynamo's kinds. Pods are ready at once; nothing runs in them."""
    with installation.cluster(tmp_path_factory.mktemp("fresh")) as plane, kubelet.running(plane):
        yield plane


def blocks(page):
    """The commands that a new user types after the installation, in order."""
    parts = re.split(r"^## ", page, flags=re.MULTILINE)
    chosen = "\n".join(part for part in parts if part.startswith(_PARTS))
    typed = re.findall(r"^```(?:sh|console)\n(.*?)^```$", chosen, re.DOTALL | re.MULTILINE)
    return [
        "\n".join(line.removeprefix("$ ") for line in block.splitlines() if line.startswith("$ ") or "$ " not in block) for block in typed
    ]


def test_every_block_of_the_readme_leads_to_a_graph_that_serves(tmp_path, fresh_cluster):
    folder = pages.clone(tmp_path, PAGE)
    render, build, prepare, apply, offline, install, look = blocks(PAGE)
    assert "1 resource: no findings" in pages.run(render, folder, fresh_cluster)
    assert "8 resources: no findings" in pages.run(build, folder, fresh_cluster)
    pages.run(prepare, folder, fresh_cluster)
    server.eventually(lambda: fresh_cluster.client.knows("nvidia.com/v1beta1", "DynamoGraphDeployment"))
    pages.run(apply, folder, fresh_cluster)
    objects = fresh_cluster.kubectl("get", "deployments,services,roles", "--namespace", "prod", "--output", "name").split()
    assert {"deployment.apps/chat-frontend", "deployment.apps/chat-worker", "service/chat-frontend"} <= set(objects)
    assert "prod/chat" in pages.run(offline, folder, fresh_cluster)
    pages.run(install, folder, fresh_cluster)
    config = syncer.kubeconfig(fresh_cluster, tmp_path / "syncer", syncer.token(fresh_cluster, _HOME, _ACCOUNT))
    with syncer.running(config, tmp_path, "--leader-election", f"--lease-namespace={_HOME}"):  # in place of the pods
        listed = pages.run(look, folder, fresh_cluster).splitlines()
        (reasons,) = pages.steps(TROUBLESHOOTING)["A graph is not ready"]
        answered = pages.run(reasons.replace("inference", "prod"), folder, fresh_cluster)
    assert listed[-2].startswith("NAME ")
    assert listed[-1].startswith("chat ")
    assert "True" in listed[-1]
    assert "prod/chat" in answered
    assert answered.endswith("All resources are ready")
