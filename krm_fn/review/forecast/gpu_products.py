"""The GPU products on which a scheduler may place a pod: its node selector, and its required node affinity.

Follows `GetRequiredNodeAffinity` and `nodeaffinity` of Kubernetes' `component-helpers/scheduling/corev1`: the node selector and one of the
terms of the affinity must match, and a term matches if all its requirements do. A term without requirements matches no node.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import values

PRODUCT = "nvidia.com/gpu.product"
"""The node label of NVIDIA's GPU feature discovery."""
_OF_GPUS = ("nvidia.com/gpu.memory", "nvidia.com/gpu.family", "nvidia.com/gpu.compute.major", "nvidia.com/gpu.compute.minor")
"""Labels that choose GPUs without their product. Nobody knows here which products have their values."""


_NUMBER = re.compile(r"[+-]?[0-9]{1,19}", re.ASCII)


class ProductRequirement(NamedTuple):
    """A requirement on the product: an operator of a node affinity and its values. With `Any`, each product may fit."""

    operator: str
    values: tuple[str, ...] = ()

    def allows(self, product: str) -> bool:
        """Returns true if nodes with a product may match."""
        match self.operator:
            case "In":
                return product in self.values
            case "NotIn":
                return product not in self.values
            case "DoesNotExist":
                return False
            case "Gt" | "Lt":
                bound = self.values[0] if len(self.values) == 1 else ""
                numbers = [int(text) for text in (product, bound) if _NUMBER.fullmatch(text)]
                return len(numbers) == 2 and (numbers[0] > numbers[1] if self.operator == "Gt" else numbers[0] < numbers[1])
        return self.operator in ("Exists", "Any")


class Products(NamedTuple):
    """The products of a pod: one of the alternatives must hold, and of an alternative all requirements.

    `is_chosen` is false for a pod that chooses no GPUs by their product or another label of GPUs. It counts in no product.
    """

    alternatives: tuple[tuple[ProductRequirement, ...], ...] = ()
    is_chosen: bool = False

    def allows(self, product: str) -> bool:
        """Returns true for a product that the pod chooses, and on which it may run."""
        return self.is_chosen and any(all(entry.allows(product) for entry in alternative) for alternative in self.alternatives)

    @property
    def is_one(self) -> bool:
        """True if the pod may run on one product at most."""
        listed = self.listed
        return listed is not None and len(listed) <= 1

    @property
    def listed(self) -> tuple[str, ...] | None:
        """The products by name, sorted; None if others are possible too."""
        named = {text for alternative in self.alternatives for entry in alternative if entry.operator == "In" for text in entry.values}
        is_finite = all(any(entry.operator in ("In", "DoesNotExist") for entry in alternative) for alternative in self.alternatives)
        return tuple(sorted(filter(self.allows, named))) if is_finite else None


def of_pod(spec: Mapping[str, Any]) -> Products:
    """Returns the products of a pod spec. Fields may have wrong types."""
    selected = tuple(_requirements([{"key": key, "operator": "In", "values": [text]} for key, text in _selector(spec).items()]))
    required = values.mapping(spec.get("affinity"), "nodeAffinity").get("requiredDuringSchedulingIgnoredDuringExecution")
    if required is None:
        return Products((selected,), bool(selected))
    terms = [term for term in values.objects(values.mapping(required).get("nodeSelectorTerms")) if _is_used(term)]
    alternatives = [tuple(_requirements(values.objects(term.get("matchExpressions")))) for term in terms]
    is_chosen = bool(selected) or any(alternatives)
    return Products(tuple(dict.fromkeys((*selected, *alternative) for alternative in alternatives)), is_chosen)


def text(products: Products) -> str:
    """Returns the products in words: `A100 or H100`.

    >>> text(Products(((ProductRequirement("NotIn", ("T4",)),),), is_chosen=True))
    'all products but T4'
    """
    listed = products.listed
    if listed is not None:
        return " or ".join(listed) or "no product"
    requirements = [entry for alternative in products.alternatives for entry in alternative]
    excluded = sorted({name for entry in requirements if entry.operator == "NotIn" for name in entry.values if not products.allows(name)})
    return f"all products but {', '.join(excluded)}" if excluded else "several products"


def _selector(spec: Mapping[str, Any]) -> dict[str, str]:
    return {key: value for key, value in values.mapping(spec.get("nodeSelector")).items() if isinstance(value, str)}


def _is_used(term: Mapping[str, Any]) -> bool:
    return bool(values.objects(term.get("matchExpressions")) or values.objects(term.get("matchFields")))


def _requirements(expressions: list[dict[str, Any]]) -> Iterator[ProductRequirement]:
    """Yields the requirements on products. Those on other labels of GPUs leave the product open."""
    for expression in expressions:
        if expression.get("key") == PRODUCT:
            yield ProductRequirement(f"{expression.get('operator')}", tuple(values.texts(expression.get("values"))))
        elif expression.get("key") in _OF_GPUS:
            yield ProductRequirement("Any")
