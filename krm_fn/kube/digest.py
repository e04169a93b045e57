"""SHA-256 without OpenSSL, whose library takes two milliseconds to load."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hashlib import sha256
else:
    try:
        from _sha256 import sha256  # Python 3.11
    except ImportError:
        try:
            from _sha2 import sha256  # Python 3.12 and later
        except ImportError:
            from hashlib import sha256


def hexadecimal(text: str) -> str:
    """Returns the SHA-256 of a text in UTF-8, as 64 hexadecimal digits."""
    return sha256(text.encode()).hexdigest()


def of_value(value: Any) -> str:
    """Returns the SHA-256 of a JSON value. Equal values have equal digests, whatever the order of their keys is."""
    return hexadecimal(json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True))
