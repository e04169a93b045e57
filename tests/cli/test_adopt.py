"""`krm-fn adopt`: the files that it writes, what it prints, and its exit codes."""

from __future__ import annotations

import json

import pytest

from krm_fn.base.yaml import reader
from tests.cli import console
from tests.migration.adopt import test_adopt as exports
from tests.support import given

EXPORT = exports.exported(given.graph(exports.SERVICES), behaviour="v0.9", natsAddress="nats://nats:4222")


def listed(objects):
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})


def test_the_files_render_to_what_runs(tmp_path):
    done = console.run("adopt", "--output-dir", tmp_path / "chat", stdin=listed(EXPORT))
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[-1] == "2 of 2 pod templates the same, no restart"
    assert sorted(path.name for path in (tmp_path / "chat").iterdir()) == [
        "MIGRATION.md",
        "dynamographdeployment_chat.yaml",
        "kustomization.yaml",
        "render.yaml",
    ]
    folder = tmp_path / "chat"
    rendered = console.run("render", folder / "dynamographdeployment_chat.yaml", "--config", folder / "render.yaml")
    objects = {each.value["metadata"]["name"]: each.value for each in reader.read(rendered.out)[0] if each.value["kind"] == "Deployment"}
    assert objects == {each["metadata"]["name"]: each for each in EXPORT if each["kind"] == "Deployment"}


def test_one_list_for_each_kind_and_kinds_that_the_cluster_does_not_serve(tmp_path):
    lists = [listed([each for each in EXPORT if each["kind"] == kind]) for kind in sorted({each["kind"] for each in EXPORT})]
    done = console.run("adopt", "--output-dir", tmp_path, stdin="".join(f"---\n{each}\n" for each in ["", *lists, "", listed([])]))
    assert (done.code, done.err) == (0, "")


def test_a_difference_fails_and_the_files_are_written(tmp_path):
    export = json.loads(listed(EXPORT).replace("nats://nats:4222", "nats://old:4222", 1))["items"]
    done = console.run("adopt", "--output-dir", tmp_path, stdin=listed(export))
    assert done.code == 1
    assert "DYN568" in done.err
    assert (tmp_path / "render.yaml").exists()


@pytest.mark.parametrize(
    ("reason", "text", "code"),
    [
        ("a truncated export", listed(EXPORT)[:-200], "DYN004"),
        ("a table", "NAME   READY\nchat   1/1\n", "DYN565"),
        ("nothing", "", "DYN565"),
    ],
)
def test_an_unusable_export_writes_nothing(reason, text, code, tmp_path):
    done = console.run("adopt", "--output-dir", tmp_path / "new", stdin=text)
    assert done.code == 1
    assert f"error {code}" in done.err
    assert not (tmp_path / "new").exists()


def test_a_broken_export_prints_no_line_of_a_secret(tmp_path):
    text = f'apiVersion: v1\nkind: Secret\nmetadata: {{name: a}}\ndata:\n  token: {exports.PASSWORD}: "\n'
    done = console.run("adopt", "--output-dir", tmp_path / "new", stdin=text)
    assert done.code == 1
    assert exports.PASSWORD not in done.out + done.err


def test_files_of_users_stay(tmp_path):
    """Also those of other names: an older graph beside the adopted one would be rendered with it."""
    (tmp_path / "mine.yaml").write_text("mine")
    done = console.run("adopt", "--output-dir", tmp_path, stdin=listed(EXPORT))
    assert done.code == 1
    assert "has files; name an empty folder" in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.yaml"]


def test_a_new_repository_is_an_empty_folder(tmp_path):
    (tmp_path / ".git").mkdir()
    assert console.run("adopt", "--output-dir", tmp_path, stdin=listed(EXPORT)).code == 0


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    done = console.run("adopt", "--output-dir", tmp_path / "file" / "new", stdin=listed(EXPORT))
    assert done.code == 1
    assert "cannot write to" in done.err


def test_control_characters_of_values_reach_no_terminal(tmp_path):
    export = json.loads(listed(EXPORT))["items"]
    exports.container(exports.workload(export, "chat-worker")["spec"])["image"] = "a\x1b[2J\u202e"
    done = console.run("adopt", "--output-dir", tmp_path, stdin=listed(export))
    assert done.code == 1
    assert "DYN568" in done.err
    assert "\x1b" not in done.err + done.out
    assert "\u202e" not in done.err + done.out


def test_secrets_are_neither_written_nor_printed(tmp_path):
    done = console.run("adopt", "--output-dir", tmp_path, stdin=listed(EXPORT))
    said = done.out + done.err + "".join(path.read_text() for path in tmp_path.iterdir())
    assert exports.PASSWORD in listed(EXPORT)
    assert exports.PASSWORD not in said


def test_wrong_usage():
    assert console.run("adopt").code == 2
