"""The way back of docs/migration.md stops before it has changed anything, and `take-over` and `compare` see one graph of several."""

from __future__ import annotations

import json
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
    assert "DYN807 the graph has no Ghost, which runs; apply the graph that runs (Dyn" in failed(reader, back)
    assert versions_of(reader) == before

    reader.plane.kubectl("delete", "-n", reader.namespace, "dgdsa/chat-ghost")
    check_other_reasons(reader, back)
    assert "are ready" in reader.run(back)
    services = reader.objects("dgd")["DynamoGraphDeployment/chat"]["spec"]["services"]
    assert services["Worker"]["extraPodSpec"]["imagePullSecrets"] == [{"name": "ngc"}]
    marked = {name for name, live in reader.everything().items() if reference.HASH in live["metadata"].get("annotations", ())}
    assert "ServiceAccount/chat-k8s-service-discovery" in marked
    assert "DYN813 the owner of this object does not exist yet" in failed(reader, "krm-fn adopt set-owners chat.objects.yaml")


def check_other_reasons(reader: journey.Journey, back: str) -> None:
    """A graph that is not in the cluster, a name without the worker hash, pull secrets that would change it, and no operator."""
    absent = (reader.folder / "chat.objects.yaml").read_text().replace("DynamoGraphDeployment/chat", "DynamoGraphDeployment/ghost")
    (reader.folder / "ghost.yaml").write_text(re.sub(r"(kind: DynamoGraphDeployment\nmetadata:\n  name: )chat\n", r"\1ghost\n", absent))
    assert "DYN806 the graph way-back/ghost is not in the cluster; apply it" in failed(reader, "krm-fn adopt give-back ghost.yaml")

    where = ("-n", reader.namespace)
    reader.plane.kubectl("label", "deployment/chat-worker", "nvidia.com/dynamo-worker-hash=d7683b3d", *where)
    assert "DYN808 the name lacks the worker hash d7683b3d of its pods" in failed(reader, back)
    label_pods(reader, "d7683b3d")
    reader.plane.kubectl("annotate", "dgd/chat", "nvidia.com/current-worker-hash=legacy", *where)
    assert "warning DYN809 the pull secrets of Worker are not written into the graph" in reader.run(back)
    assert "imagePullSecrets" not in str(reader.objects("dgd")["DynamoGraphDeployment/chat"]["spec"])
    label_pods(reader, None)

    reader.plane.kubectl("delete", "deployment", journey.DEPLOYMENT["metadata"]["name"], "-n", "dynamo-system")
    assert "DYN811 no operator watches the namespace way-back" in failed(reader, "krm-fn adopt can-start chat.objects.yaml")


def label_pods(reader: journey.Journey, worker_hash: str | None) -> None:
    """Set or remove the worker hash in the pod template of the worker."""
    patch = {"spec": {"template": {"metadata": {"labels": {"nvidia.com/dynamo-worker-hash": worker_hash}}}}}
    reader.plane.kubectl("patch", "deployment/chat-worker", f"--patch={json.dumps(patch)}", "-n", reader.namespace)


def failed(reader: journey.Journey, script: str) -> str:
    """The output of a script that must fail."""
    with pytest.raises(AssertionError) as failure:
        reader.run(script)
    return str(failure.value)


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
    assert "one-read/chat: 1 workload keeps its pods" in str(failure.value)  # chat is compared, too


def counted(reader: journey.Journey, script: str) -> list[str]:
    """Run a script of the page, and return the command line of each kubectl that it starts."""
    folder: Path = reader.folder / "counted"
    folder.mkdir()
    wrapper = folder / "kubectl"
    wrapper.write_text(f'#!/bin/sh\necho "kubectl $* " >> {folder}/log\nexec {reader.plane.kubectl_program} "$@"\n')
    wrapper.chmod(0o755)
    reader.run(f"export PATH={folder}:$PATH; {script}")
    return (folder / "log").read_text().splitlines()
