"""What the engines' parsers need besides stand-ins to import and run on a machine without GPUs."""

from __future__ import annotations

import importlib
from typing import Any


def adapt(program: str) -> None:
    """Prepare this process for the parsers of a program, before its first import."""
    if program in ("dynamo.frontend", "dynamo.vllm"):
        _choose_platform()
    if program == "dynamo.sglang":
        _allow_known_models()


def _choose_platform() -> None:
    """Choose the platform of vLLM's defaults, without which its parsers do not start. Newer frontends choose the same."""
    platforms: Any = importlib.import_module("vllm.platforms")
    platforms._current_platform = importlib.import_module("vllm.platforms.cpu").CpuPlatform()


def _allow_known_models() -> None:
    """SGLang adds models to transformers. The transformers that is installed here, newer than the release's, already has some of them."""
    mapping: Any = importlib.import_module("transformers.models.auto.configuration_auto")._LazyConfigMapping
    register = mapping.register
    mapping.register = lambda self, key, value, **_: register(self, key, value, exist_ok=True)
