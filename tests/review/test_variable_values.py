"""`krm-fn check` finds variables whose value does not say what their author meant, and topology keys that no node has."""

from __future__ import annotations

from typing import Any

from krm_fn.review import placement_keys, variable_values
from tests.support import beta, given
from tests.support.cases import cases


def graphs(env: list[Any], **more: Any) -> list[Any]:
    """A graph of each API version whose worker has these variables and two GPUs."""
    main = {"env": env, "resources": {"limits": {"nvidia.com/gpu": "2"}}, **more}
    service = given.service("worker", envs=env, resources={"limits": {"gpu": "2"}}, main=more)
    return [beta.graph(beta.component("Worker", main=main)), given.graph({"Worker": service})]


VARIABLES = [
    # reason, variable, code; empty for no finding
    ("no value", {"name": "HF_HOME"}, "DYN763"),
    ("an empty value", {"name": "HF_HOME", "value": ""}, ""),
    ("a source", {"name": "HF_HOME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}, ""),
    ("a patch", {"name": "HF_HOME", "$patch": "delete"}, ""),
    ("a variable of a shell", {"name": "VLLM_CACHE_ROOT", "value": "${CACHE}/vllm"}, "DYN764"),
    ("a variable of Kubernetes", {"name": "VLLM_CACHE_ROOT", "value": "$(CACHE)/vllm"}, ""),
    ("a variable that its reader replaces", {"name": "HF_HOME", "value": "${CACHE}/hub"}, ""),
    ("too many GPUs", {"name": "CUDA_VISIBLE_DEVICES", "value": "0,1,2,3"}, "DYN766"),
    ("the GPUs of the container", {"name": "CUDA_VISIBLE_DEVICES", "value": "0,1"}, ""),
    ("names of GPUs", {"name": "CUDA_VISIBLE_DEVICES", "value": "GPU-8932f937"}, ""),
    ("a text", "HF_HOME", ""),
    ("a truth value", {"name": "VLLM_USE_DEEP_GEMM", "value": "True"}, "DYN772"),
    ("a number", {"name": "VLLM_USE_DEEP_GEMM", "value": "1"}, ""),
    ("another variable of vLLM", {"name": "VLLM_DO_NOT_TRACK", "value": "true"}, ""),
]


@cases(("variable", "code"), VARIABLES)
def test_variables(variable, code):
    for graph in graphs([variable]):
        assert [finding.code for finding in variable_values.check([graph])] == [code] * bool(code)


def test_the_variables_of_a_template_have_no_finding():
    """Flux or envsubst replaces them: the image shows it."""
    variable = {"name": "VLLM_CACHE_ROOT", "value": "${CACHE}/vllm"}
    for graph in graphs([variable], image="${IMAGE}"):
        assert [*variable_values.check([graph])] == []


def test_gpus_of_a_container_without_limits_are_not_counted():
    main = {"env": [{"name": "CUDA_VISIBLE_DEVICES", "value": "3"}]}
    assert [*variable_values.check([beta.graph(beta.component("Worker", main=main))])] == []


KEYS = [
    ("the end of the label", "hostname", "kubernetes.io/hostname"),
    ("another word", "zone", "topology.kubernetes.io/zone"),
    ("a slip", "kubernetes.io/hostnam", "kubernetes.io/hostname"),
    ("the label", "kubernetes.io/hostname", ""),
    ("a label of a cluster", "example.com/rack", ""),
    ("a word of a cluster", "rack", ""),
    ("a number", 3, ""),
]


@cases(("key", "right"), KEYS)
def test_topology_keys(key, right):
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": "chat"}}}
    preferred = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": term}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    pod = {"affinity": {"podAntiAffinity": {**preferred, **required}}, "topologySpreadConstraints": [{**term, "maxSkew": 1}]}
    for graph in (beta.graph(beta.component("Worker", pod=pod)), given.graph({"Worker": given.service("worker", pod=pod)})):
        findings = [(finding.code, finding.proposed) for finding in placement_keys.check([graph])]
        assert findings == [("DYN765", right)] * 3 * bool(right)
