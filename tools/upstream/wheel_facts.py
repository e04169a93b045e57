"""Reads facts from the wheels of a version of Dynamo that can matter for krm-fn, and compares those of two versions.

It reads the sources and the compiled library, so it needs no dependency of the wheels. It executes the sidecars only, whose parsers are
compiled. It sees a flag of another program only where the source adds it with a literal name.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import yaml
from engines import installation

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Facts = dict[str, dict[str, str]]
"""For each subject, such as `flags`, the facts by their ids. A value, such as the default of a flag, may be empty."""

_ADDS_FLAG = re.compile(r"add_(negatable_bool_)?argument$")
_VARIABLE = re.compile(rb"(?:DYN|DYNAMO)_(?:(?!DYN_)[A-Z0-9_])+")
_CUSTOM = re.compile(r"(get|list|patch|create|delete|replace)_(?:namespaced|cluster)_custom_object(_scale|_status)?$")
_CORE = re.compile(r"(get|read|list|patch|create|delete|replace)_namespaced_([a-z_]+)$")


def installed(version: str) -> Facts:
    """Returns the facts of the wheels `ai-dynamo` and `ai-dynamo-runtime` of a version, which PyPI brings into the user's cache.

    Raises BuildError if PyPI has no such wheels.
    """
    return facts([installation.wheel(f"{package}=={version}") for package in ("ai-dynamo", "ai-dynamo-runtime")])


def facts(folders: list[Path]) -> Facts:
    """Returns the facts of unpacked wheels. Leaves out tests, which some wheels contain, and generated messages."""
    result: Facts = {"flags": {}, "variables": {}, "reads of the planner": {}, "rights of the planner": {}, "models": {}, "templates": {}}
    for folder in folders:
        for sidecar in sorted(folder.glob("dynamo/*/sidecar.py")):
            result["flags"] |= {f"dynamo.{sidecar.parent.name}.sidecar {flag}": "" for flag in _sidecar_flags(sidecar.parent.name, folders)}
        for file in sorted((folder / "dynamo").rglob("*")):
            path = file.relative_to(folder / "dynamo")
            if "tests" in path.parts or path.stem.endswith("_pb2") or not file.is_file():
                continue
            if file.suffix == ".py":
                _add_module(result, path, file.read_bytes())
            elif file.suffix == ".so":
                result["variables"] |= {name.decode(): "" for name in _VARIABLE.findall(file.read_bytes())}
            elif file.suffix in (".yaml", ".yml") and "templates" in path.parts:
                documents = [*yaml.safe_load_all(file.read_text())]
                result["templates"] |= {f"{path.with_suffix('')}: {key}": value for key, value in _leaves("", documents)}
    return result


def differences(before: Facts, after: Facts) -> list[str]:
    """Returns the lines of a report: for each subject the facts that were added (+), removed (-) or changed (~)."""
    lines = []
    for subject in before:
        old, new = before[subject], after[subject]
        if subject == "variables":
            old, new = _without_fragments(old, new), _without_fragments(new, old)
        changes = [f"+ {_shown(key, new)}" for key in sorted(new.keys() - old.keys())]
        changes += [f"- {_shown(key, old)}" for key in sorted(old.keys() - new.keys())]
        changes += [f"~ {key}: {old[key]} -> {new[key]}" for key in sorted(old.keys() & new.keys()) if old[key] != new[key]]
        if changes:
            lines += [f"## {subject}", *changes, ""]
    return lines


def _shown(key: str, values: dict[str, str]) -> str:
    return f"{key}: {values[key]}" if values[key] else key


def _without_fragments(names: dict[str, str], others: dict[str, str]) -> dict[str, str]:
    """Leaves out variables that both versions have.

    A compiled library holds its strings without separators, so a name can end with the first letters of the next string.
    """
    return {name: "" for name in names if name not in others and not any(_is_same_variable(name, other) for other in others)}


def _is_same_variable(name: str, other: str) -> bool:
    short, long = sorted((name, other), key=len)
    if len(short) == len(long):
        return short[:-1] == long[:-1]
    return long.startswith(short) and not long[len(short) :].startswith("_") and not short.endswith("_")


def _add_module(result: Facts, path: Path, source: bytes) -> None:
    tree = ast.parse(source)
    package = f"dynamo.{path.parts[0].removesuffix('.py')}"
    result["variables"] |= {name.decode(): "" for name in _VARIABLE.findall(source)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            result["flags"] |= dict(_flags(package, node))
        elif isinstance(node, ast.ClassDef) and any("BaseModel" in ast.unparse(base) for base in node.bases):
            result["models"] |= dict(_fields(package, node))
    if path.parts[0] == "planner":
        result["reads of the planner"] |= dict.fromkeys(_keys(tree), "")
        result["rights of the planner"] |= dict.fromkeys(_rights(tree), "")


def _flags(package: str, call: ast.Call) -> Iterator[tuple[str, str]]:
    """Yields the flags that a call adds to a parser, with their variable and default as the source writes them."""
    if not _ADDS_FLAG.search(ast.unparse(call.func)):
        return
    options = {keyword.arg: keyword.value for keyword in call.keywords}
    names = [*call.args, *([options["flag_name"]] if "flag_name" in options else [])]
    value = ", ".join(f"{key}={ast.unparse(options[key])}" for key in ("env_var", "default") if key in options)
    for name in names:
        if isinstance(name, ast.Constant) and isinstance(name.value, str) and name.value.startswith("--"):
            yield f"{package} {name.value}", value


def _sidecar_flags(engine: str, folders: list[Path]) -> list[str]:
    """Returns the flags that the help of a sidecar names. Raises CalledProcessError if it cannot start."""
    command = [sys.executable, "-P", "-m", f"dynamo.{engine}.sidecar", "--help"]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(map(str, folders))}
    text = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
    return re.findall(r"^\s+(--[a-z][a-z0-9-]*)", text, re.MULTILINE)


def _fields(package: str, model: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for node in model.body:
        if isinstance(node, ast.AnnAssign):
            yield f"{package} {model.name}.{ast.unparse(node.target)}", ast.unparse(node.annotation)


def _keys(tree: ast.Module) -> Iterator[str]:
    """Yields the literal keys that a module reads from mappings."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript):
            key: ast.expr | None = node.slice
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get" and node.args:
            key = node.args[0]
        else:
            continue
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            yield key.value


def _rights(tree: ast.Module) -> Iterator[str]:
    """Yields verbs and resources of the requests that a module sends with the client of Kubernetes."""
    constants = {
        target.id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }

    def literal(node: ast.expr | None) -> str:
        return str(constants.get(node.id, node.id)) if isinstance(node, ast.Name) else str(getattr(node, "value", "?"))

    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        options = {keyword.arg: keyword.value for keyword in node.keywords}
        if custom := _CUSTOM.match(node.func.attr):
            yield f"{custom[1]} {literal(options.get('plural'))}{(custom[2] or '').replace('_', '/')}"
        elif core := _CORE.match(node.func.attr):
            yield f"{core[1]} {core[2].replace('_', '')}s"
        elif node.func.attr == "call_api" and len(node.args) > 2 and isinstance(node.args[2], ast.Dict):
            parameters = {literal(key): value for key, value in zip(node.args[2].keys, node.args[2].values, strict=True)}
            yield f"{literal(node.args[1]).lower()} {literal(parameters.get('plural'))}"


def _leaves(path: str, value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, child in value.items():
            yield from _leaves(f"{path}.{key}" if path else str(key), child)
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield from _leaves(f"{path}[{index}]", child)
    else:
        yield path, str(value)
