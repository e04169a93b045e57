"""Writes `schema.json` from the models and from the OpenAPI v3 documents of a kube-apiserver: `python -m krm_fn.api.generate`.

Not its business: what the schemas mean (`krm_fn.api.structural`). One definition stands on each line, so that a change can be reviewed.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from krm_fn.api import structural, table

DOCUMENTS = ("api/v1", "apis/apps/v1", "apis/autoscaling/v2")


def text(openapi: list[dict[str, Any]]) -> str:
    """The file's text, from OpenAPI v3 documents that together hold every native definition used (`DOCUMENTS`)."""
    return render(structural.table(structural.native_part(openapi), openapi[0]["info"]["version"]))


def render(content: dict[str, Any]) -> str:
    """A table as text, with a line for each kind and each definition."""
    parts = [f'"kubernetes":{_compact(content["kubernetes"])}']
    for part in ("kinds", "definitions"):
        lines = ",\n".join(f"{_compact(name)}:{_compact(entry)}" for name, entry in content[part].items())
        parts.append(f'"{part}":{{\n{lines}\n}}')
    return "{" + ",\n".join(parts) + "}\n"


def _compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def documents(get: Callable[[str], Any]) -> list[dict[str, Any]]:
    """The OpenAPI documents of an API server; `get` returns what is at a path."""
    return [get(f"/openapi/v3/{name}") for name in DOCUMENTS]


def main() -> None:
    """Write the table from the OpenAPI documents named, or, in a clone, from those of a kube-apiserver started for this."""
    parser = argparse.ArgumentParser(prog="python -m krm_fn.api.generate", description=main.__doc__)
    parser.add_argument("documents", nargs="*", type=Path, metavar="FILE", help="/openapi/v3/" + ", /openapi/v3/".join(DOCUMENTS))
    files = parser.parse_args().documents
    found = [json.loads(path.read_text("utf-8")) for path in files] if files else _served()
    Path(table.FILE).write_text(text(found), "utf-8")


def _served() -> list[dict[str, Any]]:
    from tests.testbed import control_plane, programs  # noqa: PLC0415 - only a clone has them

    needed = control_plane.Programs(*(programs.path(name) for name in ("etcd", "kube-apiserver", "kubectl")))
    with tempfile.TemporaryDirectory() as folder, control_plane.running(Path(folder), needed) as plane:
        return documents(plane.client.get)


if __name__ == "__main__":
    main()
