"""Writes the provenance of a release, and the list of its checksums.

The statement follows in-toto's Statement v1 and the predicate of SLSA Provenance v1. It is not signed: on GitHub, the workflow of a release
attests the same files with a signature.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path

from release import archives
from release.description import Release

CHECKSUMS = "SHA256SUMS"
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "https://slsa.dev/provenance/v1"


def build(release: Release, files: Iterable[Path], out: Path) -> list[Path]:
    """Writes `provenance.intoto.json` about files, and `SHA256SUMS` of the files and the provenance. Returns both paths."""
    listed = sorted(files)
    statement, checksums = out / "provenance.intoto.json", out / CHECKSUMS
    statement.write_text(json.dumps(content(release, listed), indent=2) + "\n")
    sums = ((archives.digest(file.read_bytes()), file.name) for file in (*listed, statement))
    checksums.write_text("".join(f"{digest}  {name}\n" for digest, name in sums))
    return [statement, checksums]


def content(release: Release, files: Iterable[Path]) -> dict[str, object]:
    """The statement about files."""
    commit = {"uri": f"git+{release.repository}@refs/tags/{release.tag}", "digest": {"gitCommit": release.revision}}
    return {
        "_type": STATEMENT_TYPE,
        "subject": [{"name": file.name, "digest": {"sha256": archives.digest(file.read_bytes())}} for file in files],
        "predicateType": PREDICATE_TYPE,
        "predicate": {
            "buildDefinition": {
                "buildType": f"{release.repository}/blob/{release.tag}/docs/releasing.md",
                "externalParameters": {"version": release.version},
                "internalParameters": {"sourceDateEpoch": release.epoch, "python": ".".join(map(str, sys.version_info[:3]))},
                "resolvedDependencies": [commit],
            },
            "runDetails": {"builder": {"id": f"{release.repository}/blob/{release.tag}/Makefile"}},
        },
    }
