"""The endpoint picker of the Gateway API inference extension. Follows the reference's `internal/dynamo/component_epp.go`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn import results
from krm_fn.kube import names
from krm_fn.manifests import env, inference_pool, probes, rbac
from krm_fn.manifests.components import Component

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.kube.types import Container, PodSpec, Resource
    from krm_fn.plan import ComponentPlan
    from krm_fn.results import Result


class EndpointPicker(Component):
    """Chooses the frontend for each request that comes through the gateway."""

    only_once = True
    service_port = {"name": "grpc", "port": inference_pool.PORT, "targetPort": inference_pool.PORT, "protocol": "TCP"}

    def container(self, plan: ComponentPlan) -> Container:
        """The image's own entry point with the extension's flags."""
        probe = probes.grpc(inference_pool.HEALTH_PORT, "inference-extension", delay=5, period=10)
        return {
            "args": inference_pool.args(plan),
            "ports": [
                {"name": "grpc", "containerPort": inference_pool.PORT, "protocol": "TCP"},
                {"name": "grpc-health", "containerPort": inference_pool.HEALTH_PORT, "protocol": "TCP"},
                {"name": "metrics", "containerPort": 9090, "protocol": "TCP"},
            ],
            "env": [
                env.value("DYN_KV_BLOCK_SIZE", "16"),
                env.value("DYN_DISCOVERY_TIMEOUT_SEC", "300"),
                env.value("USE_STREAMING", "true"),
                env.value("RUST_LOG", "debug,dynamo_llm::kv_router=trace"),
            ],
            "livenessProbe": probe,
            "readinessProbe": probe,
            "volumeMounts": [
                {"name": inference_pool.CONFIG_VOLUME, "mountPath": inference_pool.CONFIG_DIR, "readOnly": True},
                {"name": "hf-cache", "mountPath": "/home/nonroot/.cache"},
            ],
        }

    def pod(self, plan: ComponentPlan) -> PodSpec:
        """Streams end before the pod does."""
        return {
            "restartPolicy": "Always",
            "terminationGracePeriodSeconds": 130,
            "serviceAccountName": names.EPP_ACCOUNT,
            "volumes": [inference_pool.volume(plan), {"name": "hf-cache", "emptyDir": {}}],
        }

    def objects(self, plan: ComponentPlan) -> Iterator[Resource]:
        """Account, configuration and pool."""
        yield from rbac.bound_account(names.EPP_ACCOUNT, plan.who.namespace, plan.config.rbac.epp_role)
        if plan.edge.picker.config is not None:
            yield inference_pool.config_map(plan)
        yield inference_pool.inference_pool(plan)

    def check(self, plan: ComponentPlan) -> Iterator[Result]:
        """The reference's rules (webhook/validation/shared.go validateEPPConfig)."""
        at, picker = plan.path, plan.edge.picker
        if plan.placement.nodes > 1:
            yield results.error("DYN130", "an endpoint picker runs on one node; leave multinode out", plan.ref, (*at, "multinode"))
        if plan.placement.replicas not in (None, 1):
            yield results.error(
                "DYN131",
                f"an endpoint picker must have exactly 1 replica, not {plan.placement.replicas}; write 1",
                plan.ref,
                (*at, "replicas"),
            )
        where = (*at, "eppConfig")
        if picker.config is None and not picker.by_reference:
            yield results.error("DYN132", "an endpoint picker needs config or configMapRef; write one of them", plan.ref, where)
        elif picker.config is not None and picker.by_reference:
            yield results.error("DYN133", "config and configMapRef exclude each other; keep one", plan.ref, (*where, "configMapRef"))
        elif picker.by_reference and not picker.config_map:
            yield results.error("DYN134", "names no ConfigMap; set it", plan.ref, (*where, "configMapRef", "name"))


COMPONENT = EndpointPicker()
