"""The arguments, volumes, configuration and InferencePool of an endpoint picker. `krm_fn.render.kinds.types.epp` has the facts of its pod.

Follows the operator's `internal/dynamo/epp/config.go` and `inference_pool.go`.
"""

from __future__ import annotations

from krm_fn.base.yaml import emitter
from krm_fn.render import labels, names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from krm_fn.kubernetes.native_types import Container, PodSpec, Volume, VolumeMount
    from krm_fn.kubernetes.types import Labels, Resource
    from krm_fn.render.plan import ComponentPlan

CONFIG_VOLUME = "epp-config"
"""The name of the volume with the configuration of an endpoint picker.

Rule epp.config-volume-name: The volume with the configuration of an endpoint picker has the name `epp-config`. (operator:
internal/dynamo/component_epp.go)
"""
CONFIG_DIR = "/etc/epp"
"""The folder of the configuration in the container.

Rule epp.config-folder: The configuration of an endpoint picker is in the folder `/etc/epp`. (operator: internal/dynamo/component_epp.go)
"""
CONFIG_FILE = "epp-config-dynamo.yaml"
"""The name of the file with the configuration.

Rule epp.config-file: The configuration of an endpoint picker is in the file `epp-config-dynamo.yaml`. (operator:
internal/dynamo/component_epp.go)
"""
POOL_GROUP = "inference.networking.k8s.io"
"""The API group of InferencePools.

Rule epp.pool-group: InferencePools have the API group `inference.networking.k8s.io`. (operator: internal/dynamo/epp/inference_pool.go)
"""
_PICKED: dict[str, Labels] = {"frontends": {labels.COMPONENT_TYPE: "frontend"}, "workers": {labels.COMPONENT_CLASS: labels.WORKER_CLASS}}
"""The labels of the pods that an endpoint picker chooses from.

Rule epp.pool-selector: An InferencePool selects frontends in Dynamo 0.9 and workers in Dynamo 1.5. (operator:
internal/dynamo/epp/inference_pool.go)
"""
_CONFIG_TYPE = {"apiVersion": "inference.networking.x-k8s.io/v1alpha1", "kind": "EndpointPickerConfig"}
"""The type of the configuration of an endpoint picker.

Rule epp.config-type: The configuration of an endpoint picker has the kind EndpointPickerConfig. (operator: internal/dynamo/epp/config.go)
"""


def container(plan: ComponentPlan, standard: Container) -> Container:
    """Returns the default container of an endpoint picker.

    `standard` has the ports, variables and probes of the component type.

    Rule epp.args: The image of an endpoint picker gets the flags of the release, unless it is a native one. (operator:
    internal/dynamo/component_epp.go)
    """
    if _is_native(plan):
        return {**standard, "volumeMounts": [_cache_mount(plan)]}
    args = [word.format(pool=names.pool(plan.identity.graph), namespace=plan.identity.namespace) for word in plan.release.picker.args]
    mounts: list[VolumeMount] = [{"name": CONFIG_VOLUME, "mountPath": CONFIG_DIR, "readOnly": True}]
    if _cache(plan):
        mounts.append(_cache_mount(plan))
    return {"args": args, **standard, "volumeMounts": mounts}


def pod(plan: ComponentPlan) -> PodSpec:
    """Returns the default pod spec of an endpoint picker.

    Rule epp.pod: The pod of an endpoint picker has a ServiceAccount, and volumes for its configuration and its cache. (operator:
    internal/dynamo/component_epp.go)
    """
    volumes = [] if _is_native(plan) else [_config_volume(plan)]
    if _cache(plan):
        volumes.append({"name": "hf-cache", "emptyDir": {}})
    return {"serviceAccountName": names.EPP_ACCOUNT, "volumes": volumes}


def _is_native(plan: ComponentPlan) -> bool:
    """True for a picker without a configuration, in a release with native pickers."""
    return bool(plan.release.picker.native_cache) and not plan.exposure.picker.is_configured


def _cache(plan: ComponentPlan) -> str:
    """Returns the folder of the picker's cache; empty if it has no volume for one."""
    return plan.release.picker.native_cache if _is_native(plan) else plan.release.picker.cache


def _cache_mount(plan: ComponentPlan) -> VolumeMount:
    """Makes the mount of the cache for models.

    Rule epp.cache: A native endpoint picker caches models in its home folder; one with a configuration has a cache in Dynamo 0.9 only.
    (operator: internal/dynamo/component_epp.go)
    """
    return {"name": "hf-cache", "mountPath": _cache(plan)}


def objects(plan: ComponentPlan) -> Iterator[Resource]:
    """Yields the ConfigMap with an inline configuration, the InferencePool, and the rule for a service mesh."""
    if plan.exposure.picker.config is not None:
        yield config_map(plan)
    yield inference_pool(plan)
    if plan.release.picker.in_mesh and plan.config.service_mesh.enabled:
        yield destination_rule(plan)


def _config_volume(plan: ComponentPlan) -> Volume:
    """Makes the volume with the configuration. Its file name does not depend on the key in a user's ConfigMap.

    Rule epp.config-volume: An endpoint picker mounts its configuration from a ConfigMap. (operator: internal/dynamo/component_epp.go)
    """
    is_inline = not plan.exposure.picker.by_reference
    name = names.epp_config(plan.identity.graph) if is_inline else plan.exposure.picker.config_map
    key = CONFIG_FILE if is_inline else plan.exposure.picker.key or CONFIG_FILE
    return {"name": CONFIG_VOLUME, "configMap": {"name": name, "items": [{"key": key, "path": CONFIG_FILE}]}}


def config_map(plan: ComponentPlan) -> Resource:
    """Makes the ConfigMap with the inline configuration, completed and printed with sorted keys.

    Rule epp.config: An inline configuration of an endpoint picker becomes a ConfigMap. (operator: internal/dynamo/epp/config.go)
    """
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": names.epp_config(plan.identity.graph), "namespace": plan.identity.namespace, "labels": _labels(plan)},
        "data": {CONFIG_FILE: emitter.text(emitter.sort_keys(_complete_config(plan.exposure.picker.config or {})))},
    }


def inference_pool(plan: ComponentPlan) -> Resource:
    """Makes the InferencePool, which selects the frontends or the workers in the picker's Dynamo namespace.

    Rule epp.pool: A graph with an endpoint picker has an InferencePool. (operator: internal/dynamo/epp/inference_pool.go)
    """
    return {
        "apiVersion": f"{POOL_GROUP}/v1",
        "kind": "InferencePool",
        "metadata": {"name": names.pool(plan.identity.graph), "namespace": plan.identity.namespace, "labels": _labels(plan)},
        "spec": {
            "targetPorts": [{"number": plan.release.ports.http}],
            "selector": {"matchLabels": {**_PICKED[plan.release.picker.chooses], labels.NAMESPACE: plan.identity.dynamo_namespace}},
            "endpointPickerRef": {"kind": "Service", "name": plan.service_name, "port": {"number": plan.release.ports.picker}},
        },
    }


def destination_rule(plan: ComponentPlan) -> Resource:
    """Makes the DestinationRule of an endpoint picker, which speaks TLS with a certificate of its own.

    Rule epp.destination-rule: In a mesh of Istio, a DestinationRule lets the gateway connect to an endpoint picker with TLS. (operator:
    internal/dynamo/epp)
    """
    wanted = plan.config.service_mesh.istio
    tls: dict[str, Any] = {"mode": wanted.tls_mode, "insecureSkipVerify": wanted.insecure_skip_verify}
    if wanted.tls_mode == "MUTUAL":
        files = {"clientCertificate": wanted.client_certificate, "privateKey": wanted.private_key, "caCertificates": wanted.ca_certificates}
        tls |= {field: path for field, path in files.items() if path}
    return {
        "apiVersion": "networking.istio.io/v1beta1",
        "kind": "DestinationRule",
        "metadata": {"name": plan.service_name, "namespace": plan.identity.namespace},
        "spec": {"host": f"{plan.service_name}.{plan.identity.namespace}.svc.cluster.local", "trafficPolicy": {"tls": tls}},
    }


def _labels(plan: ComponentPlan) -> Labels:
    """Returns the labels of an InferencePool and of the ConfigMap of its endpoint picker.

    Rule epp.labels: An InferencePool and the ConfigMap of its endpoint picker have labels with their graph, component and type. (operator:
    internal/dynamo/epp/inference_pool.go)
    """
    return {labels.GRAPH: plan.identity.graph, labels.COMPONENT: plan.identity.service, labels.COMPONENT_TYPE: plan.identity.type}


def _complete_config(config: dict[str, Any]) -> dict[str, Any]:
    """Returns a configuration with all fields that the operator prints.

    Rule epp.config-completed: The configuration of an endpoint picker has the empty fields that its Go type prints. (operator:
    internal/dynamo/epp/config.go)
    """
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
