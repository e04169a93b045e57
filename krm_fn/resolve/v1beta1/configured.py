"""`DYN_DEPLOYMENT_CONFIG` in a v1beta1 graph: it sets the resources of main containers, and the port of frontends in its own text.

It sets no replicas, because admission writes a number where the author wrote none, and a written number wins.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from krm_fn import results
from krm_fn.convert import resources
from krm_fn.kube import quantity
from krm_fn.manifests import components
from krm_fn.resolve import deployment_config

if TYPE_CHECKING:
    from krm_fn.plan import Address
    from krm_fn.results import Ref, Result


def variable(container: dict[str, Any]) -> dict[str, Any] | None:
    """The variable of a container, or None."""
    return next((entry for entry in container.get("env") or () if entry.get("name") == deployment_config.NAME), None)


def applied(container: dict[str, Any], component: dict[str, Any], port: int) -> dict[str, Any]:
    """The main container of a component with its settings from the variable. A text that cannot be read changes nothing."""
    entry, name = variable(container), component.get("name") or ""
    if entry is None:
        return container
    try:
        content, amounts = _read(entry, name)
    except (ValueError, RecursionError):
        return container
    if components.get(component.get("type") or "").is_frontend:
        changed = {**entry, "value": deployment_config.with_port(content, name, port)}
        container = {**container, "env": [changed if each is entry else each for each in container["env"]]}
    if not amounts:
        return container
    over = resources.to_native({"limits": amounts, "requests": amounts})
    return {**container, "resources": resources.merged(container.get("resources") or {}, over)}


def check(component: dict[str, Any], address: Address, ref: Ref) -> Iterator[Result]:
    """Reports a variable that cannot be read."""
    pod = (component.get("podTemplate") or {}).get("spec") or {}
    entry = next((found for container in pod.get("containers") or () if (found := variable(container))), None)
    try:
        if entry is not None:
            _read(entry, component.get("name") or "")
    except (ValueError, RecursionError) as problem:
        message = f"{deployment_config.NAME} cannot be read: {problem}; write a JSON object"
        yield results.error("DYN120", message, ref, address.at("variables"))


def _read(entry: dict[str, Any], name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The content of the variable, and the amounts in it for one component. Raises ValueError or RecursionError if it cannot be read."""
    content = deployment_config.parse(entry.get("value") or "")
    amounts = deployment_config.override(content, name).resources or {}
    for amount in (*(value for key, value in amounts.items() if key != "custom"), *(amounts.get("custom") or {}).values()):
        quantity.parse(amount)
    return content, amounts
