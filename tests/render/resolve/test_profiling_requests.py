"""Requests of v1beta1: the profiling Job is the one of the same request in v1alpha1."""

import json

import pytest
import yaml

from krm_fn.base import results
from krm_fn.render.convert import versions
from tests.support import given

NEWER = """
model: acme/tiny
backend: vllm
image: registry.example/profiler:0.9.1
sla: {ttft: 200.5, itl: 20.0, optimizationType: latency}
workload: {isl: 3000, osl: 150}
modelCache: {pvcName: models, pvcModelPath: tiny, pvcMountPath: /models}
features: {mocker: {enabled: true}, planner: {enabled: true}}
overrides:
  dgd: {apiVersion: nvidia.com/v1beta1, kind: DynamoGraphDeployment, metadata: {name: chat, labels: {a: b}}}
  profilingJob:
    template:
      spec:
        containers: [{name: profiler, resources: {limits: {cpu: 2, memory: 4Gi}}}]
        tolerations: [{key: gpu}]
"""
OLDER = """
model: acme/tiny
backend: vllm
useMocker: true
autoApply: true
deploymentOverrides: {name: chat, labels: {a: b}}
profilingConfig:
  profilerImage: registry.example/profiler:0.9.1
  resources: {limits: {cpu: 2, memory: 4Gi}}
  tolerations: [{key: gpu}]
  config:
    sla: {ttft: 200.5, itl: 20, isl: 3000, osl: 150, optimizationType: latency}
    deployment: {modelCache: {pvcName: models, pvcPath: tiny, mountPath: /models}}
    planner: {enabled: true}
"""


def request(spec, version="v1beta1"):
    """A request with this specification."""
    item = given.item("DynamoGraphDeploymentRequest", "llm", api=f"nvidia.com/{version}", namespace="team")
    return {**item, "spec": yaml.safe_load(spec)}


def objects(item):
    """The objects without the request itself, and without the hash of the Job's settings, which depend on the order of fields."""
    return [json.loads(json.dumps(each)) for each in given.expanded(item).resources if each["kind"] != item["kind"]]


def settings(item):
    """What the profiler gets."""
    (job,) = [each for each in objects(item) if each["kind"] == "Job"]
    (profiler,) = [each for each in job["spec"]["template"]["spec"]["initContainers"] if each["name"] == "profiler"]
    return yaml.safe_load(profiler["args"][profiler["args"].index("--profile-config") + 1])


def test_the_job_is_that_of_v1alpha1():
    """The same image, resources, model cache and targets."""
    assert settings(request(NEWER)) == settings(request(OLDER, "v1alpha1"))
    newer, older = (given.expanded(item).resources for item in (request(NEWER), request(OLDER, "v1alpha1")))
    assert [(each["kind"], each["metadata"]["name"]) for each in newer] == [(each["kind"], each["metadata"]["name"]) for each in older]


def found(spec):
    """Codes, severities and fields of the findings but DYN189, which each measuring profiler gets."""
    said = given.expanded(request(spec)).results
    return [(each.severity, each.code, results.field(each.path)) for each in said if each.code != "DYN189"]


def test_fields_that_the_profiler_lacks_are_named():
    """They have no effect. The default of `searchStrategy`, and the metadata of the graph, are no loss."""
    assert found(NEWER + "searchStrategy: rapid\n") == []
    more = "searchStrategy: thorough\nhardware: {gpuSku: h100_sxm}\n"
    assert found(NEWER + more) == [("warning", "DYN411", "spec.hardware"), ("warning", "DYN411", "spec.searchStrategy")]


def test_a_field_of_both_versions_that_the_profiler_lacks_is_named():
    """Their conversion to v1alpha1 has them, but the Job of Dynamo 0.9 does not."""
    more = NEWER.replace("        tolerations:", "        nodeSelector: {zone: a}\n        tolerations:")
    assert found(more) == [("warning", "DYN411", "spec.overrides.profilingJob.template.spec.nodeSelector")]


@pytest.mark.parametrize("backend", ["", "backend: auto\n"])
def test_the_profiler_does_not_choose_the_engine(backend):
    """Neither does the schema of v1alpha1."""
    assert ("error", "DYN411", "spec.backend") in found(NEWER.replace("backend: vllm\n", backend))


def test_findings_point_at_the_fields_of_v1beta1():
    """The image is required, and so is a valid name of the graph."""
    assert found(NEWER.replace("image: registry.example/profiler:0.9.1\n", "")) == [("error", "DYN494", "spec.image")]
    assert found(NEWER.replace("name: chat", "name: Chat")) == [("error", "DYN186", "spec.overrides.dgd.metadata.name")]


def test_kept_fields_of_v1alpha1_act():
    """The operator still reads `configMapRef` and `outputPVC` of requests that were written as v1alpha1."""
    older = request(OLDER, "v1alpha1")
    older["spec"]["profilingConfig"]["outputPVC"] = "out"
    volumes = [each for item in (older, versions.to("v1beta1", older)) for each in objects(item) if each["kind"] == "Job"]
    assert all("out" in json.dumps(job["spec"]["template"]["spec"]["volumes"]) for job in volumes)
    assert len(volumes) == 2
