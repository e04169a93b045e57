"""Makes the plan of a DynamoGraphDeploymentRequest.

Follows the reference's `internal/controller/dynamographdeploymentrequest_controller.go` createProfilingJob.
"""

from __future__ import annotations

from typing import Any

from krm_fn.config import Config
from krm_fn.kube import canonical
from krm_fn.kube.types import Resource
from krm_fn.plan import BaseGraph, Overrides, RequestPlan
from krm_fn.plan.address import RequestBook
from krm_fn.resolve import cluster
from krm_fn.resolve.cluster import ClusterFacts
from krm_fn.resolve.v1alpha1 import profiler
from krm_fn.results import Result

_BASE_KEY = "disagg.yaml"


def request(resource: Resource, config: Config, found: ClusterFacts, book: RequestBook) -> tuple[RequestPlan, list[Result]]:
    """The plan of a request, and the findings about the profiler's settings. `resource` must be well-formed, as for a graph."""
    spec, address = resource.get("spec") or {}, book.ref
    written = spec.get("profilingConfig") or {}
    resources: Any = written.get("resources") or {}
    image, namespace = written.get("profilerImage") or "", cluster.namespace(resource, config)
    settings, findings = profiler.settings(spec, namespace, book)
    cache, unreadable = profiler.model_cache(settings, book)
    secrets = [name for each in (image, config.profiling.copier_image) for name in found.pull_secrets(namespace, each)]
    plan = RequestPlan(
        name=address.name,
        namespace=namespace,
        ref=address,
        config=config,
        image=image,
        settings=settings,
        simulated=profiler.simulates(settings),
        discovers_gpus=bool(spec.get("enableGpuDiscovery")),
        resources=canonical.container({"resources": resources})["resources"],
        tolerations=tuple(written.get("tolerations") or ()),
        output_claim=written.get("outputPVC") or "",
        base=_base(written.get("configMapRef")),
        cache=cache,
        pull_secrets=tuple(dict.fromkeys(secrets)),
        overrides=overrides(spec.get("deploymentOverrides") or {}),
        fields=book.fields,
    )
    return plan, [*findings, *unreadable]


def _base(written: dict[str, Any] | None) -> BaseGraph | None:
    return None if written is None else BaseGraph(written.get("name") or "", written.get("key") or _BASE_KEY)


def overrides(written: dict[str, Any]) -> Overrides:
    """The metadata of a request's graph that override those of the profiler's result."""
    return Overrides(
        name=written.get("name") or "",
        namespace=written.get("namespace") or "",
        labels=written.get("labels") or {},
        annotations=written.get("annotations") or {},
    )
