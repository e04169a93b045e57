"""Writes the pages of docs/errors, one for each code, from the texts in the package (`krm_fn.schemas.finding_pages`)."""

from __future__ import annotations

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

from krm_fn.schemas import finding_pages

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "errors"
_INDEX = """\
# Codes

A code never changes its meaning. [Findings](../errors.md) explains how findings are printed; `krm-fn explain CODE` prints these pages,
and `krm-fn explain NAME` does the same.

| code | name | title |
|---|---|---|
"""


def made() -> dict[Path, str]:
    """The text of each file in the folder: a page for each code, and the index."""
    rows = [f"| [{code}]({code}.md) | {finding_pages.name(code)} | {page.title} |\n" for code, page in finding_pages.pages().items()]
    pages = {FOLDER / f"{code}.md": f"{finding_pages.markdown(code)}\n{_rule(code)}\n" for code in finding_pages.CONSTANTS}
    return {FOLDER / "README.md": _INDEX + "".join(rows), **pages}


def _rule(code: str) -> str:
    """The line of a page with links to the modules that report a code."""
    return f"Rule: {', '.join(f'[{name}](../../{name})' for name in _modules()[finding_pages.CONSTANTS[code]])}"


@cache
def _modules() -> dict[str, list[str]]:
    """The modules that report each constant, as paths in the repository."""
    modules = defaultdict(list)
    for file in sorted((ROOT / "krm_fn").rglob("*.py")):
        for constant in reported(ast.parse(file.read_text("utf-8"))):
            modules[constant].append(file.relative_to(ROOT).as_posix())
    return modules


def reported(tree: ast.Module) -> set[str]:
    """The constants of `codes` that a module reports, not those that it compares with the codes of findings, or names in a message.

    >>> reported(ast.parse("_A, _B = codes.A, codes.B; _C = (_B, codes.C); error(_A) or code == codes.D or code in _C"))
    {'A'}
    """
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    attributes = [
        node for node in parents if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "codes"
    ]

    def is_compared(node: ast.AST) -> bool:
        child, parent = node, parents[node]
        while isinstance(parent, (ast.Tuple, ast.Set, ast.BinOp, ast.Starred)) and not isinstance(parents[parent], ast.Return):
            node, child, parent = child, parent, parents[parent]
        if isinstance(parent, ast.Assign):
            target = parent.targets[0]
            if isinstance(target, ast.Tuple) and isinstance(child, ast.Tuple):
                target = next(entry for entry, value in zip(target.elts, child.elts, strict=True) if value is node)
            elif child is not node:  # a list of codes
                return True
            uses = [use for use in parents if isinstance(use, ast.Name) and use.id == getattr(target, "id", "") and use is not target]
            return bool(uses) and all(is_compared(use) for use in uses)
        if isinstance(parent, ast.Dict):  # messages by code are in a variable
            return not isinstance(parents[parent], (ast.Assign, ast.AnnAssign))
        return isinstance(parent, (ast.Compare, ast.FormattedValue))

    return {node.attr for node in attributes if not is_compared(node)}


def main() -> None:
    """Write these files and remove all others in the folder."""
    files = made()
    FOLDER.mkdir(exist_ok=True)
    for stale in sorted({*FOLDER.iterdir()} - files.keys()):
        stale.unlink()
    for path, text in files.items():
        path.write_text(text, "utf-8")
    print(f"{len(files)} files in {FOLDER.name}")


if __name__ == "__main__":
    main()
