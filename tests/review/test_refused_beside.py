"""`krm-fn check` finds objects beside a graph that their own definitions refuse, and names what they take."""

from __future__ import annotations

from typing import Any

from krm_fn.review import refused_beside
from tests.support import beta, given
from tests.support.cases import cases


def of(api_version: str, kind: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "chat"}, "spec": spec}


def monitor(kind: str = "PodMonitor", field: str = "podMetricsEndpoints", **endpoint: Any) -> dict[str, Any]:
    return of("monitoring.coreos.com/v1", kind, selector={}, **{field: [{"port": "system", **endpoint}]})


def route(host: Any = ("chat.example.com",), **match: Any) -> dict[str, Any]:
    hosts = [*host] if isinstance(host, tuple) else host
    return of("gateway.networking.k8s.io/v1", "HTTPRoute", hostnames=hosts, rules=[{"matches": [{"path": match}]}])


def scaled(more: Any = (), kind: str = "prometheus", without: str = "", **spec: Any) -> dict[str, Any]:
    metadata = {"serverAddress": "http://prometheus:9090", "query": "up", "threshold": "5"}
    trigger = {"type": kind, "metadata": {name: value for name, value in metadata.items() if name != without}, **dict(more)}
    return of("keda.sh/v1alpha1", "ScaledObject", triggers=[trigger], **spec)


def cron(schedule: str = "*/15 * * * *", policy: str = "Never") -> dict[str, Any]:
    template = {"spec": {"restartPolicy": policy, "containers": []}}
    return of("batch/v1", "CronJob", schedule=schedule, jobTemplate={"spec": {"template": template}})


def claim(version: str = "v1", **request: Any) -> dict[str, Any]:
    return of(f"resource.k8s.io/{version}", "ResourceClaimTemplate", spec={"devices": {"requests": [{"name": "gpu", **request}]}})


def target(version: str = "") -> dict[str, Any]:
    of_dynamo = {"kind": "DynamoGraphDeploymentScalingAdapter", "name": "chat-worker"}
    return {"apiVersion": version, **of_dynamo} if version else of_dynamo


ROWS = [
    # reason, object, the end of the message; empty for no finding
    ("a monitor of pods", monitor(interval="30s"), ""),
    ("a time in parts", monitor(interval="1m30s"), ""),
    ("a number of seconds", monitor(interval=10), "write 10s"),
    ("no unit", monitor(scrapeTimeout="10"), "write 10s"),
    ("another unit", monitor(interval="10 sec"), "write for example 30s"),
    ("the number of a port", monitor(port=9090), "write system"),
    ("the number of another port", monitor(port=9400), "write the name of the port"),
    ("a variable of Flux", monitor(interval="${INTERVAL}"), ""),
    ("endpoints of Services", monitor(field="endpoints"), "write podMetricsEndpoints"),
    ("endpoints of pods", monitor("ServiceMonitor"), "write kind: PodMonitor"),
    ("a monitor of Services", monitor("ServiceMonitor", "endpoints"), ""),
    ("a route", route(type="PathPrefix", value="/v1"), ""),
    ("a route without a path", route(), ""),
    ("an expression", route(type="RegularExpression", value="v1.*"), ""),
    ("the type of an Ingress", route(type="Prefix", value="/v1"), "write PathPrefix"),
    ("a path without a slash", route(value="v1"), "write /v1"),
    ("one host as a text", route(host="chat.example.com"), "write [chat.example.com]"),
    ("a host with a scheme", route(host=("https://chat.example.com/",)), "write chat.example.com"),
    ("a host with a port", route(host=("chat.example.com:443",)), "write chat.example.com"),
    ("a host with a star", route(host=("*.example.com",)), ""),
    ("an autoscaler of KEDA", scaled(minReplicaCount=1, maxReplicaCount=3), ""),
    ("a field of an autoscaler of Kubernetes", scaled(minReplicas=1), "write minReplicaCount"),
    ("a slip", scaled(coolDownPeriod=30), "write cooldownPeriod"),
    ("a field of a later release", scaled(paused=True), ""),
    ("the type in another case", scaled(kind="Prometheus"), "write prometheus"),
    ("another type", scaled(kind="nats-jetstream"), ""),
    ("no address", scaled(without="serverAddress"), "add serverAddress"),
    ("an address of an authentication", scaled({"authenticationRef": {"name": "a"}}, without="serverAddress"), ""),
    ("metrics in the first version", of("autoscaling/v1", "HorizontalPodAutoscaler", metrics=[]), "write autoscaling/v2"),
    ("the first version", of("autoscaling/v1", "HorizontalPodAutoscaler", targetCPUUtilizationPercentage=50), ""),
    ("metrics", of("autoscaling/v2", "HorizontalPodAutoscaler", metrics=[]), ""),
    (
        "a number in quotes",
        of("policy/v1", "PodDisruptionBudget", minAvailable="2"),
        "write 2% for a part of the pods, or 2 without quotes for a number",
    ),
    ("a part of the pods", of("policy/v1", "PodDisruptionBudget", minAvailable="50%"), ""),
    ("a number of pods", of("policy/v1", "PodDisruptionBudget", minAvailable=2), ""),
    ("a schedule", cron(), ""),
    ("a name of a schedule", cron("@hourly"), ""),
    ("a number of minutes", cron("15"), "write for example */15 * * * *"),
    ("pods that never end", cron(policy="Always"), "write Never"),
    ("a request of an older version", claim(deviceClassName="gpu.nvidia.com", count=2), "write exactly: and indent them below it"),
    ("the older version", claim("v1beta1", deviceClassName="gpu.nvidia.com"), ""),
    ("a request", claim(exactly={"deviceClassName": "gpu.nvidia.com"}), ""),
    ("a target in the group of Deployments", scaled(scaleTargetRef=target("apps/v1")), "write apiVersion: nvidia.com/v1beta1"),
    (
        "a target without a group",
        of("autoscaling/v2", "HorizontalPodAutoscaler", scaleTargetRef=target()),
        "write apiVersion: nvidia.com/v1beta1",
    ),
    ("a target", scaled(scaleTargetRef=target("nvidia.com/v1alpha1")), ""),
    ("a removed version", of("extensions/v1beta1", "Ingress"), "write networking.k8s.io/v1, and the fields of this version"),
    ("fields of any type", of("keda.sh/v1alpha1", "ScaledObject", triggers=3), ""),
    ("another group", of("example.com/v1", "ScaledObject", minReplicas=1), ""),
]


@cases(("resource", "remedy"), ROWS)
def test_objects_beside_a_graph(resource, remedy):
    findings = [*refused_beside.check([resource])]
    assert [finding.message.partition("; ")[2] for finding in findings] == [remedy] * bool(remedy)
    assert {finding.code for finding in findings} <= {"DYN762", "DYN768"}


def test_fields_of_any_type_are_read():
    assert [*refused_beside.check([{"kind": 3}, {"kind": "CronJob", "apiVersion": "batch/v1", "spec": 3}, {}])] == []


CLAIMS = [
    ("a template", "resourceClaimName", ["ResourceClaimTemplate"], 1),
    ("a claim", "resourceClaimName", ["ResourceClaim"], 0),
    ("both", "resourceClaimName", ["ResourceClaim", "ResourceClaimTemplate"], 0),
    ("the field of templates", "resourceClaimTemplateName", ["ResourceClaimTemplate"], 0),
]


@cases(("field", "kinds", "count"), CLAIMS)
def test_claims_of_pods(field, kinds, count):
    pod = {"resourceClaims": [{"name": "gpus", field: "two-gpus"}]}
    objects = [{"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": {"name": "two-gpus"}} for kind in kinds]
    for graph in (beta.graph(beta.component("Worker", pod=pod)), given.graph({"Worker": given.service("worker", pod=pod)})):
        assert [finding.code for finding in refused_beside.check([graph, *objects])] == ["DYN771"] * count
