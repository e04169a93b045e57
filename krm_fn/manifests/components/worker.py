"""A worker that runs an inference engine. Follows the reference's `internal/dynamo/component_worker.go`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.manifests import env, probes
from krm_fn.manifests.components import SYSTEM_PORT, Component

if TYPE_CHECKING:
    from krm_fn.kube.types import Container
    from krm_fn.plan import ComponentPlan


class Worker(Component):
    """Loads a model, so its start may take two hours: 720 probes, ten seconds apart."""

    runs_engine = True

    def container(self, plan: ComponentPlan) -> Container:
        """Health comes from the system server on its own port."""
        return {
            "command": ["/bin/sh", "-c"],
            "ports": [{"name": "system", "containerPort": SYSTEM_PORT, "protocol": "TCP"}],
            "env": [
                env.value("DYN_SYSTEM_ENABLED", "true"),
                env.value("DYN_SYSTEM_USE_ENDPOINT_HEALTH_STATUS", '["generate"]'),
                env.value("DYN_SYSTEM_PORT", f"{SYSTEM_PORT}"),
                env.value("DYN_HEALTH_CHECK_ENABLED", "false"),
            ],
            "livenessProbe": probes.http("/live", "system", period=5, timeout=4, failures=1),
            "readinessProbe": probes.http("/health", "system", period=10, timeout=4, failures=3),
            "startupProbe": probes.http("/live", "system", period=10, timeout=5, failures=720),
        }


COMPONENT = Worker()
