"""The limits of a DynamoBudget, and the mistakes in one that its schema cannot show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from krm_fn.base import codes, results
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Result
from krm_fn.kubernetes.types import Resource
from krm_fn.review.forecast.gpu_capacity import Demand

KIND = "DynamoBudget"
_TEAM = "team"


class Limit(NamedTuple):
    """One entry of a DynamoBudget. Empty lists select all pods. `number` is its index in the list `spec.budgets`."""

    name: str
    number: int = 0
    namespaces: tuple[str, ...] = ()
    teams: tuple[str, ...] = ()
    products: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    gpus: int | None = None
    price: float | None = None
    cost: float | None = None
    clusters: tuple[str, ...] = ()

    def holds_in(self, cluster: str) -> bool:
        """True if pods of this cluster count. An empty name is that of a cluster which nobody names."""
        return not self.clusters or cluster in self.clusters

    def has_owner(self, namespace: str, team: str) -> bool:
        """True if the pods of this namespace and team count."""
        return (not self.namespaces or namespace in self.namespaces) and (not self.teams or team in self.teams)

    def counts(self, demand: Demand, resource: str) -> bool:
        """True if GPUs of this resource count for a pod with this demand. `resource` is empty for the devices of claims."""
        return self._has_product(demand) and (not self.resources or resource in self.resources)

    def counts_class(self, demand: Demand, device_classes: frozenset[str]) -> bool:
        """True if the devices of a claim count, which uses these DeviceClasses."""
        is_product = self._has_product(demand) or not device_classes.isdisjoint(self.products)
        return is_product and not self.resources

    def is_open(self, demand: Demand) -> bool:
        """True if a pod counts by its product, although it may run on another product too."""
        return bool(self.products) and self._has_product(demand) and not demand.products.is_one

    def _has_product(self, demand: Demand) -> bool:
        """True if a pod may run on one of the products, or if the list is empty."""
        return not self.products or any(demand.products.allows(product) for product in self.products)


class Rest:
    """Selects the GPUs of pods of one namespace and team that no limit selects."""

    def __init__(self, limits: Iterable[Limit], namespace: str, team: str) -> None:
        self._limits = [limit for limit in limits if limit.has_owner(namespace, team)]

    def counts(self, demand: Demand, resource: str) -> bool:
        """True if no limit selects these GPUs."""
        return not any(limit.counts(demand, resource) for limit in self._limits)

    def counts_class(self, demand: Demand, device_classes: frozenset[str]) -> bool:
        """True if no limit selects the devices of a claim, which uses these DeviceClasses."""
        return not any(limit.counts_class(demand, device_classes) for limit in self._limits)


class Budget(NamedTuple):
    """All limits of a DynamoBudget, the label that names the team, and the currency of prices."""

    limits: tuple[Limit, ...]
    team_label: str = _TEAM
    currency: str = ""


def read(resource: Resource) -> Budget:
    """Reads a DynamoBudget that has no mistakes by its schema and by `check`."""
    spec = resource["spec"]
    limits = tuple(_limit(index, entry) for index, entry in enumerate(spec["budgets"]))
    return Budget(limits, spec.get("teamLabel") or _TEAM, spec.get("currency") or "")


def _limit(index: int, entry: Mapping[str, Any]) -> Limit:
    namespaces, teams, products, resources = (tuple(entry.get(name) or ()) for name in ("namespaces", "teams", "products", "resources"))
    amounts = (entry.get("gpus"), entry.get("pricePerGpuHour"), entry.get("costPerHour"))
    return Limit(entry["name"], index, namespaces, teams, products, resources, *amounts, tuple(entry.get("clusters") or ()))


def check(resource: Resource) -> Iterator[Result]:
    """Yields errors about a DynamoBudget without errors by its schema: no budgets, a budget without a limit, a cost without a price."""
    ref, entries = results.ref(resource), resource["spec"]["budgets"]
    if not entries:
        yield results.error(codes.UNUSABLE_BUDGET, "the list has no budget; write at least one", ref, ("spec", "budgets"))
    for number, entry in enumerate(entries):
        path: results.Path = ("spec", "budgets", number)
        if entry.get("gpus") is None and entry.get("costPerHour") is None:
            yield results.error(codes.UNUSABLE_BUDGET, f"the budget {entry['name']} has no limit; write gpus or costPerHour", ref, path)
        elif entry.get("costPerHour") is not None and entry.get("pricePerGpuHour") is None:
            message = f"the budget {entry['name']} has costPerHour without a price; write pricePerGpuHour"
            yield results.error(codes.UNUSABLE_BUDGET, message, ref, path)
