"""Requests and syncers that end, that lack a feature, or that serve one namespace. Each test runs its own syncers."""

from __future__ import annotations

from krm_fn.render import labels
from tests.support import given
from tests.testbed import server, syncer
from tests.testbed.place import GRAPH, Place, conditions
from tests.testbed.profiling_requests import REQUEST, ask, generated, request

BOTH = ("--requests", "--auto-apply")


def alone(plane, folder, name, *options):
    """A syncer that works in that namespace only."""
    return syncer.running(plane.kubeconfig, folder, "--namespace", name, "--no-leader-election", *options)


def test_a_restart_goes_on_where_the_last_life_ended_and_then_writes_nothing(dynamo, controllers, kubelet, tmp_path):
    """The first life has not --auto-apply, the second is killed before the graph is complete, the third completes it."""
    place = Place(dynamo, dynamo.namespace("requests-restart"))
    foreign = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "chat-worker"}, "spec": {"ports": [{"port": 1}]}}
    place.apply([foreign])
    manual, auto = ask(place, request("manual")), ask(place, request("auto", autoApply=True))
    with alone(dynamo, tmp_path, place.namespace, "--requests") as first:
        manual.profiled(generated("other"))
        auto.profiled(generated())
        manual.state("Ready")
        auto.told("DeploymentReady", "krm-fn sync runs without --auto-apply", reason="AutoApplyDisabled")
        assert place.listed(GRAPH) == []
        assert first.server.end() == 0
    with alone(dynamo, tmp_path, place.namespace, *BOTH) as second:
        auto.told("DeploymentReady", "Service chat-worker exists and is not the one", reason="DeploymentRefused")
        half = place.get(GRAPH, "chat")
        assert labels.WORKLOADS not in labels.annotations(half)
        second.server.kill()
    place.kubectl("delete", "service", "chat-worker")
    before = {each["metadata"]["name"]: each["metadata"]["uid"] for each in place.listed("Deployment")}
    with alone(dynamo, tmp_path, place.namespace, *BOTH):
        auto.state("Ready")
        graph = place.get(GRAPH, "chat")
        assert graph["metadata"]["uid"] == half["metadata"]["uid"]
        after = {each["metadata"]["name"]: each["metadata"]["uid"] for each in place.listed("Deployment")}
        assert before.items() <= after.items()
        place.wait("chat", lambda status: status.get("state") == "successful")
    with alone(dynamo, tmp_path, place.namespace, *BOTH) as last:
        server.eventually(lambda: last.metric("writes_total", kind=REQUEST, result="noop") >= 2)
        server.eventually(lambda: last.metric("queue_depth") == 0)
        assert last.metric("writes_total", result="written") == 0
    place.kubectl("delete", "dgd", "chat")
    with alone(dynamo, tmp_path, place.namespace, *BOTH):
        auto.state("DeploymentDeleted")
        assert place.listed(GRAPH) == []


def test_without_the_feature_pods_the_reason_is_that_of_the_job(dynamo, controllers, kubelet, tmp_path):
    place = Place(dynamo, dynamo.namespace("requests-no-pods"))
    asked = ask(place, request("llm", image="profiler:Exit3"), retries=0)
    with alone(dynamo, tmp_path, place.namespace, "--requests"):
        message = asked.told("Profiling", "profiling job failed: ", reason="ProfilingFailed")
    assert "Details" not in message


def test_a_graph_outside_of_the_namespaces_is_refused(dynamo, controllers, kubelet, tmp_path):
    """The syncer would not see it, also with the flag for other namespaces. Nothing is created there."""
    elsewhere = dynamo.namespace("requests-elsewhere")
    place = Place(dynamo, dynamo.namespace("requests-one"))
    with alone(dynamo, tmp_path, place.namespace, *BOTH, "--other-namespaces"):
        asked = ask(place, request("llm", autoApply=True, deploymentOverrides={"namespace": elsewhere}))
        asked.profiled(generated())
        told = asked.told("DeploymentReady", reason="DeploymentRefused")
    said = f"the graph belongs into namespace {elsewhere}, but krm-fn sync serves only {place.namespace}"
    assert told == f"{said}; change spec.deploymentOverrides.namespace"
    assert Place(dynamo, elsewhere).listed(GRAPH) == []


def test_a_graph_goes_into_another_namespace_as_soon_as_it_exists(dynamo, controllers, kubelet, tmp_path):
    """With `--other-namespaces`. Until then the condition has the words of the server.

    A graph that was deployed is still followed after the flag is removed.
    """
    place = Place(dynamo, dynamo.namespace("requests-from"))
    there = Place(dynamo, f"{place.namespace}-to")
    both = ("--namespace", there.namespace, *BOTH)
    with alone(dynamo, tmp_path, place.namespace, *both, "--other-namespaces"):
        asked = ask(place, request("llm", autoApply=True, deploymentOverrides={"namespace": there.namespace}))
        asked.profiled(generated())
        asked.told("DeploymentReady", f'namespaces "{there.namespace}" not found', reason="DeploymentCreationFailed")
        assert conditions(asked.state("Deploying"))["Reconciling"]["status"] == "True"
        server.eventually(lambda: "DeploymentCreationFailed" in place.kubectl("get", "events"))
        dynamo.namespace(there.namespace)
        assert asked.state("Ready")["deployment"]["namespace"] == there.namespace
        assert there.get("ConfigMap", "planner-profile-data")["data"] == {"raw.json": "{}"}
        assert place.listed(GRAPH) == []
    with alone(dynamo, tmp_path, place.namespace, *both):
        there.kubectl("delete", "dgd", "chat")
        asked.state("DeploymentDeleted")


def test_the_configuration_of_the_syncer_is_that_of_the_graphs(dynamo, controllers, kubelet, tmp_path):
    """`--config` names it. Where graphs in Git would go counts for nothing: the cluster needs the graph."""
    place = Place(dynamo, dynamo.namespace("requests-config"))
    settings = "{source: drop, namespace: git, natsAddress: 'nats://nats:4222', components: true}"
    file = tmp_path / "render.yaml"
    file.write_text(f"apiVersion: dynamo.krm-fn.io/v1alpha1\nkind: DynamoRender\nmetadata: {{name: render}}\nspec: {settings}\n")
    with alone(dynamo, tmp_path, place.namespace, *BOTH, "--config", str(file)):
        asked = ask(place, request("llm", autoApply=True))
        asked.profiled(generated())
        asked.state("Ready")
        place.wait("chat-worker", lambda status: "Available" in conditions(status), "DynamoComponentDeployment")
    (container,) = place.get("Deployment", "chat-worker")["spec"]["template"]["spec"]["containers"]
    assert {"name": "NATS_SERVER", "value": "nats://nats:4222"} in container["env"]


def test_without_the_features_nothing_more_is_watched(dynamo, controllers, kubelet, tmp_path):
    """The default syncer needs no right to Jobs, ConfigMaps and requests."""
    place = Place(dynamo, dynamo.namespace("requests-off"))
    asked = ask(place, request("llm"))
    with alone(dynamo, tmp_path, place.namespace) as running:
        place.deploy(given.graph(name="chat"))
        place.wait("chat", bool)
        code, text = running.ask("/metrics")
        assert code == 200
        assert not [kind for kind in (REQUEST, "Job", "ConfigMap", "Pod") if f'cached_objects{{kind="{kind}"}}' in text]
    assert asked.status() == {}


ENDLESS = """
from krm_fn.syncer import graph_deployer
render = graph_deployer.render
def render_for_ever(graph, *others):
    while graph["metadata"]["name"] == "slow":
        pass
    return render(graph, *others)
graph_deployer.render = render_for_ever
"""


def test_a_render_that_needs_too_much_cpu_time_is_put_aside_and_another_namespace_goes_on(dynamo, controllers, kubelet, tmp_path):
    """The event names the request and the limit. Nothing of its graph is created."""
    slow, other = (Place(dynamo, dynamo.namespace(f"requests-{name}")) for name in ("slow", "beside"))
    with syncer.running(dynamo.kubeconfig, tmp_path, "--no-leader-election", *BOTH, prelude=ENDLESS) as running:
        ask(slow, request("llm", autoApply=True)).profiled(generated("slow"))
        server.eventually(lambda: running.metric("put_aside_total", kind=REQUEST) >= 1)
        asked = ask(other, request("llm", autoApply=True))
        asked.profiled(generated())
        asked.state("Ready")
        server.eventually(lambda: "PutAside" in _notes(slow))
        assert running.ask("/livez")[0] == 200
    assert "DynamoGraphDeploymentRequest llm needs more than 0.5 s of CPU time, so it is put aside for 60 s" in _notes(slow)["PutAside"]
    assert slow.listed(GRAPH) == []


def _notes(place):
    """The messages of the events in a namespace by reason."""
    listed = place.plane.client.get(f"/apis/events.k8s.io/v1/namespaces/{place.namespace}/events")["items"]
    return {event["reason"]: event["note"] for event in listed}
