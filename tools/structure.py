"""Prints figures about the structure of `krm_fn`: its size, its names, and the way of a render and of a forecast through its modules.

`python tools/structure.py [ROOT...]` measures one or more checkouts, one column each, so that two revisions can be compared.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import routes

WORDS = (
    *("found", "each", "place", "places", "spot", "made", "told", "said", "own", "kept", "who", "mend", "notes", "home", "learned"),
    *("book", "strata", "stratum", "assembly", "carriers", "pathway", "mirror", "subject", "verdict", "stamp", "markers", "denials"),
    *("leftovers", "unsaid", "sparse", "older", "newer", "lost", "border", "sighting", "setback", "picture", "refusal", "reference"),
)
"""Words that Kubernetes has a better term for. A name or a sentence should use the term."""

PARTICIPLE = r"_?([a-z]+ed|written|made|given|taken|shown|drawn|known|built|sent|kept|told|said|found|split|left|held|chosen|begun|done)"
"""Names of functions that a reader cannot search: the verb alone, in the form of a result."""


def measured(root: Path) -> dict[str, Any]:
    """The figures of the checkout at `root`, by their labels."""
    files = sorted((root / "krm_fn").rglob("*.py"))
    texts = {file.relative_to(root / "krm_fn"): file.read_text() for file in files}
    trees = {path: ast.parse(text) for path, text in texts.items()}
    return {**_rooms(trees), **_size(texts), **_names(trees), **_habits(texts, trees), **_words(texts), **_routes(root)}


def _rooms(trees: dict[Path, ast.Module]) -> dict[str, Any]:
    """Counts the rooms, the folders and modules at the top of the package, the arrows, imports between them, and the floors."""
    below: dict[str, set[str]] = {_room(path): set() for path in trees if path.parts != ("__init__.py",)}
    for path, tree in trees.items():
        if _room(path) in below:
            below[_room(path)] |= (_imported(tree) & below.keys()) - {_room(path)}
    floors: dict[str, int] = {}
    while ready := [room for room in below if room not in floors and below[room] <= floors.keys()]:
        floors |= {room: 1 + max((floors[target] for target in below[room]), default=0) for room in ready}
    return {
        "rooms": len(below),
        "arrows between rooms": sum(map(len, below.values())),
        "floors": max(floors.values()),
        "rooms in circles": len(below) - len(floors),
    }


def _room(path: Path) -> str:
    return path.parts[0].removesuffix(".py")


def _imported(tree: ast.Module) -> set[str]:
    names = [f"{node.module}.{alias.name}" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names]
    return {name.split(".")[1] for name in names if name.startswith("krm_fn.")}


def _size(texts: dict[Path, str]) -> dict[str, Any]:
    lines = Counter[str]()
    for path, text in texts.items():
        lines[path.parts[0] if len(path.parts) > 1 else "(root)"] += text.count("\n")
    counts = sorted(text.count("\n") for text in texts.values())
    figures = {
        "modules": len(texts),
        "median lines of a module": counts[len(counts) // 2],
        "largest module": counts[-1],
        "modules below 30 lines": sum(n < 30 for n in counts),
        "modules below 60 lines": sum(n < 60 for n in counts),
    }
    return {**figures, "lines": sum(lines.values()), **{f"lines of {room}": number for room, number in sorted(lines.items())}}


def _names(trees: dict[Path, ast.Module]) -> dict[str, Any]:
    """Counts names that several modules or classes have, and names of functions that say too little.

    The models of an API version are apart: they have the names of the API.
    """
    modules = Counter(_one_version(path.stem, path) for path in trees if not path.stem.startswith("__"))
    classes = Counter[str]()
    for path, tree in trees.items():
        classes.update({_one_version(node.name, path) for node in ast.walk(tree) if isinstance(node, ast.ClassDef)})
    return {
        "modules whose name is not unique": sum(number for number in modules.values() if number > 1),
        "class names that are not unique": sum(number > 1 for number in classes.values()),
        "private functions with one use": sum(map(_used_once, trees.values())),
        "functions that are a bare participle": sum(len(bare_participles(tree)) for tree in trees.values()),
    }


def bare_participles(tree: ast.Module) -> list[str]:
    """The names of functions and methods that are a bare participle. A property is not among them: its name describes a value.

    >>> bare_participles(ast.parse("def written(): ..."))
    ['written']
    """
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return [node.name for node in functions if re.fullmatch(PARTICIPLE, node.name) and not _is_property(node)]


def _is_property(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any("property" in ast.unparse(decorator) for decorator in node.decorator_list)


def _used_once(tree: ast.Module) -> int:
    """Counts the private functions at the top of a module that the module names once."""
    uses = Counter(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
    return sum(isinstance(node, ast.FunctionDef) and node.name.startswith("_") and uses[node.name] == 1 for node in tree.body)


def _one_version(name: str, path: Path) -> str:
    return f"{path.parent}: {name}" if "api" in path.parts else name


def _habits(texts: dict[Path, str], trees: dict[Path, ast.Module]) -> dict[str, Any]:
    inner = defaults = 0
    for tree in trees.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                inner += sum(isinstance(child, ast.Import | ast.ImportFrom) for child in ast.walk(node))
                values = [*node.args.defaults, *node.args.kw_defaults]
            else:
                values = [child.value for child in node.body if isinstance(child, ast.AnnAssign)] if isinstance(node, ast.ClassDef) else []
            defaults += sum(isinstance(value, ast.List | ast.Dict | ast.Set) for value in values)
    return {
        "lines with Any": _lines(texts, r"\bAny\b"),
        'lines with .get("': _lines(texts, r'\.get\("'),
        "TYPE_CHECKING blocks": _lines(texts, r"^if TYPE_CHECKING:"),
        "imports inside functions": inner,
        "mutable defaults": defaults,
    }


def _words(texts: dict[Path, str]) -> dict[str, Any]:
    return {f"lines with the word {word}": _lines(texts, rf"\b{word}\b") for word in WORDS}


def _lines(texts: dict[Path, str], pattern: str) -> int:
    return sum(bool(re.search(pattern, line)) for text in texts.values() for line in text.splitlines())


def _routes(root: Path) -> dict[str, Any]:
    """Calls through the modules, measured in a process that imports `krm_fn` from `root`."""
    command = [sys.executable, routes.__file__, str(root)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    figures: dict[str, Any] = json.loads(output)
    return figures


def main(roots: list[str]) -> None:
    """Prints a table with one column for each checkout; by default the present folder."""
    wrong = [root for root in roots if not (Path(root) / "krm_fn").is_dir()]
    if wrong:
        sys.exit(f"{wrong[0]} is not a checkout of krm-fn; usage: python tools/structure.py [ROOT...]")
    columns = [measured(Path(root).resolve()) for root in roots or ["."]]
    labels = dict.fromkeys(label for column in columns for label in column)
    for label in labels:
        print(f"{label:<50}", *(f"{column.get(label, '-'):>10}" for column in columns))


if __name__ == "__main__":
    main(sys.argv[1:])
