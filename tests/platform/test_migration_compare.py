"""`krm-fn adopt compare` and `take-over` stop without a change if they cannot keep the running objects."""

from __future__ import annotations

import json

import pytest
import yaml

from tests.platform import admission, journey
from tests.support.cases import cases

pytestmark = pytest.mark.xdist_group("platform")

COMPARE = journey.STEPS["2. Compare"][0]
TAKE = journey.STEPS["4. Take over"][0]
SCALED = {"scalingAdapter": {"enabled": True}}
FRONTEND, BIG = {**journey.FRONTEND, "replicas": 2}, journey.BIG
PLAIN = {key: value for key, value in journey.WORKER.items() if key not in {"volumeMounts", "scalingAdapter"}}


def travel(plane, folder, namespace, services, **settings):
    """A graph that the operator runs, and the files of its reader."""
    written = yaml.safe_load(journey.SETTINGS)
    written["spec"] |= settings
    reader = journey.depart(plane, folder, namespace, services, written)
    write(reader, reader.graph)
    return reader


def write(reader, graph):
    """The graph as Git has it."""
    journey.commit(reader, graph)


def with_replicas(reader, service, replicas):
    """The graph with another number for one service."""
    services = reader.graph["spec"]["services"]
    return {
        **reader.graph,
        "spec": {**reader.graph["spec"], "services": {**services, service: {**services[service], "replicas": replicas}}},
    }


def state(reader):
    """All objects of the namespace, with all fields."""
    return {name: each["metadata"]["resourceVersion"] for name, each in {**reader.everything(), **reader.objects("pods")}.items()}


def refused(reader, script=COMPARE):
    """The output of a script that must stop without a change."""
    before = state(reader)
    with pytest.raises(AssertionError) as failure:
        reader.run(*reader.local([script]))
    assert state(reader) == before
    return str(failure.value)


def test_a_forgotten_setting(migration, tmp_path):
    reader = travel(migration, tmp_path, "forgotten", {"Frontend": journey.FRONTEND})
    settings = yaml.safe_load(journey.SETTINGS)
    del settings["spec"]["natsAddress"]
    (reader.folder / "adopted" / "render.yaml").write_text(yaml.safe_dump(settings))
    said = refused(reader)
    assert "DYN568 these pods would restart, because spec.containers[main].env[NATS_SERVER]" in said
    assert "set natsAddress in render.yaml, or write the live value into the graph (Deployment forgotten/chat-frontend)" in said
    assert "nothing was changed" in said


NUMBER = "DYN570 spec.replicas: 2 replicas run, and {} are rendered; write replicas: 2 into the graph"
# reason, services, orchestrator, the service that was scaled, what the message names
SCALES = [
    ("Deployment: Git sets the number", {"Worker": PLAIN}, "deployment", "Worker", NUMBER, "Deployment number-worker/chat-worker"),
    ("PodClique", {"Frontend": {**FRONTEND, **SCALED}}, "grove", "Frontend", NUMBER, "PodCliqueSet number-frontend/chat frontend"),
    ("PodCliqueScalingGroup", {"Big": {**BIG, **SCALED}}, "grove", "Big", NUMBER, "PodCliqueSet number-big/chat big"),
]


@cases(("reason", "services", "orchestrator", "service", "text", "named"), SCALES)
def test_another_number_than_the_one_that_runs(reason, services, orchestrator, service, text, named, migration, tmp_path):
    """The operator runs 2, Git says 1 or 3; with 2 in Git the comparison passes."""
    reader = travel(migration, tmp_path, f"number-{service}".lower(), services, orchestrator=orchestrator)
    for other in (1, 3):
        write(reader, with_replicas(reader, service, other))
        said = refused(reader)
        assert f"{text.format(other)} ({named})" in said
        assert "write replicas" in refused(reader, TAKE) or "operator runs" in refused(reader, TAKE)
    write(reader, reader.graph)
    assert "keeps its pods" in reader.run(*reader.local([COMPARE]))


CHILDREN = [("PodClique", "frontend"), ("PodCliqueScalingGroup", "big")]


@cases(("kind", "name"), CHILDREN)
def test_a_number_that_only_grove_knows(kind, name, migration, tmp_path):
    """An autoscaler has written to Grove's own object; the PodCliqueSet still says 2."""
    reader = travel(migration, tmp_path, f"grove-{kind}".lower(), {"Frontend": FRONTEND, "Big": BIG}, orchestrator="grove")
    (owner,) = reader.objects("podcliquesets").values()
    metadata = {"name": f"chat-0-{name}", "namespace": reader.namespace, "ownerReferences": [reference(owner)]}
    admission.keep(migration.client, {"apiVersion": "grove.io/v1alpha1", "kind": kind, "metadata": metadata, "spec": {"replicas": 4}})
    said = refused(reader)
    assert f"4 replicas run, and 2 are rendered; write replicas: 4 into the graph (PodCliqueSet {reader.namespace}/chat {name})" in said


def reference(owner):
    metadata = owner["metadata"]
    return {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": metadata["name"], "uid": metadata["uid"]}


def test_cliques_go_by_name(migration, tmp_path):
    """The operator writes them in any order; a difference inside one is named, and nothing else is."""
    reader = travel(migration, tmp_path, "cliques", {"Frontend": FRONTEND, "Worker": PLAIN, "Big": BIG}, orchestrator="grove")
    (live,) = reader.objects("podcliquesets").values()
    live["spec"]["template"]["cliques"].reverse()
    order = [each["name"] for each in live["spec"]["template"]["cliques"]]
    assert order == ["worker", "frontend", "big-wkr", "big-ldr"]
    live["metadata"].pop("managedFields")
    migration.kubectl("replace", "-f", "-", input=json.dumps(live))
    (live,) = reader.objects("podcliquesets").values()
    assert [each["name"] for each in live["spec"]["template"]["cliques"]] == order
    (compare,) = reader.local([COMPARE])
    assert "keeps its pods" in reader.run(compare)

    image = {**PLAIN, "extraPodSpec": {"mainContainer": {**journey.VLLM, "image": f"{journey.IMAGE['image']}-2"}}}
    services = {**reader.graph["spec"]["services"], "Worker": image}
    write(reader, {**reader.graph, "spec": {"services": services}})
    differences = [line for line in refused(reader).splitlines() if line.startswith("error ")]
    assert len(differences) == 1
    assert "DYN568 these pods would restart, because spec.containers[main].image is" in differences[0]
    assert "(PodCliqueSet cliques/chat worker)" in differences[0]


def test_a_setting_of_a_set_that_changes_no_pod(migration, tmp_path):
    """Without the setting, Grove would end a gang that lacks pods after 15 minutes in place of 4 hours."""
    reader = travel(migration, tmp_path, "delay", {"Frontend": FRONTEND}, orchestrator="grove")
    settings = yaml.safe_load((reader.folder / "adopted" / "render.yaml").read_text())
    del settings["spec"]["grove"]
    (reader.folder / "adopted" / "render.yaml").write_text(yaml.safe_dump(settings))
    assert "DYN804 spec.template.terminationDelay: 4h0m0s runs, and 15m0s is rendered; correct grove.terminationDelay" in refused(reader)


def test_the_number_of_groups_of_several_nodes(migration, tmp_path):
    """The operator runs a LeaderWorkerSet for each of 2 replicas. Git says 1 or 3."""
    reader = travel(migration, tmp_path, "groups", {"Big": BIG})
    for other, problem in ((1, "these pods run, but no pod template is rendered"), (3, "this pod template is rendered, but does not run")):
        write(reader, with_replicas(reader, "Big", other))
        assert f"DYN569 {problem}" in refused(reader)


def test_an_object_that_the_api_server_would_refuse(migration, tmp_path):
    """Server-side apply refuses an explicit null. A dry run of `kubectl replace` alone would accept it."""
    reader = travel(migration, tmp_path, "refused", {"Frontend": journey.FRONTEND})
    (script,) = reader.local([COMPARE])
    render, _, compare = script.partition("\n")
    reader.run(render)
    objects = list(yaml.safe_load_all((reader.folder / "objects.yaml").read_text()))
    (graph,) = [each for each in objects if each["kind"] == "DynamoGraphDeployment"]
    graph["spec"]["services"]["Frontend"]["resources"] = None
    (reader.folder / "objects.yaml").write_text(yaml.safe_dump_all(objects))
    said = refused(reader, compare)
    assert "DYN803 the API server rejects objects of this graph: " in said
    assert "services.Frontend.resources" in said


def test_objects_of_another_namespace(migration, tmp_path):
    reader = travel(migration, tmp_path, "elsewhere", {"Frontend": journey.FRONTEND})
    write(reader, {**reader.graph, "metadata": {"name": "chat", "namespace": "nowhere"}})
    said = refused(reader)
    assert "DYN569 this pod template is rendered, but does not run" in said
    assert "(Deployment nowhere/chat-frontend)" in said
