"""NVIDIA's planner, with the account and the role that the render binds to its pod, scales mock engines through their adapter.

It needs no GPU. The planner of 1.5.1 reads the status of the graph and what the engines publish. That of 0.9.0 reads the metrics of
frontends from Prometheus, and measurements of an engine. The planner of 1.6.1 needs `aisimulate`, whose files are not on PyPI, so
`test_planner_contract.py` asks only its reader of the status.
"""

from __future__ import annotations

import json

import pytest

from tests.running import bed as beds
from tests.running import graphs, load, prometheus
from tests.running.graphs import MODEL
from tests.testbed import audit, place
from tests.testbed.place import GRAPH

SCALE = "dynamographdeploymentscalingadapters/scale"
SYNCER = "system:serviceaccount:dynamo-system:krm-fn-sync"

# It adds a worker if 1 percent of an engine's KV cache is in use, and removes one if all engines are idle. It looks every 2 seconds.
# A mock engine asks for no GPU, so the planner must be told for how many it counts.
LOAD = {
    "backend": "mocker",
    "mode": "agg",
    "optimization_target": "load",
    "decode_scale_up_kv_rate": 1,
    "decode_scale_down_kv_rate": 0,
    "load_adjustment_interval_seconds": 2,
    "decode_engine_num_gpu": 1,
    "max_gpu_budget": 2,
}
# A small KV cache, and answers that take about a second, so that requests are always in it.
ENGINE = ("--num-gpu-blocks-override", "64", "--speedup-ratio", "0.2")

# One GPU of a driver, as a claim of Dynamic Resource Allocation asks for it.
DRA = "resource.k8s.io/v1"
DEVICES = {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com", "count": 1}}]}}
SELECTOR = {"cel": {"expression": 'device.driver == "gpu.nvidia.com"'}}
CLASS = {"apiVersion": DRA, "kind": "DeviceClass", "metadata": {"name": "gpu.nvidia.com"}, "spec": {"selectors": [SELECTOR]}}

# What the planner of 0.9.0 reads of its engines: one that decodes 50 tokens a second, whatever the load, and is never busy with prefill.
SHAPES = [(usage, length) for usage in (0.1, 0.5, 1.0) for length in (10, 1000, 10000)]
PROFILES = {
    "prefill": {"prefill_isl": [10, 100, 1000, 10000], "prefill_ttft": [1, 1, 1, 1], "prefill_thpt_per_gpu": [1e6] * 4},
    "decode": {
        "x_kv_usage": [usage for usage, _ in SHAPES],
        "y_context_length": [length for _, length in SHAPES],
        "z_itl": [10] * len(SHAPES),
        "z_thpt_per_gpu": [50] * len(SHAPES),
        "max_kv_tokens": 10000,
    },
}
THROUGHPUT = (
    *("--backend", "mocker", "--adjustment-interval", "5", "--load-predictor", "constant", "--no-correction"),
    *("--max-gpu-budget", "3", "--profile-results-dir", graphs.FOLDER),
)


SCALED_BY_PLANNER = pytest.mark.ran(
    workload="Deployment",
    engine="mock engine, scaled by the planner",
    release="1.5",
    result="answered",
    by="NVIDIA's planner and mock engine on the real runtime",
)


@SCALED_BY_PLANNER
def test_planner_adds_and_removes_workers_as_the_load_changes(newer, measured):
    """The planner of 1.5.1 reads v1beta1, and finds its workers by the Dynamo namespace in the status, which ends with the worker hash."""
    newer.machine.images[graphs.planner_image("1.5.1")] = beds.planner("1.5.1")
    with newer.namespace("planner-15") as here:
        worker = graphs.worker(1, *ENGINE, adapter=True)
        planner = graphs.planner("1.5.1", "dynamo.planner", "--config", json.dumps(LOAD))
        here.deploy(graphs.v1beta1("chat", "1.5.1", graphs.frontend(), worker, planner), behaviour="v1.5")
        newer.wait_until_successful(here, "chat")
        newer.machine.eventually(lambda: newer.models(here, "chat") == [MODEL], here.namespace)
        with load.running(newer.machine, *newer.frontend(here, "chat")) as run:
            newer.machine.eventually(lambda: counts(here, "worker") == [2] * 4, here.namespace)
            run.note("two workers are ready")
        newer.machine.eventually(lambda: counts(here, "worker") == [1] * 4, here.namespace)
        measured.append(f"the planner of 1.5.1: {run.story()}")
        assert not run.lost
        judge(newer, here, "worker")


@SCALED_BY_PLANNER
def test_planner_counts_the_devices_that_the_status_reports(newer, measured):
    """The planner of 1.5.1 scales an engine with device claims only if the status has its GPUs. Nobody tells it their number here."""
    newer.machine.images[graphs.planner_image("1.5.1")] = beds.planner("1.5.1")
    with newer.namespace("planner-claims") as here:
        here.plane.apply(CLASS)
        planner = graphs.planner("1.5.1", "dynamo.planner", "--config", json.dumps({**LOAD, "decode_engine_num_gpu": None}))
        graph = graphs.v1beta1("chat", "1.5.1", graphs.frontend(), graphs.worker(1, *ENGINE, adapter=True), planner)
        pod = graph["spec"]["components"][1]["podTemplate"]["spec"]
        pod["resourceClaims"] = [{"name": "gpu", "resourceClaimTemplateName": "one-gpu"}]
        pod["containers"][0]["resources"] = {"claims": [{"name": "gpu"}]}
        template = {
            "apiVersion": DRA,
            "kind": "ResourceClaimTemplate",
            "metadata": {"name": "one-gpu", "namespace": here.namespace},
            "spec": {"spec": DEVICES},
        }
        graph["metadata"]["namespace"] = here.namespace
        here.apply(each for each in place.render(graph, template, CLASS, behaviour="v1.5") if each["kind"] != "DeviceClass")
        status = newer.wait_until_successful(here, "chat")
        assert {name: status["components"]["Worker"][name] for name in ("gpusPerEngine", "gpusPerReplica")} == {
            "gpusPerEngine": 1,
            "gpusPerReplica": 1,
        }
        newer.machine.eventually(lambda: newer.models(here, "chat") == [MODEL], here.namespace)
        with load.running(newer.machine, *newer.frontend(here, "chat")) as run:
            newer.machine.eventually(lambda: counts(here, "worker") == [2] * 4, here.namespace)
        newer.machine.eventually(lambda: counts(here, "worker") == [1] * 4, here.namespace)
        measured.append(f"the planner of 1.5.1, with device claims: {run.story()}")
        assert not run.lost
        judge(newer, here, "worker")


@pytest.mark.ran(
    workload="Deployment",
    engine="mock engine, scaled by the planner",
    release="0.9",
    result="answered",
    by="NVIDIA's planner and mock engine on the real runtime",
)
def test_planner_computes_workers_from_the_metrics_of_frontends(bed, sync, nats, tmp_path, measured):
    """The planner of 0.9.0 reads v1alpha1, and only metrics with the Dynamo namespace of its graph, a label that the PodMonitor adds."""
    bed.machine.images[graphs.planner_image("0.9.0")] = beds.planner("0.9.0")
    with prometheus.running(bed, tmp_path, "frontend.yaml") as scraping, bed.namespace("planner-09") as here:
        for part, profile in PROFILES.items():
            (bed.machine.claim(here.namespace, graphs.CLAIM) / f"{part}_raw_data.json").write_text(json.dumps(profile))
        prefill, decode = graphs.disaggregated("0.9.0")
        planner = graphs.planner("0.9.0", "dynamo.planner.planner_sla", *THROUGHPUT)
        services = (graphs.frontend(), prefill, decode._replace(adapter=True, drain=5), planner)
        graph = graphs.v1alpha1("chat", "0.9.0", *services, DYN_STORE_KV="mem")
        here.deploy(graph, behaviour="v0.9", natsAddress=bed.platform["natsAddress"], prometheusEndpoint=scraping.url)
        bed.wait_until_successful(here, "chat")
        scraping.discover(here)
        bed.machine.eventually(lambda: bed.answers(here, "chat"), here.namespace)
        for rate, workers in ((10, 2), (2, 1)):  # each answer has 8 tokens; without requests, this planner changes nothing
            address, port = bed.frontend(here, "chat")
            with load.running(bed.machine, address, port, rate) as run:
                bed.machine.eventually(lambda n=workers: counts(here, "decode") == [n] * 4, here.namespace)
            measured.append(f"the planner of 0.9.0, {workers} workers: {run.story()}")
        judge(bed, here, "decode")


def counts(here, service):
    """The number of a service in its adapter, in the graph, in its Deployment, and of its ready pods."""
    deployment = here.get("Deployment", f"chat-{service}")
    adapter = here.get("DynamoGraphDeploymentScalingAdapter", f"chat-{service}")
    spec = here.get(GRAPH, "chat")["spec"]
    components = spec.get("services") or {each["name"]: each for each in spec["components"]}
    graph = components[service.capitalize()]["replicas"]
    return [adapter["spec"].get("replicas"), graph, deployment["spec"]["replicas"], deployment["status"].get("readyReplicas")]


def judge(bed, here, service):
    """The planner's pod wrote the number of the adapter and no other object of the graph; then the syncer wrote graph and Deployment."""
    account, (pod,) = "planner-serviceaccount", [each for each in here.listed("Pod") if "-planner-" in each["metadata"]["name"]]
    binding = f'RoleBinding "{account}-binding/{here.namespace}" of ClusterRole "dynamo-planner"'
    reason = f'RBAC: allowed by {binding} to ServiceAccount "{account}/{here.namespace}"'
    user = f"system:serviceaccount:{here.namespace}:{account}"
    scaled = audit.Write(SCALE, f"chat-{service}", user, pod["metadata"]["name"], reason)
    done = audit.writes(bed.plane.folder, here.namespace)
    assert {each for each in done if each.user == user and each.resource != "dynamoworkermetadatas"} == {scaled}
    followed = {(each.resource, each.name) for each in done[done.index(scaled) :] if each.user == SYNCER}
    assert {("dynamographdeployments", "chat"), ("deployments/scale", f"chat-{service}")} <= followed
