"""The arguments, the configuration and the InferencePool of an endpoint picker. `krm_fn.manifests.components.epp` makes its pod.

Follows the reference's `internal/dynamo/epp/config.go` and `inference_pool.go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.kube import labels, names
from krm_fn.yamlio import emitter

if TYPE_CHECKING:
    from krm_fn.kube.types import Labels, Resource, Volume
    from krm_fn.plan import ComponentPlan

CONFIG_VOLUME = "epp-config"
CONFIG_DIR = "/etc/epp"
CONFIG_FILE = "epp-config-dynamo.yaml"
POOL_GROUP = "inference.networking.k8s.io"
_PICKED: dict[str, Labels] = {"frontends": {labels.COMPONENT_TYPE: "frontend"}, "workers": {labels.COMPONENT_CLASS: labels.WORKER_CLASS}}
_CONFIG_TYPE = {"apiVersion": "inference.networking.x-k8s.io/v1alpha1", "kind": "EndpointPickerConfig"}


def args(plan: ComponentPlan) -> list[str]:
    """The arguments of the endpoint picker."""
    return [word.format(pool=names.pool(plan.who.graph), namespace=plan.who.namespace) for word in plan.behaviour.picker.args]


def volume(plan: ComponentPlan) -> Volume:
    """The volume with the configuration. Its file name does not depend on the key in a user's ConfigMap."""
    own = not plan.edge.picker.by_reference
    name = names.epp_config(plan.who.graph) if own else plan.edge.picker.config_map
    key = CONFIG_FILE if own else plan.edge.picker.key or CONFIG_FILE
    return {"name": CONFIG_VOLUME, "configMap": {"name": name, "items": [{"key": key, "path": CONFIG_FILE}]}}


def config_map(plan: ComponentPlan) -> Resource:
    """The ConfigMap with the inline configuration, completed and printed with sorted keys."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": names.epp_config(plan.who.graph), "namespace": plan.who.namespace, "labels": _labels(plan)},
        "data": {CONFIG_FILE: emitter.text(emitter.ordered(_completed(plan.edge.picker.config or {})))},
    }


def inference_pool(plan: ComponentPlan) -> Resource:
    """The InferencePool, which selects the frontends or the workers in the picker's Dynamo namespace."""
    return {
        "apiVersion": f"{POOL_GROUP}/v1",
        "kind": "InferencePool",
        "metadata": {"name": names.pool(plan.who.graph), "namespace": plan.who.namespace, "labels": _labels(plan)},
        "spec": {
            "targetPorts": [{"number": plan.behaviour.ports.http}],
            "selector": {"matchLabels": {**_PICKED[plan.behaviour.picker.chooses], labels.NAMESPACE: plan.who.dynamo_namespace}},
            "endpointPickerRef": {"kind": "Service", "name": plan.service_name, "port": {"number": plan.behaviour.ports.picker}},
        },
    }


def destination_rule(plan: ComponentPlan) -> Resource:
    """How the proxies of an Istio mesh connect to the picker, which speaks TLS with a certificate of its own."""
    wanted = plan.config.service_mesh.istio
    tls: dict[str, Any] = {"mode": wanted.tls_mode, "insecureSkipVerify": wanted.insecure_skip_verify}
    if wanted.tls_mode == "MUTUAL":
        files = {"clientCertificate": wanted.client_certificate, "privateKey": wanted.private_key, "caCertificates": wanted.ca_certificates}
        tls |= {field: path for field, path in files.items() if path}
    return {
        "apiVersion": "networking.istio.io/v1beta1",
        "kind": "DestinationRule",
        "metadata": {"name": plan.service_name, "namespace": plan.who.namespace},
        "spec": {"host": f"{plan.service_name}.{plan.who.namespace}.svc.cluster.local", "trafficPolicy": {"tls": tls}},
    }


def _labels(plan: ComponentPlan) -> Labels:
    return {labels.GRAPH: plan.who.graph, labels.COMPONENT: plan.who.service, labels.COMPONENT_TYPE: plan.who.type}


def _completed(config: dict[str, Any]) -> dict[str, Any]:
    """The configuration with its apiVersion and kind, and with the empty fields that its Go type prints."""
    done = {**config, **_CONFIG_TYPE}
    done["plugins"] = [{"name": "", "parameters": None, **plugin} for plugin in config.get("plugins") or ()]
    done["schedulingProfiles"] = [
        {**profile, "plugins": [{"weight": None, **plugin} for plugin in profile.get("plugins") or ()]}
        for profile in config.get("schedulingProfiles") or ()
    ]
    if isinstance(detector := config.get("saturationDetector"), dict):
        set_fields = {key: value for key, value in detector.items() if value}
        done["saturationDetector"] = {"metricsStalenessThreshold": "0s", **set_fields}
    return done
