"""Labels and annotation keys that an API server refuses (apimachinery `pkg/util/validation/validation.go`)."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from krm_fn.kube.admission import Refusal, fields

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.kube.types import Labels

BAD_KEY = "the key is not valid; write name or domain/name"
_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_LABEL_VALUE = re.compile(rf"({_NAME.pattern})?")


def labels(found: Labels) -> Iterator[Refusal]:
    """Refusals of label keys and label values that are not valid."""
    for key, value in found.items():
        if not is_qualified(key):
            yield Refusal("DYN203", (key,), BAD_KEY)
        if not _LABEL_VALUE.fullmatch(value):
            message = f"the label value {value!r} is not valid; use at most 63 letters, digits, dashes, underscores and dots"
            yield Refusal("DYN204", (key,), message)


def annotation_keys(found: Labels) -> Iterator[Refusal]:
    """Refusals of annotation keys that are not valid. Unlike in label keys, the domain may have capital letters."""
    for key in found:
        if not is_qualified(key.lower()):
            yield Refusal("DYN203", (key,), BAD_KEY)


@lru_cache(maxsize=1024)  # all graphs use the same few keys
def is_qualified(key: str) -> bool:
    """True if a label key or resource name is a qualified name: a name, or a domain, a slash and a name.

    >>> is_qualified("nvidia.com/gpu"), is_qualified("a b")
    (True, False)
    """
    prefix, slash, name = key.rpartition("/")
    return bool(_NAME.fullmatch(name)) and not (slash and not fields.DNS_SUBDOMAIN.fullmatch(prefix))
