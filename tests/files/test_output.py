"""File names of rendered resources: each its own, whatever resources are called, and none that leads out of the folder."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krm_fn.files import output


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


@pytest.mark.parametrize(("reason", "resources", "expected"), NAMES, ids=[row[0] for row in NAMES])
def test_names(reason, resources, expected):
    found = output.names(resources)
    assert list(found) == expected
    assert list(found.values()) == resources


TEXT = st.text(min_size=1, max_size=300) | st.sampled_from(["a", "A", "..", "/", "a_b", "a-b", "x" * 260, "X" * 260])


@given(st.lists(st.builds(resource, TEXT, TEXT, TEXT, TEXT), max_size=8))
def test_every_resource_has_a_file_of_its_own_in_the_folder(resources):
    found = output.names(resources)
    assert list(found.values()) == resources
    for name in found:
        assert re.fullmatch(r"[a-z0-9._-]{1,255}", name)
        assert not name.startswith(".")
        assert name.endswith(".yaml")


def test_what_is_ours_is_told_by_the_first_line(tmp_path):
    files = output.names([resource("Service", "a")])
    output.write(tmp_path, files)
    (tmp_path / "b.yaml").write_text(f"kind: Service\n{output.HEADER}")
    (tmp_path / "c.yaml").mkdir()
    assert output.ours(tmp_path) == {"service_a.yaml"}
    assert output.foreign(tmp_path, ["service_a.yaml", "b.yaml", "none.yaml"]) == ["b.yaml"]


def test_nothing_but_the_files_is_left_in_the_folder(tmp_path):
    output.write(tmp_path / "new", output.names([resource("Service", "a"), resource("Service", "b")]))
    assert {path.name for path in (tmp_path / "new").iterdir()} == {"service_a.yaml", "service_b.yaml"}
