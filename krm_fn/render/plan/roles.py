"""The parts of a plan for roles and provider overrides, which few graphs have."""

from __future__ import annotations

from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes.values import mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class ProviderOverride(NamedTuple):
    """Fields of the object that Grove reads, as their author wrote them. `target` is empty if the author wrote none."""

    api_version: str
    target: str
    value: Any

    @property
    def topology_constraint(self) -> dict[str, Any] | None:
        """The constraint of a component or of a role; None if the override has none."""
        fields = mapping(self.value)
        return mapping(fields["topologyConstraint"]) if "topologyConstraint" in fields else None

    @property
    def of_clique_set(self) -> dict[str, Any] | None:
        """The constraint of a graph; None if the override has none."""
        template = mapping(self.value, "spec", "template")
        return mapping(template["topologyConstraint"]) if "topologyConstraint" in template else None

    @property
    def min_available(self) -> int | None:
        """The minimum of replicas of a component: a field of its scaling group, or of the spec of its clique. None without one."""
        fields = mapping(self.value)
        number = fields.get("minAvailable", mapping(fields.get("spec")).get("minAvailable"))
        return number if isinstance(number, int) and not isinstance(number, bool) else None


class RoleSettings(NamedTuple):
    """What the author of a component wrote for one of its roles. `position` is that in `roles`.

    `template` is the pod template, or None.
    """

    name: str
    position: int
    replicas: int | None
    override: ProviderOverride | None
    template: dict[str, Any] | None
