"""Warns of triggers of KEDA that cannot be read: a threshold that is not a number, and an address of Prometheus without its scheme.

KEDA stores such a ScaledObject, and reports the error in its status only (`pkg/scalers/prometheus_scaler.go`). Only those that scale
something of Dynamo are judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from krm_fn.base import codes, results
from krm_fn.base.results import Result
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import mapping, objects, text
from krm_fn.render import dynamo_api

_PROMETHEUS, _ADDRESS = "prometheus", "serverAddress"
_NUMBERS = ("activationThreshold", "threshold")
_HOST = re.compile(r"[\w.-]+(?::[0-9]+)?(?:/\S*)?", re.ASCII)


def check(resources: Iterable[Resource]) -> Iterator[Result]:
    """Yields a warning for each field of a trigger for Prometheus that KEDA refuses. Fields may have wrong types."""
    for resource in resources:
        spec = mapping(resource, "spec")
        if resource.get("kind") == "ScaledObject" and dynamo_api.is_dynamo(mapping(spec, "scaleTargetRef")):
            for number, trigger in enumerate(objects(spec.get("triggers"))):
                if trigger.get("type") == _PROMETHEUS:
                    yield from _check_trigger(resource, number, mapping(trigger, "metadata"))


def _check_trigger(resource: Resource, number: int, fields: Resource) -> Iterator[Result]:
    path, address = ("spec", "triggers", number, "metadata"), text(fields.get(_ADDRESS))
    if address and _HOST.fullmatch(address):
        message = f"{address[:120]} has no scheme, so KEDA reads no metric from it; write http://{address[:120]}"
        yield results.warning(
            codes.UNREADABLE_TRIGGER, message, results.ref(resource), (*path, _ADDRESS), current=address, proposed=f"http://{address}"
        )
    for name in _NUMBERS:
        value = text(fields.get(name))
        if value and not _is_number(value):
            message = f"`{value[:60]}` is not a number, so KEDA does not scale by this trigger; write a number in quotes"
            yield results.warning(codes.UNREADABLE_TRIGGER, message, results.ref(resource), (*path, name), current=value)


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return "$" in value or "{" in value  # a placeholder
    return True
