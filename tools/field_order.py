"""Writes krm_fn/kube/go_fields.json: the fields of a pod template's Go structs in their order, and the defaults of an API server for them.

The program in tools/field-order knows the order. The defaults are markers in the sources of Kubernetes. An API server writes them into
custom resources, because controller-gen copies them into definitions; it skips markers that refer to a constant.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import golang
import programs

FILE = Path(__file__).parents[1] / "krm_fn" / "kube" / "go_fields.json"
_TYPES = "core/v1/types.go"
_STRUCT = re.compile(r"^type (\w+) struct \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_MARKED = re.compile(r'// \+default=(?!ref\()(\S+)\n(?:\s*//[^\n]*\n)*[^\n]*json:"(\w+)')


def made() -> str:
    """The text of the file. Builds the program if the cache does not hold it."""
    program = next(each for each in programs.ALL if each.name == "field-order")
    ordered = json.loads(subprocess.run([golang.build(program)], capture_output=True, check=True).stdout)
    for struct, body in _STRUCT.findall((golang.sources(program, program.module) / _TYPES).read_text("utf-8")):
        for value, field in _MARKED.findall(body) if struct in ordered else ():
            ordered[struct][field] += "=" + value.strip('"')
    lines = (f'"{name}":{json.dumps(fields, separators=(",", ":"))}' for name, fields in ordered.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    FILE.write_text(made(), "utf-8")
    print(FILE.name)
