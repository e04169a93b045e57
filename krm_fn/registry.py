"""A folder is a registry, a file name is a name: `get(backends, "vllm")` is `krm_fn/manifests/backends/vllm.py`.

Not its business: what an entry must offer; the package's own `__init__` says that.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from os import listdir
from types import ModuleType


@cache
def entries(package: ModuleType) -> tuple[str, ...]:
    """The names of a package's modules and folders, sorted, without those that start with an underscore."""
    found = {
        entry.removesuffix(".py")
        for folder in package.__path__
        for entry in listdir(folder)  # noqa: PTH208 - pathlib would cost more than everything else here
        if (entry.endswith(".py") or "." not in entry) and not entry.startswith("_")
    }
    return tuple(sorted(found))


@cache
def get(package: ModuleType, name: str) -> ModuleType:
    """The module of one entry. Only the one asked for is imported.

    Raises KeyError for a name that is not in the folder.
    """
    if name not in entries(package):
        raise KeyError(name)
    return import_module(f"{package.__name__}.{name}")
