"""Runs kubectl with the context of the user, and reads the objects that it prints."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from krm_fn.kubernetes.types import Resource
from krm_fn.repository.files import commands

_SECONDS = 300
_LIMIT = 1024**3
"""The most bytes that kubectl may print: the objects of a whole cluster."""


class KubectlError(Exception):
    """kubectl failed. `problem` says what failed, and `messages` are those of kubectl, or what to do."""

    def __init__(self, problem: str, messages: str) -> None:
        super().__init__(f"{problem}; {messages}")
        self.messages = messages


def run(verb: str, *arguments: str, stdin: Any = None, partial: bool = False) -> str:
    """Returns the output of kubectl. `stdin` is a value that kubectl reads as JSON. Raises KubectlError.

    `partial` accepts the output of a kubectl that fails: one API that does not answer hides no other.
    """
    given = b"" if stdin is None else json.dumps(stdin).encode()
    result = commands.run(("kubectl", verb, *arguments), Path.cwd(), _SECONDS, stdin=given, limit=_LIMIT)
    if result.problem and not (partial and result.data):
        raise KubectlError(f"kubectl {verb} {result.problem}", result.messages.strip() or "check the context of kubectl")
    return result.data.decode(errors="replace")


def get(*arguments: str, stdin: Any = None) -> list[Resource]:
    """Returns the objects of `kubectl get`. Raises KubectlError."""
    return objects(run("get", *arguments, "--output=json", stdin=stdin))


def objects(text: str) -> list[Resource]:
    """Returns the objects that kubectl printed as JSON: Lists, or one after the other."""
    printed: list[Resource] = []
    while text := text.strip():
        value, end = json.JSONDecoder().raw_decode(text)
        printed.extend(value.get("items", [value]))
        text = text[end:]
    return printed


def list_of(resources: Iterable[Resource]) -> Resource:
    """Returns objects as one List, which kubectl reads."""
    return {"apiVersion": "v1", "kind": "List", "items": [*resources]}


def served_resources() -> frozenset[str]:
    """Returns the resources with a namespace that the cluster serves, such as `deployments.apps`. Raises KubectlError."""
    return frozenset(run("api-resources", "--namespaced", "--verbs=list", "--output=name", partial=True).split())
