"""Files that people name: what cannot be read is a finding, never a traceback."""

from __future__ import annotations

from krm_fn.repository.files import reading
from tests.support.cases import cases

UNREADABLE = [("no such file", "missing.yaml"), ("a folder", ".")]


@cases("name", UNREADABLE)
def test_a_file_that_cannot_be_read_is_a_finding(tmp_path, name):
    path = str(tmp_path / name)
    (found,) = reading.read(path).results
    assert (found.severity, found.code, found.file) == ("error", "DYN011", path)


def test_a_file_that_can_be_read_is_none(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text("a: 1\n")
    assert reading.read(str(path)).results == []
