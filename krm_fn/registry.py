"""Registries: a folder is a registry, and each file in it is an entry: `get(backends, "vllm")` is `krm_fn/manifests/backends/vllm.py`.

The `__init__` of the package defines the interface of its entries.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import import_module
from os import listdir
from types import ModuleType

_HERE = __file__.removesuffix("registry.py")


@cache
def entries(package: ModuleType) -> tuple[str, ...]:
    """The names of a package's modules and folders, sorted, without those that start with an underscore."""
    return _listed(package.__path__)


@cache
def entries_of(name: str) -> tuple[str, ...]:
    """The entries of a package of krm_fn by its name, for example `manifests.backends`. The package is not imported.

    Modules in a layer below that package use this. Raises FileNotFoundError for an unknown package.
    """
    return _listed([_HERE + name.replace(".", "/")])


@cache
def get(package: ModuleType, name: str) -> ModuleType:
    """The module of one entry. No other entry is imported.

    Raises KeyError for a name that is not in the folder.
    """
    if name not in entries(package):
        raise KeyError(name)
    return import_module(f"{package.__name__}.{name}")


def _listed(folders: Iterable[str]) -> tuple[str, ...]:
    found = {
        entry.removesuffix(".py")
        for folder in folders
        for entry in listdir(folder)  # noqa: PTH208 - pathlib would cost more than everything else here
        if (entry.endswith(".py") or "." not in entry) and not entry.startswith("_")
    }
    return tuple(sorted(found))
