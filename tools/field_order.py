"""Writes the fields of the Go structs of Kubernetes in their order, with the program in tools/field-order.

`go_fields.json` has the structs of pod templates, which a render reads, and `go_kinds.json` the further structs of all other kinds.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import golang
import programs

_FOLDER = Path(__file__).parents[1] / "krm_fn" / "kubernetes"
FILES: dict[Path, tuple[str, ...]] = {_FOLDER / "go_fields.json": (), _FOLDER / "go_kinds.json": ("kinds",)}
"""The arguments of the program that prints each file."""


def main() -> None:
    """Write both files. Builds the program if the cache does not hold it."""
    program = golang.build(next(program for program in programs.ALL if program.name == "field-order"))
    for file, arguments in FILES.items():
        file.write_text(subprocess.run([program, *arguments], capture_output=True, text=True, check=True).stdout, "utf-8")
        print(file.name)


if __name__ == "__main__":
    main()
