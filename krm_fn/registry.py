"""A folder is a registry, a file name is a name: `get(backends, "vllm")` is `krm_fn/manifests/backends/vllm.py`.

The package's own `__init__` says what an entry must offer.
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
    """The same for a package of krm_fn by its name, for example `manifests.backends`, without an import of it.

    A layer below that package learns its entries in this way. Raises FileNotFoundError for an unknown package.
    """
    return _listed([_HERE + name.replace(".", "/")])


@cache
def get(package: ModuleType, name: str) -> ModuleType:
    """The module of one entry. Only the module asked for is imported.

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
