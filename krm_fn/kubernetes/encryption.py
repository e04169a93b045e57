"""Recognizes resources that SOPS has encrypted, so that nothing judges values which only their key can read.

SOPS adds a field `sops` with a message authentication code, `mac`, and replaces values by `ENC[…]`: https://getsops.io/docs/. Flux decrypts
such resources when it applies them.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_FIELD, _CODE = "sops", "mac"
_ENCRYPTED = "ENC["


def is_encrypted(value: Any) -> bool:
    """True for a document that SOPS has encrypted. `value` may have any type."""
    marks = value.get(_FIELD) if isinstance(value, dict) else None
    return isinstance(marks, dict) and bool(marks.get(_CODE))


def is_encrypted_text(text: str) -> bool:
    """True for a value that SOPS has encrypted."""
    return text.startswith(_ENCRYPTED)
