"""Rules about a request and its profiling Job.

Follows the operator's `internal/webhook/validation/dynamographdeploymentrequest.go`, and the errors that it raises at run time.
"""

from __future__ import annotations

from collections.abc import Iterator

from krm_fn.base import codes, results
from krm_fn.kubernetes.api_server import name_formats, pod_rules
from krm_fn.render import dynamo_api, names
from krm_fn.render.kinds import gates
from krm_fn.render.manifests.profiling import profiler_pod
from krm_fn.render.rules import profiler_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from krm_fn.base.results import Path, Result
    from krm_fn.kubernetes.native_types import PodSpec
    from krm_fn.kubernetes.types import Resource
    from krm_fn.render.plan import RequestPlan
    from krm_fn.render.resolve.cluster import ClusterFacts

_UNLIMITED = codes.REQUEST_WITHOUT_LIMIT
"""The operator creates Jobs with such requests. Only a cluster that adds limits accepts them."""
_NO_CLAIMS = "the pod of a profiling Job has no resource claims; remove the entry, and request GPUs under limits"
_CACHE = ("config", "deployment", "modelCache")
"""The path of the model cache below `profilingConfig`."""


def check(plan: RequestPlan, job: Resource, cluster: ClusterFacts) -> Iterator[Result]:
    """Yields the findings about a request. `job` is its profiling Job."""
    yield from _check_names(plan)
    yield from _check_metadata(plan)
    yield from _check_image(plan)
    yield from _check_gpu_discovery(plan)
    yield from profiler_settings.check(plan)
    yield from _check_measurements(plan)
    yield from _check_base(plan, cluster)
    yield from _check_output(plan, cluster)
    yield from _check_job(plan, job)


def _check_names(plan: RequestPlan) -> Iterator[Result]:
    """Checks that the name of the request fits into the name of the Job, and that the overrides are valid for a graph."""
    job = names.profiling_job(plan.name)
    if not name_formats.DNS_SUBDOMAIN.fullmatch(job):
        message = f"the name of the Job, {job}, is not valid; use lower-case letters, digits, dashes and dots"
        yield results.error(codes.INVALID_PROFILING_JOB_NAME, message, plan.ref, ("metadata", "name"))
    elif len(job) > names.LABEL_LIMIT:
        longest = names.LABEL_LIMIT - len(names.profiling_job(""))
        message = f"the name of the Job, {job}, has {len(job)} characters, but at most {names.LABEL_LIMIT} are allowed"
        yield results.error(
            codes.INVALID_PROFILING_JOB_NAME, f"{message}; use a name of at most {longest} characters", plan.ref, ("metadata", "name")
        )
    elif not name_formats.DNS_SUBDOMAIN.fullmatch(plan.name):
        message = f"{plan.name!r} is not a valid name of a resource; use lower-case letters, digits and dashes"
        yield results.error(codes.INVALID_NATIVE_NAME, message, plan.ref, ("metadata", "name"))
    graph, namespace = plan.overrides.name, plan.overrides.namespace
    if graph and not (names.SERVICE.fullmatch(graph) and len(graph) <= names.SERVICE_LIMIT):
        message = f"{graph!r} is not a valid name of a graph; use lower-case letters, digits and dashes, and begin with a letter"
        yield results.error(codes.INVALID_GENERATED_GRAPH_NAME, message, plan.ref, plan.at("deploymentOverrides", "name"), current=graph)
    if namespace and not name_formats.DNS_LABEL.fullmatch(namespace):
        message = f"{namespace!r} is not a valid namespace; use lower-case letters, digits and dashes, at most 63"
        yield results.error(
            codes.INVALID_GENERATED_GRAPH_NAME, message, plan.ref, plan.at("deploymentOverrides", "namespace"), current=namespace
        )


def _check_metadata(plan: RequestPlan) -> Iterator[Result]:
    """Reports labels and annotations for the generated graph that an API server rejects."""
    for rejection in name_formats.validate_metadata(plan.overrides.labels, plan.overrides.annotations):
        yield results.error(rejection.code, rejection.message, plan.ref, plan.at("deploymentOverrides", *rejection.path))


def _has_profiler(plan: RequestPlan) -> bool:
    """True if the image may have the profiler of Dynamo 0.9."""
    return bool(plan.image) and gates.NEW_PROFILER not in plan.gates


def _check_image(plan: RequestPlan) -> Iterator[Result]:
    """Reports an image whose profiler the Job of Dynamo 0.9 cannot start, and a v1beta1 request without an image.

    Without an image, an operator of 1.5 or later takes its own image of the planner, which has the same profiler.
    """
    if _has_profiler(plan):
        return
    if not plan.image and plan.ref.api_version == dynamo_api.V1ALPHA1:  # the schema requires an image there
        return
    problem = "images of 1.0 or later have another profiler" if plan.image else "the operator's default image has another profiler"
    message = (
        f"the Job runs the profiler of Dynamo 0.9, and {problem}; write an image before 1.0, or profile with an operator or by hand with "
        "python -m dynamo.profiler, and commit the graph that it makes"
    )
    yield results.error(codes.IMAGE_WITH_OTHER_PROFILER, message, plan.ref, plan.version_path)


def _check_gpu_discovery(plan: RequestPlan) -> Iterator[Result]:
    """Reports a discovery of GPUs without a ClusterRole for profiling."""
    if plan.discovers_gpus and not plan.config.rbac.profiling_role:
        message = (
            "enableGpuDiscovery needs a role that may read nodes, but rbac.profilingRole is empty in the configuration; remove the field, "
            f"and describe the nodes under hardware in {results.field(plan.at('profilingConfig', 'config'))}"
        )
        yield results.error(codes.GPU_DISCOVERY_WITHOUT_ROLE, message, plan.ref, plan.at("enableGpuDiscovery"))


def _check_measurements(plan: RequestPlan) -> Iterator[Result]:
    """Warns of a profiler that measures on GPUs: it creates graphs through the API, and only an operator expands these.

    An operator is assumed to serve another namespace that the settings name.
    """
    if plan.simulated or not _has_profiler(plan) or plan.settings["deployment"].get("namespace") != plan.namespace:
        return
    of_v1beta1 = plan.ref.api_version != dynamo_api.V1ALPHA1
    simulation = f"{'write the request in v1alpha1 and ' if of_v1beta1 else ''}set sweep.useAiConfigurator: true, which needs no GPUs"
    message = (
        f"the profiler measures graphs that it creates in namespace {plan.namespace}, and without an operator there they never run, so it "
        f"fails after half an hour; {simulation}, or deployment.namespace to a namespace that a Dynamo operator serves"
    )
    yield results.warning(codes.PROFILER_NEEDS_OPERATOR, message, plan.ref, plan.at("profilingConfig", "config"))


def _check_base(plan: RequestPlan, cluster: ClusterFacts) -> Iterator[Result]:
    """Checks that the ConfigMap with the graph to start from has the key. A ConfigMap that is not among the items is assumed to have it."""
    if plan.base is None:
        return
    keys = cluster.config_maps.get((plan.namespace, plan.base.config_map))
    if keys is not None and plan.base.key not in keys:
        message = f"ConfigMap {plan.base.config_map} has no key {plan.base.key}; write one of its keys: {', '.join(sorted(keys)) or 'none'}"
        yield results.error(
            codes.CONFIG_MAP_WITHOUT_KEY, message, plan.ref, plan.at("profilingConfig", "configMapRef", "key"), current=plan.base.key
        )


def _check_output(plan: RequestPlan, cluster: ClusterFacts) -> Iterator[Result]:
    """Warns if Jobs share the folder of their output. The names of the files are fixed, so one Job could publish the files of another."""
    others = sorted(name for name in cluster.outputs.get((plan.namespace, plan.output_claim), ()) if name != plan.name)
    if others:
        message = (
            f"request {', '.join(others)} also writes into the claim {plan.output_claim}, so Jobs that run at the same time overwrite each "
            "other's output; give each request its own claim"
        )
        yield results.warning(
            codes.SHARED_OUTPUT_CLAIM, message, plan.ref, plan.at("profilingConfig", "outputPVC"), current=plan.output_claim
        )


def _check_job(plan: RequestPlan, job: Resource) -> Iterator[Result]:
    """Reports what an API server rejects in the pod of the Job, at the field that the user wrote."""
    pod: PodSpec = job["spec"]["template"]["spec"]
    for rejection in pod_rules.validate(pod, lambda: results.field(plan.at("profilingConfig"))):
        if rejection.code == codes.CONTAINER_WITHOUT_IMAGE and not plan.image:  # `_check_image` or the schema reports it
            continue
        finding = results.warning if rejection.code == _UNLIMITED else results.error
        message = _NO_CLAIMS if rejection.code == codes.RESOURCE_CLAIM_NOT_FOUND else rejection.message
        yield finding(rejection.code, message, plan.ref, _user_path(plan, pod, rejection.path))


def _user_path(plan: RequestPlan, pod: PodSpec, path: Path) -> Path:
    """Returns the path of the user's field for a field of the pod."""
    match path:
        case ("tolerations", *rest):
            return plan.at("profilingConfig", "tolerations", *rest)
        case ("volumes", int(index), *rest):
            return _of_volume(plan, pod["volumes"][index]["name"], rest[-1:])
        case ("initContainers", int(index), *rest) if pod["initContainers"][index]["name"] == names.PROFILER:
            return _of_profiler(plan, tuple(rest))
    return plan.at("profilingConfig")


def _of_profiler(plan: RequestPlan, rest: Path) -> Path:
    match rest:
        case ("resources", *below):
            return plan.at("profilingConfig", "resources", *below)
        case ("image", *_):
            return plan.at("profilingConfig", "profilerImage")
        case ("volumeMounts", *_):
            return plan.at("profilingConfig", *_CACHE, "mountPath")  # the folders of the other mounts are fixed
    return plan.at("profilingConfig")


def _of_volume(plan: RequestPlan, name: str, last: list[str | int]) -> Path:
    if name == profiler_pod.BASE:
        return plan.at("profilingConfig", "configMapRef", "name" if last == ["name"] else "key")
    return plan.at("profilingConfig", *((*_CACHE, "pvcName") if name == profiler_pod.CACHE else ("outputPVC",)))
