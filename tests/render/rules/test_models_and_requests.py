"""Rules over DynamoModels and DynamoGraphDeploymentRequests."""

from krm_fn.base import results
from krm_fn.render.config import RbacSettings
from tests.support import given
from tests.support.cases import cases

MODEL = {"modelName": "tiny", "baseModelName": "acme/tiny"}
SIMULATED = {"sweep": {"useAiConfigurator": True}}
PROFILING = {"profilerImage": "registry.example/profiler:1", "config": SIMULATED}
REQUEST = {"model": "acme/tiny", "backend": "vllm", "profilingConfig": PROFILING}
SETTINGS = "spec.profilingConfig.config"


def model(**spec):
    return given.item("DynamoModel", "tiny", api="nvidia.com/v1alpha1", spec={**MODEL, **spec})


def request(settings=None, **spec):
    """A request. `settings` are added to those of the profiler; settings of a wrong type replace them."""
    config = {**SIMULATED, **(settings or {})} if isinstance(settings, dict | None) else settings
    whole = {**REQUEST, "profilingConfig": {**PROFILING, "config": config}, **spec}
    return given.item("DynamoGraphDeploymentRequest", "tiny", api="nvidia.com/v1alpha1", spec=whole)


MODELS = [
    # reason, resource, findings
    ("a base model needs no source", model(), []),
    ("a base model's source is not looked at", model(source={"uri": "http://x"}), []),
    ("an adapter of another kind needs none", model(modelType="adapter"), []),
    ("a LoRA adapter needs one", model(modelType="lora"), [("error", "DYN170", "spec.source")]),
    ("null is no source", model(modelType="lora", source=None), [("warning", "DYN028", "spec.source"), ("error", "DYN170", "spec.source")]),
    ("a source needs an address, which the schema says", model(modelType="lora", source={}), [("error", "DYN022", "spec.source.uri")]),
    ("an empty address", model(modelType="lora", source={"uri": ""}), [("error", "DYN171", "spec.source.uri")]),
    ("another scheme", model(modelType="lora", source={"uri": "https://x/y"}), [("error", "DYN171", "spec.source.uri")]),
    ("schemes are written in lower case", model(modelType="lora", source={"uri": "HF://x/y"}), [("error", "DYN171", "spec.source.uri")]),
    ("from a bucket", model(modelType="lora", source={"uri": "s3://bucket/x"}), []),
    ("from the hub", model(modelType="lora", source={"uri": "hf://x/y"}), []),
    ("a source of a wrong type", model(modelType="lora", source=["hf://x/y"]), [("error", "DYN021", "spec.source")]),
]


@cases(("resource", "found"), MODELS)
def test_models(resource, found):
    assert said(resource) == sorted(found)


REQUESTS = [
    # reason, resource, findings
    ("nothing but what is needed", request(), []),
    ("the same engine twice", request({"engine": {"backend": "vllm"}}), []),
    ("an empty engine", request({"engine": {"backend": ""}}), []),
    ("another engine", request({"engine": {"backend": "sglang"}}), [("warning", "DYN180", f"{SETTINGS}.engine.backend")]),
    ("another model", request({"deployment": {"model": "other"}}), [("warning", "DYN180", f"{SETTINGS}.deployment.model")]),
    ("a model of another type is the profiler's", request({"deployment": {"model": 1}}), []),
    ("an engine of another type has no place for the backend", request({"engine": [1]}), [("error", "DYN182", f"{SETTINGS}.engine")]),
    (
        "both, and an image that is missing",
        request(profilingConfig={"config": {**SIMULATED, "engine": {"backend": "sglang"}, "deployment": {"model": "other"}}}),
        [
            ("warning", "DYN180", f"{SETTINGS}.engine.backend"),
            ("warning", "DYN180", f"{SETTINGS}.deployment.model"),
            ("error", "DYN022", "spec.profilingConfig.profilerImage"),
        ],
    ),
    ("settings that are a list", request([1]), [("error", "DYN021", SETTINGS)]),
    ("settings that are a text", request("engine: vllm"), [("error", "DYN021", SETTINGS)]),
    ("looking at nodes", request(enableGpuDiscovery=True), []),
]


@cases(("resource", "found"), REQUESTS)
def test_requests(resource, found):
    assert said(resource) == sorted(found)


def test_looking_at_nodes_takes_a_role():
    closed = RbacSettings(profiling_role="")
    assert said(request(enableGpuDiscovery=True), rbac=closed) == [("error", "DYN181", "spec.enableGpuDiscovery")]
    assert said(request(enableGpuDiscovery=False), rbac=closed) == []


def said(resource, **settings):
    """The findings about a resource, without the one that no graph serves the base model."""
    found = given.expanded(resource, **settings).results
    return sorted((each.severity, each.code, results.field(each.path)) for each in found if each.code != "DYN175")


def test_a_claim_of_a_profiling_job_cannot_be_added_because_its_pod_has_none():
    profiling = {**PROFILING, "resources": {"claims": [{"name": "gpus"}]}}
    (result,) = (result for result in given.expanded(request(profilingConfig=profiling)).results if result.code == "DYN213")
    assert result.message == "the pod of a profiling Job has no resource claims; remove the entry, and request GPUs under limits"


def test_a_finding_about_the_profiler_of_v1beta1_names_its_container():
    containers = [{"name": "log", "image": "example.com/log:1"}, {"name": "profiler", "resources": {"claims": [{"name": "gpus"}]}}]
    job = {"template": {"spec": {"containers": containers}}}
    spec = {"model": "m", "backend": "vllm", "image": "example.com/profiler:1.5.0", "overrides": {"profilingJob": job}}
    resource = {**request(), "apiVersion": "nvidia.com/v1beta1", "spec": spec}
    (result,) = (result for result in given.expanded(resource).results if result.code == "DYN213")
    assert results.field(result.path) == "spec.overrides.profilingJob.template.spec.containers[1].resources.claims[0].name"
