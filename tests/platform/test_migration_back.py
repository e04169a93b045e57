"""The way back of docs/migration.md stops before it has changed anything, and `take-over` and `compare` see one graph of several."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.platform import admission, journey, reference

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.xdist_group("platform")

OFF = journey.STEPS["3. Stop the operator"]
WORKER = {**journey.WORKER, "volumeMounts": []}
OTHER = "search"


def with_second_graph(reader: journey.Journey) -> journey.Journey:
    """The operator runs a second graph in the namespace of the first."""
    second = reader._replace(graph=admission.resource("DynamoGraphDeployment", OTHER, reader.namespace, reader.graph["spec"]))
    reader.plane.kubectl("apply", "-f", "-", input=yaml.safe_dump(second.graph))
    second.reconcile()
    second.wait_for_pods()
    return second


def rendered(reader: journey.Journey) -> tuple[str, str]:
    """The name of a graph, and the file with its objects."""
    name = reader.graph["metadata"]["name"]
    (reader.folder / f"{name}.yaml").write_text(yaml.safe_dump(reader.graph))
    reader.run(f"krm-fn render {name}.yaml --config config.yaml > {name}.objects.yaml")
    return name, f"{name}.objects.yaml"


def test_only_this_graph_is_named_and_nothing_changes_before_all_is_checked(migration, tmp_path):
    """`take-over` names the leftovers of its graph alone, also after an earlier one left its own.

    `give-back` writes nothing if the graph lacks a service that an adapter scales.
    """
    reader = journey.depart(migration, tmp_path, "way-back", {"Worker": WORKER}, yaml.safe_load(journey.SETTINGS))
    graphs = [rendered(each) for each in (with_second_graph(reader), reader)]
    admission.keep(migration.client, journey.DEPLOYMENT)
    reader.run(*reader.local(OFF))
    for name, file in graphs:
        output = reader.run(f"krm-fn adopt take-over {file}")
        delete = re.search(r"^kubectl .* delete (.*)$", output, re.MULTILINE)
        assert delete
        assert {*delete[1].split()} == {f"service/{name}-worker-p", f"service/{name}-worker-d"}

    adapter = {"dgdRef": {"name": "chat", "serviceName": "Ghost"}, "replicas": 1}
    ghost = admission.resource("DynamoGraphDeploymentScalingAdapter", "chat-ghost", reader.namespace, adapter)
    reader.plane.kubectl("apply", "-f", "-", input=yaml.safe_dump(ghost))
    before = versions_of(reader)
    back = "krm-fn adopt give-back chat.objects.yaml"
    with pytest.raises(AssertionError) as unknown:
        reader.run(back)
    assert "DYN807 the graph has no Ghost, which runs; apply the graph that runs (Dyn" in str(unknown.value)
    assert versions_of(reader) == before

    reader.plane.kubectl("delete", "-n", reader.namespace, "dgdsa/chat-ghost")
    assert "are ready" in reader.run(back)
    services = reader.objects("dgd")["DynamoGraphDeployment/chat"]["spec"]["services"]
    assert services["Worker"]["extraPodSpec"]["imagePullSecrets"] == [{"name": "ngc"}]
    marked = {name for name, live in reader.everything().items() if reference.HASH in live["metadata"].get("annotations", ())}
    assert "ServiceAccount/chat-k8s-service-discovery" in marked


def versions_of(reader: journey.Journey) -> dict[str, Any]:
    """The resource versions of all objects of the namespace."""
    return {name: live["metadata"]["resourceVersion"] for name, live in reader.everything().items()}


def test_one_read_of_the_namespace_for_all_graphs(migration, tmp_path):
    """`compare` of two graphs reads the namespace once: it starts two programs, and two for each graph."""
    reader = journey.depart(migration, tmp_path, "one-read", {"Worker": WORKER}, yaml.safe_load(journey.SETTINGS))
    files = " ".join(rendered(each)[1] for each in (reader, with_second_graph(reader)))
    calls = counted(reader, f"python3 platform/migration compare {reader.namespace} {' '.join(f'graph {file}' for file in files.split())}")
    assert len([line for line in calls if " get " in line]) == 1
    assert len(calls) == 2 + 2 * 2

    wrong = (reader.folder / "search.objects.yaml").read_text().replace("vllm-runtime:1.6.1", "vllm-runtime:1.6.2")
    (reader.folder / "search.objects.yaml").write_text(wrong)
    with pytest.raises(AssertionError) as failure:
        reader.run(f"krm-fn adopt compare {OTHER}.objects.yaml chat.objects.yaml")
    assert "DYN568 these pods would restart, because spec.containers[main].image" in str(failure.value)
    assert f"(Deployment one-read/{OTHER}-worker)" in str(failure.value)
    assert "one-read/chat: 1 workloads keep their pods" in str(failure.value)  # chat is compared, too


def counted(reader: journey.Journey, script: str) -> list[str]:
    """Run a script of the page, and return the command line of each kubectl that it starts."""
    folder: Path = reader.folder / "counted"
    folder.mkdir()
    wrapper = folder / "kubectl"
    wrapper.write_text(f'#!/bin/sh\necho "kubectl $* " >> {folder}/log\nexec {reader.plane.kubectl_program} "$@"\n')
    wrapper.chmod(0o755)
    reader.run(f"export PATH={folder}:$PATH; {script}")
    return (folder / "log").read_text().splitlines()
