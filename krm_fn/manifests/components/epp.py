"""The endpoint picker of the Gateway API inference extension. Follows the reference's `internal/dynamo/component_epp.go`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.kube import labels, names
from krm_fn.manifests import inference_pool, rbac
from krm_fn.manifests.components import Component
from krm_fn.schema import sentences

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.kube.types import Container, PodSpec, Resource, VolumeMount
    from krm_fn.plan import ComponentPlan
    from krm_fn.results import Result


class EndpointPicker(Component):
    """The endpoint picker chooses a frontend for each request from the gateway."""

    singleton = True
    picks_workers = True
    annotations = {labels.MESH_SIDECAR: "false"}  # the picker speaks TLS itself, so a service mesh must not speak it for the picker
    app_protocol = "http2"
    figures = "epp"

    def service_port(self, plan: ComponentPlan) -> dict[str, Any]:
        """The gRPC port for the gateway."""
        port = plan.behaviour.ports.picker
        return {"name": "grpc", "port": port, "targetPort": port, "protocol": "TCP"}

    def container(self, plan: ComponentPlan) -> Container:
        """The entry point of the image with the flags of the endpoint picker."""
        mounts: list[VolumeMount] = [
            {"name": inference_pool.CONFIG_VOLUME, "mountPath": inference_pool.CONFIG_DIR, "readOnly": True},
            {"name": "hf-cache", "mountPath": "/home/nonroot/.cache"},
        ]
        return {"args": inference_pool.args(plan), **self.standard(plan), "volumeMounts": mounts}

    def pod(self, plan: ComponentPlan) -> PodSpec:
        """The pod with the ServiceAccount and the volumes of endpoint pickers."""
        return {
            **super().pod(plan),
            "serviceAccountName": names.EPP_ACCOUNT,
            "volumes": [inference_pool.volume(plan), {"name": "hf-cache", "emptyDir": {}}],
        }

    def objects(self, plan: ComponentPlan) -> Iterator[Resource]:
        """The ServiceAccount with its RoleBinding, the ConfigMap, the InferencePool, and the rule for a service mesh."""
        yield from rbac.bound_account(names.EPP_ACCOUNT, plan.who.namespace, plan.config.rbac.epp_role)
        if plan.edge.picker.config is not None:
            yield inference_pool.config_map(plan)
        yield inference_pool.inference_pool(plan)
        if plan.behaviour.picker.in_mesh and plan.config.service_mesh.enabled:
            yield inference_pool.destination_rule(plan)

    def check(self, plan: ComponentPlan) -> Iterator[Result]:
        """The reference's rules (webhook/validation/shared.go validateEPPConfig)."""
        picker = plan.edge.picker
        if plan.placement.nodes > 1:
            yield sentences.error("DYN130", plan.ref, plan.at("nodes"), nodes=plan.word("nodes"))
        if plan.placement.replicas not in (None, 1):
            yield sentences.error("DYN131", plan.ref, plan.at("replicas"))
        config, reference = plan.word("picker.config"), plan.word("picker.reference")
        if picker.config is None and not picker.by_reference:
            yield sentences.error("DYN132", plan.ref, plan.at("picker"), config=config, reference=reference)
        elif picker.config is not None and picker.by_reference:
            yield sentences.error("DYN133", plan.ref, plan.at("picker.reference"), config=config, reference=reference)
        elif picker.by_reference and not picker.config_map:
            yield sentences.error("DYN134", plan.ref, plan.at("picker.reference", "name"))


COMPONENT = EndpointPicker()
