"""Writes the bill of materials of the image as CycloneDX 1.6, and the licences of its Debian packages. Runs in the base image.

Scanners find the file by its suffix. The text has no date and no serial number, so that equal images have equal files.

    python3 tools/image/sbom.py ROOT
"""

from __future__ import annotations

import asyncio
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

NAME = "dynamo-krm-fn"
DOCUMENTS = Path("usr/share/doc")
PYTHON = (os.path.realpath(sys.executable), os.__file__, asyncio.__file__)  # files of Debian's three packages of Python

Component = dict[str, Any]


def main(root: Path) -> None:
    """Write the bill of materials, and the copyright files that Debian requires with its packages."""
    (library,) = root.glob("usr/local/bin/krm-fn.d/lib/python3*")
    python = {each["name"]: each for each in map(distribution, metadata.distributions(path=[str(library)]))}
    libraries = {f"*/{path.name}" for path in root.rglob("*.so.*")}
    tools = {f"*/bin/{path.name}" for path in (root / "usr" / "bin").iterdir()}
    debian = packages([*sorted(libraries | tools), *PYTHON])
    for package, _ in debian:
        texts = Path("/", DOCUMENTS, package, "copyright")
        if texts.exists():
            (root / DOCUMENTS / package).mkdir(parents=True)
            shutil.copy(texts, root / DOCUMENTS / package)
    target = root / DOCUMENTS / NAME / "sbom.cdx.json"
    target.parent.mkdir(parents=True)
    target.write_text(json.dumps(bill(python, [interpreter(), *(of_debian(*each) for each in debian)]), indent=2) + "\n")


def bill(python: dict[str, Component], others: list[Component]) -> dict[str, Any]:
    """The document: the project and its components."""
    project = python.pop(NAME) | {"type": "application"}
    parts = sorted([*python.values(), *others], key=lambda each: str(each["purl"]))
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": project},
        "components": parts,
        "dependencies": [{"ref": project["bom-ref"], "dependsOn": [each["bom-ref"] for each in parts]}],
    }


def component(kind: str, name: str, version: str, **more: object) -> Component:
    """A component. `kind` is the type of its package URL, with the namespace if it has one."""
    purl = f"pkg:{kind}/{name}@{version}"
    return {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl, **more}


def distribution(found: metadata.Distribution) -> Component:
    """The component of a Python package, with its name on PyPI."""
    name = re.sub(r"[-_.]+", "-", found.metadata["Name"]).lower()
    said = found.metadata["License-Expression"]
    named = found.metadata["License"]
    licences = [{"expression": said}] if said else [{"license": {"name": named}}] if named else []
    return component("pypi", name, found.version, **({"licenses": licences} if licences else {}))


def interpreter() -> Component:
    """The component of Python itself. On Debian, the entries of Debian's packages are more exact."""
    return component("generic", "python", platform.python_version(), licenses=[{"expression": "Python-2.0"}])


def packages(files: list[str]) -> list[tuple[str, str]]:
    """Name and version of each Debian package that owns one of the files; empty if the base is not Debian."""
    if not shutil.which("dpkg-query"):
        return []
    owned = subprocess.run(["dpkg-query", "-S", *files], capture_output=True, text=True, check=False).stdout
    owners = [line.partition(": /")[0].split(", ") for line in owned.splitlines() if not line.startswith("diversion")]
    names = sorted({owner.partition(":")[0] for each in owners for owner in each})
    asked = ["dpkg-query", "-W", "-f=${Package} ${Version}\n", *names]
    found = subprocess.run(asked, capture_output=True, text=True, check=True).stdout if names else ""
    return [(name, version) for name, version in (line.split() for line in found.splitlines())]


def of_debian(name: str, version: str) -> Component:
    """The component of a Debian package."""
    return component("deb/debian", name, version.replace("+", "%2B"))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
