"""Writes krm_fn/kube/go_fields.json, the order of fields in the Go structs of Kubernetes, with the program in tools/field-order."""

from __future__ import annotations

import subprocess
from pathlib import Path

import golang
import programs

FILE = Path(__file__).parents[1] / "krm_fn" / "kube" / "go_fields.json"


def made() -> str:
    """The text of the file. Builds the program if the cache does not hold it."""
    program = next(each for each in programs.ALL if each.name == "field-order")
    return subprocess.run([golang.build(program)], capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    FILE.write_text(made(), "utf-8")
    print(FILE.name)
