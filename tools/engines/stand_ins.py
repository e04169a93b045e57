"""Stand-ins for GPU packages, so that the argument parsers of vLLM and SGLang import on a machine without GPUs and without torch.

A stand-in module has every attribute. An attribute is a class that can be called, subclassed, indexed and compared. No parser of a flag
depends on a value of these packages, except for those in `_VALUES`.
"""

from __future__ import annotations

import abc
import importlib.abc
import importlib.machinery
import sys
import types
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# Top-level packages, and modules of the engines that load compiled code.
_LIST = Path(__file__).with_name("stand_ins.txt")

# Devices that torch knows only with a vendor's plugin.
_ABSENT = frozenset({"torch.hpu", "torch.musa", "torch.npu"})


class _Class(abc.ABCMeta):
    """The class of stand-in classes: operators work on the class itself, as in `torch.Tensor | None`."""

    def __getattr__(cls, name: str) -> Any:
        if _is_special(name):
            raise AttributeError(name)
        return _class(name)

    def __or__(cls, _: object) -> Any:
        return cls

    def __ror__(cls, other: Any) -> Any:
        return other

    def __getitem__(cls, _: object) -> Any:
        return cls

    def __iter__(cls) -> Iterator[Any]:
        return iter(())

    def __len__(cls) -> int:
        return 0

    def __int__(cls) -> int:
        return 0

    def __lt__(cls, _: object) -> bool:
        return False

    def __gt__(cls, _: object) -> bool:
        return False

    def __le__(cls, _: object) -> bool:
        return True

    def __ge__(cls, _: object) -> bool:
        return True

    def _same(cls, *_: object) -> Any:
        return cls

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __floordiv__ = __mod__ = __pow__ = _same
    __and__ = __rand__ = __neg__ = __invert__ = _same


class StandIn(metaclass=_Class):
    """An object with every attribute. As a decorator it returns what it decorates."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def __init_subclass__(cls, **_: Any) -> None:
        """Any keyword: a subclass of a TypedDict has some."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Itself, or the decorated class or function."""
        decorates = len(arguments) == 1 and not options and callable(arguments[0])
        return arguments[0] if decorates else self

    def __getattr__(self, name: str) -> Any:
        if _is_special(name):
            raise AttributeError(name)
        return StandIn()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __getitem__(self, _: object) -> Any:
        return StandIn()

    def __bool__(self) -> bool:
        return False

    def __int__(self) -> int:
        return 0

    def __index__(self) -> int:
        return 0

    def __float__(self) -> float:
        return 0.0

    def __lt__(self, _: object) -> bool:
        return False

    def __gt__(self, _: object) -> bool:
        return False

    def __le__(self, _: object) -> bool:
        return True

    def __ge__(self, _: object) -> bool:
        return True

    def _same(self, *_: object) -> Any:
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __floordiv__ = __mod__ = __pow__ = _same
    __and__ = __rand__ = __or__ = __neg__ = __invert__ = _same

    @classmethod
    def __get_pydantic_core_schema__(cls, *_: object) -> Any:
        """Any value: a pydantic model of the engine may have a field of a GPU package's type."""
        return {"type": "any"}


# vLLM registers compiled operators with the schema that torch infers.
_VALUES: dict[str, Any] = {"torch.library.infer_schema": lambda *_, **__: "schema"}


class _Module(types.ModuleType):
    def __getattr__(self, name: str) -> Any:
        full = f"{self.__name__}.{name}"
        if name == "__version__":
            return "2.13.0"
        if _is_special(name) or full in _ABSENT:
            raise AttributeError(name)
        value = sys.modules.get(full) or _VALUES.get(full) or _class(name)
        setattr(self, name, value)
        return value


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, packages: frozenset[str]) -> None:
        self._packages = packages

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        parts = name.split(".")
        if any(".".join(parts[:length]) in self._packages for length in range(1, len(parts) + 1)):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return _Module(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        module.__path__ = []


def install() -> None:
    """Import stand-ins in place of the packages in `stand_ins.txt`, from now on, in this process."""
    sys.meta_path.insert(0, _Finder(frozenset(line for line in _LIST.read_text().splitlines() if line and not line.startswith("#"))))


def _class(name: str) -> Any:
    return _Class(name, (StandIn,), {})


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")
