"""Makes plans from the resources that users wrote. Each fact is derived once, in this folder.

Only this folder, `krm_fn.render.convert` and `krm_fn.schemas.api` contain the fields of an API version. `krm_fn.render.rules` has the rules
about several facts. An operator release reads one version (`Release.reads`); a resource of the other version is converted first.
"""

from __future__ import annotations

from importlib import import_module

from krm_fn.base import results
from krm_fn.render import dynamo_api, labels
from krm_fn.render.convert import path_mapping
from krm_fn.render.resolve import graph_context, release_choice, unread_fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from krm_fn.base.results import Result
    from krm_fn.kubernetes.types import Resource
    from krm_fn.render.config import Config
    from krm_fn.render.kinds.releases import Release
    from krm_fn.render.plan import GraphPlan, RequestPlan
    from krm_fn.render.resolve.cluster import ClusterFacts
    from krm_fn.render.resolve.graph_context import GraphContext


def graph(resource: Resource, config: Config, cluster: ClusterFacts) -> tuple[GraphPlan, list[Result]]:
    """Plans a DynamoGraphDeployment of any version, and reports fields that cannot be read."""
    return _read(resource, config, cluster, "graph")


def component(resource: Resource, config: Config, cluster: ClusterFacts) -> tuple[GraphPlan, list[Result]]:
    """Plans a DynamoComponentDeployment of any version, and reports fields that cannot be read."""
    return _read(resource, config, cluster, "standalone")


def request(resource: Resource, config: Config, cluster: ClusterFacts) -> tuple[RequestPlan, list[Result]]:
    """Plans a DynamoGraphDeploymentRequest of any version, and reports settings of the profiler."""
    from krm_fn.render.resolve import profiling_requests  # noqa: PLC0415 - a render of graphs alone starts without it

    return profiling_requests.request(resource, config, cluster)


def _read(resource: Resource, config: Config, cluster: ClusterFacts, reader: str) -> tuple[GraphPlan, list[Result]]:
    release = release_choice.release(resource, config)
    converted, about = _convert_to_release(resource, config, release)
    context = graph_context.of_resource(resource, config, cluster, release, path_mapping.of_resource(resource, converted))
    plan = _reader(release, reader)(converted, context)
    if release_choice.is_assumed(resource, config):
        plan = plan._replace(is_release_assumed=True)
    about = [*about, *release_choice.check(resource, config)]
    known = {finding.path for finding in context.findings}
    findings = [*context.findings, *(finding for finding in unread_fields.check(plan) if finding.path not in known)]
    if results.ref(resource).api_version != dynamo_api.V1ALPHA1 or release.reads == "v1alpha1":
        return plan, [*about, *findings]
    from krm_fn.render.resolve import v1alpha1_findings  # noqa: PLC0415 - a render under the oldest release starts without it

    return plan, [*about, *findings, *v1alpha1_findings.of_conversion(plan, resource)]


def _reader(release: Release, function: str) -> Callable[[Resource, GraphContext], GraphPlan]:
    """Returns the function that reads a kind in the version of a release. The modules of the other version are not imported."""
    reader: Callable[[Resource, GraphContext], GraphPlan] = getattr(import_module(f"{__name__}.{release.reads}_graphs"), function)
    return reader


def _convert_to_release(resource: Resource, config: Config, release: Release) -> tuple[Resource, list[Result]]:
    """Returns the resource in the version that a release reads, and the findings about the conversion and about fields that it kept."""
    same = results.ref(resource).api_version == f"{dynamo_api.GROUP}/{release.reads}"
    if same and labels.PRESERVED.isdisjoint(labels.annotations(resource)):
        return resource, []
    from krm_fn.render.convert import conversion_findings, versions  # noqa: PLC0415 - most resources are in that version

    is_pinned = release_choice.is_pinned(config) and not release_choice.is_from_newer(resource)
    about = conversion_findings.of_render(resource, release.reads, is_pinned=is_pinned)
    if not release.keeps_service_mounts and results.ref(resource).api_version == dynamo_api.V1ALPHA1:
        from krm_fn.render.resolve import service_mounts  # noqa: PLC0415 - few releases lose mounts

        about = [*about, *service_mounts.check(resource, release)]
        resource = service_mounts.without_lost(resource)
    return versions.to(release.reads, resource), about
