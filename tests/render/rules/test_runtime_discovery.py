"""A runtime before 1.0 that is found through Kubernetes still needs a key-value store: etcd, unless the user names another one."""

from __future__ import annotations

import pytest

from krm_fn.render import labels
from tests.support import given
from tests.support.cases import cases

OLD = "nvcr.io/nvidia/ai-dynamo/vllm-runtime:0.8.1"
AT = "spec.services.Worker.extraPodSpec.mainContainer.image"


def findings(written, config=None, **graph):
    return given.findings(given.expanded(given.graph({"Worker": written}, **graph), **(config or {})).results)


TAGS = [
    ("a version before 1.0", "dynamo:0.9.1", True),
    ("with a suffix", "dynamo:0.8.1-cuda13", True),
    ("of a patch", "dynamo:0.8.1.post1", True),
    ("of two numbers", "dynamo:0.7", True),
    ("with a v", "dynamo:v0.9.0", True),
    ("with a digest", f"dynamo:0.9.0@sha256:{'0' * 64}", True),
    ("behind a registry with a port", "registry.example:5000/dynamo:0.9.0", True),
    ("1.0", "dynamo:1.0.0", False),
    ("a candidate of 1.0", "dynamo:1.0.0-rc1", False),
    ("a version of two digits", "dynamo:10.8.0", False),
    ("no version", "dynamo:latest", False),
    ("a number that is no version", "dynamo:0", False),
    ("no tag", "dynamo", False),
    ("a port that is no tag", "registry.example:0.8/dynamo", False),
    ("a digest alone", f"dynamo@sha256:{'0' * 64}", False),
]


@cases(("image", "old"), TAGS)
def test_the_tag_of_the_image_says_which_runtime_it_is(image, old):
    assert findings(given.service("worker", main={"image": image})) == ([("DYN173", AT)] if old else [])


def named(name, value="x"):
    return {"envs": [{"name": name, "value": value}]}


FROM_SECRET = {"name": "ETCD_ENDPOINTS", "valueFrom": {"secretKeyRef": {"name": "etcd", "key": "address"}}}
STORES = [
    ("no store", {}, {}, {}, True),
    ("etcd in the configuration", {}, {"etcd_address": "etcd:2379"}, {}, False),
    ("etcd in a variable of the service", named("ETCD_ENDPOINTS"), {}, {}, False),
    ("etcd in a variable of the graph", {}, {}, named("ETCD_ENDPOINTS"), False),
    ("etcd in a variable from a Secret", {"envs": [FROM_SECRET]}, {}, {}, False),
    ("a variable without a value", named("ETCD_ENDPOINTS", ""), {}, {}, True),
    ("the store in a variable", named("DYN_STORE_KV", "mem"), {}, {}, False),
    ("the store in a flag", {"main": {"args": ["python3 -m dynamo.vllm --store-kv file"]}}, {}, {}, False),
    ("variables of a ConfigMap, which nobody sees here", {"main": {"envFrom": [{"configMapRef": {"name": "a"}}]}}, {}, {}, False),
    ("variables of a Secret, which holds tokens and no address", {"envFromSecret": "hf-token"}, {}, {}, True),
    ("another variable", named("NATS_SERVER"), {}, {}, True),
    ("discovery through etcd by configuration", {}, {"discovery_backend": "etcd"}, {}, False),
    ("discovery through etcd by annotation", {}, {}, {"annotations": {labels.DISCOVERY_BACKEND: "etcd"}}, False),
]


@cases(("fields", "config", "graph", "lost"), STORES)
def test_a_store_that_is_named_somewhere_is_enough(fields, config, graph, lost):
    main = {"image": OLD, **fields.get("main", {})}
    written = given.service("worker", main=main, **{key: value for key, value in fields.items() if key != "main"})
    assert findings(written, config, **graph) == ([("DYN173", AT)] if lost else [])


@pytest.mark.parametrize("kind", ["frontend", "worker", "planner", ""])
def test_every_component_runs_the_runtime(kind):
    assert ("DYN173", AT) in findings(given.service(kind, main={"image": OLD}))


def test_a_graph_has_one_warning_for_all_its_runtimes():
    """At the first of them, with the number of the others."""
    parts = {name: given.service(kind, main={"image": OLD}) for name, kind in (("A", "frontend"), ("B", "worker"), ("C", "worker"))}
    (finding,) = given.expanded(given.graph({**parts, "D": given.service("worker", main={"image": "dynamo:1.5.0"})})).results
    assert (finding.code, finding.path) == ("DYN173", ("spec", "services", "A", "extraPodSpec", "mainContainer", "image"))
    assert "of A and 2 other components connects" in finding.message
