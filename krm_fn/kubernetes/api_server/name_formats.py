"""Formats of names in Kubernetes, and the rules about keys and values of labels and annotations that are built of them.

Follows apimachinery `pkg/util/validation/validation.go`.
"""

from __future__ import annotations

import re
from functools import lru_cache

from krm_fn.base import codes
from krm_fn.kubernetes.api_server.rejections import Rejection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from krm_fn.kubernetes.types import Labels

DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
DNS_SUBDOMAIN = re.compile(r"(?=.{1,253}\Z)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
PORT_NAME = re.compile(r"(?=.{1,15}\Z)(?=.*[a-z])[a-z0-9]([a-z0-9]|-(?!-))*(?<!-)")
BAD_KEY = "the key is not valid; write name or domain/name"
_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_MOST_ANNOTATIONS = 256 * 1024  # bytes


def validate_metadata(labels: Labels | None, annotations: Labels | None) -> Iterator[Rejection]:
    """Yields the labels and annotations of one object that are not valid. A path begins with `labels` or `annotations`."""
    for rejection in validate_labels(labels or {}):
        yield rejection.below("labels")
    for rejection in validate_annotations(annotations or {}):
        yield rejection.below("annotations")


def validate_labels(labels: Labels) -> Iterator[Rejection]:
    """Yields the label keys and label values that are not valid (ValidateLabels)."""
    for key, value in labels.items():
        if not is_qualified(key):
            yield Rejection(codes.INVALID_METADATA_KEY, (key,), BAD_KEY)
        if not is_label_value(value):
            yield Rejection(codes.INVALID_LABEL_VALUE, (key,), bad_value(value))


def validate_annotations(annotations: Mapping[str, Any]) -> Iterator[Rejection]:
    """Yields the annotation keys that are not valid, and annotations that are too large together (ValidateAnnotations).

    Unlike in label keys, the domain may have capital letters. The path of annotations that are too large is empty.
    """
    texts = {key: value for key, value in annotations.items() if isinstance(value, str)}  # the schema reports other values
    size = sum(map(len, (*texts, *texts.values())))
    for key in annotations:
        if not is_qualified(key.lower()):
            yield Rejection(codes.INVALID_METADATA_KEY, (key,), BAD_KEY)
    if size * 4 <= _MOST_ANNOTATIONS:  # a character has at most four bytes
        return
    size = sum(len(text.encode(errors="replace")) for entry in texts.items() for text in entry)
    if size > _MOST_ANNOTATIONS:
        message = f"the annotations have {size} bytes together, but at most {_MOST_ANNOTATIONS} are allowed; shorten or remove some"
        yield Rejection(codes.TOO_MANY_ENTRIES, (), message)


@lru_cache(maxsize=1024)  # most components have the same variables
def is_env_name(name: str) -> bool:
    """Returns true for printable ASCII characters without an equals sign (IsRelaxedEnvVarName)."""
    return bool(name) and name.isascii() and name.isprintable() and "=" not in name


@lru_cache(maxsize=1024)  # all graphs use the same few keys
def is_qualified(key: str) -> bool:
    """True if a label key or resource name is a qualified name: a name, or a domain, a slash and a name.

    >>> is_qualified("nvidia.com/gpu"), is_qualified("a b")
    (True, False)
    """
    prefix, slash, name = key.rpartition("/")
    return bool(_NAME.fullmatch(name)) and not (slash and not DNS_SUBDOMAIN.fullmatch(prefix))


@lru_cache(maxsize=1024)  # the objects of a graph repeat most of their values
def is_label_value(value: str) -> bool:
    """Returns true if a text can be the value of a label (IsLabelValue)."""
    return not value or bool(_NAME.fullmatch(value))


def bad_value(value: str) -> str:
    """Returns the message about a text that cannot be the value of a label."""
    return f"the label value {value!r} is not valid; use at most 63 letters, digits, dashes, underscores and dots"
