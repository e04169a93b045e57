"""Rules of an API server about the nodes that a pod may run on: affinity, topology spread, tolerations and gates."""

from __future__ import annotations

import re

from krm_fn.base import codes
from krm_fn.kubernetes import values
from krm_fn.kubernetes.api_server import label_selectors, name_formats
from krm_fn.kubernetes.api_server.rejections import Rejection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from krm_fn.kubernetes.api_server.by_field import Context

    Fields = Mapping[str, Any]


_REQUIRED, _PREFERRED = "requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"
_NODE_NAME = "metadata.name"


def validate_affinity(spec: Fields, _context: Context) -> Iterator[Rejection]:
    """Yields the rejections of `affinity` (validateAffinity)."""
    affinity = spec["affinity"] or {}
    for rejection in _node_affinity(affinity.get("nodeAffinity") or {}):
        yield rejection.below("affinity", "nodeAffinity")
    for field in ("podAffinity", "podAntiAffinity"):
        for rejection in _pod_affinity(affinity.get(field) or {}):
            yield rejection.below("affinity", field)


def _node_affinity(affinity: Fields) -> Iterator[Rejection]:
    """Checks the affinity to nodes (validateNodeAffinity, ValidateNodeSelector, ValidatePreferredSchedulingTerms).

    The values of preferred terms can be any text.
    """
    selector = affinity.get(_REQUIRED)
    if selector is not None:
        terms = selector.get("nodeSelectorTerms") or ()
        if not terms:
            message = "at least one term is required; write which nodes match, or remove the selector"
            yield Rejection(codes.EMPTY_REQUIRED_FIELD, (_REQUIRED, "nodeSelectorTerms"), message)
        for index, term in enumerate(terms):
            for rejection in _node_term(term, checks_values=True):
                yield rejection.below(_REQUIRED, "nodeSelectorTerms", index)
    preferred = affinity.get(_PREFERRED) or ()
    yield from _weights(preferred)
    for index, entry in enumerate(preferred):
        for rejection in _node_term(entry.get("preference") or {}, checks_values=False):
            yield rejection.below(_PREFERRED, index, "preference")


def _node_term(term: Fields, *, checks_values: bool) -> Iterator[Rejection]:
    """Checks a term (ValidateNodeSelectorTerm, ValidateNodeSelectorRequirement)."""
    for index, expression in enumerate(term.get("matchExpressions") or ()):
        operator = expression.get("operator")
        if operator in ("Gt", "Lt") and len(expression.get("values") or ()) != 1:
            message = f"the operator {operator} needs exactly one value; write one number"
            yield Rejection(codes.INVALID_SELECTOR_VALUES, ("matchExpressions", index, "values"), message)
        for rejection in label_selectors.validate_requirement(expression, checks_values=checks_values):
            yield rejection.below("matchExpressions", index)
    for index, expression in enumerate(term.get("matchFields") or ()):
        for rejection in _node_field(expression):
            yield rejection.below("matchFields", index)


def _node_field(expression: Fields) -> Iterator[Rejection]:
    """Checks a requirement about a field of nodes (ValidateNodeFieldSelectorRequirement)."""
    operator, values = expression.get("operator"), expression.get("values") or ()
    if operator not in ("In", "NotIn"):
        yield Rejection(
            codes.INVALID_SELECTOR_VALUES, ("operator",), f"{operator!r} is not an operator for fields of nodes; write In or NotIn"
        )
    elif len(values) != 1:
        yield Rejection(
            codes.INVALID_SELECTOR_VALUES, ("values",), f"the operator {operator} needs exactly one value for a field of nodes; write one"
        )
    if expression.get("key") != _NODE_NAME:
        yield Rejection(
            codes.INVALID_SELECTOR_VALUES, ("key",), f"{expression.get('key')!r} is not a field that selects nodes; write {_NODE_NAME}"
        )
        return
    for index, value in enumerate(values):
        if not name_formats.DNS_SUBDOMAIN.fullmatch(value):
            yield Rejection(
                codes.INVALID_NAME_IN_POD,
                ("values", index),
                f"{value!r} is not a valid name of a node; use lower-case letters, digits and dashes",
            )


def _pod_affinity(affinity: Fields) -> Iterator[Rejection]:
    """Checks the affinity to other pods (validatePodAffinity, validatePodAntiAffinity, validateWeightedPodAffinityTerms)."""
    for index, term in enumerate(affinity.get(_REQUIRED) or ()):
        for rejection in _pod_term(term):
            yield rejection.below(_REQUIRED, index)
    preferred = affinity.get(_PREFERRED) or ()
    yield from _weights(preferred)
    for index, entry in enumerate(preferred):
        for rejection in _pod_term(entry.get("podAffinityTerm") or {}):
            yield rejection.below(_PREFERRED, index, "podAffinityTerm")


def _pod_term(term: Fields) -> Iterator[Rejection]:
    """Checks a term (validatePodAffinityTerm, ValidatePodAffinityTermSelector)."""
    for field in ("labelSelector", "namespaceSelector"):
        for rejection in label_selectors.validate(term.get(field)):
            yield rejection.below(field)
    for index, namespace in enumerate(term.get("namespaces") or ()):
        if not name_formats.DNS_LABEL.fullmatch(namespace):
            message = f"{namespace!r} is not a valid namespace; use at most 63 lower-case letters, digits and dashes"
            yield Rejection(codes.INVALID_NAME_IN_POD, ("namespaces", index), message)
    yield from label_selectors.validate_label_keys(term, term.get("labelSelector"))
    key = term.get("topologyKey") or ""
    if not key:
        message = "the topology key is required; write the label of the nodes, for example kubernetes.io/hostname"
        yield Rejection(codes.EMPTY_REQUIRED_FIELD, ("topologyKey",), message)
    elif not name_formats.is_qualified(key):
        yield Rejection(codes.INVALID_METADATA_KEY, ("topologyKey",), name_formats.BAD_KEY)


def _weights(entries: Sequence[Fields]) -> Iterator[Rejection]:
    for index, entry in enumerate(entries):
        weight = entry.get("weight") or 0
        if not 0 < weight <= 100:
            yield Rejection(
                codes.NUMBER_NOT_ALLOWED,
                (_PREFERRED, index, "weight"),
                f"the weight {weight} is not between 1 and 100; write a number in that range",
            )


_HARD = "DoNotSchedule"


def validate_spread(spec: Mapping[str, Any], _context: Context) -> Iterator[Rejection]:
    """Yields the rejections of `topologySpreadConstraints` (validateTopologySpreadConstraints)."""
    pairs = set()
    for index, constraint in enumerate(spec["topologySpreadConstraints"] or ()):
        for rejection in _constraint(constraint):
            yield rejection.below("topologySpreadConstraints", index)
        pair = constraint.get("topologyKey"), constraint.get("whenUnsatisfiable")
        if pair in pairs:
            message = f"two constraints have the topology key {pair[0]} and whenUnsatisfiable: {pair[1]}; keep one of them"
            yield Rejection(codes.DUPLICATE_ENTRY_IN_POD, ("topologySpreadConstraints", index, "topologyKey"), message)
        pairs.add(pair)


def _constraint(constraint: Mapping[str, Any]) -> Iterator[Rejection]:
    """Checks one constraint (ValidateTopologyKey, validateMinDomains, validateNodeInclusionPolicy)."""
    skew = constraint.get("maxSkew") or 0
    if skew < 1:
        yield Rejection(codes.NUMBER_NOT_ALLOWED, ("maxSkew",), "maxSkew is below 1; write 1 or a larger number")
    if not constraint.get("topologyKey"):
        message = "the topology key is required; write the label of the nodes, for example topology.kubernetes.io/zone"
        yield Rejection(codes.EMPTY_REQUIRED_FIELD, ("topologyKey",), message)
    domains, action = constraint.get("minDomains"), constraint.get("whenUnsatisfiable")
    if domains is not None and domains < 1:
        yield Rejection(codes.NUMBER_NOT_ALLOWED, ("minDomains",), "minDomains is below 1; write 1 or a larger number")
    if domains is not None and action != _HARD:
        message = f"minDomains is allowed only with whenUnsatisfiable: {_HARD}, not with {action}; remove it, or write {_HARD}"
        yield Rejection(codes.FIELDS_NOT_ALLOWED_TOGETHER, ("minDomains",), message)
    for field in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
        if constraint.get(field) == "":
            yield Rejection(codes.VALUE_NOT_ALLOWED, (field,), f"{field} is empty; write Honor or Ignore, or remove it")
    yield from label_selectors.validate_label_keys({"matchLabelKeys": constraint.get("matchLabelKeys")}, constraint.get("labelSelector"))
    for rejection in label_selectors.validate(constraint.get("labelSelector")):
        yield rejection.below("labelSelector")


_INTEGER = re.compile(r"0|-?[1-9][0-9]*")


def validate_tolerations(spec: Fields, _context: Context) -> Iterator[Rejection]:
    """Yields the rejections of `tolerations`."""
    for rejection in validate_toleration_list(spec["tolerations"] or ()):
        yield rejection.below("tolerations")


def validate_toleration_list(tolerations: Sequence[Fields]) -> Iterator[Rejection]:
    """Yields the rejections of a list of tolerations (ValidateTolerations). Paths begin with the index."""
    for index, toleration in enumerate(tolerations):
        for rejection in _toleration(toleration):
            yield rejection.below(index)


def _toleration(toleration: Fields) -> Iterator[Rejection]:
    """Checks one toleration. A feature gate decides about the operators Gt and Lt, so only their values are checked."""
    key, operator, value = toleration.get("key"), toleration.get("operator"), toleration.get("value") or ""
    if key and not name_formats.is_qualified(key):
        yield Rejection(codes.INVALID_METADATA_KEY, ("key",), name_formats.BAD_KEY)
    if not key and operator != "Exists":
        yield Rejection(
            codes.INVALID_TOLERATION, ("operator",), "the operator of a toleration without a key must be Exists; write Exists, or add a key"
        )
    if operator == "Exists" and value:
        yield Rejection(
            codes.INVALID_TOLERATION, ("value",), "the operator Exists cannot have a value; remove the value, or write the operator Equal"
        )
    if operator in ("Gt", "Lt") and not (_INTEGER.fullmatch(value) and values.int64(value) is not None):
        yield Rejection(
            codes.INVALID_TOLERATION, ("value",), f"the operator {operator} needs a whole number, not {value!r}; write one, for example 100"
        )
    if operator in ("Equal", "", None) and not name_formats.is_label_value(value):
        yield Rejection(
            codes.INVALID_TOLERATION,
            ("value",),
            f"the value {value!r} is not the value of a taint; use at most 63 letters, digits, - _ and .",
        )
    if toleration.get("tolerationSeconds") is not None and toleration.get("effect") != "NoExecute":
        message = "tolerationSeconds is allowed only with the effect NoExecute; remove it, or write that effect"
        yield Rejection(codes.INVALID_TOLERATION, ("tolerationSeconds",), message)


def validate_gates(spec: Mapping[str, Any], _context: Context) -> Iterator[Rejection]:
    """Yields the rejections of the gates (validateReadinessGates, validateSchedulingGates).

    Only a pod, and no template, is refused if it has scheduling gates and a node.
    """
    for index, gate in enumerate(spec.get("readinessGates") or ()):
        if not name_formats.is_qualified(gate.get("conditionType") or ""):
            message = f"{gate.get('conditionType')!r} is not a valid condition of a pod; write name or domain/name"
            yield Rejection(codes.INVALID_METADATA_KEY, ("readinessGates", index, "conditionType"), message)
    names = set()
    for index, gate in enumerate(spec.get("schedulingGates") or ()):
        name = gate.get("name") or ""
        if not name_formats.is_qualified(name):
            yield Rejection(
                codes.INVALID_METADATA_KEY,
                ("schedulingGates", index, "name"),
                f"{name!r} is not a valid name of a gate; write name or domain/name",
            )
        if name in names:
            yield Rejection(
                codes.DUPLICATE_ENTRY_IN_POD, ("schedulingGates", index, "name"), f"the gate {name} is listed twice; keep one entry"
            )
        names.add(name)
