"""Builds the playground: `make playground`. It is a folder of files that any web server can serve, and a page of the site.

The Python packages are those of this tree and of the virtual environment: krm-fn, the part of PyYAML in Python, and click. npm brings the
others in the versions of `tools/playground/package-lock.json`.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import krm_fn

ROOT = Path(__file__).parents[1]
HERE = ROOT / "tools" / "playground"
EXAMPLES = ROOT / "examples"
_INPUTS = ("graph.yaml", "request.yaml")
_FIRST = "agg-vllm"
_NO_DATA = (".md", ".pyc")
_LIBRARY = "python_stdlib.zip"
_DATE = (2020, 1, 1, 0, 0, 0)
"""The date of all files in the archive, so that the same files give the same bytes."""


class BuildError(Exception):
    """A program failed. The message has its output."""


def main() -> int:
    """Exit code 0, or 1 after printing the reason."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "playground", help="the folder, which is replaced")
    options = parser.parse_args()
    try:
        build(options.output)
    except BuildError as problem:
        print(problem, file=sys.stderr)
        return 1
    size = sum(path.stat().st_size for path in options.output.rglob("*") if path.is_file())
    print(f"{options.output}: {size / 1e6:.1f} MB")
    return 0


def build(output: Path) -> None:
    """Writes the folder. Raises BuildError."""
    install_packages()
    partial = output.with_name(output.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    shutil.copytree(HERE / "page", partial)
    _write_archive(partial / "python.zip", _packages())
    _write_library(partial / "pyodide" / _LIBRARY)
    (partial / "examples.json").write_text(json.dumps(examples(), ensure_ascii=False), "utf-8")
    (partial / "schema.json").write_bytes(_run([sys.executable, "-m", "krm_fn", "schema"]))
    _run([_node(), str(HERE / "build.mjs"), str(partial.resolve()), krm_fn.__version__])
    shutil.rmtree(output, ignore_errors=True)
    partial.rename(output)


def install_packages() -> None:
    """Installs the npm packages in the versions of the lock file, without their scripts, unless they are installed. Raises BuildError."""
    lock, mark = HERE / "package-lock.json", HERE / "node_modules" / ".installed"
    if mark.exists() and mark.read_text("utf-8") == lock.read_text("utf-8"):
        return
    npm = shutil.which("npm")
    if npm is None:
        raise BuildError("npm is not on the PATH; Debian's package npm has it")
    _run([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"], HERE)
    mark.write_text(lock.read_text("utf-8"), "utf-8")


def _write_archive(target: Path, files: dict[str, Path]) -> None:
    """Writes an archive of files by their names in it."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, path in sorted(files.items()):
            entry = zipfile.ZipInfo(name, _DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, path.read_bytes())


def _packages() -> dict[str, Path]:
    """Returns the files of the Python packages, with their licences."""
    folder = Path(krm_fn.__file__).parent
    paths = (path for path in folder.rglob("*") if path.is_file() and path.suffix not in _NO_DATA)
    files = {path.relative_to(folder.parent).as_posix(): path for path in paths}
    files["playground_requests.py"] = HERE / "python" / "playground_requests.py"
    for package in ("PyYAML", "click"):
        for file in importlib.metadata.files(package) or ():
            if file.suffix == ".py" or "licens" in file.as_posix().lower():
                files[file.as_posix()] = Path(str(file.locate()))
    return files


def _write_library(target: Path) -> None:
    """Writes Python's standard library, compiled. Pyodide brings its sources, and would compile each module at each start of the page."""
    target.parent.mkdir()
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(HERE / "node_modules" / "pyodide" / _LIBRARY) as sources:
            sources.extractall(folder)
        _run([_node(), str(HERE / "compile_library.mjs"), folder])
        files = {path.relative_to(folder).as_posix(): path for path in Path(folder).rglob("*") if path.is_file()}
        _write_archive(target, {name: path for name, path in files.items() if not name.endswith(".py")})


def examples() -> list[dict[str, str]]:
    """Returns the examples with a graph or a request and its configuration, the simplest first."""
    listed = []
    for folder in sorted(EXAMPLES.iterdir(), key=lambda path: (path.name != _FIRST, path.name)):
        graph = next((folder / name for name in _INPUTS if (folder / name).exists()), None)
        if graph is None or (folder / "kustomization.yaml").exists():
            continue
        settings = folder / "config.yaml"
        heading = re.search(r"(?m)^# (.+)$", (folder / "README.md").read_text("utf-8"))
        listed.append(
            {
                "name": folder.name,
                "title": heading[1].replace("`", "") if heading else folder.name,
                "graph": graph.read_text("utf-8"),
                "settings": settings.read_text("utf-8") if settings.exists() else "",
                "old": "",
            }
        )
    return listed


def _node() -> str:
    node = shutil.which("node")
    if node is None:
        raise BuildError("node is not on the PATH; Debian's package nodejs has it")
    return node


def _run(command: list[str], folder: Path = ROOT) -> bytes:
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode:
        output = (done.stdout + done.stderr).decode(errors="replace")
        raise BuildError(f"{' '.join(command)} failed:\n{output[-4000:]}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
