"""Two builds of a release have the same bytes."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.testbed import programs

BUILD = """\
import os, sys, pathlib
from release import artifacts, description
os.umask(0o077)
artifacts.build(description.describe(pathlib.Path(sys.argv[1])), pathlib.Path(sys.argv[2]))
"""


def test_a_build_in_another_clone_has_the_same_bytes(built, tmp_path):
    """The second build differs in folder, umask, time, time zone and language. Each file of the release is in SHA256SUMS."""
    clone = tmp_path / "a clone"
    subprocess.run(["git", "clone", "--quiet", programs.ROOT, clone], check=True, capture_output=True)
    for name in subprocess.run(
        ["git", "-C", programs.ROOT, "diff", "--name-only", "HEAD"], check=True, capture_output=True, text=True
    ).stdout.splitlines():
        (clone / name).write_bytes((programs.ROOT / name).read_bytes())
    environment = {**os.environ, "PYTHONPATH": str(clone / "tools"), "TZ": "Asia/Tokyo", "LC_ALL": "C", "PYTHONHASHSEED": "7"}
    subprocess.run([sys.executable, "-c", BUILD, clone, tmp_path / "second"], check=True, env=environment, cwd=tmp_path, timeout=600)
    first, second = ({file.name: file.read_bytes() for file in folder.iterdir()} for folder in (built.folder, tmp_path / "second"))
    assert first.keys() == second.keys()
    assert [name for name in first if first[name] != second[name]] == []
    listed = {line.split("  ")[1] for line in first["SHA256SUMS"].decode().splitlines()}
    assert listed == first.keys() - {"SHA256SUMS"}
    subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], check=True, cwd=built.folder)
