"""Writes `schema.json` from the models and from the OpenAPI v3 documents of a kube-apiserver: `python -m krm_fn.api.generate FILE…`.

Not its business: what the schemas mean (`krm_fn.api.structural`). One definition stands on each line, so that a change can be reviewed.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from krm_fn.api import structural, table

DOCUMENTS = ("api/v1", "apis/apps/v1", "apis/autoscaling/v2")


def text(documents: list[dict[str, Any]]) -> str:
    """The file's text, from OpenAPI v3 documents that together hold every native definition used (`DOCUMENTS`)."""
    return render(structural.table(structural.native_part(documents), documents[0]["info"]["version"]))


def render(content: dict[str, Any]) -> str:
    """A table as text, with a line for each kind and each definition."""
    parts = [f'"kubernetes":{_compact(content["kubernetes"])}']
    for part in ("kinds", "definitions"):
        lines = ",\n".join(f"{_compact(name)}:{_compact(entry)}" for name, entry in content[part].items())
        parts.append(f'"{part}":{{\n{lines}\n}}')
    return "{" + ",\n".join(parts) + "}\n"


def _compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def main() -> None:
    """Reads the documents named on the command line and writes the table beside this file."""
    parser = argparse.ArgumentParser(prog="python -m krm_fn.api.generate", description=main.__doc__)
    parser.add_argument("documents", nargs="+", type=Path, metavar="FILE", help="/openapi/v3/" + ", /openapi/v3/".join(DOCUMENTS))
    given = parser.parse_args()
    Path(table.FILE).write_text(text([json.loads(path.read_text("utf-8")) for path in given.documents]), "utf-8")


if __name__ == "__main__":
    main()
