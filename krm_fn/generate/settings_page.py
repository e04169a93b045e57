"""The list of all settings in docs/configuration.md: each key with its default, and with its description as a comment."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from krm_fn.api import dynamo_render

_START, _END = "These are all keys with their defaults:\n\n```yaml\n", "```\n"
_WIDTH = 140
_HEAD = """\
apiVersion: dynamo.krm-fn.io/v1alpha1
kind: DynamoRender
metadata:
  name: render
spec:
"""


def page(text: str) -> str:
    """Returns the text of the page with the current list."""
    before, _, rest = text.partition(_START)
    return before + _START + _HEAD + "".join(_lines(dynamo_render.RenderSpec(), "  ")) + _END + rest.partition(_END)[2]


def _lines(settings: BaseModel, indent: str) -> Iterator[str]:
    """Yields the lines about the settings of one level. A long description is above its key."""
    for name, field in type(settings).model_fields.items():
        value = getattr(settings, name)
        is_level = isinstance(value, BaseModel)
        line = f"{indent}{field.alias}:" if is_level else f"{indent}{field.alias}: {_yaml(value)}"
        description = " ".join((field.description or "").replace("`", "").split())
        if len(line) + len(" # ") + len(description) <= _WIDTH:
            yield f"{line} # {description}\n"
        else:
            yield from (f"{indent}# {part}\n" for part in textwrap.wrap(description, _WIDTH - len(indent) - len("# ")))
            yield f"{line}\n"
        if is_level:
            yield from _lines(value, f"{indent}  ")


def _yaml(value: Any) -> str:
    """A default in YAML on one line."""
    if isinstance(value, list):
        return f"[{', '.join(map(_yaml, value))}]"
    return value if isinstance(value, str) and value else json.dumps(value)
