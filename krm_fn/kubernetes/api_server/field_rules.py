"""Rules about single fields of a pod, as tables of fields and allowed values.

`krm_fn.kubernetes.api_server.pod_rules` has the rules about several fields.
"""

from __future__ import annotations

import re
from functools import lru_cache

from krm_fn.base import codes
from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import quantity
from krm_fn.kubernetes.api_server.name_formats import DNS_LABEL, DNS_SUBDOMAIN, PORT_NAME, is_env_name, is_qualified
from krm_fn.kubernetes.api_server.rejections import Rejection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from krm_fn.base.results import Path
    from krm_fn.kubernetes.native_types import Container, PodSpec

_POD_FIELDS = {
    *("metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName"),
    *("status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"),
    "spec.host",  # an old name of spec.nodeName
}
_FIELDS_IN_LOWER_CASE = {field.lower() for field in _POD_FIELDS}
_RESOURCES = ("cpu", "memory", "ephemeral-storage")
_LONGEST_KEY = 253
_LARGEST_MODE = 0o777
BAD_FILE_PATH = "the path leaves the volume, or begins with ..; write a relative path without .."


_Rule = tuple[str, str, "Callable[[Any], object]"]
"""A rule about the value of a field that is set: the code and the message of a rejection, and the values that it allows."""

_Field = tuple[tuple[_Rule, ...], "tuple[tuple[str, _Field], ...]", "dict[str, tuple[_Rule, ...]]", frozenset[str]]
"""One field: the rules about its value, the fields inside it that have rules, the rules that require fields inside it, and the names of all
these fields. The rules of a list apply to each of its entries. These are plain tuples, because a walk visits eighty for each graph."""


class _RuleOfFields(NamedTuple):
    """A rule about the values of some fields. It applies only to fields that are set; if `allows` is `bool`, the fields are required."""

    code: str
    message: str
    allows: Callable[[Any], object]
    fields: tuple[str, ...]


def validate_pod(spec: PodSpec) -> list[Rejection]:
    """Returns the rejections of a pod's own fields. `validate_container` checks its containers."""
    return _validate(spec, _POD)


def validate_container(container: Container) -> list[Rejection]:
    """Returns the rejections of a container's fields."""
    return _validate(container, _CONTAINER)


def validate_handler(holder: Mapping[str, Any]) -> list[Rejection]:
    """Returns the rejections of the handler of a probe or of a hook."""
    return _validate(holder, _HANDLER)


def validate_mode(holder: Mapping[str, Any], field: str) -> Iterator[Rejection]:
    """Yields the rejection of the permissions of a file."""
    mode = holder.get(field)
    if mode is not None and not 0 <= mode <= _LARGEST_MODE:
        yield Rejection(codes.NUMBER_NOT_ALLOWED, (field,), _BAD_MODE)


def validate_items(holder: Mapping[str, Any]) -> Iterator[Rejection]:
    """Yields the rejections of the items of a ConfigMap or Secret (validateKeyToPath)."""
    yield from _validate(holder, _ITEMS)


@lru_cache(maxsize=256)  # all pods use the same few fields
def is_pod_field(path: str) -> bool:
    """Returns true for a field of the pod that a variable can have as its value (validateObjectFieldSelector).

    >>> is_pod_field("metadata.name"), is_pod_field("metadata.labels['app']"), is_pod_field("metadata.labels")
    (True, True, False)
    """
    return path in _POD_FIELDS or is_subscript(path)


def is_subscript(path: str) -> bool:
    """Returns true for one label or annotation of the pod. The case of a letter does not matter in the key of an annotation."""
    field, bracket, key = path.removesuffix("']").partition("['")
    if not bracket or not path.endswith("']"):
        return False
    return is_qualified(key if field == "metadata.labels" else key.lower()) and field in ("metadata.labels", "metadata.annotations")


def is_resource(path: str) -> bool:
    """Returns true for a resource of a container that a variable or a file can have (validateContainerResourceFieldSelector)."""
    side, _, name = path.partition(".")
    return side in ("limits", "requests") and (name in _RESOURCES or name.startswith("hugepages-"))


def is_file_path(path: str) -> bool:
    """Returns true for the path of a file inside a volume (ValidateLocalNonReservedPath). Names that begin with .. are reserved."""
    return _inside(path) and not path.startswith("..")


def _validate(spec: Mapping[str, Any], field: _Field) -> list[Rejection]:
    rejections: list[Rejection] = []
    _walk(spec, field, (), rejections)
    return rejections


def _walk(value: Any, field: _Field, path: Path, rejections: list[Rejection]) -> None:
    """Visits each field once for all rules."""
    rules, fields, required, _ = field
    for code, message, allows in rules:
        if not allows(value):
            rejections.append(Rejection(code, path, message))
    for step, inner in fields:
        if step in value and (inner_value := value[step]) is not None:
            if type(inner_value) is list:
                _walk_entries(inner_value, inner, (*path, step), rejections)
            elif type(inner_value) is dict:
                _walk(inner_value, inner, (*path, step), rejections)
            else:
                for code, message, allows in inner[0]:
                    if not allows(inner_value):
                        rejections.append(Rejection(code, (*path, step), message))
    if required:
        missing = [(step, rules) for step, rules in required.items() if not value.get(step)]
        rejections.extend(Rejection(code, (*path, step), message) for step, rules in missing for code, message, _ in rules)


def _walk_entries(entries: list[Any], field: _Field, path: Path, rejections: list[Rejection]) -> None:
    """Visits the entries of a list. Entries without a field that has a rule are skipped."""
    rules, _, required, names = field
    for index, entry in enumerate(entries):
        if rules or required or not names.isdisjoint(entry):
            _walk(entry, field, (*path, index), rejections)


def _tree(*rules: _RuleOfFields) -> _Field:
    """Returns the fields that the rules name, as a tree. `[]` after a name marks a list for the reader of the code."""
    listed = [(name.replace("[]", "").split("."), rule) for rule in rules for name in rule.fields]
    return _field(listed)


def _field(listed: list[tuple[list[str], _RuleOfFields]]) -> _Field:
    """Returns the field with these rules, each with the path from the field to that of the rule."""
    own = tuple((rule.code, rule.message, rule.allows) for path, rule in listed if not path)
    required: dict[str, tuple[_Rule, ...]] = {}
    inner: dict[str, list[tuple[list[str], _RuleOfFields]]] = {}
    for path, rule in listed:
        if len(path) == 1 and rule.allows is bool:
            required[path[0]] = (*required.get(path[0], ()), (rule.code, rule.message, rule.allows))
        elif path:
            inner.setdefault(path[0], []).append((path[1:], rule))
    return own, tuple((step, _field(below)) for step, below in inner.items()), required, frozenset(inner)


def _rule(code: str, message: str, allows: Callable[[Any], object], *fields: str) -> _RuleOfFields:
    return _RuleOfFields(code, message, allows, fields)


def _matches(pattern: re.Pattern[str]) -> Callable[[Any], object]:
    return lambda name: not name or pattern.fullmatch(name)


def _single(*beside: str) -> Callable[[Any], object]:
    """Allows exactly one field, not counting the fields in `beside`."""
    return lambda value: len(value.keys() - {*beside}) == 1


def _between(low: int, high: int = 2**31 - 1) -> Callable[[Any], object]:
    return lambda number: low <= number <= high


def _port(port: Any) -> object:
    """Allows a port number or a port name."""
    return PORT_NAME.fullmatch(port) if isinstance(port, str) else 0 < port < 65536


def _inside(path: str) -> bool:
    """True if a path stays inside its volume."""
    return _downward(path) and not path.startswith("/")


def _is_prefix(name: str) -> object:
    """Allows a name that may end in a dash, as that of a prefix (maskTrailingDash of apimachinery `pkg/api/validation/generic.go`)."""
    return not name or DNS_SUBDOMAIN.fullmatch(f"{name[:-2]}a" if len(name) > 1 and name.endswith("-") else name)


def _is_data_key(key: str) -> bool:
    """True if a ConfigMap or Secret can have this key (IsConfigMapKey). Another rule requires a key."""
    letters = key.replace("-", "").replace("_", "").replace(".", "")
    return (
        len(key) <= _LONGEST_KEY and key != "." and not key.startswith("..") and (not letters or (letters.isascii() and letters.isalnum()))
    )


def _is_header(name: str) -> bool:
    """True for the name of a header of HTTP (IsHTTPHeaderName)."""
    return name.isascii() and name.replace("-", "a").isalnum()


def _downward(path: str) -> bool:
    return ".." not in path.split("/")


_OBJECTS = ("envFrom[].secretRef.name", "envFrom[].configMapRef.name")
_SOURCES = ("env[].valueFrom.secretKeyRef.name", "env[].valueFrom.configMapKeyRef.name")
_KEYS = ("env[].valueFrom.secretKeyRef.key", "env[].valueFrom.configMapKeyRef.key")
_NAME = "the name is not valid in Kubernetes; use lower-case letters, digits and dashes"
_NEEDED = "the field is required; set it"
_ID = "the id is not between 0 and 2147483647; write a number in that range"
_PORT = "the port is not between 1 and 65535; write a number in that range"
_BAD_MODE = "the permissions are not between 0 and 0777; write for example 0644, or 420 in JSON"
_VOLUMES_WITH_ITEMS = ("volumes[].secret", "volumes[].configMap")
_CLAIMS = ("resourceClaims[].resourceClaimName", "resourceClaims[].resourceClaimTemplateName")


def _of_items(*holders: str) -> tuple[_RuleOfFields, ...]:
    """Returns the rules about the items of ConfigMaps and Secrets at these paths."""
    return (
        _rule(codes.EMPTY_REQUIRED_FIELD, _NEEDED, bool, *(f"{holder}items[].{field}" for holder in holders for field in ("key", "path"))),
        _rule(codes.NUMBER_NOT_ALLOWED, _BAD_MODE, _between(0, _LARGEST_MODE), *(f"{holder}items[].mode" for holder in holders)),
        _rule(codes.PATH_OUT_OF_VOLUME, BAD_FILE_PATH, is_file_path, *(f"{holder}items[].path" for holder in holders)),
    )


_ITEMS = _tree(*_of_items(""))
_POD = _tree(
    _rule(codes.INVALID_NAME_IN_POD, _NAME, _matches(DNS_SUBDOMAIN), "serviceAccountName", "priorityClassName", "nodeName"),
    _rule(codes.INVALID_NAME_IN_POD, _NAME, DNS_SUBDOMAIN.fullmatch, "runtimeClassName", *_CLAIMS),
    _rule(codes.INVALID_NAME_IN_POD, _NAME, _matches(DNS_LABEL), "hostname", "subdomain"),
    _rule(
        codes.NOT_EXACTLY_ONE_FIELD,
        "the entry must have either resourceClaimName or resourceClaimTemplateName; keep one of the two",
        _single("name"),
        "resourceClaims[]",
    ),
    _rule(
        codes.NOT_EXACTLY_ONE_FIELD,
        "the volume has more than one source; keep one of them",
        lambda value: len(value) <= 1 or len(value.keys() - {"name"}) <= 1,
        "volumes[]",
    ),
    _rule(
        codes.EMPTY_REQUIRED_FIELD,
        _NEEDED,
        bool,
        "volumes[].secret.secretName",
        "volumes[].configMap.name",
        "volumes[].persistentVolumeClaim.claimName",
    ),
    _rule(codes.EMPTY_REQUIRED_FIELD, _NEEDED, bool, "volumes[].hostPath.path"),
    _rule(codes.PATH_OUT_OF_VOLUME, "the path contains ..; write the path without it", _downward, "volumes[].hostPath.path"),
    _rule(codes.NUMBER_NOT_ALLOWED, _ID, _between(0), *(f"securityContext.{id_}" for id_ in ("runAsUser", "runAsGroup", "fsGroup"))),
    _rule(codes.NUMBER_NOT_ALLOWED, _BAD_MODE, _between(0, _LARGEST_MODE), *(f"{volume}.defaultMode" for volume in _VOLUMES_WITH_ITEMS)),
    _rule(
        codes.NUMBER_NOT_ALLOWED,
        "the size is below zero; write 0 or a larger amount",
        lambda size: quantity.value(size) >= 0,
        "volumes[].emptyDir.sizeLimit",
    ),
    _rule(codes.VALUE_NOT_ALLOWED, "preemptionPolicy is empty; write PreemptLowerPriority or Never, or remove it", len, "preemptionPolicy"),
    *_of_items(*(f"{volume}." for volume in _VOLUMES_WITH_ITEMS)),
)
_CONTAINER = _tree(
    _rule(
        codes.INVALID_VARIABLE_NAME,
        "the prefix is not valid; use printable ASCII characters other than =",
        lambda prefix: not prefix or is_env_name(prefix),
        "envFrom[].prefix",
    ),
    _rule(codes.NOT_EXACTLY_ONE_FIELD, "the variable must have exactly one source; keep one", _single(), "env[].valueFrom"),
    _rule(
        codes.NOT_EXACTLY_ONE_FIELD,
        "the entry must have exactly one of secretRef and configMapRef; keep one",
        _single("prefix"),
        "envFrom[]",
    ),
    _rule(codes.EMPTY_REQUIRED_FIELD, _NEEDED, bool, *_OBJECTS, *_SOURCES, *_KEYS),
    _rule(codes.EMPTY_REQUIRED_FIELD, "the path of the mount is required; write a folder", bool, "volumeMounts[].mountPath"),
    _rule(codes.INVALID_PORT_NUMBER, _PORT, _between(1, 65535), "ports[].containerPort"),
    _rule(codes.INVALID_PORT_NUMBER, _PORT, _between(0, 65535), "ports[].hostPort"),
    _rule(codes.NUMBER_NOT_ALLOWED, _ID, _between(0), "securityContext.runAsUser", "securityContext.runAsGroup"),
    _rule(
        codes.INVALID_FIELD_REF,
        "upper and lower case count in the name of a field; write it as in metadata.uid, spec.nodeName and status.podIP",
        lambda path: path in _POD_FIELDS or path.lower() not in _FIELDS_IN_LOWER_CASE,
        "env[].valueFrom.fieldRef.fieldPath",
    ),
    _rule(
        codes.INVALID_FIELD_REF,
        "a variable cannot refer to this field; write for example metadata.name, metadata.labels['a'], spec.nodeName or status.podIP",
        lambda path: is_pod_field(path) or path.lower() in _FIELDS_IN_LOWER_CASE,
        "env[].valueFrom.fieldRef.fieldPath",
    ),
    _rule(
        codes.INVALID_FIELD_REF,
        "the version of pods is v1; write v1, or remove the field",
        ("v1", "").__contains__,
        "env[].valueFrom.fieldRef.apiVersion",
    ),
    _rule(
        codes.INVALID_FIELD_REF,
        "a variable cannot refer to this resource; write for example limits.cpu or requests.memory",
        is_resource,
        "env[].valueFrom.resourceFieldRef.resource",
    ),
    _rule(codes.INVALID_NAME_IN_POD, _NAME, _matches(DNS_SUBDOMAIN), *_SOURCES),
    _rule(codes.INVALID_NAME_IN_POD, _NAME, _is_prefix, *_OBJECTS),
    _rule(
        codes.INVALID_NAME_IN_POD, "the key is not valid in a ConfigMap or Secret; use letters, digits, -, _ and .", _is_data_key, *_KEYS
    ),
    _rule(codes.PATH_OUT_OF_VOLUME, "the path leaves the volume; write a relative path without ..", _inside, "volumeMounts[].subPath"),
)
_HANDLER = _tree(
    _rule(codes.EMPTY_REQUIRED_FIELD, "a command is required; write what to run", bool, "exec.command"),
    _rule(codes.INVALID_PORT_NUMBER, _PORT, _between(1, 65535), "grpc.port"),
    _rule(
        codes.INVALID_PORT_NUMBER,
        "the port is neither a number between 1 and 65535 nor the name of a port; write one of the two",
        _port,
        *(f"{handler}.port" for handler in ("httpGet", "tcpSocket")),
    ),
    _rule(
        codes.INVALID_NAME_IN_POD,
        "the name of the header is not valid; use letters, digits and dashes",
        _is_header,
        "httpGet.httpHeaders[].name",
    ),
)
