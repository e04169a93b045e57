"""Writes the table of one program: its flags over all releases, one flag a line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from engines import installation, value_types

FOLDER = Path(__file__).resolve().parents[2] / "krm_fn" / "arguments" / "tables"
_ENGINES = {"dynamo.sglang": ("sglang", "sglang"), "dynamo.trtllm": ("tensorrt_llm", "tensorrt-llm"), "dynamo.vllm": ("vllm", "vllm")}


def write(program: str, measured: dict[str, dict[str, Any]]) -> Path:
    """Write the table of a program from the measurements of its releases, oldest first; returns its file."""
    file = FOLDER / f"{program}.json"
    FOLDER.mkdir(parents=True, exist_ok=True)
    file.write_text(text(table(program, measured)))
    return file


def table(program: str, measured: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The table of a program, as `krm_fn/arguments/flag_tables.py` reads it."""
    parsers: list[Any] = []
    rows = {}
    for release, measurement in measured.items():
        if measurement["parser"] not in parsers:
            parsers.append(measurement["parser"])
        rows[release] = _release(program, release) | {"parser": parsers.index(measurement["parser"])}
    names = sorted({name for measurement in measured.values() for name in measurement["flags"]})
    flags = {name: _shapes(name, measured) for name in names}
    return {"program": program, "modules": [program], "releases": rows, "parsers": parsers, "flags": flags}


def text(content: dict[str, Any]) -> str:
    """The bytes of a table: each flag, release and parser on a line of its own."""
    parts = []
    for key, value in content.items():
        if key in ("flags", "releases", "replacements"):
            lines = [f"  {json.dumps(name)}: {_compact(entry)}" for name, entry in value.items()]
            parts.append(f" {json.dumps(key)}: {{\n" + ",\n".join(lines) + "\n }" if lines else f" {json.dumps(key)}: {{}}")
        elif key == "parsers":
            parts.append(f" {json.dumps(key)}: [\n" + ",\n".join(f"  {_compact(entry)}" for entry in value) + "\n ]")
        else:
            parts.append(f" {json.dumps(key)}: {_compact(value)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _release(program: str, release: str) -> dict[str, str]:
    if program not in _ENGINES:
        return {}
    field, name = _ENGINES[program]
    return {"engine": f"{name} {getattr(installation.releases()[release], field)}"}


def _shapes(name: str, measured: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """One entry for each different shape of a flag, with its first and its last release."""
    shapes: list[dict[str, Any]] = []
    newest = list(measured)[-1]
    previous = None
    for release, measurement in measured.items():
        flag = measurement["flags"].get(name)
        if flag is not None and (previous is None or flag != previous):
            shapes.append({"since": release, **_typed(flag)})
        if flag is not None and release != newest:
            shapes[-1]["until"] = release
        elif flag is not None:
            shapes[-1].pop("until", None)
        previous = flag
    return shapes


def _typed(flag: dict[str, Any]) -> dict[str, Any]:
    return {key: value_types.name(value) if key == "type" else value for key, value in flag.items()}


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
