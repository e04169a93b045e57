"""Runs the commands of docs/getting-started.md that need a cluster, on a fresh one. `make test-running` runs the same graph for real."""

from __future__ import annotations

import pytest

from tests.platform import installation, pages
from tests.testbed import kubelet, syncer

pytestmark = pytest.mark.server

PAGE = (pages.DOCS / "getting-started.md").read_text()


@pytest.fixture
def fresh_cluster(tmp_path_factory):
    """A cluster without Dynamo's kinds. Pods are ready at once; nothing runs in them."""
    with installation.cluster(tmp_path_factory.mktemp("fresh")) as plane, kubelet.running(plane):
        yield plane


def test_every_block_leads_to_a_graph_that_is_ready(tmp_path, fresh_cluster):
    folder = pages.clone(tmp_path, PAGE)
    pages.run("kustomize build --enable-alpha-plugins --enable-exec . > objects.yaml", folder, fresh_cluster)
    steps = pages.steps(PAGE)
    (apply,), (look,) = steps["3. Apply it"], steps["4. Follow the status"]
    assert "serverside-applied" in pages.run(apply, folder, fresh_cluster)
    with syncer.running(fresh_cluster.kubeconfig, tmp_path, "--namespace", "prod", "--pods"):
        listed = pages.run(look, folder, fresh_cluster)
    assert "dynamographdeployment.nvidia.com/chat" in listed
    assert listed.count("Running") == 2
