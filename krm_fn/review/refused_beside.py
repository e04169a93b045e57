"""Finds objects beside a graph that their own definitions refuse: monitors, routes, autoscalers, budgets, CronJobs and claims.

Sources: the definitions of the Prometheus operator (`pkg/apis/monitoring/v1`: `PodMonitorSpec`, `ServiceMonitorSpec`, `Duration`), of the
Gateway API (`apis/v1`: `HTTPPathMatch`, `Hostname`), of KEDA (`ScaledObjectSpec`, and the parameters of its scaler for Prometheus), of
`resource.k8s.io/v1` (`DeviceRequest`), the validation of policies, autoscalers and CronJobs in Kubernetes, and its list of removed API
versions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from krm_fn.base import codes, results, spelling
from krm_fn.base.results import Path, Result
from krm_fn.kubernetes import encryption, paths
from krm_fn.kubernetes.paths import EVERY
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import mapping, objects, text
from krm_fn.render import dynamo_api
from krm_fn.render.manifests import ownership
from krm_fn.review import written_pods

_CODE = codes.OBJECT_BESIDE_GRAPH_REFUSED
_ENDPOINTS = {"PodMonitor": "podMetricsEndpoints", "ServiceMonitor": "endpoints"}
_PORT_NAMES = {8000: "http", 9090: "system"}
"""The ports of Dynamo's servers with metrics, and their names."""
_INTERVALS = ("interval", "scrapeTimeout")
_DURATION = re.compile(r"|0|(?=\d)(\d+y)?(\d+w)?(\d+d)?(\d+h)?(\d+m)?(\d+s)?(\d+ms)?")
_MATCHES = ("Exact", "PathPrefix", "RegularExpression")
_MEANT_MATCHES = {"prefix": "PathPrefix", "regex": "RegularExpression", "implementationspecific": "PathPrefix"}
_PATHS: Path = ("spec", "rules", EVERY, "matches", EVERY, "path")
_SCALED = (
    *("advanced", "cooldownPeriod", "fallback", "idleReplicaCount", "initialCooldownPeriod", "maxReplicaCount", "minReplicaCount"),
    *("pollingInterval", "scaleTargetRef", "triggers"),
)
_OTHER_SCALED = {
    **dict.fromkeys(("minReplicas", "minCount", "min"), "minReplicaCount"),
    **dict.fromkeys(("maxReplicas", "maxCount", "max"), "maxReplicaCount"),
}
"""The fields of an autoscaler of Kubernetes, for those of KEDA."""
_TRIGGERS = (
    "aws-cloudwatch",
    "cpu",
    "cron",
    "external",
    "kafka",
    "kubernetes-workload",
    "memory",
    "metrics-api",
    "prometheus",
    "rabbitmq",
    "redis",
)
_OF_PROMETHEUS = ("query", "serverAddress", "threshold")
_REQUESTS: tuple[Path, ...] = (
    ("spec", "devices", "requests", EVERY),
    ("spec", "spec", "devices", "requests", EVERY),
)
_CLAIM_KINDS = ("ResourceClaimTemplate", "ResourceClaim")
_EXACT = ("adminAccess", "allocationMode", "capacity", "count", "deviceClassName", "selectors", "tolerations")
"""The fields of a request for devices that `resource.k8s.io/v1` has below `exactly`."""
_EXACT_VERSIONS = ("resource.k8s.io/v1", "resource.k8s.io/v1beta2")
_REMOVED = {
    ("CronJob", "batch/v1beta1"): "batch/v1",
    ("HorizontalPodAutoscaler", "autoscaling/v2beta1"): "autoscaling/v2",
    ("HorizontalPodAutoscaler", "autoscaling/v2beta2"): "autoscaling/v2",
    ("Ingress", "extensions/v1beta1"): "networking.k8s.io/v1",
    ("Ingress", "networking.k8s.io/v1beta1"): "networking.k8s.io/v1",
    ("PodDisruptionBudget", "policy/v1beta1"): "policy/v1",
}
"""By kind and API version that no supported release of Kubernetes serves: the one that it serves."""
_DYNAMO_KINDS = ("DynamoGraphDeployment", "DynamoGraphDeploymentScalingAdapter")
_ONLY_V2 = ("behavior", "metrics")
_JOB_POLICIES = ("Never", "OnFailure")
_FIELDS_OF_SCHEDULE = 5
_VARIABLE = "${"
"""The beginning of a variable of Flux, whose value is not known."""
_PERCENT = re.compile(r"\d+%")


def check(resources: Sequence[Resource]) -> Iterator[Result]:
    """Yields the findings about objects that no render has made. Fields may have wrong types."""
    templates, claims = (
        {results.ref(resource).name for resource in resources if results.ref(resource).kind == kind} for kind in _CLAIM_KINDS
    )
    for resource in resources:
        if templates and dynamo_api.is_dynamo(resource) and not ownership.is_generated(resource):
            yield from _claims(resource, templates - claims)
        kind, version = text(resource.get("kind")), text(resource.get("apiVersion"))
        if ownership.is_marked(resource) or encryption.is_encrypted(resource):
            continue
        if right := _REMOVED.get((kind, version)):
            message = f"Kubernetes no longer serves {kind} in {version}; write {right}, and the fields of this version"
            ref = results.ref(resource)
            yield results.error(codes.REMOVED_API_VERSION, message, ref, ("apiVersion",), current=version, proposed=right)
        elif rule := _RULES.get((version.partition("/")[0], kind)):
            yield from (finding for finding in rule(resource) if _VARIABLE not in f"{paths.at(resource, finding.path)}")


def _claims(graph: Resource, templates: Collection[str]) -> Iterator[Result]:
    """Finds a claim of a pod that has the name of a template: no claim of this name exists, so the pod is not scheduled."""
    for path, pod in written_pods.of(graph):
        for inner, name in paths.find(pod, (("resourceClaims", EVERY, "resourceClaimName"),)):
            if text(name) in templates:
                message = f"{name} is a ResourceClaimTemplate, and no ResourceClaim; write resourceClaimTemplateName"
                yield results.warning(codes.CLAIM_IS_A_TEMPLATE, message, results.ref(graph), (*path, *inner))


def _refuse(resource: Resource, path: Path, message: str, right: Any = None) -> Result:
    current = paths.at(resource, path) if right is not None else None
    return results.error(_CODE, message, results.ref(resource), path, current=current, proposed=right)


def _monitor(monitor: Resource) -> Iterator[Result]:
    kind, spec = text(monitor.get("kind")), mapping(monitor, "spec")
    field = _ENDPOINTS[kind]
    other_kind, other = next((other, name) for other, name in _ENDPOINTS.items() if other != kind)
    if other in spec and field not in spec:
        fix = f"write kind: {other_kind}" if kind == "ServiceMonitor" else f"write {field}"
        yield _refuse(monitor, ("spec", other), f"a {kind} has {field}, and {other} is a field of a {other_kind}; {fix}")
    for index, endpoint in enumerate(objects(spec.get(field))):
        path: Path = ("spec", field, index)
        port = endpoint.get("port")
        if isinstance(port, int) and not isinstance(port, bool):
            right = _PORT_NAMES.get(port)
            fix = f"write {right}" if right else "write the name of the port"
            yield _refuse(monitor, (*path, "port"), f"port takes the name of a port, not the number {port}; {fix}", right)
        for name in _INTERVALS:
            value = endpoint.get(name)
            if value is not None and not (isinstance(value, str) and _DURATION.fullmatch(value)):
                right = f"{value}s" if f"{value}".isdecimal() else None
                shown = f"write {right}" if right else "write for example 30s"
                yield _refuse(monitor, (*path, name), f"{name} takes a time with its unit, not {value}; {shown}", right)


def _route(route: Resource) -> Iterator[Result]:
    hosts = mapping(route, "spec").get("hostnames")
    if isinstance(hosts, str):
        yield _refuse(route, ("spec", "hostnames"), f"hostnames is a list; write [{hosts}]", [hosts])
    for index, host in enumerate(hosts if isinstance(hosts, list) else ()):
        name = text(host).removeprefix("http://").removeprefix("https://").partition("/")[0].partition(":")[0]
        if text(host) and name != host:
            yield _refuse(route, ("spec", "hostnames", index), f"a host name has no scheme, port or path; write {name}", name)
    for path, match in paths.find(route, (_PATHS,)):
        kind, value = text(mapping(match).get("type")) or "PathPrefix", text(mapping(match).get("value")) or "/"
        if kind not in _MATCHES:
            right = _MEANT_MATCHES.get(kind.lower()) or spelling.nearest(kind, _MATCHES)
            yield _refuse(route, (*path, "type"), f"{kind} is not a type of a path; write {right or ' or '.join(_MATCHES)}", right or None)
        elif kind != "RegularExpression" and not value.startswith("/"):
            yield _refuse(route, (*path, "value"), f"a path begins with a slash; write /{value}", f"/{value}")


def _scaled_object(scaled: Resource) -> Iterator[Result]:
    yield from _target(scaled)
    for name in mapping(scaled, "spec"):
        near = _OTHER_SCALED.get(name) or spelling.nearest(name, _SCALED)
        if name not in _SCALED and near:
            yield _refuse(scaled, ("spec", name), f"a ScaledObject has no field {name}; write {near}")
    for index, trigger in enumerate(objects(mapping(scaled, "spec").get("triggers"))):
        kind, parameters = text(trigger.get("type")), mapping(trigger, "metadata")
        if kind not in _TRIGGERS and (near := spelling.nearest(kind, _TRIGGERS)):
            path = ("spec", "triggers", index, "type")
            yield _refuse(scaled, path, f"KEDA has no trigger of the type {kind}; write {near}", near)
        missing = [name for name in _OF_PROMETHEUS if kind == "prometheus" and name not in parameters]
        if missing and parameters and not trigger.get("authenticationRef"):
            message = f"a trigger of the type prometheus needs {', '.join(_OF_PROMETHEUS)}; add {' and '.join(missing)}"
            yield _refuse(scaled, ("spec", "triggers", index, "metadata"), message)


def _target(autoscaler: Resource) -> Iterator[Result]:
    """Finds a target of a kind of Dynamo in another API group."""
    target = mapping(autoscaler, "spec", "scaleTargetRef")
    kind, version = text(target.get("kind")), text(target.get("apiVersion"))
    if kind in _DYNAMO_KINDS and version.partition("/")[0] != dynamo_api.GROUP:
        right = f"{dynamo_api.GROUP}/v1beta1"
        path = ("spec", "scaleTargetRef", "apiVersion")
        message = f"{kind} is a kind of {dynamo_api.GROUP}, not of {version or 'apps/v1'}; write apiVersion: {right}"
        yield _refuse(autoscaler, path if version else path[:-1], message, right if version else None)


def _autoscaler(autoscaler: Resource) -> Iterator[Result]:
    yield from _target(autoscaler)
    written = [name for name in _ONLY_V2 if name in mapping(autoscaler, "spec")]
    if autoscaler.get("apiVersion") == "autoscaling/v1" and written:
        message = f"autoscaling/v1 has no {written[0]}; write autoscaling/v2"
        yield _refuse(autoscaler, ("apiVersion",), message, "autoscaling/v2")


def _budget(budget: Resource) -> Iterator[Result]:
    for name in ("minAvailable", "maxUnavailable"):
        value = mapping(budget, "spec").get(name)
        if isinstance(value, str) and not _PERCENT.fullmatch(value):
            fix = (
                f"write {value}% for a part of the pods, or {value} without quotes for a number"
                if value.isdecimal()
                else "write 50% or a number"
            )
            yield _refuse(budget, ("spec", name), f"{name} is a number or a text with a percent sign, not the text {value!r}; {fix}")


def _cron_job(job: Resource) -> Iterator[Result]:
    schedule = text(mapping(job, "spec").get("schedule"))
    if schedule and not schedule.startswith("@") and len(schedule.split()) != _FIELDS_OF_SCHEDULE:
        message = f"a schedule has five fields (minute, hour, day, month, weekday), not {schedule!r}; write for example */15 * * * *"
        yield _refuse(job, ("spec", "schedule"), message)
    path: Path = ("spec", "jobTemplate", "spec", "template", "spec", "restartPolicy")
    policy = paths.at(job, path)
    if isinstance(policy, str) and policy not in _JOB_POLICIES:
        yield _refuse(job, path, f"the pods of a Job end, so restartPolicy is Never or OnFailure, not {policy}; write Never", "Never")


def _device_claim(claim: Resource) -> Iterator[Result]:
    if text(claim.get("apiVersion")) not in _EXACT_VERSIONS:
        return
    for path, request in paths.find(claim, _REQUESTS):
        flat = [name for name in mapping(request) if name in _EXACT]
        if flat and "exactly" not in mapping(request):
            message = f"{claim['apiVersion']} has {', '.join(flat)} of a request below exactly; write exactly: and indent them below it"
            yield _refuse(claim, (*path, flat[0]), message)


_RULES: Mapping[tuple[str, str], Callable[[Resource], Iterator[Result]]] = {
    **{("monitoring.coreos.com", kind): _monitor for kind in _ENDPOINTS},
    ("autoscaling", "HorizontalPodAutoscaler"): _autoscaler,
    ("batch", "CronJob"): _cron_job,
    ("gateway.networking.k8s.io", "HTTPRoute"): _route,
    ("keda.sh", "ScaledObject"): _scaled_object,
    ("policy", "PodDisruptionBudget"): _budget,
    **{("resource.k8s.io", kind): _device_claim for kind in ("ResourceClaim", "ResourceClaimTemplate")},
}
"""By group and kind: the rule of its objects."""
