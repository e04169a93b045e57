"""SHA-256 without OpenSSL, whose library takes two milliseconds to load."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
