"""`check` notes that a graph is in a deprecated version, or rendered as an older release does. A render is silent about both."""

from __future__ import annotations

from krm_fn.kubernetes.types import Resource
from krm_fn.render import labels
from krm_fn.render.config import Config
from krm_fn.render.rules import deprecations
from tests.cli import console
from tests.support import beta, given
from tests.support.cases import cases

DEPRECATED, OLDER = ("DYN481", "apiVersion"), ("DYN482", "apiVersion")
REQUEST = {"model": "acme/tiny", "backend": "vllm", "profilingConfig": {}}
ADAPTER = {"replicas": 1, "dgdRef": {"name": "chat", "serviceName": "Worker"}}


def of_v1alpha1(kind: str, **spec: object) -> Resource:
    return given.item(kind, "chat", api="nvidia.com/v1alpha1", spec=spec)


BEFORE_1_0 = given.graph({"Worker": given.service("worker", main={"image": "registry.example/dynamo:0.9.0"})})
CASES = [
    ("a graph with images before 1.0", BEFORE_1_0, {}, [DEPRECATED, OLDER]),
    ("a graph with images of 1.0 or later", given.graph(), {}, [DEPRECATED]),
    ("a component", of_v1alpha1("DynamoComponentDeployment"), {}, [DEPRECATED, OLDER]),
    ("a request, which is no part of a graph", of_v1alpha1("DynamoGraphDeploymentRequest", **REQUEST), {}, [DEPRECATED]),
    ("an adapter", of_v1alpha1("DynamoGraphDeploymentScalingAdapter", **ADAPTER), {}, [DEPRECATED]),
    ("a model, which has one version", of_v1alpha1("DynamoModel", modelName="a", baseModelName="b"), {}, []),
    ("a graph with its release in the configuration", given.graph(), {"behaviour": "v0.9"}, [DEPRECATED]),
    ("a graph under the newest release", given.graph(), {"behaviour": "v1.5"}, [DEPRECATED]),
    ("a graph of a newer operator", given.graph(annotations={labels.WORKLOAD_PROVIDER: "component"}), {}, [DEPRECATED]),
    ("a graph in a finished build", given.graph(annotations={labels.RENDERED_BY: "krm-fn/1"}), {}, []),
    ("a graph in v1beta1", beta.graph(), {}, []),
    ("another kind", given.item("Service", "chat"), {}, []),
]


@cases(("resource", "settings", "notes"), CASES)
def test_each_resource_gets_its_notes(resource, settings, notes):
    found = list(deprecations.check([resource], Config(**settings)))
    assert given.findings(found) == notes
    assert {each.severity for each in found} <= {"info"}


def test_check_says_the_notes_and_passes(tmp_path):
    (tmp_path / "graph.yaml").write_text(console.GRAPH.replace(":1.5.0", ":0.9.0"))
    done = console.run("check", "--strict", "--ignore", "DYN173", tmp_path, notes=True)
    assert (done.code, done.err) == (0, "1 resource: 2 notes\n")
    assert "note DYN481 apiVersion: v1alpha1 is deprecated; krm-fn convert -w FILE rewrites it" in done.out
    assert "note DYN482 apiVersion: rendered as Dynamo 0.9 does, because no image has version 1.0 or later" in done.out


def test_a_render_is_silent_about_versions():
    assert given.findings(given.expanded(given.graph()).results) == []
