"""Loads the core a second time, rewritten, beside the ordinary one.

Modules have one of three forms in the second core. Most are rewritten. Functions that compute, such as a hash, run on plain values, and
their results get the marks of their arguments. Modules whose values never reach an object are loaded as they are.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

from krm_fn.origins import marked_values, rewritten_bytecode, tracing_runtime
from krm_fn.origins.origin import Origin

_PACKAGE = __name__.partition(".")[0]
_FOLDER = sys.modules[_PACKAGE].__path__[0].removesuffix(_PACKAGE).rstrip("/\\")
"""The folder, or the zip file, that holds the package."""

_PLAIN = (
    *(
        "schemas.api",
        "base.codes",
        "schemas.finding_pages",
        "render.config",
        "render.dynamo_api",
        "render.function_config",
        "schemas.generate",
        "base.records",
        "base.registry",
        "base.report",
        "base.results",
        "render.schema",
    ),
    "render.rules",
    *("kubernetes.api_server", "kubernetes.identity", "kubernetes.paths"),
)
"""Modules whose constants are no rule: they check, or they hold names that other modules use."""

_REWRITTEN = ("render.schema.schema_check", "render.schema.table")
"""Modules in those packages that are rewritten: they make values, or compare the types of values."""

_NAMES = ("render.labels",)
"""Modules of names: their texts are no rule, only the mappings in them."""

COMPUTING = (
    "kubernetes.digest",
    "kubernetes.duration",
    "kubernetes.go_json",
    "kubernetes.quantity",
    "kubernetes.version",
    "render.convert.reconverted_services",
    "render.resolve.v1_worker_hash",
    "render.resolve.worker_hash",
    "base.yaml.emitter",
)
"""Modules that compute on plain values: hashes, quantities, JSON as Go writes it."""

_RULES, _SILENT = "render.rules", ("check_graph", "check_together")
"""The functions of this package yield findings, which the second core does not report: an explained resource has been checked."""

_RUNTIME: dict[str, Any] = {
    "_trace_assign": tracing_runtime.assign,
    "_trace_comprehension": tracing_runtime.comprehension,
    "_trace_convert_value": tracing_runtime.convert_value,
    "_trace_join_fstring": tracing_runtime.join_fstring,
    "_trace_kind": tracing_runtime.kind,
    "_trace_locations_of": tracing_runtime.locations_of,
    "_trace_mapping": tracing_runtime.mapping,
    "_trace_marked_constants": tracing_runtime.marked_constants,
    "_trace_mark_keywords": tracing_runtime.mark_keywords,
    "_trace_mark_result": tracing_runtime.mark_result,
    "_trace_format_value": tracing_runtime.format_value,
    "_trace_spread": tracing_runtime.SPREAD,
    "_trace_without_cache": tracing_runtime.without_cache,
    "_trace_whole": tracing_runtime.whole,
}
_second: dict[str, ModuleType] = {}


def _marking(function: Callable[..., Any]) -> Any:
    return tracing_runtime.on_plain_values(function, None)


_FOREIGN: dict[int, Any] = {
    id(json): SimpleNamespace(dumps=_marking(json.dumps), loads=_marking(json.loads), load=json.load, JSONDecodeError=json.JSONDecodeError),
    id(shlex): SimpleNamespace(join=_marking(shlex.join), quote=_marking(shlex.quote), split=_marking(shlex.split)),
    id(shlex.quote): _marking(shlex.quote),
    id(shlex.join): _marking(shlex.join),
    id(re.sub): _marking(re.sub),
}
"""Functions of the standard library that make texts, by the id of the name that a module imports."""


@contextmanager
def second_core() -> Iterator[Callable[[str], ModuleType]]:
    """Makes the second core the one that imports find, and yields the function that imports a module of it by its full name.

    The ordinary modules come back at the end. The second core is loaded once for a process.
    """
    ordinary = _loaded_modules()
    for name in ordinary:
        del sys.modules[name]
    sys.modules.update(_second)
    finder = _Finder()
    sys.meta_path.insert(0, finder)
    try:
        yield import_module
    finally:
        sys.meta_path.remove(finder)
        _second.update(_loaded_modules())
        for name in _second:
            sys.modules.pop(name, None)
        sys.modules.update(ordinary)


def _loaded_modules() -> dict[str, ModuleType]:
    return {name: module for name, module in sys.modules.items() if name == _PACKAGE or name.startswith(f"{_PACKAGE}.")}


class _Finder(MetaPathFinder):
    """Finds the modules of the package only, each with the loader of its form."""

    def find_spec(self, fullname: str, path: Sequence[str] | None = None, _target: ModuleType | None = None) -> ModuleSpec | None:
        """The specification of a module; None for modules of other packages."""
        first, _, name = fullname.partition(".")
        if first != _PACKAGE:
            return None
        spec = PathFinder.find_spec(fullname, path if name else [_FOLDER])
        if spec is None or spec.loader is None:
            return spec
        if name == _RULES:
            spec.loader = _SilentLoader(spec.loader)
        elif is_rewritten(name):
            spec.loader = _RewritingLoader(spec.loader)
        elif _is_in(name, COMPUTING):
            spec.loader = _ComputingLoader(spec.loader)
        return spec


def is_rewritten(name: str) -> bool:
    """True if the second core rewrites a module, by its name in the package; else it runs on plain values, or is loaded as it is."""
    is_plain = not name or (_is_in(name, _PLAIN) and name not in _REWRITTEN)
    return not is_plain and not _is_in(name, COMPUTING)


def stored_file(name: str, path: str, source: bytes) -> tuple[str, bytes]:
    """Returns the path and the content of the file with the bytecode of a rewritten module, by the path of its source."""
    return rewritten_bytecode.file_of(path), rewritten_bytecode.content(source, name, path, constants=name not in _NAMES)


def _is_in(name: str, modules: tuple[str, ...]) -> bool:
    return any(name == module or name.startswith(f"{module}.") for module in modules)


class _DelegatingLoader(Loader):
    """A loader that leaves all but the execution of a module to the loader of the package, which can be that of a zip file."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)


class _SilentLoader(_DelegatingLoader):
    """Loads a module as it is, with functions that find nothing."""

    def exec_module(self, module: ModuleType) -> None:
        """Runs the module, and replaces the functions."""
        self._loader.exec_module(module)
        vars(module).update(dict.fromkeys(_SILENT, _find_nothing))


def _find_nothing(*_arguments: object) -> tuple[()]:
    return ()


class _RewritingLoader(_DelegatingLoader):
    """Loads a module from its rewritten syntax tree."""

    def exec_module(self, module: ModuleType) -> None:
        """Runs the rewritten module, and replaces the functions of the standard library that drop marks."""
        name = marked_values.plain(module.__name__).partition(".")[2]  # the second core imports modules by marked names
        code = rewritten_bytecode.load(name, f"{module.__file__}", self._loader, constants=name not in _NAMES)
        vars(module).update(_RUNTIME)
        exec(code, vars(module))  # noqa: S102 - the package's own code
        for variable, value in list(vars(module).items()):
            if id(value) in _FOREIGN:
                setattr(module, variable, _FOREIGN[id(value)])


class _ComputingLoader(_DelegatingLoader):
    """Loads a module as it is, with functions and methods that pass on the marks of their arguments."""

    def exec_module(self, module: ModuleType) -> None:
        """Runs the module, and wraps its public functions. They call the others with plain values."""
        self._loader.exec_module(module)
        short = module.__name__.partition(".")[2]
        for name, value in [item for item in vars(module).items() if not item[0].startswith("_")]:
            if isinstance(value, type) and value.__module__ == module.__name__ and not issubclass(value, tuple):
                for method, function in list(vars(value).items()):
                    if isinstance(function, FunctionType) and not method.startswith("_"):
                        setattr(value, method, tracing_runtime.on_plain_values(function, _mark(short, function)))
            elif callable(value) and hasattr(value, "__wrapped__") and value.__module__ == module.__name__:
                setattr(module, name, tracing_runtime.on_plain_values(value, _mark(short, value.__wrapped__)))
            elif isinstance(value, FunctionType) and value.__module__ == module.__name__:
                setattr(module, name, tracing_runtime.on_plain_values(value, _mark(short, value)))


def _mark(module: str, function: Callable[..., Any]) -> Origin:
    return Origin("rule", (module, function.__qualname__))
