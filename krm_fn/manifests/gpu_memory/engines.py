"""Several engines in one pod, of which one works and the others wait to take over.

Follows the reference's `internal/dynamo/failover.go` buildFailoverPod.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.kube import merge
from krm_fn.manifests import backends
from krm_fn.manifests.gpu_memory import in_pod

if TYPE_CHECKING:
    from krm_fn.kube.types import Container, EnvVar, PodSpec, Probe
    from krm_fn.plan import ComponentPlan

_REPLACED = (
    "DYN_SYSTEM_USE_ENDPOINT_HEALTH_STATUS",
    "DYN_HEALTH_CHECK_ENABLED",
    "ENGINE_ID",
    "CONTAINER_NAME",
    "FAILOVER_LOCK_PATH",
    "DYN_SYSTEM_STARTING_HEALTH_STATUS",
    "DYN_SYSTEM_PORT",
    "DYN_SYSTEM_ENABLED",
    "DYN_FORWARDPASS_METRIC_PORT",
)
"""Variables of the main container that each engine has with a value of its own, or not at all."""


def applied(pod: PodSpec, plan: ComponentPlan, count: int) -> PodSpec:
    """The pod with so many engines in place of the main container."""
    main, *beside = pod["containers"]
    backend = backends.get(plan.placement.backend)
    engines = [backend.one_of_several(_engine(main, plan, index), index, plan) for index in range(count)]
    return {**pod, "containers": [*engines, *beside]}


def _engine(main: Container, plan: ComponentPlan, index: int) -> Container:
    """One engine. All engines of a pod have one address, so each has ports of its own."""
    name, port = f"engine-{index}", f"system-{index}"
    number = plan.behaviour.ports.system + index
    kept = [variable for variable in main.get("env") or () if variable.get("name") not in _REPLACED]
    own = {
        "ENGINE_ID": f"{index}",
        "CONTAINER_NAME": name,
        "FAILOVER_LOCK_PATH": f"{in_pod.FOLDER}/failover.lock",
        "DYN_SYSTEM_STARTING_HEALTH_STATUS": "notready",
        "DYN_SYSTEM_PORT": f"{number}",
        "DYN_SYSTEM_ENABLED": "true",
        "DYN_FORWARDPASS_METRIC_PORT": f"{plan.behaviour.ports.forward_pass + index}",
    }
    variables: list[EnvVar] = [{"name": key, "value": value} for key, value in own.items()]
    engine: Container = {
        **main,
        "name": name,
        "ports": [{"name": port, "containerPort": number, "protocol": "TCP"}],
        "env": [*kept, *variables],
    }
    for probe in merge.PROBES:
        if probe in engine:
            engine[probe] = _asking(engine[probe], port)
    return engine


def _asking(probe: Probe, port: str) -> Probe:
    """An HTTP probe of another port. Other probes stay."""
    return {**probe, "httpGet": {**probe["httpGet"], "port": port}} if probe.get("httpGet") else probe
