"""Registries and data files of the package. They also work when the package is inside a zip archive.

A folder is a registry, and each file in it is an entry: `get(engines, "vllm")` is `krm_fn/render/engines/vllm.py`. The `__init__` of
the folder defines the interface of its entries.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import import_module
from os import listdir
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_HERE = __file__.removesuffix("base/registry.py")


@cache
def entries(package: ModuleType) -> tuple[str, ...]:
    """Returns the names of a package's modules and folders, sorted, without those that start with an underscore."""
    return _list_entries(package.__path__)


@cache
def entries_of(name: str) -> tuple[str, ...]:
    """Lists the entries of a package of krm_fn by its name, for example `render.engines`. The package is not imported.

    Modules in a layer below that package use this. Raises FileNotFoundError for an unknown package.
    """
    return _list_entries([_HERE + name.replace(".", "/")])


@cache
def get(package: ModuleType, name: str) -> ModuleType:
    """Returns the module of one entry. No other entry is imported.

    Raises KeyError for a name that is not in the folder.
    """
    if name not in entries(package):
        raise KeyError(name)
    return import_module(f"{package.__name__}.{name}")


def attribute(package: ModuleType, name: str) -> Any:
    """Returns an attribute of one entry, for example `job_rules.validate`. Raises KeyError for an entry that is not in the folder."""
    module, _, attribute_name = name.partition(".")
    return getattr(get(package, module), attribute_name)


def modules(package: ModuleType, names: Iterable[str]) -> list[ModuleType]:
    """Returns the modules of several entries. Raises KeyError for a name that is not in the folder."""
    return [get(package, name) for name in names]


def data(path: str) -> bytes:
    """Returns the content of a data file of krm_fn, for example `render/schema/schema.json`."""
    loader: Any = __spec__.loader
    content: bytes = loader.get_data(_HERE + path)
    return content


def _list_entries(folders: Iterable[str]) -> tuple[str, ...]:
    names = {name for folder in folders for name in _modules(folder) if not name.startswith("_")}
    return tuple(sorted(names))


def _modules(folder: str) -> list[str]:
    """Returns the names of the modules and folders in a folder."""
    try:
        files = listdir(folder)  # noqa: PTH208 - pathlib would cost more than everything else here
    except NotADirectoryError:  # the path leads into a zip archive
        from pkgutil import iter_modules  # noqa: PLC0415 - slower to import than a folder to list

        return [module.name for module in iter_modules([folder])]
    return [file.removesuffix(".py") for file in files if file.endswith(".py") or "." not in file]
