"""The GPUs that pods use before, at the peak of and after a change, by limit.

The rollouts are those of the forecast. Each limit sees the GPUs of the pods that it selects. A ResourceClaim counts once for all pods that
share it, and a claim from a template counts for each pod.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from krm_fn.base import codes, results
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Result
from krm_fn.kubernetes import device_claims, identity, values
from krm_fn.kubernetes.device_claims import Devices
from krm_fn.kubernetes.gpu_demand import ClaimUse
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.render import dynamo_api, labels
from krm_fn.render.schema.object_changes import ObjectChange
from krm_fn.review import forecast
from krm_fn.review.budgets import autoscaled
from krm_fn.review.budgets.limits import Budget, Limit, Rest
from krm_fn.review.forecast import Gpus, gpu_capacity, gpu_products, gpu_texts, object_rules
from krm_fn.review.forecast.claimed_gpus import ClaimKey
from krm_fn.review.forecast.gpu_capacity import Demand
from krm_fn.review.forecast.rollouts import Rollout, Service, Steps

_JOBS = {("batch", "Job"): ("spec",), ("batch", "CronJob"): ("spec", "jobTemplate", "spec")}
"""Where the spec of a Job is, by group and kind."""
_FIX = "add the object to the input, with a fixed number of devices"
_CLAIMED = "claims"
"""The name of a resource for the devices of claims."""


class RootObjects(NamedTuple):
    """The objects of one root in both states: their changes, also of those that are the same, and the resources of the input.

    `namespace` is the namespace of resources without one. `clusters` are the clusters to which the root is applied; empty if none is known.
    """

    changes: tuple[ObjectChange, ...]
    inputs: tuple[Resource, ...] = ()
    namespace: str = ""
    clusters: tuple[str, ...] = ()


class LimitUse(NamedTuple):
    """The GPUs that a limit selects in one cluster. `cluster` is its name; empty if nobody names it.

    `largest` are the services or objects with the most GPUs at the peak, the largest first. `open_products` are the services or objects
    that may run on several products, each with these products in words.
    """

    limit: Limit
    gpus: Gpus
    largest: tuple[tuple[str, int], ...] = ()
    open_products: tuple[tuple[str, str], ...] = ()
    cluster: str = ""

    @property
    def is_exceeded(self) -> bool:
        """True if the GPUs at the peak, or their cost, are above the limit."""
        cost = self.cost(self.gpus.peak)
        too_many = self.limit.gpus is not None and self.gpus.peak > self.limit.gpus
        return too_many or (self.limit.cost is not None and cost is not None and cost > self.limit.cost)

    def cost(self, gpus: int) -> float | None:
        """Returns the cost of a number of GPUs for an hour; None without a price."""
        return None if self.limit.price is None else gpus * self.limit.price


class _Part(NamedTuple):
    """The rollouts of one service of an object, with the namespace and the team of its pods."""

    name: str
    namespace: str
    team: str
    rollouts: tuple[Rollout, ...]


_Selection = tuple[_Part, "Limit | Rest"]
"""The rollouts of a service, and the limit that selects GPUs of its pods."""


class Measured(NamedTuple):
    """The use of each limit in each cluster, the GPUs that no limit selects, and findings about GPUs that cannot be counted.

    The uses are in the order of the limits, then of the names of the clusters. `clusters` are these names, and `limits` are all limits.
    """

    uses: tuple[LimitUse, ...]
    others: Gpus
    findings: tuple[Result, ...]
    clusters: tuple[str, ...] = ("",)
    limits: tuple[Limit, ...] = ()


def as_unchanged(resources: Iterable[Resource], namespace: str) -> tuple[ObjectChange, ...]:
    """Returns objects as changes without any difference, to measure one state."""
    return tuple(ObjectChange(identity.key(resource, namespace), resource, resource) for resource in resources)


def measure(budget: Budget, roots: Sequence[RootObjects]) -> Measured:
    """Measures the GPUs of all roots, cluster by cluster. Autoscaled workloads count with the maximum of their autoscaler.

    A root that is applied to several clusters counts in each of them.
    """
    by_cluster: dict[str, list[RootObjects]] = {}
    for root in roots:
        for cluster in root.clusters or ("",):
            by_cluster.setdefault(cluster, []).append(root)
    clusters = tuple(sorted(by_cluster)) or ("",)
    parts = [_of_cluster(budget, cluster, by_cluster.get(cluster, [])) for cluster in clusters]
    parts = [part for part in parts if part.clusters != ("",) or len(parts) == 1 or _has_gpus(part)]
    uses = tuple(use for limit in budget.limits for part in parts for use in part.uses if use.limit is limit)
    findings = dict.fromkeys(finding for part in parts for finding in part.findings)
    return Measured(
        uses,
        gpu_texts.total(part.others for part in parts),
        tuple(findings),
        tuple(name for part in parts for name in part.clusters),
        budget.limits,
    )


def _once(roots: Sequence[RootObjects]) -> Iterator[RootObjects]:
    """Yields the roots of one cluster without the objects that a root before applies, too: a cluster has each object once."""
    known: set[tuple[ObjectKey, bool, bool]] = set()
    for root in roots:
        states = {change.key: (change.key, change.old is None, change.new is None) for change in root.changes}
        yield root._replace(changes=tuple(change for change in root.changes if states[change.key] not in known))
        known.update(states.values())


def _has_gpus(measured: Measured) -> bool:
    return any(measured.others) or any(any(use.gpus) for use in measured.uses)


def _of_cluster(budget: Budget, cluster: str, roots: Sequence[RootObjects]) -> Measured:
    """Returns the use of the limits that hold in a cluster."""
    limits = [limit for limit in budget.limits if limit.holds_in(cluster)]
    parts = [part for root in (_once(roots) if cluster else roots) for part in _parts(root, budget.team_label)]
    claims = _Claims(device_claims.read((namespace, resource) for root in roots for namespace, resource in _resources(root)))
    uses = []
    for limit in limits:
        chosen = [(part, limit) for part in parts if limit.has_owner(part.namespace, part.team)]
        uses.append(LimitUse(limit, *_use(chosen, claims), tuple(_open_products(chosen)), cluster))
    others, _ = _use([(part, Rest(limits, part.namespace, part.team)) for part in parts], claims)
    return Measured(tuple(uses), others, tuple(claims.findings.values()), (cluster,))


def _resources(root: RootObjects) -> Iterator[tuple[str, Resource]]:
    """Yields all resources with their namespaces."""
    yield from ((identity.key(resource, root.namespace).namespace, resource) for resource in root.inputs)
    for change in root.changes:
        yield from ((change.key.namespace, resource) for resource in (change.old, change.new) if resource)


def _parts(root: RootObjects, team_label: str) -> Iterator[_Part]:
    changes = _at_maximum(root.changes)
    teams = _Teams(team_label, root)
    cluster_state = object_rules.read_cluster_state(changes)
    for change in changes:
        if (change.key.group, change.key.kind) in _JOBS:
            rollouts: tuple[Rollout, ...] = (_job(change),)
        else:
            rollouts = forecast.kind_forecast(change, cluster_state).rollouts
        by_service: dict[Service | None, list[Rollout]] = {}
        for rollout in rollouts:
            if any(demand.amounts or demand.claims for demand in (*rollout.old_demands, *rollout.new_demands)):
                by_service.setdefault(rollout.service or object_rules.service_of_workload(change), []).append(rollout)
        for service, members in by_service.items():
            yield _Part(_name(service, change.key), change.key.namespace, teams.of(change), tuple(members))


def _name(service: Service | None, key: ObjectKey) -> str:
    return "/".join(filter(None, service)) if service else "/".join(filter(None, (key.namespace, key.kind, key.name)))


def _at_maximum(changes: Sequence[ObjectChange]) -> list[ObjectChange]:
    """Returns the changes with the largest number of replicas that autoscalers may set in each state."""
    old = dict(autoscaled.at_maximum([(change.key, change.old) for change in changes if change.old is not None]))
    new = dict(autoscaled.at_maximum([(change.key, change.new) for change in changes if change.new is not None]))
    return [change._replace(old=old.get(change.key), new=new.get(change.key)) for change in changes]


def _job(change: ObjectChange) -> Rollout:
    """Returns the pods of a Job that run at one time: an object of this kind never replaces its pods."""
    path = _JOBS[change.key.group, change.key.kind]
    old, new = (values.mapping(resource, *path) for resource in (change.old, change.new))
    demand = (gpu_capacity.pod_demand(values.mapping(new or old, "template").get("spec")),)
    return Rollout(_job_pods(old), _job_pods(new), demand, demand, Steps(), replaces=False)


def _job_pods(spec: Mapping[str, Any]) -> int:
    if not spec:
        return 0
    parallelism = 0 if spec.get("suspend") is True else object_rules.replica_count(spec.get("parallelism"), 1)
    return min(parallelism, object_rules.replica_count(spec.get("completions"), parallelism))


class _Teams:
    """The teams of objects: the label of the object, of its graph or of its namespace."""

    def __init__(self, label: str, root: RootObjects) -> None:
        self._label = label
        keyed = ((identity.key(resource, root.namespace), resource) for resource in root.inputs)
        self._resources = {key: resource for key, resource in keyed if key.group == dynamo_api.GROUP or key.kind == "Namespace"}

    def of(self, change: ObjectChange) -> str:
        """Returns the team of an object; empty if no label names it."""
        resource = change.new or change.old or {}
        graph = values.mapping(resource.get("metadata"), "labels").get(labels.GRAPH)
        owners = [ObjectKey(dynamo_api.GROUP, dynamo_api.GRAPH, change.key.namespace, f"{graph}")]
        annotations = values.mapping(resource.get("metadata"), "annotations")
        for owner in f"{annotations.get(labels.OWNER) or ''}".split(","):
            kind, _, name = owner.strip().partition("/")
            owners.append(ObjectKey(dynamo_api.GROUP, kind, change.key.namespace, name))
        owners.append(ObjectKey("", "Namespace", "", change.key.namespace))
        for labelled in (resource, *(self._resources[owner] for owner in owners if owner in self._resources)):
            if team := values.mapping(labelled.get("metadata"), "labels").get(self._label):
                return f"{team}"
        return ""


class _Claims:
    """The GPUs of claims. A claim whose number is unknown has no GPUs here. It has a warning, and is counted as unknown."""

    def __init__(self, devices: Devices) -> None:
        self._devices = devices
        self.findings: dict[ClaimKey, Result] = {}
        """The claims whose number is unknown, with their warnings."""

    def gpus(self, namespace: str, use: ClaimUse) -> int:
        """Returns the GPUs of one claim; 0 if the number is unknown."""
        try:
            return device_claims.of_claim(self._devices, use.kind, namespace, use.name, use.requests)
        except ValueError as problem:
            ref = results.Ref(f"{device_claims.GROUP}/v1", use.kind, use.name, namespace)
            message = f"{problem}, so the GPUs of the claim are unknown and in no sum; {_FIX}"
            self.findings[use.kind, namespace, use.name] = results.warning(codes.UNKNOWN_GPUS_IN_BUDGET, message, ref)
            return 0

    def classes(self, namespace: str, use: ClaimUse) -> frozenset[str]:
        """Returns the names of the DeviceClasses of a claim."""
        spec = self._devices.claims.get((use.kind, namespace, use.name)) or {}
        requests = values.objects(values.mapping(spec.get("devices")).get("requests"))
        alternatives = [alternative for request in requests for alternative in _alternatives(request)]
        return frozenset(f"{alternative.get('deviceClassName')}" for alternative in alternatives)


def _alternatives(request: dict[str, Any]) -> list[dict[str, Any]]:
    return values.objects(request.get("firstAvailable")) or [values.mapping(request.get("exactly")) or request]


def _use(chosen: Sequence[_Selection], claims: _Claims) -> tuple[Gpus, tuple[tuple[str, int], ...]]:
    """Returns the GPUs that are selected, and the names of their services or objects with the GPUs of each at the peak."""
    selected = [(part, [_select_pods(limit, part.namespace, rollout, claims) for rollout in part.rollouts]) for part, limit in chosen]
    names: dict[str, int] = {}
    for part, rollouts in selected:
        names[part.name] = names.get(part.name, 0) + forecast.total_gpus(rollouts).peak
    total = forecast.total_gpus([rollout for _, rollouts in selected for rollout in rollouts])
    shared: dict[tuple[str, str], tuple[set[str], set[str]]] = {}
    used: dict[str, set[ClaimKey]] = {"old": set(), "new": set()}
    for part, limit in chosen:
        for use, state in _claim_uses(limit, part, claims):
            used[state].add((use.kind, part.namespace, use.name))
            if use.kind == device_claims.CLAIM:
                requests, states = shared.setdefault((part.namespace, use.name), (set(), set()))
                requests.update(use.requests or ("",))
                states.add(state)
    for (namespace, name), (requests, states) in shared.items():
        count = claims.gpus(namespace, ClaimUse(device_claims.CLAIM, name, () if "" in requests else tuple(sorted(requests))))
        before, after = count * ("old" in states), count * ("new" in states)
        total = total._replace(before=total.before + before, peak=total.peak + count, after=total.after + after)
    old, new = (used[state] & claims.findings.keys() for state in ("old", "new"))
    total = total._replace(unknown_before=len(old), unknown_after=len(new), unknown_peak=len(old | new))
    largest = sorted(((name, peak) for name, peak in names.items() if peak), key=lambda entry: (-entry[1], entry[0]))
    return total, tuple(largest)


def _open_products(chosen: Sequence[tuple[_Part, Limit]]) -> Iterator[tuple[str, str]]:
    """Yields the names of the parts whose pods may run on several products, each once, with these products in words."""
    words: dict[str, str] = {}
    for part, limit in chosen:
        for demand in (demand for rollout in part.rollouts for demand in (*rollout.old_demands, *rollout.new_demands)):
            if any(limit.counts(demand, name) for name, _ in demand.amounts) and limit.is_open(demand):
                words.setdefault(part.name, gpu_products.text(demand.products))
    yield from words.items()


def _select_pods(limit: Limit | Rest, namespace: str, rollout: Rollout, claims: _Claims) -> Rollout:
    """Returns a rollout whose pods have only the GPUs that a limit selects, with those of claims from templates."""
    old, new = (
        tuple(_amounts(limit, namespace, demand, claims) for demand in demands) for demands in (rollout.old_demands, rollout.new_demands)
    )
    return rollout._replace(old_demands=old, new_demands=new)


def _amounts(limit: Limit | Rest, namespace: str, demand: Demand, claims: _Claims) -> Demand:
    counted = [(name, count) for name, count in demand.amounts if limit.counts(demand, name)]
    own = (use for use in demand.claims if use.kind == device_claims.TEMPLATE)
    claimed = sum(claims.gpus(namespace, use) * use.times for use in own if limit.counts_class(demand, claims.classes(namespace, use)))
    return demand._replace(amounts=(*counted, *([(_CLAIMED, claimed)] if claimed else [])))


def _claim_uses(limit: Limit | Rest, part: _Part, claims: _Claims) -> Iterator[tuple[ClaimUse, str]]:
    """Yields the claims that count and that pods of an object use, and the state in which they do so: `old` or `new`."""
    for rollout in part.rollouts:
        for demands, units, state in ((rollout.old_demands, rollout.old_units, "old"), (rollout.new_demands, rollout.new_units, "new")):
            for demand in demands if units else ():
                for use in demand.claims:
                    if limit.counts_class(demand, claims.classes(part.namespace, use)):
                        yield use, state
