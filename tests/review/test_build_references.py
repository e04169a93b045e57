"""References in finished builds, as the real kustomize makes them."""

from __future__ import annotations

import subprocess

import pytest
import yaml

from krm_fn.base.yaml import emitter
from krm_fn.render.config import Config
from krm_fn.render.expand import expand
from krm_fn.review import build_references
from krm_fn.schemas.generate import kustomize_files
from tests.cli import console
from tests.support import given
from tests.support.cases import cases

NODES = {"multinode": {"nodeCount": 2}, "resources": {"limits": {"gpu": "1"}}, "envFromSecret": "hf-token"}
VARIABLE = {"name": "MODE", "valueFrom": {"configMapKeyRef": {"name": "modes", "key": "mode"}}}
KINDS = [("deployment", "LeaderWorkerSet"), ("grove", "PodCliqueSet")]


def rendered(orchestrator="deployment", *others, **fields):
    """The objects of a graph with one worker."""
    worker = given.service("worker", main={"args": ["python3 -m dynamo.sglang"]}, envs=[VARIABLE], **fields)
    graph = given.graph({"Worker": worker}, name="chat", namespace="team")
    return expand([graph, *others], Config(orchestrator=orchestrator)).resources


def autoscaler(name, kind="HorizontalPodAutoscaler", api_version="autoscaling/v2"):
    target = {"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoGraphDeploymentScalingAdapter", "name": name}
    metadata = {"name": "scaler", "namespace": "team"}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": {"scaleTargetRef": target, "maxReplicas": 4}}


@pytest.fixture
def build(kustomize, tmp_path):
    """Builds objects with a layer, and with the file of `schema --for names` if `names` is true."""

    def built(objects, layer, *, names):
        (tmp_path / "objects.yaml").write_text(yaml.safe_dump_all(objects))
        (tmp_path / "names.yaml").write_text(emitter.text(kustomize_files.references()))
        whole = {**layer, "resources": ["objects.yaml"], **({"configurations": ["names.yaml"]} if names else {})}
        (tmp_path / "kustomization.yaml").write_text(yaml.safe_dump(whole))
        text = subprocess.run([kustomize, "build", tmp_path], capture_output=True, text=True, check=True).stdout
        return list(yaml.safe_load_all(text))

    return built


@pytest.mark.parametrize(("orchestrator", "kind"), KINDS, ids=[row[1] for row in KINDS])
def test_pods_of_every_workload_get_the_names_of_generated_objects(build, orchestrator, kind):
    """Without the file of `schema --for names`, each workload has a finding that names the right object."""
    layer = {
        "secretGenerator": [{"name": "hf-token", "namespace": "team", "literals": ["A=b"]}],
        "configMapGenerator": [{"name": "modes", "namespace": "team", "literals": ["mode=fast"]}],
    }
    objects = rendered(orchestrator, **NODES)
    wrong, right = (build(objects, layer, names=names) for names in (False, True))
    assert [*build_references.check_names(right, Config())] == []
    findings = [*build_references.check_names(wrong, Config())]
    assert {(finding.code, finding.ref.kind) for finding in findings if finding.ref} == {("DYN501", kind)}
    assert {str(finding.current) for finding in findings} == {"hf-token", "modes"}
    secret = next(item["metadata"]["name"] for item in wrong if item["kind"] == "Secret")
    assert {finding.proposed for finding in findings if finding.current == "hf-token"} == {secret}


def test_a_name_that_only_looks_like_a_hash_is_no_generated_name():
    """The Secret of the pods may be in the cluster."""
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "hf-token-production", "namespace": "team"}}
    assert [*build_references.check_names([*rendered(**NODES), secret], Config())] == []


@pytest.mark.parametrize(
    "scaler",
    [autoscaler("chat-worker"), autoscaler("chat-worker", "ScaledObject", "keda.sh/v1alpha1")],
    ids=["HorizontalPodAutoscaler", "ScaledObject"],
)
def test_an_autoscaler_follows_the_name_of_its_adapter(build, scaler):
    """kustomize knows the references of a HorizontalPodAutoscaler to Deployments, which a graph under Grove does not have."""
    objects = [*rendered("grove", scalingAdapter={"enabled": True}), scaler]
    assert [*build_references.check_autoscalers(objects, Config())] == []
    wrong, right = (build(objects, {"namePrefix": "prod-"}, names=names) for names in (False, True))
    assert [*build_references.check_autoscalers(right, Config())] == []
    (finding,) = build_references.check_autoscalers(wrong, Config())
    assert (finding.code, finding.severity, finding.current, finding.proposed) == ("DYN502", "error", "chat-worker", "prod-chat-worker")


MISSING = [
    ("a typo", autoscaler("chat-wroker"), {"scalingAdapter": {"enabled": True}}, "error", "write chat-worker"),
    ("no adapter", autoscaler("chat-worker"), {}, "error", "enable the scaling adapter of this component"),
    ("no adapter of a group", autoscaler("chat-worker"), NODES, "error", "enable the scaling adapter of this component"),
    ("another graph", autoscaler("search-decode"), {"scalingAdapter": {"enabled": True}}, "warning", "check it together with its graph"),
]


@cases(("scaler", "fields", "severity", "says"), MISSING)
def test_an_autoscaler_without_an_adapter(scaler, fields, severity, says):
    (finding,) = build_references.check_autoscalers([*rendered(**fields), scaler], Config())
    assert (finding.code, finding.severity) == ("DYN502", severity)
    assert says in finding.message


def test_an_autoscaler_of_a_workload_fights_with_its_adapter():
    """The adapter sets the replicas of the Deployment. Without an adapter, the autoscaler alone does."""
    scaler = autoscaler("chat-worker")
    scaler["spec"]["scaleTargetRef"] |= {"apiVersion": "apps/v1", "kind": "Deployment"}
    (finding,) = build_references.check_autoscalers([*rendered(scalingAdapter={"enabled": True}), scaler], Config())
    assert (finding.code, finding.severity, finding.path[-1]) == ("DYN502", "warning", "kind")
    assert finding.message.endswith("and kind: DynamoGraphDeploymentScalingAdapter")
    assert [*build_references.check_autoscalers([*rendered(), scaler], Config())] == []


def test_an_autoscaler_alone_is_not_judged():
    assert [*build_references.check_autoscalers([autoscaler("chat-worker")], Config())] == []


UNSCALABLE = [
    ("a graph", {"kind": "DynamoGraphDeployment"}),
    ("a component", {"kind": "DynamoComponentDeployment"}),
    ("a set", {"kind": "DisaggregatedSet", "apiVersion": "disaggregatedset.x-k8s.io/v1"}),
]


@cases("target", UNSCALABLE)
def test_an_autoscaler_scales_no_graph(target):
    """Only scaling adapters have the subresource `scale`. The name may be right, so it has no finding of its own."""
    scaler = autoscaler("chat-worker")
    scaler["spec"]["scaleTargetRef"] |= target
    (finding,) = build_references.check_autoscalers([scaler], Config())
    path = ("spec", "scaleTargetRef", "kind")
    assert (finding.code, finding.path) == ("DYN502", path)
    assert finding.proposed == ("DynamoGraphDeploymentScalingAdapter" if len(target) == 1 else None), "a fix leaves the API version"


def test_check_reports_both(tmp_path):
    """`check` expands the graph, so that the adapters of a graph that is not rendered count too."""
    graph = given.graph({"Worker": given.service("worker", scalingAdapter={"enabled": True})}, name="chat", namespace="team")
    (tmp_path / "graph.yaml").write_text(yaml.safe_dump_all([graph, autoscaler("chat-worker")]))
    assert console.run("check", tmp_path).code == 0
    (tmp_path / "graph.yaml").write_text(yaml.safe_dump_all([graph, autoscaler("chat-workers")]))
    done = console.run("check", tmp_path)
    assert done.code == 1
    assert "DYN502 spec.scaleTargetRef.name" in done.out
