"""Rules about a LoRA adapter that a render and the syncer share. An API server does not check them."""

from __future__ import annotations

SCHEMES = ("s3://", "hf://")
"""The stores from which adapters are loaded."""


def wrong_name(name: str) -> str:
    """Why an adapter cannot have this name, with the fix; empty if it can. The name is a part of the URL that unloads the adapter."""
    if name in {".", ".."}:
        return f"{name!r} cannot be a part of the URL that unloads the adapter; write another name"
    return _control(name)


def wrong_source(uri: str) -> str:
    """Why no adapter is loaded from this URI, with the fix; empty if it may be. Other rules check the scheme."""
    if ".." in uri.lower().replace("%2e", ".").replace("\\", "/").split("/"):
        return f"{uri!r} has a step '..', which leads out of its folder; write the path without it"
    return _control(uri)


def _control(text: str) -> str:
    """Says that a text has a control character: ASCII's and those of ISO 8859."""
    if any(letter < " " or "\x7f" <= letter <= "\x9f" for letter in text):
        return f"{text!r} has a control character; remove it"
    return ""
