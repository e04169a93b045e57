"""Builds the platform manifests with kustomize: one YAML file of the platform, and one of the syncer."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import programs
import yaml
from release.description import Release, ReleaseError

PARTS = {"krm-fn-platform": ".", "krm-fn-sync": "platform/syncer"}
"""File names of manifests, without version, by the folder that kustomize builds."""


def build(release: Release, source: Path, out: Path) -> list[Path]:
    """Writes the YAML files into `out`, and returns their paths."""
    files = []
    for name, folder in PARTS.items():
        file = out / f"{name}-{release.version}.yaml"
        file.write_text(kustomize_build(source / folder))
        files.append(file)
    return files


def kustomize_build(folder: Path) -> str:
    """Runs the pinned kustomize. Raises ReleaseError with its message."""
    answer = subprocess.run([str(program("kustomize")), "build", str(folder)], capture_output=True, text=True, check=False)
    if answer.returncode:
        raise ReleaseError(f"kustomize build {folder}: {answer.stderr.strip()}")
    return answer.stdout


def objects(folder: Path) -> list[dict[str, Any]]:
    """The objects that kustomize builds from a folder."""
    return list(yaml.load_all(kustomize_build(folder), Loader=yaml.CSafeLoader))


def program(name: str) -> Path:
    """The path of a program of `make tools` or `make tools-release`. Raises ReleaseError if it is missing."""
    wanted = next(entry for entry in programs.ALL if entry.name == name)
    result = programs.find(wanted)
    if isinstance(result, programs.Missing):
        raise ReleaseError(f"{name} is missing: {result.reason}; `make {wanted.target}` builds it")
    return result.path
