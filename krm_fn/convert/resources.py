"""The resources of a container: v1alpha1's `{cpu, memory, gpu, gpuType, custom}`, and the native form of v1beta1."""

from __future__ import annotations

from typing import Any

from krm_fn.kube import quantity
from krm_fn.kube.values import mapping

GPU = "nvidia.com/gpu"
"""The resource that `gpu` means if `gpuType` names none."""
SIDES = ("requests", "limits")
_NAMED = {"cpu": "cpu", "memory": "memory", GPU: "gpu"}


def to_native(written: Any) -> dict[str, Any]:
    """The native form. Amounts that are no quantities are left out, as the reference does."""
    given = mapping(written)
    native: dict[str, Any] = {side: amounts for side in SIDES if (amounts := _amounts(mapping(given.get(side))))}
    return {**native, "claims": given["claims"]} if given.get("claims") else native


def from_native(written: Any) -> dict[str, Any]:
    """v1alpha1's form; empty for resources that name nothing. Amounts become texts, the only type that v1alpha1 has for them."""
    native = mapping(written)
    given: dict[str, Any] = {side: _item(native[side]) for side in SIDES if isinstance(native.get(side), dict) and native[side]}
    return {**given, "claims": native["claims"]} if native.get("claims") else given


def merged(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """`over` merged over `base`: amounts by name, and claims as a whole list."""
    sides = {side: {**mapping(base.get(side)), **mapping(over.get(side))} for side in SIDES if base.get(side) or over.get(side)}
    claims = over.get("claims") or base.get("claims")
    return {**sides, "claims": claims} if claims else sides


def _amounts(item: dict[str, Any]) -> dict[str, Any]:
    gpu = item.get("gpuType") or GPU
    named = {"cpu": item.get("cpu"), "memory": item.get("memory"), gpu if isinstance(gpu, str) else GPU: item.get("gpu")}
    return {name: amount for name, amount in (*named.items(), *mapping(item.get("custom")).items()) if _is_quantity(amount)}


def _is_quantity(amount: Any) -> bool:
    if isinstance(amount, bool) or not isinstance(amount, (str, int, float)) or amount == "":
        return False
    try:
        quantity.parse(amount)
    except ValueError:
        return False
    return True


def _item(amounts: dict[str, Any]) -> dict[str, Any]:
    texts = {name: f"{amount}" for name, amount in amounts.items()}
    custom = {name: texts[name] for name in texts if name not in _NAMED}
    named = {_NAMED[name]: text for name, text in texts.items() if name in _NAMED}
    return {**named, "custom": custom} if custom else named
