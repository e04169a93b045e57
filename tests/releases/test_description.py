"""A release is of one version and one commit."""

from __future__ import annotations

import subprocess
import sys

import pytest
from release import artifacts, description

import krm_fn
from tests.testbed import programs


def test_the_version_is_that_of_the_clone():
    assert description.describe(version=krm_fn.__version__).version == krm_fn.__version__
    with pytest.raises(description.ReleaseError, match="VERSION is 99"):
        description.describe(version="99.0.0")


@pytest.mark.slow  # clones the repository
def test_changed_files_are_refused(tmp_path):
    """A release names its commit, so its files must be those of the commit."""
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", "--depth=1", f"file://{programs.ROOT}", clone], check=True, capture_output=True)
    description.require_commit(clone)
    (clone / "README.md").write_text("changed")
    with pytest.raises(description.ReleaseError, match=r"commit these files first.*: README\.md"):
        description.require_commit(clone)


def test_a_folder_with_files_is_refused(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(description.ReleaseError, match="is not empty"):
        artifacts.build(description.describe(), tmp_path)


def test_an_error_has_no_traceback():
    command = [sys.executable, "-m", "release", "--version=99.0.0"]
    refused = subprocess.run(command, cwd=programs.ROOT, env={"PYTHONPATH": "tools"}, capture_output=True, text=True, check=False)
    assert refused.returncode == 1
    assert refused.stderr.startswith("error: VERSION is 99.0.0")
