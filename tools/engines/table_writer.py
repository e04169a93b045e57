"""Writes the table of one program: its flags over all releases, one flag a line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml
from engines import field_types, installation, value_types

FOLDER = Path(__file__).resolve().parents[2] / "krm_fn" / "review" / "arguments" / "tables"
_REPLACEMENTS = Path(__file__).with_name("replacements.yaml")
_RANGES = Path(__file__).with_name("ranges.yaml")
_MODULES = {"dynamo.planner": ["dynamo.planner", "dynamo.planner.planner_sla"]}
_ENGINES = {"dynamo.sglang": ("sglang", "sglang"), "dynamo.trtllm": ("tensorrt_llm", "tensorrt-llm"), "dynamo.vllm": ("vllm", "vllm")}


def write(program: str, measured: dict[str, dict[str, Any]]) -> Path:
    """Write the table of a program from the measurements of its releases, oldest first; returns its file."""
    file = FOLDER / f"{program}.json"
    FOLDER.mkdir(parents=True, exist_ok=True)
    file.write_text(text(table(program, measured)))
    return file


def table(program: str, measured: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The table of a program, as `krm_fn/review/arguments/flag_tables.py` reads it."""
    parsers: list[Any] = []
    rows = {}
    for release, measurement in measured.items():
        if measurement["parser"] not in parsers:
            parsers.append(measurement["parser"])
        rows[release] = _release(program, release) | {"parser": parsers.index(measurement["parser"])}
    named = _with_ranges(program, _with_newest_names(measured))
    names = sorted({name for flags in named.values() for name in flags})
    flags = {name: _shapes(name, named) for name in names}
    content = {"program": program, "modules": _MODULES.get(program, [program]), "releases": rows, "parsers": parsers, "flags": flags}
    return content | {"replacements": replacements(content), "configs": _configs(measured)}


def _with_ranges(program: str, named: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The flags of each release with the ranges of `ranges.yaml`. A measured bound wins, and choices need no range."""
    groups = [group for group in yaml.safe_load(_RANGES.read_text()) if program in group["programs"]]
    researched = {option: bounds for group in groups for option, bounds in group["flags"].items()}
    return {
        release: {
            name: {"range": _bounds(bounds, flag), **{key: value for key, value in flag.items() if key != "range"}}
            if (bounds := researched.get(name)) and "choices" not in flag
            else flag
            for name, flag in flags.items()
        }
        for release, flags in named.items()
    }


def _bounds(researched: dict[str, Any], flag: dict[str, Any]) -> dict[str, Any]:
    measured = flag.get("range", {})
    return {key: value for key, value in {**researched, **measured}.items() if key != "is_advice" or not measured}


def _configs(measured: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The JSON documents of flags: for each its facts, with an empty name, and its fields, each with one entry for each different shape."""
    by_release = {release: {name: _config(config) for name, config in found["configs"].items()} for release, found in measured.items()}
    names = sorted({name for configs in by_release.values() for name in configs})
    written = {}
    for name in names:
        entries = {release: configs.get(name, {}) for release, configs in by_release.items()}
        written[name] = {field: _shapes(field, entries) for field in sorted({field for fields in entries.values() for field in fields})}
    return written


def _config(config: dict[str, Any]) -> dict[str, Any]:
    """The facts of a document and the types of its fields."""
    fields: dict[str, Any] = {"": config["facts"]}
    for name, measured in config["fields"].items():
        type_ = field_types.settled(measured)
        fields[name] = {**({"is": type_} if type_ else {}), **({"required": True} if measured["required"] else {})}
    return fields


def replacements(content: dict[str, Any]) -> dict[str, Any]:
    """What to write in place of each option string that a release no longer accepts, from the parsers and from `replacements.yaml`.

    A parser that called a flag deprecated, and named its successor, is the source; `replacements.yaml` names the other sources.
    """
    researched = yaml.safe_load(_REPLACEMENTS.read_text())
    own = {option: entry for group in researched if content["program"] in group["programs"] for option, entry in group["flags"].items()}
    releases = list(content["releases"])
    accepted = {release: _accepted(content, releases, release) for release in releases}
    removed = {}
    for name, shapes in content["flags"].items():
        for shape in shapes:
            if "until" not in shape:
                continue
            since = releases[releases.index(shape["until"]) + 1]
            for option in sorted(set(options([shape], name)) - accepted[since]):
                if entry := own.get(option) or _from_parser(name, option, shape, exists=name in accepted[releases[-1]]):
                    removed[option] = {"since": since, **entry}
    return dict(sorted(removed.items()))


def _accepted(content: dict[str, Any], releases: list[str], release: str) -> set[str]:
    """All option strings of a release."""
    position = releases.index(release)
    shapes = [(name, shape) for name, own in content["flags"].items() for shape in own]
    return {
        option
        for name, shape in shapes
        if releases.index(shape["since"]) <= position <= releases.index(shape.get("until", releases[-1]))
        for option in options([shape], name)
    }


def _from_parser(name: str, option: str, shape: dict[str, Any], *, exists: bool) -> dict[str, str] | None:
    """What the parsers say of a removed option string: a flag that exists lost only this spelling, and a deprecated one names another."""
    text = shape.get("refused") or shape.get("deprecated", "")
    if exists and name != option:
        write = name if option not in shape.get("negations", []) else f"--no-{name[2:]}"
    elif text.startswith("write "):
        write = text.removeprefix("write ")
    else:
        return None
    return {"write": write, "source": f"the parser of {shape['until']}"}


def options(shapes: list[dict[str, Any]], name: str | None = None) -> list[str]:
    """All option strings of a flag in the last of these shapes."""
    return [*([name] if name else []), *shapes[-1].get("aliases", []), *shapes[-1].get("negations", [])]


def text(content: dict[str, Any]) -> str:
    """The bytes of a table: each flag, release and parser on a line of its own."""
    parts = []
    for key, value in content.items():
        if key in ("flags", "releases", "replacements", "configs"):
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


def _with_newest_names(measured: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The flags of each release, by the name that the newest release with them uses, if their own release accepts this name too."""
    newest: dict[str, str] = {}
    for measurement in reversed(measured.values()):
        for name, flag in measurement["flags"].items():
            for option in options([flag], name):
                newest.setdefault(option, name)
    return {
        release: dict(_renamed(name, flag, newest) for name, flag in measurement["flags"].items())
        for release, measurement in measured.items()
    }


def _renamed(name: str, flag: dict[str, Any], newest: dict[str, str]) -> tuple[str, dict[str, Any]]:
    new = newest[name]
    if new == name or new not in flag.get("aliases", []):
        return name, flag
    return new, flag | {"aliases": sorted({name, *flag["aliases"]} - {new})}


def _shapes(name: str, named: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """One entry for each different shape of a flag, with its first and its last release."""
    shapes: list[dict[str, Any]] = []
    newest = list(named)[-1]
    previous = None
    for release, flags in named.items():
        flag = flags.get(name)
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
