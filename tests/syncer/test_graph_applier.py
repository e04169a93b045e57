"""A graph of a request and its objects are created in order, once, and nothing of somebody else is changed. On a real API server."""

import contextlib
import random
import time

import pytest

from krm_fn.cluster.client import ApiError, Client, TransportError
from krm_fn.kubernetes import identity
from krm_fn.render import labels
from krm_fn.render.config import Config
from krm_fn.syncer import graph_deployer
from krm_fn.syncer.graph_applier import GraphApplier, kind_of
from krm_fn.syncer.metrics import Metrics
from krm_fn.syncer.writer import RECEIVED, Retry, Writer
from tests.support import given
from tests.syncer.loops import runs
from tests.testbed import api, server

MARKS = {labels.REQUEST_NAME: "llm", labels.REQUEST_NAMESPACE: "team"}


def rendered(namespace, name="chat", model="", **settings):
    """A graph with a planner, a claim and a ConfigMap beside it."""
    served = {"modelRef": {"name": model}} if model else {}
    worker = given.service("worker", volumeMounts=[{"name": "cache", "mountPoint": "/cache"}], **served)
    services = {"Frontend": given.service("frontend"), "Worker": worker, "Planner": given.service("planner")}
    claim = {"name": "cache", "create": True, "storageClass": "x", "size": "1Gi", "volumeAccessMode": "ReadWriteMany"}
    graph = given.graph(services, name=name, namespace=namespace, pvcs=[claim])
    graph["metadata"]["labels"] = {**MARKS, labels.REQUEST_NAMESPACE: namespace}
    found = given.item("ConfigMap", "profile", namespace=namespace, data={"x": "1"})
    found["metadata"]["labels"] = graph["metadata"]["labels"]
    made = graph_deployer.render(graph, [found], Config(**settings), "check")
    assert made.rejected == ""
    return made


class Cluster:
    """A namespace of the API server, and an applier for it. After `writes` writes it does not lead any more."""

    def __init__(self, plane, client, namespace):
        self.plane, self.namespace = plane, plane.namespace(namespace)
        self.metrics, self.writes, self.order = Metrics(), None, []
        self.writer = Counted(self, client)
        self.applier = GraphApplier(self.writer)
        RECEIVED.set(time.monotonic())

    def get(self, resource):
        key = identity.key(resource)
        answer = self.plane.client.request("GET", kind_of(resource).path(key.namespace, key.name))
        return answer.body if answer.ok else None

    def delete(self, resource):
        """Deletes an object, without its finalizers."""
        key = identity.key(resource)
        path = kind_of(resource).path(key.namespace, key.name)
        self.plane.client.request("DELETE", path)
        self.plane.client.request("PATCH", path, {"metadata": {"finalizers": None}}, api.MERGE)
        server.eventually(lambda: self.get(resource) is None)

    def put(self, *resources):
        for each in resources:
            answer = self.plane.apply(each, dry_run=False)
            assert answer.ok, answer.message


class Counted(Writer):
    """A writer that counts down, and remembers what it applied."""

    def __init__(self, cluster, client):
        super().__init__(client, lambda: cluster.writes != 0, cluster.metrics)
        self._cluster = cluster

    async def apply(self, kind, key, body):
        outcome = await super().apply(kind, key, body)
        self._cluster.order.append((key.kind, key.name, labels.WORKLOADS in labels.annotations(body)))
        if self._cluster.writes:
            self._cluster.writes -= 1
        return outcome


@contextlib.asynccontextmanager
async def cluster(fragile, plane, namespace, token=""):
    async with Client(fragile.cluster(token=token)) as client:
        yield Cluster(plane, client, namespace)


@runs
async def test_all_objects_are_created_and_the_annotation_comes_last(fragile, plane):
    made = rendered("apply-all")
    async with cluster(fragile, plane, "apply-all") as there:
        applied = await there.applier.apply(made.graph, made.objects)
        assert (applied.rejected, applied.problem) == ("", "")
        assert labels.annotations(applied.graph) == labels.annotations(made.graph)
        assert there.order[0] == ("DynamoGraphDeployment", "chat", False)
        assert there.order[-1] == ("DynamoGraphDeployment", "chat", True)
        assert len(there.order) == len(made.objects) + 2
        owner = {
            "apiVersion": "nvidia.com/v1alpha1",
            "kind": "DynamoGraphDeployment",
            "name": "chat",
            "uid": applied.graph["metadata"]["uid"],
        }
        for each in made.objects:
            owners = there.get(each)["metadata"].get("ownerReferences", [])
            assert owners == ([] if each["kind"] == "PersistentVolumeClaim" else [owner]), each["kind"]
        managers = {(each["manager"], each["operation"]) for each in applied.graph["metadata"]["managedFields"]}
        assert managers == {("krm-fn", "Apply")}


@runs
async def test_what_is_complete_is_not_written_again(fragile, plane):
    made = rendered("apply-again")
    async with cluster(fragile, plane, "apply-again") as there:
        first = await there.applier.apply(made.graph, made.objects)
        written = len(there.order)
        again = await there.applier.apply(made.graph, made.objects)
        assert again.graph["metadata"]["resourceVersion"] == first.graph["metadata"]["resourceVersion"]
        assert len(there.order) == written


@runs
async def test_an_attempt_may_end_after_each_write(fragile, plane):
    """As when the process is killed, or loses the lead. Another attempt creates what is missing, and each object is created once."""
    made = rendered("apply-killed")
    async with cluster(fragile, plane, "apply-killed") as there:
        for count in range(1, len(made.objects) + 2):
            there.writes, before = 1, len(there.order)
            with pytest.raises(Retry, match="does not lead"):
                await there.applier.apply(made.graph, made.objects)
            assert len(there.order) == before + 1 == count
            assert labels.WORKLOADS not in labels.annotations(there.get(made.graph))
        there.writes = None
        applied = await there.applier.apply(made.graph, made.objects)
        assert labels.WORKLOADS in labels.annotations(applied.graph)
        assert len(set(there.order)) == len(there.order) == len(made.objects) + 2


def foreign(made, kind, name, **changes):
    """An object of somebody else with the name of one of the graph's objects."""
    (found,) = [each for each in made.objects if (each["kind"], each["metadata"]["name"]) == (kind, name)]
    bare = {"name": name, "namespace": found["metadata"]["namespace"]}
    return {**found, "metadata": bare, **changes}


@pytest.mark.parametrize(
    ("kind", "name", "changes"),
    [
        ("ServiceAccount", "planner-serviceaccount", {}),
        ("ConfigMap", "profile", {"data": {"x": "2"}}),
        ("Deployment", "chat-worker", {}),
        ("PersistentVolumeClaim", "cache", {}),
    ],
)
@runs
async def test_an_object_of_somebody_else_stays_as_it_is(kind, name, changes, fragile, plane):
    """The graph is not completed, and the message names the object. Without the object, the next attempt succeeds."""
    namespace = f"apply-foreign-{kind.lower()}"
    made = rendered(namespace)
    async with cluster(fragile, plane, namespace) as there:
        other = foreign(made, kind, name, **changes)
        there.put(other)
        before = there.get(other)
        applied = await there.applier.apply(made.graph, made.objects)
        assert applied.graph is None
        assert applied.rejected.startswith(f"{kind} {name} exists and is not the one that the graph needs")
        assert applied.pause > 0
        assert there.get(other) == before
        there.delete(other)
        assert (await there.applier.apply(made.graph, made.objects)).graph


@runs
async def test_the_claims_of_an_earlier_graph_are_used_again(fragile, plane):
    """They hold its data. Kubernetes deletes its other objects, and until then the new graph waits."""
    made = rendered("apply-former")
    async with cluster(fragile, plane, "apply-former") as there:
        await there.applier.apply(made.graph, made.objects)
        there.delete(made.graph)
        (account,) = [each for each in made.objects if each["metadata"]["name"] == "planner-serviceaccount" and "rules" not in each][:1]
        applied = await there.applier.apply(made.graph, made.objects)
        assert applied.problem.endswith(" of an earlier DynamoGraphDeployment chat is not deleted yet")
        assert 0 < applied.pause < 10
        claims = [each for each in made.objects if each["kind"] == "PersistentVolumeClaim"]
        uids = [there.get(each)["metadata"]["uid"] for each in claims]
        for each in made.objects:
            if each not in claims:
                there.delete(each)
        assert (await there.applier.apply(made.graph, made.objects)).graph
        assert [there.get(each)["metadata"]["uid"] for each in claims] == uids
        assert there.get(account)


@runs
async def test_claims_go_with_the_graph_if_the_configuration_says_so(fragile, plane):
    made = rendered("apply-claims", retain_volumes=False)
    async with cluster(fragile, plane, "apply-claims") as there:
        there.applier = GraphApplier(there.writer, retain_volumes=False)
        await there.applier.apply(made.graph, made.objects)
        (claim,) = [each for each in made.objects if each["kind"] == "PersistentVolumeClaim"]
        assert [each["name"] for each in there.get(claim)["metadata"]["ownerReferences"]] == ["chat"]


@runs
async def test_graphs_share_what_is_the_same_in_all_of_them(fragile, plane):
    """The account of the planner and the Service of a model. They stay until the last of the graphs is deleted."""
    async with cluster(fragile, plane, "apply-shared") as there:
        made = {name: rendered("apply-shared", name, model="Qwen/Qwen3-0.6B") for name in ("first", "second")}
        for name, each in made.items():
            without = [found for found in each.objects if found["kind"] not in ("ConfigMap", "PersistentVolumeClaim")]
            applied = await there.applier.apply(each.graph, without)
            assert applied.graph, (name, applied)
        names = {identity.key(each) for each in made["first"].objects} & {identity.key(each) for each in made["second"].objects}
        shared = [each for each in made["second"].objects if identity.key(each) in names]
        owned = {each["kind"]: there.get(each)["metadata"].get("ownerReferences", []) for each in shared if there.get(each)}
        found = {kind: " ".join(owner["name"] for owner in owners) for kind, owners in owned.items()}
        assert found == dict.fromkeys(("ServiceAccount", "RoleBinding", "Service"), "first second")


@runs
async def test_an_object_of_git_that_is_the_same_is_used_as_it_is(fragile, plane):
    """It stays when the graph is deleted: Git decides when it goes."""
    made = rendered("apply-git")
    async with cluster(fragile, plane, "apply-git") as there:
        (account,) = [each for each in made.objects if each["kind"] == "ServiceAccount" and each["metadata"]["name"].startswith("planner")]
        annotations = {labels.OWNER: "DynamoGraphDeployment/other"}
        there.put({**account, "metadata": {**account["metadata"], "annotations": annotations}})
        before = there.get(account)
        assert (await there.applier.apply(made.graph, made.objects)).graph
        assert there.get(account) == before


@runs
async def test_a_graph_of_somebody_else_is_not_touched(fragile, plane):
    """The request reports its state only."""
    made = rendered("apply-adopted")
    async with cluster(fragile, plane, "apply-adopted") as there:
        there.put({**made.graph, "metadata": {"name": "chat", "namespace": "apply-adopted"}})
        applied = await there.applier.apply(made.graph, made.objects)
        assert applied.graph["metadata"]["resourceVersion"] == there.get(made.graph)["metadata"]["resourceVersion"]
        assert there.order == []


@runs
async def test_a_graph_that_is_being_deleted_is_waited_for(fragile, plane):
    made = rendered("apply-leaving")
    async with cluster(fragile, plane, "apply-leaving") as there:
        there.put({**made.graph, "metadata": {**made.graph["metadata"], "finalizers": ["example.com/wait"]}})
        there.plane.kubectl("delete", "dgd", "chat", "-n", "apply-leaving", "--wait=false")
        applied = await there.applier.apply(made.graph, made.objects)
        assert applied.problem == "DynamoGraphDeployment chat is being deleted"
        there.delete(made.graph)
        assert (await there.applier.apply(made.graph, made.objects)).graph


@pytest.mark.parametrize("again", [False, True])
@runs
async def test_a_graph_that_is_deleted_in_between_is_tried_again(again, fragile, plane):
    """The last write neither creates the graph again, nor completes another graph of the name."""
    namespace = f"apply-between-{again}".lower()
    made = rendered(namespace)
    async with cluster(fragile, plane, namespace) as there:
        there.writes = len(made.objects) + 1
        with pytest.raises(Retry, match="does not lead"):
            await there.applier.apply(made.graph, made.objects)
        there.writes, live = None, there.get(made.graph)
        there.delete(made.graph)
        if again:
            there.put({**made.graph, "metadata": {"name": "chat", "namespace": namespace, "labels": labels.of(made.graph)}})
        with pytest.raises(Retry):
            await there.applier._write_annotation(made.graph, live)
        assert (there.get(made.graph) is not None) is again


@runs
async def test_a_server_that_refuses_an_object_is_asked_again(fragile, plane):
    """The namespace does not exist; the kind does not exist; another manager has a field; a field is wrong; a right is missing."""
    worker = given.service(
        "worker", main={"args": ["python3 -m dynamo.vllm"]}, multinode={"nodeCount": 2}, resources={"limits": {"gpu": "1"}}
    )
    graph = given.before_1_0(given.graph({"Worker": worker}, namespace="apply-refused"))
    graph["metadata"]["labels"] = {**MARKS, labels.REQUEST_NAMESPACE: "apply-refused"}
    made = graph_deployer.render(graph, [], Config(), "check")
    async with cluster(fragile, plane, "apply-refused") as there:
        elsewhere = graph_deployer.render({**graph, "metadata": {**graph["metadata"], "namespace": "apply-missing"}}, [], Config(), "check")
        applied = await there.applier.apply(elsewhere.graph, elsewhere.objects)
        assert applied.problem == 'DynamoGraphDeployment chat cannot be created: namespaces "apply-missing" not found'
        applied = await there.applier.apply(made.graph, made.objects)
        assert applied.problem == (
            "PodGroup chat-worker-0 cannot be created: the cluster has no PodGroup of scheduling.volcano.sh/v1beta1; install its definition"
        )
        assert applied.pause > 0
        there.plane.kubectl(
            "patch", "dgd", "chat", "-n", "apply-refused", "--type=merge", "-p", '{"spec":{"services":{"Worker":{"replicas":2}}}}'
        )
        taken = {**made.graph, "spec": {"services": {"Worker": {**worker, "replicas": 1}}}}
        applied = await there.applier.apply(taken, [])
        assert 'cannot be created: Apply failed with 1 conflict: conflict with "kubectl-patch"' in applied.problem
        wrong = given.item("ConfigMap", "wrong", namespace="apply-refused", data={"x": 1})
        applied = await there.applier.apply(made.graph, [wrong])
        assert applied.problem.startswith("ConfigMap wrong cannot be created: failed to create typed patch object")
    async with cluster(fragile, plane, "apply-refused", fragile.account("apply-refused", "poor")) as there:
        applied = await there.applier.apply(made.graph, made.objects)
        assert 'cannot get resource "dynamographdeployments"' in applied.problem
        assert 0 < applied.pause <= 1


def test_findings_refuse_the_graph_and_warnings_do_not():
    """The message has the first error, the number of the others, and a command that prints all."""
    broken = given.graph({"A": given.service("worker", replicas=-1), "B": given.service("worker", replicas=-1)})
    made = graph_deployer.render(broken, [], Config(), "krm-fn request get llm")
    assert made.objects == ()
    assert made.rejected.startswith("the generated graph has errors: DYN02")
    assert made.rejected.endswith("(and 1 more); see `krm-fn request get llm`")
    warned = given.graph({"A": given.service("worker", labels={"team": "a"})})
    made = graph_deployer.render(warned, [], Config(behaviour="v0.9", source="drop", namespace="other"), "check")
    assert (made.rejected, [each[:6] for each in made.warnings]) == ("", ["DYN114"])
    assert labels.WORKLOADS in labels.annotations(made.graph)


class Unreliable(Client):
    """A client of a server that is too busy for some requests, and whose answers to others are lost after it has done them."""

    def __init__(self, cluster, chance):
        super().__init__(cluster)
        self.chance = chance

    async def request(self, method, path, *given, **named):
        fate = self.chance.random()
        if fate < 0.2:
            raise ApiError(429, "TooManyRequests", "the server is busy", 1)
        answer = await super().request(method, path, *given, **named)
        if fate < 0.4:
            raise TransportError("the connection broke")
        return answer


@pytest.mark.parametrize("seed", range(3))
@runs
async def test_a_busy_server_and_lost_answers_delay_the_graph_only(seed, fragile, plane):
    """No object is created twice, and the annotation comes last whatever happened before."""
    namespace = f"apply-busy-{seed}"
    made = rendered(namespace)
    seen: dict[identity.ObjectKey, str] = {}
    async with Unreliable(fragile.cluster(), random.Random(seed)) as client:  # noqa: S311 - a test
        there = Cluster(plane, client, namespace)
        for _ in range(500):
            with contextlib.suppress(Retry):
                if (await there.applier.apply(made.graph, made.objects)).graph:
                    break
            exists = {identity.key(each): found["metadata"]["uid"] for each in (made.graph, *made.objects) if (found := there.get(each))}
            assert seen.items() <= exists.items()
            seen = exists
            complete = len(exists) == len(made.objects) + 1
            assert complete or labels.WORKLOADS not in labels.annotations(there.get(made.graph) or {})
        assert labels.WORKLOADS in labels.annotations(there.get(made.graph))
        managers = {each["manager"] for entry in made.objects for each in there.get(entry)["metadata"]["managedFields"]}
        assert managers == {"krm-fn"}
