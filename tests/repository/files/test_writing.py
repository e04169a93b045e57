"""Folders of rendered resources: each resource has a file of its own, nothing outside is written, and a failure changes nothing."""

import os
import re
import shlex
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krm_fn.repository.files import writing
from tests.cli import console
from tests.support.cases import cases
from tests.testbed import programs


def resource(kind, name, namespace="", api_version="v1"):
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, **({"namespace": namespace} if namespace else {})}}


NAMES = [
    ("kind and name", [resource("Service", "a", "n")], ["service_a.yaml"]),
    ("two kinds", [resource("Service", "a"), resource("Secret", "a")], ["service_a.yaml", "secret_a.yaml"]),
    ("two namespaces", [resource("Service", "a", "m"), resource("Service", "a", "n")], ["service_m_a.yaml", "service_n_a.yaml"]),
    (
        "only those that need it",
        [resource("Service", "a", "m"), resource("Service", "b", "n"), resource("Service", "a", "n")],
        ["service_m_a.yaml", "service_b.yaml", "service_n_a.yaml"],
    ),
    (
        "two groups",
        [resource("Service", "a", "n"), resource("Service", "a", "n", "serving.example/v1")],
        ["service_n_a.yaml", "service.serving.example_n_a.yaml"],
    ),
    ("names that differ in case only", [resource("Role", "Admin"), resource("Role", "admin")], ["role_admin.yaml", "role_admin_2.yaml"]),
    ("a colon", [resource("ClusterRole", "system:node")], ["clusterrole_system-node.yaml"]),
    ("a way out", [resource("Secret", "../../etc/passwd")], ["secret_..-..-etc-passwd.yaml"]),
]


@cases(("reason", "resources", "expected"), NAMES)
def test_names(reason, resources, expected):
    found = writing.names(resources)
    assert list(found) == expected
    assert list(found.values()) == resources


TEXT = st.text(min_size=1, max_size=300) | st.sampled_from(["a", "A", "..", "/", "a_b", "a-b", "x" * 260, "X" * 260])


@given(st.lists(st.builds(resource, TEXT, TEXT, TEXT, TEXT), max_size=8))
def test_every_resource_has_a_file_of_its_own_in_the_folder(resources):
    found = writing.names(resources)
    assert list(found.values()) == resources
    for name in found:
        assert re.fullmatch(r"[a-z0-9._-]{1,255}", name)
        assert not name.startswith(".")
        assert name.endswith(".yaml")


def test_what_is_ours_is_told_by_the_first_line(tmp_path):
    files = writing.names([resource("Service", "a")])
    writing.write(tmp_path, files)
    (tmp_path / "b.yaml").write_text(f"kind: Service\n{writing.HEADER}")
    (tmp_path / "c.yaml").mkdir()
    assert writing.ours(tmp_path) == {"service_a.yaml"}
    assert writing.foreign(tmp_path, ["service_a.yaml", "b.yaml", "none.yaml"]) == ["b.yaml"]


def test_nothing_but_the_files_is_left_in_the_folder(tmp_path):
    writing.write(tmp_path / "new", writing.names([resource("Service", "a"), resource("Service", "b")]))
    assert {path.name for path in (tmp_path / "new").iterdir()} == {"service_a.yaml", "service_b.yaml"}


RESOURCES = [resource("ConfigMap", "a"), resource("ConfigMap", "b"), resource("ConfigMap", "c")]


@pytest.fixture
def victim(tmp_path):
    """A file outside of the folder that is written to."""
    file = tmp_path / "victim"
    file.write_text("mine")
    return file


def test_a_link_at_a_temporary_name_is_not_followed(tmp_path, victim):
    """The name that earlier versions wrote before they renamed it."""
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / ".configmap_a.yaml.new").symlink_to(victim)
    writing.write(folder, writing.names(RESOURCES))
    assert victim.read_text() == "mine"
    assert (folder / ".configmap_a.yaml.new").is_symlink()


@pytest.mark.parametrize("target", ["victim", "rendered", "missing"])
def test_a_link_in_place_of_a_file_is_not_ours(target, tmp_path, victim):
    """Not even if it leads to a file that a render wrote."""
    folder = tmp_path / "out"
    writing.write(tmp_path / "other", writing.names(RESOURCES))
    folder.mkdir()
    place = {"victim": victim, "rendered": tmp_path / "other" / "configmap_a.yaml", "missing": tmp_path / "none"}[target]
    (folder / "configmap_a.yaml").symlink_to(place)
    assert writing.foreign(folder, writing.names(RESOURCES)) == ["configmap_a.yaml"]
    assert writing.ours(folder) == set()


def test_a_named_pipe_in_place_of_a_file_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "configmap_a.yaml")
    done = console.program("render", "-", "--output-dir", str(tmp_path), stdin=CONFIG_MAP)
    assert done.code == 1
    assert f"{tmp_path}/configmap_a.yaml was not written by krm-fn" in done.err


CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"


def test_a_disk_that_is_full_changes_nothing(tmp_path):
    """With a real limit on the size of files, which the last of three files meets."""
    writing.write(tmp_path / "out", writing.names(RESOURCES))
    before = {path.name: path.read_text() for path in (tmp_path / "out").iterdir()}
    text = "---\n".join(
        CONFIG_MAP.replace("name: a", f"name: {name}") + f"data: {{x: {'x' * size}}}\n" for name, size in [("a", 1), ("c", 9000)]
    )
    (tmp_path / "in.yaml").write_text(text)
    program = f"{shlex.quote(sys.executable)} -m krm_fn render in.yaml --output-dir out"
    done = subprocess.run(
        ["bash", "-c", f"trap '' XFSZ; ulimit -f 4; {program}"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(programs.ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 1
    assert "cannot write to out: File too large" in done.stderr
    assert {path.name: path.read_text() for path in (tmp_path / "out").iterdir()} == before


@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_the_files_have_the_permissions_of_new_files(mask, tmp_path):
    before = os.umask(mask)
    try:
        writing.write(tmp_path / "out", writing.names(RESOURCES))
    finally:
        os.umask(before)
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "out").iterdir()} == {0o666 & ~mask}
