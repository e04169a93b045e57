"""Rules about a request and its profiling Job.

Follows the reference's `internal/webhook/validation/dynamographdeploymentrequest.go`, and the errors that it finds at run time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from krm_fn import results
from krm_fn.kube import names
from krm_fn.kube.admission import fields, metadata
from krm_fn.kube.admission import pod as admission
from krm_fn.manifests.profiling import pod as profiling

if TYPE_CHECKING:
    from krm_fn.kube.admission import Refusal
    from krm_fn.kube.types import PodSpec, Resource
    from krm_fn.plan import RequestPlan
    from krm_fn.plan.address import RequestField
    from krm_fn.resolve.cluster import ClusterFacts
    from krm_fn.results import Path, Result

_UNLIMITED = "DYN210"
"""The reference makes Jobs with such requests, which only a cluster that adds limits accepts."""


def check(plan: RequestPlan, job: Resource, cluster: ClusterFacts) -> Iterator[Result]:
    """All findings about a request. `job` is its profiling Job."""
    yield from check_names(plan)
    yield from check_metadata(plan)
    yield from check_gpu_discovery(plan)
    yield from check_measurements(plan)
    yield from check_base(plan, cluster)
    yield from check_output(plan, cluster)
    yield from check_job(plan, job)


def check_names(plan: RequestPlan) -> Iterator[Result]:
    """The name of the request must fit into the name of the Job, and the overrides must be valid for a graph."""
    job = names.profiling_job(plan.name)
    if not fields.DNS_SUBDOMAIN.fullmatch(job):
        message = f"the name of the Job, {job}, is not valid; use lower-case letters, digits, dashes and dots"
        yield results.error("DYN183", message, plan.ref, ("metadata", "name"))
    elif len(job) > names.LABEL_LIMIT:
        longest = names.LABEL_LIMIT - len(names.profiling_job(""))
        message = f"the name of the Job, {job}, has {len(job)} characters, but at most {names.LABEL_LIMIT} are allowed"
        yield results.error("DYN183", f"{message}; use a name of at most {longest} characters", plan.ref, ("metadata", "name"))
    graph, namespace = plan.overrides.name, plan.overrides.namespace
    if graph and not (names.SERVICE.fullmatch(graph) and len(graph) <= names.SERVICE_LIMIT):
        message = f"{graph!r} is not a valid name of a graph; use lower-case letters, digits and dashes, and begin with a letter"
        yield results.error("DYN186", message, plan.ref, plan.at("overrides.name"), current=graph)
    if namespace and not fields.DNS_LABEL.fullmatch(namespace):
        message = f"{namespace!r} is not a valid namespace; use lower-case letters, digits and dashes, at most 63"
        yield results.error("DYN186", message, plan.ref, plan.at("overrides.namespace"), current=namespace)


def check_metadata(plan: RequestPlan) -> Iterator[Result]:
    """Reports labels and annotations for the generated graph that an API server refuses."""
    checks: tuple[tuple[Iterator[Refusal], RequestField], ...] = (
        (metadata.labels(plan.overrides.labels), "overrides.labels"),
        (metadata.annotation_keys(plan.overrides.annotations), "overrides.annotations"),
    )
    for refusals, field in checks:
        for refusal in refusals:
            yield results.error(refusal.code, refusal.message, plan.ref, plan.at(field, *refusal.path))


def check_gpu_discovery(plan: RequestPlan) -> Iterator[Result]:
    """The discovery of GPUs needs a ClusterRole for profiling."""
    if plan.discovers_gpus and not plan.config.rbac.profiling_role:
        message = (
            "enableGpuDiscovery needs a role that may read nodes, but rbac.profilingRole is empty in the configuration; remove the field, "
            f"and describe the nodes under hardware in {results.field(plan.at('settings'))}"
        )
        yield results.error("DYN181", message, plan.ref, plan.at("gpu_discovery"))


def check_measurements(plan: RequestPlan) -> Iterator[Result]:
    """Warns of a profiler that measures on GPUs: it creates graphs through the API, and only an operator expands these.

    Another namespace in the settings is taken for one that an operator serves.
    """
    if plan.simulated or plan.settings["deployment"].get("namespace") != plan.namespace:
        return
    message = (
        f"the profiler measures graphs that it creates in namespace {plan.namespace}, and without an operator there they never run, so it "
        "fails after half an hour; set sweep.useAiConfigurator: true, which needs no GPUs, or deployment.namespace to a namespace that a "
        "Dynamo operator serves"
    )
    yield results.warning("DYN189", message, plan.ref, plan.at("settings"))


def check_base(plan: RequestPlan, cluster: ClusterFacts) -> Iterator[Result]:
    """The ConfigMap with the graph to start from must have the key. A ConfigMap that is not among the items is assumed to be right."""
    if plan.base is None:
        return
    keys = cluster.config_maps.get((plan.namespace, plan.base.config_map))
    if keys is not None and plan.base.key not in keys:
        message = f"ConfigMap {plan.base.config_map} has no key {plan.base.key}; write one of its keys: {', '.join(sorted(keys)) or 'none'}"
        yield results.error("DYN187", message, plan.ref, plan.at("base.key"), current=plan.base.key)


def check_output(plan: RequestPlan, cluster: ClusterFacts) -> Iterator[Result]:
    """Warns if Jobs share the folder of their output. The names of the files are fixed, so one Job could publish the files of another."""
    others = sorted(name for name in cluster.outputs.get((plan.namespace, plan.output_claim), ()) if name != plan.name)
    if others:
        message = (
            f"request {', '.join(others)} also writes into the claim {plan.output_claim}, so Jobs that run at the same time overwrite each "
            "other's output; give each request its own claim"
        )
        yield results.warning("DYN188", message, plan.ref, plan.at("output_claim"), current=plan.output_claim)


def check_job(plan: RequestPlan, job: Resource) -> Iterator[Result]:
    """Reports what an API server refuses in the pod of the Job, at the field that the user wrote."""
    pod: PodSpec = job["spec"]["template"]["spec"]
    for refusal in admission.refusals(pod, results.field(plan.at("profiling"))):
        severity = results.warning if refusal.code == _UNLIMITED else results.error
        yield severity(refusal.code, refusal.message, plan.ref, _written(plan, pod, refusal.path))


def _written(plan: RequestPlan, pod: PodSpec, path: Path) -> Path:
    """The user's field for a field of the pod."""
    match path:
        case ("tolerations", *rest):
            return plan.at("tolerations", *rest)
        case ("volumes", int(index), *rest):
            return _of_volume(plan, pod["volumes"][index]["name"], rest[-1:])
        case ("initContainers", int(index), *rest) if pod["initContainers"][index]["name"] == profiling.PROFILER:
            return _of_profiler(plan, tuple(rest))
    return plan.at("profiling")


def _of_profiler(plan: RequestPlan, rest: Path) -> Path:
    match rest:
        case ("resources", *below):
            return plan.at("resources", *below)
        case ("image", *_):
            return plan.at("image")
        case ("volumeMounts", *_):
            return plan.at("cache.path")  # the folders of the other mounts are fixed
    return plan.at("profiling")


def _of_volume(plan: RequestPlan, name: str, last: list[str | int]) -> Path:
    if name == profiling.BASE:
        return plan.at("base.name" if last == ["name"] else "base.key")
    return plan.at("cache.claim" if name == profiling.CACHE else "output_claim")
