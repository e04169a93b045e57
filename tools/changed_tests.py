"""Prints the test files for the changes since a git base: `make test CHANGED=1`.

A changed module selects the tests of its room (`tests/render/rules` for a module in `krm_fn/render/rules`), and all tests that import it.
If there are none, it selects the tests of the modules that import it, and so on. Any other changed file selects the tests of its room or
of its own folder, and those that contain its name with that of its folder.

Usage:

    python tools/changed_tests.py [--base main]       # the base is a branch or commit; uncommitted and new files count as changed
    python tools/changed_tests.py --files krm_fn/x.py # as if these files had changed
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import grimp

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from grimp import ImportGraph

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    """Print one test file a line; no line without a change."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", default="main", help="a branch or commit; default main")
    parser.add_argument("--without", nargs="*", default=[], help="folders whose tests have a make target of their own")
    parser.add_argument("--files", nargs="+", help="these files instead of those that git names")
    options = parser.parse_args()
    try:
        files = options.files or changed(options.base)
    except subprocess.CalledProcessError as problem:
        print(problem.stderr.strip(), file=sys.stderr)
        return 2
    found = [file for file in sorted(tests(files)) if not any(Path(file).is_relative_to(folder) for folder in options.without)]
    print("\n".join(found))
    return 0


def changed(base: str) -> list[str]:
    """Files that differ from the merge base of this branch and a base."""
    return [*_git("diff", "--name-only", "--merge-base", base), *_git("ls-files", "--others", "--exclude-standard")]


def _git(*words: str) -> list[str]:
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()


def tests(files: Iterable[str]) -> set[str]:
    """The test files for changed files."""
    sys.path.insert(0, str(ROOT))
    graph = grimp.build_graph("krm_fn", "tests", exclude_type_checking_imports=True, cache_dir=None)
    found: set[str] = set()
    for file in map(Path, files):
        module = ".".join(file.with_suffix("").parts).removesuffix(".__init__")
        if file.suffix == ".py" and file.parts[0] in ("krm_fn", "tests"):
            found |= _of_room(file) | _importing(graph, {module} & graph.modules) or nearest(graph, module)
        else:
            found |= _of_room(file) | set(_beside(file)) | set(_naming(file))
    return found


def nearest(graph: ImportGraph, module: str) -> set[str]:
    """Test files at the shortest distance from a module; for a removed module, those of its package."""
    while module not in graph.modules and "." in module:
        module = module.rpartition(".")[0]
    known, level, files = {module}, {module}, set[str]()
    while level and not files:
        files = _importing(graph, level)
        level = {importer for name in level for importer in graph.find_modules_that_directly_import(name)} - known
        known |= level
    return files


def _importing(graph: ImportGraph, modules: Iterable[str]) -> set[str]:
    """The test files among modules and their direct importers."""
    importers = {importer for name in modules for importer in (name, *graph.find_modules_that_directly_import(name))}
    return {_file(name) for name in importers if _is_test(name)}


def _of_room(file: Path) -> set[str]:
    """The test files of the package of a module."""
    if file.parts[0] != "krm_fn" or len(file.parts) < 3:
        return set()
    folder = ROOT.joinpath("tests", *file.parts[1:3])
    files = folder.rglob("test_*.py") if len(file.parts) > 3 else folder.parent.glob("test_*.py")
    return {str(path.relative_to(ROOT)) for path in files}


def _is_test(module: str) -> bool:
    return module.startswith("tests.") and module.rpartition(".")[2].startswith("test_")


def _file(module: str) -> str:
    return f"{module.replace('.', '/')}.py"


def _beside(file: Path) -> Iterator[str]:
    """The tests in the folder of a data file of the tests."""
    if file.parts[0] == "tests":
        yield from (str(path.relative_to(ROOT)) for path in (ROOT / file).parent.glob("test_*.py"))


def _naming(file: Path) -> Iterator[str]:
    """The tests that contain the name of a file, with that of its folder."""
    name = "/".join(file.parts[-2:])
    for path in (ROOT / "tests").rglob("test_*.py"):
        if name in path.read_text(encoding="utf-8"):
            yield str(path.relative_to(ROOT))


if __name__ == "__main__":
    sys.exit(main())
