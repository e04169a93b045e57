"""Rules of an API server about the affinity of pods to nodes and to other pods."""

from __future__ import annotations

from krm_fn.kubernetes.api_server import Rejection, label_selectors, name_formats

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from krm_fn.kubernetes.api_server.by_field import Context

    Fields = Mapping[str, Any]


_REQUIRED, _PREFERRED = "requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"
_NODE_NAME = "metadata.name"


def validate(spec: Fields, _context: Context) -> Iterator[Rejection]:
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
            yield Rejection("DYN225", (_REQUIRED, "nodeSelectorTerms"), message)
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
            yield Rejection("DYN231", ("matchExpressions", index, "values"), message)
        for rejection in label_selectors.validate_requirement(expression, checks_values=checks_values):
            yield rejection.below("matchExpressions", index)
    for index, expression in enumerate(term.get("matchFields") or ()):
        for rejection in _node_field(expression):
            yield rejection.below("matchFields", index)


def _node_field(expression: Fields) -> Iterator[Rejection]:
    """Checks a requirement about a field of nodes (ValidateNodeFieldSelectorRequirement)."""
    operator, values = expression.get("operator"), expression.get("values") or ()
    if operator not in ("In", "NotIn"):
        yield Rejection("DYN231", ("operator",), f"{operator!r} is not an operator for fields of nodes; write In or NotIn")
    elif len(values) != 1:
        yield Rejection("DYN231", ("values",), f"the operator {operator} needs exactly one value for a field of nodes; write one")
    if expression.get("key") != _NODE_NAME:
        yield Rejection("DYN231", ("key",), f"{expression.get('key')!r} is not a field that selects nodes; write {_NODE_NAME}")
        return
    for index, value in enumerate(values):
        if not name_formats.DNS_SUBDOMAIN.fullmatch(value):
            yield Rejection(
                "DYN202", ("values", index), f"{value!r} is not a valid name of a node; use lower-case letters, digits and dashes"
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
            yield Rejection("DYN202", ("namespaces", index), message)
    yield from label_selectors.validate_label_keys(term, term.get("labelSelector"))
    key = term.get("topologyKey") or ""
    if not key:
        message = "the topology key is required; write the label of the nodes, for example kubernetes.io/hostname"
        yield Rejection("DYN225", ("topologyKey",), message)
    elif not name_formats.is_qualified(key):
        yield Rejection("DYN203", ("topologyKey",), name_formats.BAD_KEY)


def _weights(entries: Sequence[Fields]) -> Iterator[Rejection]:
    for index, entry in enumerate(entries):
        weight = entry.get("weight") or 0
        if not 0 < weight <= 100:
            yield Rejection(
                "DYN226", (_PREFERRED, index, "weight"), f"the weight {weight} is not between 1 and 100; write a number in that range"
            )
