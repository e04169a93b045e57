"""Shapes of pods, and the GPUs that they use, counted by hand."""

from __future__ import annotations

from typing import Any

GPU, MIG, AMD = "nvidia.com/gpu", "nvidia.com/mig-1g.10gb", "amd.com/gpu"
LABELS = {"nvidia.com/dynamo-graph-deployment-name": "chat", "nvidia.com/dynamo-component": "Worker"}


def container(name="main", claims=(), /, **amounts) -> dict[str, Any]:
    limits = {GPU if resource == "gpu" else MIG if resource == "mig" else AMD: f"{count}" for resource, count in amounts.items()}
    resources = {**({"limits": limits} if limits else {}), **({"claims": [{"name": claim} for claim in claims]} if claims else {})}
    return {"name": name, "image": "registry.example/a:1", "resources": resources}


def sidecar(*args, **amounts):
    return {**container(*args, **amounts), "restartPolicy": "Always"}


def pod(*containers, init=(), **more) -> dict[str, Any]:
    return {"containers": [*containers], **({"initContainers": [*init]} if init else {}), **more}


def claiming(count, *, claim="", template="") -> dict[str, Any]:
    """A pod with a container that uses a claim of its own or a shared one."""
    target = {"resourceClaimName": claim} if claim else {"resourceClaimTemplateName": template}
    return pod(container("main", ("gpus",), **({"gpu": count} if count else {})), resourceClaims=[{"name": "gpus", **target}])


def resource(api_version, kind, name, spec, **metadata):
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": "ai", **metadata}, "spec": spec}


def deployment(pod_spec, replicas: Any = 1, name="chat-worker", strategy=None, labels=None):
    labels = LABELS if labels is None else labels
    spec = {"selector": {"matchLabels": {"app": name}}, "template": {"metadata": {"labels": {"app": name, **labels}}, "spec": pod_spec}}
    numbers = {} if replicas is None else {"replicas": replicas}
    return resource("apps/v1", "Deployment", name, {**spec, **numbers, **({"strategy": strategy} if strategy else {})}, labels=labels)


def group(leader, worker, size, replicas=1, name="chat-worker-0"):
    template = {"size": size, "workerTemplate": {"spec": worker}, **({"leaderTemplate": {"spec": leader}} if leader else {})}
    return resource(
        "leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", name, {"replicas": replicas, "leaderWorkerTemplate": template}, labels=LABELS
    )


def clique(name, replicas, pod_spec):
    return {"name": name, "labels": {**LABELS, "nvidia.com/dynamo-component": name}, "spec": {"replicas": replicas, "podSpec": pod_spec}}


def clique_set(cliques, groups=(), replicas=1):
    template = {"cliques": cliques, "podCliqueScalingGroups": [*groups]}
    return resource("grove.io/v1alpha1", "PodCliqueSet", "chat", {"replicas": replicas, "template": template}, labels=LABELS)


def claim(kind, name, *requests):
    devices = {"devices": {"requests": [*requests]}}
    return resource("resource.k8s.io/v1", kind, name, {"spec": devices} if kind == "ResourceClaimTemplate" else devices)


def request(name="all", count: Any = 1, device_class="gpu.nvidia.com"):
    return {"name": name, "exactly": {"deviceClassName": device_class, "count": count}}


def adapter(replicas=1):
    spec = {"replicas": replicas, "dgdRef": {"name": "chat", "serviceName": "Worker"}}
    return resource("nvidia.com/v1alpha1", "DynamoGraphDeploymentScalingAdapter", "chat-worker", spec, labels=LABELS)


def autoscaler(maximum, kind="DynamoGraphDeploymentScalingAdapter", name="chat-worker"):
    api_version = "apps/v1" if kind == "Deployment" else "nvidia.com/v1alpha1"
    target = {"apiVersion": api_version, "kind": kind, "name": name}
    return resource(
        "autoscaling/v2", "HorizontalPodAutoscaler", "chat", {"scaleTargetRef": target, "minReplicas": 1, "maxReplicas": maximum}
    )


def scaled_object(**spec):
    target = {"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoGraphDeploymentScalingAdapter", "name": "chat-worker"}
    return resource("keda.sh/v1alpha1", "ScaledObject", "chat", {"scaleTargetRef": target, **spec})


def job(pod_spec, kind="Job", **spec):
    inner = {**spec, "template": {"spec": {"restartPolicy": "Never", **pod_spec}}}
    return resource("batch/v1", kind, "profile", inner if kind == "Job" else {"schedule": "0 0 * * *", "jobTemplate": {"spec": inner}})


GROUP = {"name": "decode", "replicas": 2, "cliqueNames": ["decode-ldr", "decode-wkr"]}
CLAIM, TEMPLATE = "ResourceClaim", "ResourceClaimTemplate"

SHAPES: list[tuple[str, list[dict[str, Any]], int]] = [
    ("no GPU", [deployment(pod(container()))], 0),
    ("one GPU", [deployment(pod(container(gpu=1)))], 1),
    ("replicas", [deployment(pod(container(gpu=2)), 3)], 6),
    ("no replicas written means one", [deployment(pod(container(gpu=2)), None)], 2),
    ("zero replicas", [deployment(pod(container(gpu=8)), 0)], 0),
    ("containers run together", [deployment(pod(container(gpu=2), container("b", gpu=1)), 2)], 6),
    ("an init container that needs less", [deployment(pod(container(gpu=4), init=[container("i", gpu=2)]))], 4),
    ("an init container that needs more", [deployment(pod(container(gpu=1), init=[container("i", gpu=4)]))], 4),
    (
        "init containers run one after the other",
        [deployment(pod(container(gpu=1), init=[container("i", gpu=3), container("j", gpu=3)]))],
        3,
    ),
    ("a sidecar runs beside the containers", [deployment(pod(container(gpu=2), init=[sidecar("s", gpu=1)]), 2)], 6),
    (
        "a sidecar runs beside later init containers",
        [deployment(pod(container(gpu=1), init=[sidecar("s", gpu=1), container("i", gpu=4)]))],
        5,
    ),
    ("an init container before a sidecar", [deployment(pod(container(gpu=1), init=[container("i", gpu=4), sidecar("s", gpu=1)]))], 4),
    ("MIG slices count as GPUs", [deployment(pod(container(mig=3)), 2)], 6),
    ("two kinds of GPUs", [deployment(pod(container(gpu=1, mig=2)))], 3),
    ("GPUs of another vendor", [deployment(pod(container(amd=8)))], 8),
    ("a group of nodes", [group(pod(container(gpu=8)), pod(container(gpu=8)), 4)], 32),
    ("a group whose leader has no GPU", [group(pod(container()), pod(container(gpu=8)), 3)], 16),
    ("a group without a template of the leader", [group(None, pod(container(gpu=4)), 2, replicas=2)], 16),
    ("two groups of one service", [group(None, pod(container(gpu=4)), 2), group(None, pod(container(gpu=4)), 2, name="chat-worker-1")], 16),
    ("a single clique", [clique_set([clique("worker", 3, pod(container(gpu=2)))])], 6),
    ("a clique with zero replicas runs one pod", [clique_set([clique("worker", 0, pod(container(gpu=2)))])], 2),
    (
        "a scaling group",
        [clique_set([clique("decode-ldr", 1, pod(container(gpu=8))), clique("decode-wkr", 3, pod(container(gpu=8)))], [GROUP])],
        64,
    ),
    ("a set with two replicas", [clique_set([clique("worker", 1, pod(container(gpu=4)))], replicas=2)], 8),
    ("a claim from a template for each pod", [deployment(claiming(0, template="t"), 3), claim(TEMPLATE, "t", request(count=2))], 6),
    ("a shared claim counts once", [deployment(claiming(0, claim="c"), 3), claim(CLAIM, "c", request(count=2))], 2),
    (
        "two workloads share a claim",
        [deployment(claiming(0, claim="c")), deployment(claiming(0, claim="c"), 2, name="other"), claim(CLAIM, "c", request(count=4))],
        4,
    ),
    ("a claim and GPUs of resources", [deployment(claiming(1, template="t"), 2), claim(TEMPLATE, "t", request())], 4),
    ("a claim of two requests", [deployment(claiming(0, template="t")), claim(TEMPLATE, "t", request("a"), request("b", 2))], 3),
    ("a claim of network devices", [deployment(claiming(0, template="t")), claim(TEMPLATE, "t", request(device_class="rdma.example"))], 0),
    ("a shared claim of a workload with zero replicas", [deployment(claiming(0, claim="c"), 0), claim(CLAIM, "c", request(count=2))], 0),
    ("a claim that is not there is in no number", [deployment(claiming(1, template="missing"), 2)], 2),
    ("replicas of an adapter", [deployment(pod(container(gpu=1)), None), adapter(5)], 5),
    ("an autoscaler of an adapter", [deployment(pod(container(gpu=1)), None), adapter(1), autoscaler(6)], 6),
    ("an autoscaler of a Deployment", [deployment(pod(container(gpu=2)), 1), autoscaler(3, "Deployment")], 6),
    ("an autoscaler below the number", [deployment(pod(container(gpu=1)), 4), autoscaler(2, "Deployment")], 4),
    ("KEDA with a maximum", [deployment(pod(container(gpu=1)), None), adapter(), scaled_object(maxReplicaCount=7)], 7),
    ("KEDA without a maximum has 100", [deployment(pod(container(gpu=1)), None), adapter(), scaled_object()], 100),
    ("an autoscaler of groups", [group(None, pod(container(gpu=4)), 2), adapter(1), autoscaler(3)], 24),
    ("an autoscaler of a clique", [clique_set([clique("Worker", 1, pod(container(gpu=2)))]), adapter(), autoscaler(4)], 8),
    ("a Job", [job(pod(container(gpu=2)), parallelism=3, completions=2)], 4),
    ("a suspended Job", [job(pod(container(gpu=2)), suspend=True)], 0),
    ("a CronJob", [job(pod(container(gpu=1)), kind="CronJob", parallelism=2)], 2),
    ("a Pod", [resource("v1", "Pod", "debug", pod(container(gpu=1)))], 1),
]
