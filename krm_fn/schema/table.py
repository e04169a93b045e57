"""Reads the table of structural schemas: Dynamo's kinds, the configuration, and the native types that they contain.

`krm_fn.generate` writes `schema.json` from the models and from an API server's OpenAPI.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from krm_fn.records import NamedTuple

Schema = dict[str, Any]
FILE = __file__.removesuffix("table.py") + "schema.json"


class Table(NamedTuple):
    """The Kubernetes version of the native part, definition names by kind and apiVersion, and definitions by name."""

    kubernetes: str
    kinds: dict[str, dict[str, str]]
    definitions: dict[str, Schema]


@cache
def load() -> Table:
    """Returns the table. The first call reads it in about half a millisecond."""
    with open(FILE, encoding="utf-8") as file:  # noqa: PTH123 - pathlib costs the function more than the reading
        return Table(**json.load(file))
