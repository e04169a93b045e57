"""Rules of an API server about variables from files and from resources of a container."""

from __future__ import annotations

from krm_fn.kubernetes import quantity
from krm_fn.kubernetes.api_server import Rejection, field_rules, name_formats

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from krm_fn.kubernetes.api_server.by_field import Context

    Fields = Mapping[str, Any]

_CPU_DIVISORS = ("1m", "1")
_DIVISORS = ("1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei")


def validate(source: Fields, context: Context) -> Iterator[Rejection]:
    """Yields the rejections of the source of a variable (validateEnvVarValueFrom)."""
    for rejection in validate_divisor(source.get("resourceFieldRef") or {}):
        yield rejection.below("resourceFieldRef")
    if source.get("fileKeyRef") is not None:
        for rejection in _file(source["fileKeyRef"], context.spec):
            yield rejection.below("fileKeyRef")


def validate_divisor(reference: Fields) -> Iterator[Rejection]:
    """Yields the rejection of the divisor of a resource (validateContainerResourceDivisor). 0 is the default."""
    resource, divisor = reference.get("resource") or "", reference.get("divisor")
    allowed = _CPU_DIVISORS if resource.endswith(".cpu") else _DIVISORS
    if field_rules.is_resource(resource) and quantity.value(divisor) and quantity.canonical(divisor or "") not in allowed:
        message = f"the divisor {divisor} is not allowed for {resource}; write one of {', '.join(allowed)}"
        yield Rejection("DYN230", ("divisor",), message)


def _file(reference: Fields, spec: Fields) -> Iterator[Rejection]:
    """Checks a variable in a file of a volume (validateFileKeySelector, validateFileKeyRefVolumes)."""
    key, name, path = (reference.get(field) or "" for field in ("key", "volumeName", "path"))
    for field, value in (("key", key), ("volumeName", name), ("path", path)):
        if not value:
            yield Rejection("DYN225", (field,), "the field is required; set it")
    if key and not name_formats.is_env_name(key):
        yield Rejection("DYN220", ("key",), f"the name {key!r} of the variable is not valid; use printable ASCII characters other than =")
    if ".." in path.split("/"):
        yield Rejection("DYN228", ("path",), "the path contains ..; write the path without it")
    volume = next((volume for volume in spec.get("volumes") or () if volume.get("name") == name), None)
    if name and volume is None:
        yield Rejection("DYN208", ("volumeName",), f"the pod has no volume {name}; add it to the volumes of the pod")
    elif volume and volume.keys() - {"name", "emptyDir"}:
        yield Rejection("DYN232", ("volumeName",), f"the volume {name} is not an emptyDir; use an emptyDir")
