"""Rules of an API server about the spread of pods over topologies."""

from __future__ import annotations

from krm_fn.kubernetes.api_server import Rejection, label_selectors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from krm_fn.kubernetes.api_server.by_field import Context

_HARD = "DoNotSchedule"


def validate(spec: Mapping[str, Any], _context: Context) -> Iterator[Rejection]:
    """Yields the rejections of `topologySpreadConstraints` (validateTopologySpreadConstraints)."""
    pairs = set()
    for index, constraint in enumerate(spec["topologySpreadConstraints"] or ()):
        for rejection in _constraint(constraint):
            yield rejection.below("topologySpreadConstraints", index)
        pair = constraint.get("topologyKey"), constraint.get("whenUnsatisfiable")
        if pair in pairs:
            message = f"two constraints have the topology key {pair[0]} and whenUnsatisfiable: {pair[1]}; keep one of them"
            yield Rejection("DYN237", ("topologySpreadConstraints", index, "topologyKey"), message)
        pairs.add(pair)


def _constraint(constraint: Mapping[str, Any]) -> Iterator[Rejection]:
    """Checks one constraint (ValidateTopologyKey, validateMinDomains, validateNodeInclusionPolicy)."""
    skew = constraint.get("maxSkew") or 0
    if skew < 1:
        yield Rejection("DYN226", ("maxSkew",), "maxSkew is below 1; write 1 or a larger number")
    if not constraint.get("topologyKey"):
        message = "the topology key is required; write the label of the nodes, for example topology.kubernetes.io/zone"
        yield Rejection("DYN225", ("topologyKey",), message)
    domains, action = constraint.get("minDomains"), constraint.get("whenUnsatisfiable")
    if domains is not None and domains < 1:
        yield Rejection("DYN226", ("minDomains",), "minDomains is below 1; write 1 or a larger number")
    if domains is not None and action != _HARD:
        message = f"minDomains is allowed only with whenUnsatisfiable: {_HARD}, not with {action}; remove it, or write {_HARD}"
        yield Rejection("DYN232", ("minDomains",), message)
    for field in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
        if constraint.get(field) == "":
            yield Rejection("DYN233", (field,), f"{field} is empty; write Honor or Ignore, or remove it")
    yield from label_selectors.validate_label_keys({"matchLabelKeys": constraint.get("matchLabelKeys")}, constraint.get("labelSelector"))
    for rejection in label_selectors.validate(constraint.get("labelSelector")):
        yield rejection.below("labelSelector")
