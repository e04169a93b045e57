"""Follows the calls of a render and of a forecast through the modules of `krm_fn`, and prints figures about them as JSON.

`python tools/routes.py ROOT` imports `krm_fn` from the checkout at ROOT.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tempfile
from contextlib import chdir, redirect_stderr, redirect_stdout, suppress
from importlib import import_module
from inspect import CO_OPTIMIZED
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

EXAMPLE = "examples/v1beta1-agg-vllm/graph.yaml"
"""A graph of two components."""

FLOORS = {"cli": 3, "migration": 2, "review": 2, "repository": 2, "origins": 1, "files": 2, "provenance": 1, "krm": 1}
"""The folders above the core, with their layer: a higher number is a higher layer. The last three are those of older checkouts."""


class Call(NamedTuple):
    """A call from one module to another or to itself. `caller` is empty for a call from outside `krm_fn`."""

    caller: str
    module: str
    function: str


def calls(package: Path, run: Callable[[], object]) -> list[Call]:
    """The calls of functions in `package` while `run` runs, with their modules relative to the package."""
    prefix, recorded = f"{package}/", list[Call]()

    def record(frame: FrameType, event: str, _: object) -> None:
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(prefix) and frame.f_code.co_flags & CO_OPTIMIZED:  # no body of a module or class
            caller = frame.f_back
            while caller is not None and not caller.f_code.co_filename.startswith(prefix):
                caller = caller.f_back
            source = caller.f_code.co_filename.removeprefix(prefix) if caller else ""
            recorded.append(Call(source, file.removeprefix(prefix), frame.f_code.co_name))

    sys.setprofile(record)
    try:
        run()
    finally:
        sys.setprofile(None)
    return recorded


def render(root: Path) -> dict[str, Any]:
    """The calls of one render in a new process, the modules that they reach, and the calls that lead to another folder."""
    reader = _module("base.yaml.reader", "yamlio.reader")
    config, expand = _module("render.config", "config"), _module("render.expand", "expand")
    resources = [document.value for document in reader.read((root / EXAMPLE).read_text())[0]]
    recorded = calls(root / "krm_fn", lambda: expand.expand(resources, config.Config()))
    switches = sum(bool(call.caller) and _folder(call.caller) != _folder(call.module) for call in recorded)
    return {"render: calls": len(recorded), "render: modules": len({call.module for call in recorded}), "render: folder switches": switches}


def _module(*names: str) -> Any:
    """Imports a module of the checkout that is measured, by the first of its names that the checkout has."""
    for name in names:
        with suppress(ModuleNotFoundError):
            return import_module(f"krm_fn.{name}")
    raise ModuleNotFoundError(names[0])


def _folder(module: str) -> str:
    return module.rpartition("/")[0]


def forecast(root: Path) -> dict[str, Any]:
    """The modules above the core that `krm-fn diff --old HEAD` enters, the steps between them, and the steps up to a higher folder.

    `diff` is the whole command. It includes the start of the program, which imports modules, and the text of the report. `forecast` is the
    part from the first call that reads the states to the last call of the forecast.
    """
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        graph, text = Path("graph.yaml"), (root / EXAMPLE).read_text()
        graph.write_text(text)
        for arguments in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "first"]):
            subprocess.run(["git", *arguments], check=True)
        graph.write_text(text.replace("nvcr.io/", "example.com/"))
        recorded = calls(root / "krm_fn", _diff)
    modules = [call.module for call in recorded if call.module.split("/")[0] in FLOORS]
    first = next(index for index, module in enumerate(modules) if module.startswith(("repository/", "files/")))
    last = max(index for index, module in enumerate(modules) if module.startswith("review/forecast"))
    return {**_route("diff", modules), **_route("forecast", modules[first : last + 1])}


def _route(name: str, modules: list[str]) -> dict[str, Any]:
    """The figures of a route through modules, which are in the order of the calls."""
    route = [module for index, module in enumerate(modules) if not index or module != modules[index - 1]]
    floors = [FLOORS[module.split("/")[0]] for module in route]
    climbs = sum(after > before for before, after in pairwise(floors))
    return {f"{name}: modules": len(set(route)), f"{name}: steps": len(route), f"{name}: climbs": climbs}


def _diff() -> None:
    from krm_fn.__main__ import start  # noqa: PLC0415

    sys.argv = ["krm-fn", "diff", "--old", "HEAD", "graph.yaml"]
    with suppress(SystemExit), redirect_stdout(io.TextIOWrapper(io.BytesIO())), redirect_stderr(io.TextIOWrapper(io.BytesIO())):
        start()


def main(root: Path) -> None:
    """Prints all figures. The render comes first, because it includes what happens only once in a process."""
    sys.path.insert(0, str(root))
    print(json.dumps({**render(root), **forecast(root)}))


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
