"""Rules of an API server about the readiness gates and scheduling gates of a pod."""

from __future__ import annotations

from krm_fn.kubernetes.api_server import Rejection, name_formats

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from krm_fn.kubernetes.api_server.by_field import Context


def validate(spec: Mapping[str, Any], _context: Context) -> Iterator[Rejection]:
    """Yields the rejections of the gates (validateReadinessGates, validateSchedulingGates).

    Only a pod, and no template, is refused if it has scheduling gates and a node.
    """
    for index, gate in enumerate(spec.get("readinessGates") or ()):
        if not name_formats.is_qualified(gate.get("conditionType") or ""):
            message = f"{gate.get('conditionType')!r} is not a valid condition of a pod; write name or domain/name"
            yield Rejection("DYN203", ("readinessGates", index, "conditionType"), message)
    names = set()
    for index, gate in enumerate(spec.get("schedulingGates") or ()):
        name = gate.get("name") or ""
        if not name_formats.is_qualified(name):
            yield Rejection(
                "DYN203", ("schedulingGates", index, "name"), f"{name!r} is not a valid name of a gate; write name or domain/name"
            )
        if name in names:
            yield Rejection("DYN237", ("schedulingGates", index, "name"), f"the gate {name} is listed twice; keep one entry")
        names.add(name)
