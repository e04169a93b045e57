"""Runs every block of the README in order, in an empty folder and on a fresh cluster. At the end the graph is in the cluster."""

from __future__ import annotations

import re

import pytest

from tests.platform import pages
from tests.support import markdown
from tests.testbed import control_plane as planes
from tests.testbed import programs, server

PAGE = (programs.ROOT / "README.md").read_text()
_PARTS = ("Render with kustomize", "Apply")


@pytest.fixture
def fresh_control_plane(tmp_path_factory):
    """A cluster without Dynamo's kinds."""
    needed = planes.Programs(programs.path("etcd"), programs.path("kube-apiserver"), programs.path("kubectl"))
    with planes.running(tmp_path_factory.mktemp("fresh"), needed) as plane:
        yield plane


def blocks(page):
    """The commands that a new user types after the installation, in order."""
    parts = re.split(r"^## ", page, flags=re.MULTILINE)
    chosen = "\n".join(part for part in parts if part.startswith(_PARTS))
    typed = re.findall(r"^```(?:sh|console)\n(.*?)^```$", chosen, re.DOTALL | re.MULTILINE)
    return [
        "\n".join(line.removeprefix("$ ") for line in block.splitlines() if line.startswith("$ ") or "$ " not in block) for block in typed
    ]


def test_every_block_of_the_readme_leads_to_a_graph_in_the_cluster(tmp_path, fresh_control_plane):
    for name, content in markdown.files(PAGE).items():
        (tmp_path / name).write_text(content)
    typed = blocks(PAGE)
    assert len(typed) == 3
    built = pages.run(typed[0], tmp_path, fresh_control_plane)
    assert "8 resources: no findings" in built
    pages.run(typed[1], tmp_path, fresh_control_plane)
    server.eventually(lambda: fresh_control_plane.client.knows("nvidia.com/v1alpha1", "DynamoGraphDeployment"))
    listed = pages.run(typed[2], tmp_path, fresh_control_plane).splitlines()
    assert listed[-2].startswith("NAME ")
    assert listed[-1].startswith("chat ")
    objects = fresh_control_plane.kubectl("get", "deployments,services,roles", "--namespace", "prod", "--output", "name").split()
    assert {"deployment.apps/chat-frontend", "deployment.apps/chat-worker", "service/chat-frontend"} <= set(objects)
