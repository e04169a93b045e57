"""Loads PyYAML's C parser without the rest of PyYAML, whose import takes longer than the render of a small list.

The C extension takes only error classes from the modules that are left out. Events, marks and their errors are PyYAML's own.
"""

from __future__ import annotations

import sys

_process = {"needs_all": True}


def use_alone() -> None:
    """Makes `prepare` load the C parser alone. Call this only in a process that needs no other part of PyYAML."""
    _process["needs_all"] = False


def prepare() -> None:
    """Loads the C parser alone after `use_alone`. Call this before an import of yaml that a render may need."""
    if not _process["needs_all"]:
        load()


def load() -> None:
    """Makes `yaml.error`, `yaml.events` and `yaml._yaml` importable without `yaml/__init__.py`.

    Does nothing if PyYAML is already loaded. If this PyYAML has no C extension or is built in another way, the loaded modules are removed
    again, and the first import loads all of PyYAML. Call this only in a process that needs no other part of PyYAML.
    """
    if "yaml" in sys.modules:
        return
    loaded = set(sys.modules)
    try:
        _load()
    except Exception:  # noqa: BLE001 - after any exception, the import of all of PyYAML still works
        for name in {*sys.modules} - loaded:
            if name.startswith("yaml."):
                del sys.modules[name]
    sys.modules.pop("yaml", None)


def _load() -> None:
    from importlib.machinery import PathFinder  # noqa: PLC0415

    spec = PathFinder.find_spec("yaml")
    if spec is None or not spec.submodule_search_locations:
        return
    package = sys.modules["yaml"] = type(sys)("yaml")
    package.__path__ = spec.submodule_search_locations
    from yaml import error, events, nodes, tokens  # noqa: F401, PLC0415 - bound to the package for the C extension

    for module in ("scanner", "parser", "composer", "constructor", "emitter", "serializer", "representer"):
        name = f"{module.title()}Error"
        setattr(package, module, type(module, (), {name: type(name, (error.MarkedYAMLError,), {})}))
    package.reader = type("reader", (), {"ReaderError": _reader_error(error.YAMLError)})  # type: ignore[attr-defined]
    import yaml._yaml  # noqa: F401, PLC0415


def _reader_error(base: type[Exception]) -> type[Exception]:
    class ReaderError(base):  # type: ignore[valid-type, misc]
        """A character that cannot stand in YAML, with the fields of `yaml.reader.ReaderError`."""

        def __init__(self, name: str, position: int, character: int, encoding: str, reason: str) -> None:
            super().__init__(reason)
            self.name, self.position, self.character, self.encoding, self.reason = name, position, character, encoding, reason

    return ReaderError
