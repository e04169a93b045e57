"""Command lines are compared with the ConfigMaps, Secrets and ResourceClaimTemplates of the input."""

from __future__ import annotations

from krm_fn.render.config import Config
from krm_fn.review import resource_findings
from tests.support import beta, given
from tests.support.cases import cases

IMAGE = "nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.5.1"
SETTINGS = given.item("ConfigMap", "settings", data={"MAX_LEN": "8192"})
TOKEN = given.item("Secret", "token", stringData={"HF_TOKEN": "x"})
BOTH = [{"configMapRef": {"name": "settings"}}, {"secretRef": {"name": "token"}}]


def of(code, *resources):
    found = resource_findings.check(resources, Config(), is_configured=False)
    return [(finding.severity, finding.message.rpartition("; ")[2]) for finding in found if finding.code == code]


def worker(*args, pod=None, **main):
    main = {"image": IMAGE, "command": ["python3", "-m", "dynamo.vllm"], "args": ["--model", "acme/tiny", *args], **main}
    return beta.graph(beta.component("Worker", main=main, pod=pod))


REFERENCES = [
    ("a name that no object has", "$(MAX_MODEL_LEN)", BOTH, [SETTINGS, TOKEN], True),
    ("a key of an object", "$(MAX_LEN)", BOTH, [SETTINGS, TOKEN], False),
    ("a key with a prefix", "$(VLLM_MAX_LEN)", [{**BOTH[0], "prefix": "VLLM_"}], [SETTINGS], False),
    ("a key without the prefix", "$(MAX_LEN)", [{**BOTH[0], "prefix": "VLLM_"}], [SETTINGS], True),
    ("an object from elsewhere", "$(MAX_MODEL_LEN)", BOTH, [SETTINGS], False),
    ("an object that a controller fills", "$(MAX_MODEL_LEN)", BOTH, [SETTINGS, given.item("Secret", "token")], False),
    ("a variable of the container", "$(OTHER)", BOTH, [SETTINGS, TOKEN], False),
]


@cases(("value", "sources", "objects", "is_found"), REFERENCES)
def test_a_variable_of_the_objects_of_a_container(value, sources, objects, is_found):
    graph = worker("--max-model-len", value, envFrom=sources, env=[{"name": "OTHER", "value": "1"}])
    assert [(severity, "add the variable" in fix) for severity, fix in of("DYN627", graph, *objects)] == [("warning", True)] * is_found


def template(count, *, device="gpu.nvidia.com", is_older=False, **fields):
    exactly = {"deviceClassName": device, **fields} if count is None else {"deviceClassName": device, "count": count, **fields}
    request = {"name": "gpu", **exactly} if is_older else {"name": "gpu", "exactly": exactly}
    spec = {"spec": {"devices": {"requests": [request]}}}
    return given.item("ResourceClaimTemplate", "gpus", api=f"resource.k8s.io/{'v1beta1' if is_older else 'v1'}", spec=spec)


CLAIMS = [
    ("fewer GPUs than the engine needs", "2", template(1), True),
    ("the default count", "2", template(None), True),
    ("a request of v1beta1", "4", template(2, is_older=True), True),
    ("as many", "2", template(2), False),
    ("more", "1", template(2), False),
    ("all devices of a node", "2", template(None, allocationMode="All"), False),
    ("parts of a GPU", "2", template(1, device="mig.nvidia.com"), False),
]


@cases(("size", "claim", "is_found"), CLAIMS)
def test_gpus_of_resource_claims(size, claim, is_found):
    pod = {"resourceClaims": [{"name": "gpus", "resourceClaimTemplateName": "gpus"}]}
    graph = worker("--tensor-parallel-size", size, pod=pod, resources={"claims": [{"name": "gpus"}]})
    assert [severity for severity, _ in of("DYN545", graph, claim)] == ["warning"] * is_found
    assert of("DYN545", graph) == []
