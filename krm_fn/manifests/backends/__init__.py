"""Inference engines: a file here is an engine, its `BACKEND` says what the engine needs.

Not its business: what carries the pods. Follows the reference's `internal/dynamo/backend_*.go`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from krm_fn import registry

if TYPE_CHECKING:
    from krm_fn.kube.types import Container, PodSpec
    from krm_fn.plan import RolePlan
    from krm_fn.results import Result


_SEPARATOR = re.compile(r"[|&;]")
_PYTHON = re.compile(r"python[0-9.]*[ \t\n\f\r]")
_FLAG = re.compile(r"-m[ \t\n\f\r]")


class Backend:
    """What the expander asks of an inference engine. Every hook has a neutral answer."""

    module = ""
    """How a command line betrays the engine: `python3 -m dynamo.<module>`."""

    cache_dir = ""
    """Where the engine keeps compiled kernels, for cache mounts without a path."""

    leader_starts_last = False
    """Whether, on several nodes, the leader must find its followers up."""

    def container(self, container: Container, role: RolePlan) -> Container:
        """The main container as this engine wants it."""
        return container

    def pod(self, pod: PodSpec, role: RolePlan) -> PodSpec:
        """The whole pod as this engine wants it."""
        return pod

    def check(self, container: Container, role: RolePlan) -> Iterator[Result]:
        """What goes wrong with a main container, as it is before this engine changes it, once it runs."""
        yield from ()


def names() -> tuple[str, ...]:
    """The engines there are."""
    return registry.entries(sys.modules[__name__])


def get(name: str) -> Backend:
    """One engine. Raises KeyError for an unknown one."""
    backend: Backend = registry.get(sys.modules[__name__], name).BACKEND
    return backend


def detect(words: Iterable[str]) -> list[str]:
    """The engines that a command line starts, by name (reference: detectBackendFrameworkFromArgs).

    >>> detect(["python3", "-m", "dynamo.vllm"])
    ['vllm']
    """
    line = " ".join(words)
    if "dynamo." not in line:
        return []
    return [name for name in names() if get(name).module and _starts(get(name).module, line)]


def _starts(module: str, line: str) -> bool:
    """Python, then -m, then the module, in one command of a shell line; each search goes on where the one before ended."""
    for command in _SEPARATOR.split(line):
        python = _PYTHON.search(command)
        flag = _FLAG.search(command, python.end()) if python else None
        if flag and command.find(f"dynamo.{module}", flag.end()) >= 0:
            return True
    return False
