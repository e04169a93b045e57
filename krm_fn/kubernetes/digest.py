"""Hashes: SHA-256 without OpenSSL, whose library takes two milliseconds to load, and FNV-1a."""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hashlib import sha256
    from typing import Any
else:
    try:
        from _sha256 import sha256  # Python 3.11
    except ImportError:
        try:
            from _sha2 import sha256  # Python 3.12 and later
        except ImportError:
            from hashlib import sha256


def hexadecimal(text: str) -> str:
    """Returns the SHA-256 of a text in UTF-8, as 64 hexadecimal digits.

    Rule hash.sha256: A hash is the SHA-256 of a text in UTF-8, as 64 hexadecimal digits. (krm-fn)
    """
    return sha256(text.encode()).hexdigest()


def fnv32(text: str) -> int:
    """Returns the 32-bit FNV-1a hash of a text in UTF-8.

    >>> f"{fnv32('foobar'):x}"
    'bf9cf968'

    Rule hash.fnv: A name that is cut ends with four digits of its FNV-1a hash, the 32-bit hash of a text in UTF-8. (operator:
    internal/dynamo/graph.go PCSNameForDGD)
    """
    checksum = 0x811C9DC5
    for byte in text.encode():
        checksum = (checksum ^ byte) * 0x01000193 & 0xFFFFFFFF
    return checksum


def of_value(value: Any) -> str:
    """Returns the SHA-256 of a JSON value, as 64 hexadecimal digits.

    Rule hash.value: The hash of a value does not depend on the order of its keys. (krm-fn)
    """
    return hexadecimal(json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True))
