"""Records the pictures of examples: `python -m tests.support.pictures [FOLDER]` writes them again, for review as a diff."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.cli import console
from tests.support import golden
from tests.testbed import programs

FOLDER = Path(__file__).parents[1] / "review" / "pictures"
FORMATS = {"mermaid": "mmd", "dot": "dot"}


def inputs() -> dict[str, list[str]]:
    """The arguments for each example: those of its render, or the recorded output of its build."""
    found: dict[str, list[str]] = {}
    for recording in golden.recordings():
        rendered = recording.command.startswith("krm-fn render")
        words = recording.command.split()[2:] if rendered else [str(recording.expected.relative_to(programs.ROOT))]
        found[recording.name] = [str(programs.ROOT / word) if "/" in word else word for word in words]
    return found


def main(folder: Path = FOLDER) -> None:
    """Write the pictures of all examples."""
    for name, arguments in inputs().items():
        for style, ending in FORMATS.items():
            (folder / f"{name}.{ending}").write_text(console.run("graph", "--format", style, *arguments).out)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
