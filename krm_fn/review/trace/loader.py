"""Loads the core a second time, rewritten, beside the ordinary one.

Modules have one of three forms in the second core. Most are rewritten. The functions of a border, such as a hash, run on plain values, and
their results get the marks of their arguments. Modules whose values never reach an object are loaded as they are.
"""

from __future__ import annotations

import ast
import json
import re
import shlex
import sys
from contextlib import contextmanager
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import PathFinder, SourceFileLoader
from types import FunctionType, ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

from krm_fn.review.trace import rewrite, runtime
from krm_fn.review.trace.marks import RuleMark

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from importlib.machinery import ModuleSpec
    from types import CodeType

_PACKAGE = __name__.partition(".")[0]
_FOLDER = __file__.removesuffix("review/trace/loader.py").rstrip("/").removesuffix(_PACKAGE)

_PLAIN = (
    *("api", "builds", "codes", "config", "generate", "records", "registry", "report", "results", "schema", "validation"),
    *("kube.admission", "kube.container_types", "kube.identity", "kube.paths", "kube.types"),
)
"""Modules whose constants are no rule: they check, or they hold names that other modules use."""

_MADE = ("schema.defaults",)
"""Modules in those packages that make values all the same."""

_NAMES = ("kube.labels",)
"""Modules of names: their texts are no rule, only the mappings in them."""

BORDERS = ("generation", "kube.digest", "kube.duration", "kube.go_json", "kube.quantity", "kube.size", "kube.version", "yamlio.emitter")
"""Modules that compute on plain values: hashes, quantities, JSON as Go writes it."""

_RUNTIME: dict[str, Any] = {
    "_trace_assign": runtime.assign,
    "_trace_comprehension": runtime.comprehension,
    "_trace_converted": runtime.converted,
    "_trace_joined": runtime.joined,
    "_trace_kind": runtime.kind,
    "_trace_mapping": runtime.mapping,
    "_trace_placed": runtime.placed,
    "_trace_returned": runtime.returned,
    "_trace_shown": runtime.shown,
    "_trace_spread": runtime.SPREAD,
    "_trace_uncached": runtime.uncached,
    "_trace_whole": runtime.whole,
}
_second: dict[str, ModuleType] = {}


def _marking(function: Callable[..., Any]) -> Any:
    return runtime.border(function, None)


_FOREIGN: dict[int, Any] = {
    id(json): SimpleNamespace(dumps=_marking(json.dumps), loads=_marking(json.loads), load=json.load, JSONDecodeError=json.JSONDecodeError),
    id(shlex): SimpleNamespace(join=_marking(shlex.join), quote=_marking(shlex.quote), split=_marking(shlex.split)),
    id(shlex.quote): _marking(shlex.quote),
    id(shlex.join): _marking(shlex.join),
    id(re.sub): _marking(re.sub),
}
"""Functions of the standard library that make texts, by the id of the name that a module imports."""


@contextmanager
def core() -> Iterator[Callable[[str], ModuleType]]:
    """Makes the second core the one that imports find, and yields the function that imports a module of it by its full name.

    The ordinary modules come back at the end. The second core is loaded once for a process.
    """
    own = _loaded()
    for name in own:
        del sys.modules[name]
    sys.modules.update(_second)
    finder = _Finder()
    sys.meta_path.insert(0, finder)
    try:
        yield import_module
    finally:
        sys.meta_path.remove(finder)
        _second.update(_loaded())
        for name in _second:
            sys.modules.pop(name, None)
        sys.modules.update(own)


def _loaded() -> dict[str, ModuleType]:
    return {name: module for name, module in sys.modules.items() if name == _PACKAGE or name.startswith(f"{_PACKAGE}.")}


class _Finder(MetaPathFinder):
    """Finds the modules of the package only, each with the loader of its form."""

    def find_spec(self, fullname: str, path: Sequence[str] | None = None, _target: ModuleType | None = None) -> ModuleSpec | None:
        """The specification of a module; None for modules of other packages."""
        first, _, name = fullname.partition(".")
        if first != _PACKAGE:
            return None
        spec = PathFinder.find_spec(fullname, path if name else [_FOLDER])
        plain = not name or (_is_in(name, _PLAIN) and name not in _MADE)
        if spec is not None and spec.origin is not None and not plain:
            spec.loader = (_Border if _is_in(name, BORDERS) else _Rewritten)(fullname, spec.origin)
        return spec


def _is_in(name: str, listed: tuple[str, ...]) -> bool:
    return any(name == each or name.startswith(f"{each}.") for each in listed)


class _Rewritten(SourceFileLoader):
    """Loads a module from its rewritten syntax tree."""

    def get_code(self, fullname: str) -> CodeType:
        """The code of the rewritten module. It is compiled anew, because compiled files hold the ordinary code."""
        path = self.get_filename(fullname)
        name = fullname.partition(".")[2]
        rewriter = rewrite.Rewriter(name, constants=name not in _NAMES)
        tree = ast.fix_missing_locations(rewriter.visit(ast.parse(self.get_data(path), path)))
        self._needs = {rewrite.CONSTANTS: rewriter.constants, rewrite.PLACES: rewriter.places}
        code: CodeType = compile(tree, path, "exec", dont_inherit=True)
        return code

    def exec_module(self, module: ModuleType) -> None:
        """Runs the module, and replaces the functions of the standard library that drop marks."""
        code = self.get_code(module.__name__)
        vars(module).update(_RUNTIME, **self._needs)
        exec(code, vars(module))  # noqa: S102 - the package's own code
        for name, value in list(vars(module).items()):
            if id(value) in _FOREIGN:
                setattr(module, name, _FOREIGN[id(value)])


class _Border(SourceFileLoader):
    """Loads a module as it is, with functions and methods that pass on the marks of their arguments."""

    def exec_module(self, module: ModuleType) -> None:
        """Runs the module, and wraps its public functions. They call the others with plain values."""
        super().exec_module(module)
        short = module.__name__.partition(".")[2]
        for name, value in [each for each in vars(module).items() if not each[0].startswith("_")]:
            if isinstance(value, type) and value.__module__ == module.__name__ and not issubclass(value, tuple):
                for method, function in list(vars(value).items()):
                    if isinstance(function, FunctionType) and not method.startswith("_"):
                        setattr(value, method, runtime.border(function, _mark(short, function)))
            elif callable(value) and hasattr(value, "__wrapped__") and value.__module__ == module.__name__:
                setattr(module, name, runtime.border(value, _mark(short, value.__wrapped__)))
            elif isinstance(value, FunctionType) and value.__module__ == module.__name__:
                setattr(module, name, runtime.border(value, _mark(short, value)))


def _mark(module: str, function: Callable[..., Any]) -> RuleMark:
    return RuleMark(module, function.__qualname__, function.__code__.co_firstlineno)
