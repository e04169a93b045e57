"""Rules of an API server about ConfigMaps and Secrets. A message never contains a value.

Follows ValidateConfigMap and ValidateSecret of `pkg/apis/core/validation/validation.go`.
"""

from __future__ import annotations

import base64
import binascii
import json

from krm_fn.base import codes
from krm_fn.kubernetes.api_server import object_meta, rejections
from krm_fn.kubernetes.api_server.rejections import Rejection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from krm_fn.kubernetes.types import Resource

    Data = Mapping[str, bytes]

LIMIT = 1024 * 1024
"""The largest size of all values, in bytes."""
_ACCOUNT = "kubernetes.io/service-account.name"
_JSON_KEYS = {"kubernetes.io/dockercfg": ".dockercfg", "kubernetes.io/dockerconfigjson": ".dockerconfigjson"}
_KEYS = {"kubernetes.io/ssh-auth": ("ssh-privatekey",), "kubernetes.io/tls": ("tls.crt", "tls.key")}
_LOGIN = ("username", "password")


def validate(resource: Resource) -> Iterator[Rejection]:
    """Yields the rejections of a ConfigMap or a Secret."""
    encoded = "data" if resource["kind"] == "Secret" else "binaryData"
    plain = "stringData" if resource["kind"] == "Secret" else "data"
    values: dict[str, bytes] = {}
    for field in (encoded, plain):
        for key, text in (resource.get(field) or {}).items():
            if not object_meta.is_data_key(key):
                yield rejections.bad_name(key, (field, key), "letters, digits, dashes, underscores and dots, without .. at its start")
            value = _decode_base64(text) if field == encoded else text.encode(errors="replace")
            if value is None:
                yield Rejection(
                    codes.MALFORMED_NATIVE_VALUE,
                    (field, key),
                    "the value is not in Base64; encode it, or write the plain text under " + plain,
                )
            if field == plain == "data" and key in values:
                yield rejections.twice(f"the key {key}", (field, key))
            values[key] = value or b""
    size = sum(map(len, values.values()))
    if size > LIMIT:
        yield rejections.too_large((plain if resource.get(plain) else encoded,), size, LIMIT)
    if resource["kind"] == "Secret":
        yield from _of_type(resource, values)


def _decode_base64(text: str) -> bytes | None:
    """Returns the bytes of a text in Base64, which may have line breaks; None for another text."""
    try:
        return base64.b64decode(text.replace("\n", "").replace("\r", ""), validate=True)
    except (binascii.Error, ValueError):
        return None


def _of_type(secret: Resource, values: Data) -> Iterator[Rejection]:
    """Checks the keys that a type of Secret needs."""
    kind = secret.get("type") or ""
    annotations: Any = (secret.get("metadata") or {}).get("annotations") or {}
    if kind == "kubernetes.io/service-account-token" and not annotations.get(_ACCOUNT):
        yield rejections.required_field(("metadata", "annotations", _ACCOUNT), "the annotation with the name of the ServiceAccount")
    if kind == "kubernetes.io/basic-auth" and not any(key in values for key in _LOGIN):
        yield rejections.required_field(("data", _LOGIN[0]), "one of the keys username and password")
    for key in _KEYS.get(kind, ()):
        if key not in values or (kind == "kubernetes.io/ssh-auth" and not values[key]):
            yield rejections.required_field(("data", key), f"the key {key}")
    if kind in _JSON_KEYS:
        key = _JSON_KEYS[kind]
        if key not in values:
            yield rejections.required_field(("data", key), f"the key {key}")
        elif not _is_object(values[key]):
            yield Rejection(
                codes.MALFORMED_NATIVE_VALUE, ("data", key), "the value is not a JSON object; write the content of a file of docker login"
            )


def _is_object(value: bytes) -> bool:
    """True for JSON that Go reads into a map: an object, or null."""
    try:
        content = json.loads(value)
    except (ValueError, RecursionError):
        return False
    return content is None or isinstance(content, dict)
