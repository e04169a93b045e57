"""Runs every block of "Exchange the served version" on docs/upgrades.md in order, on a real API server with live objects."""

from __future__ import annotations

import json
import re

import pytest
import yaml

from krm_fn.render.convert import versions
from krm_fn.render.schema import table
from tests.platform import installation, pages
from tests.support import markdown
from tests.testbed import programs, server

pytestmark = pytest.mark.server

PAGE = (programs.ROOT / "docs" / "upgrades.md").read_text()
SECTION = re.split(r"^## ", PAGE.partition("## Exchange the served version\n")[2], flags=re.MULTILINE)[0]
EXAMPLE = programs.ROOT / "examples" / "older-planner" / "graph.yaml"
REQUEST = programs.ROOT / "examples" / "request" / "request.yaml"


@pytest.fixture
def cluster(tmp_path_factory):
    """A cluster that serves v1alpha1, with the syncer."""
    with installation.cluster(tmp_path_factory.mktemp("exchange")) as plane:
        plane.kubectl("apply", "--server-side", "--kustomize", str(programs.ROOT / "platform" / "crds"))
        plane.kubectl("create", "namespace", "inference")
        for part in ("namespace", "syncer"):
            plane.kubectl("apply", "--server-side", "--kustomize", str(programs.ROOT / "platform" / part))
        yield plane


def live(plane, *resources):
    """Objects of the namespace by kind and name."""
    found = json.loads(plane.kubectl("get", ",".join(resources), "-n", "inference", "-o", "json"))["items"]
    return {f"{each['kind']}/{each['metadata']['name']}": each for each in found}


def test_every_block_leads_to_v1beta1_without_a_lost_field(tmp_path, cluster):
    folder = pages.clone(tmp_path, SECTION)
    (folder / "graphs").mkdir()
    (folder / "graphs" / "graph.yaml").write_text(EXAMPLE.read_text())
    (folder / "request.yaml").write_text(REQUEST.read_text())
    convert, suspend, exchange, resume = [script for _, script in markdown.fenced(SECTION, "sh")]
    first = "krm-fn render --config render.yaml graphs | kubectl apply --server-side --filename -\nkubectl apply --filename request.yaml"
    server.eventually(lambda: cluster.client.knows("nvidia.com/v1alpha1", "DynamoGraphDeploymentRequest"))
    pages.run(first, folder, cluster)
    deployments, graphs = live(cluster, "deployments"), live(cluster, "dgd", "dgdsa", "dgdr")
    assert {each["apiVersion"] for each in graphs.values()} == {"nvidia.com/v1alpha1"}

    pages.run(convert, folder, cluster)
    pages.run(suspend, folder, cluster)
    pages.run(exchange, folder, cluster)
    assert "assistant" in pages.run("kubectl get dgd --namespace inference", folder, cluster)  # with the reader's cache
    restored = live(cluster, "dgd", "dgdsa", "dgdr")
    for name, each in graphs.items():
        assert restored[name]["spec"] == table.with_defaults(versions.to("v1beta1", each))["spec"]
    syncer = ("get", "deployment", "krm-fn-sync", "-n", "dynamo-system", "-o", "jsonpath={.spec.replicas}")
    assert cluster.kubectl(*syncer) == "0"
    pages.run(resume, folder, cluster)
    assert cluster.kubectl(*syncer) == "2"

    after = live(cluster, "dgd", "dgdsa", "dgdr")
    assert {name: each["metadata"]["uid"] for name, each in after.items()} == {
        name: each["metadata"]["uid"] for name, each in graphs.items()
    }
    rendered = {
        each["kind"]: each for each in yaml.safe_load_all((folder / "objects.yaml").read_text()) if each["kind"].endswith("Deployment")
    }
    graph = after["DynamoGraphDeployment/assistant"]
    assert graph["spec"]["components"] == rendered["DynamoGraphDeployment"]["spec"]["components"]
    assert after["DynamoGraphDeploymentScalingAdapter/assistant-decode"]["spec"]["dgdRef"]["componentName"] == "Decode"
    assert after["DynamoGraphDeploymentRequest/support"]["spec"]["model"]
    generations = {name: each["metadata"]["generation"] for name, each in live(cluster, "deployments").items()}
    assert generations == {name: each["metadata"]["generation"] for name, each in deployments.items()}
