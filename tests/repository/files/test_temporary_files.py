"""A command that is killed while it writes leaves nothing that kubectl applies, and the next one removes what it left."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from krm_fn.repository.files import temporary_files, writing
from tests.support.cases import cases
from tests.testbed import programs

CONFIG_MAPS = "".join(f"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n" for name in "abc")
GRAPH = """apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata: {name: chat}
spec:
  services:
    Frontend: {componentType: frontend, extraPodSpec: {mainContainer: {image: "nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.2.0"}}}
"""
KILLED = """
import os, signal, sys
from pathlib import Path
renames, moved = int(sys.argv.pop(1)), Path.replace
def replace(self, target):
    global renames
    if not renames:
        os.kill(os.getpid(), signal.SIGKILL)
    renames -= 1
    return moved(self, target)
Path.replace = replace
from krm_fn.__main__ import main
sys.exit(main())
"""
COMMANDS = [
    ("render", 0, ("render", "in.yaml", "--output-dir", "out"), "out"),
    ("render", 2, ("render", "in.yaml", "--output-dir", "out"), "out"),
    ("convert", 0, ("convert", "graph.yaml", "--write"), "."),
]


def run(folder, program, *arguments):
    environment = {**os.environ, "PYTHONPATH": str(programs.ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, *program, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=300
    )


def left(folder):
    return [path.name for path in folder.glob(".krm-fn-*")]


@cases(("command", "renames", "arguments", "place"), COMMANDS)
def test_what_a_killed_command_left_is_no_yaml_and_the_next_one_removes_it(command, renames, arguments, place, tmp_path):
    (tmp_path / "in.yaml").write_text(CONFIG_MAPS)
    (tmp_path / "graph.yaml").write_text(GRAPH)
    killed = run(tmp_path, ["-c", KILLED, str(renames)], *arguments)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    (kept,) = left(tmp_path / place)
    assert not list((tmp_path / place / kept).rglob("*.yaml"))
    assert not kept.endswith(".yaml")
    done = run(tmp_path, ["-m", "krm_fn"], *arguments)
    assert done.returncode == 0, done.stderr
    assert left(tmp_path / place) == []


def test_the_files_of_a_running_process_stay(tmp_path):
    with temporary_files.folder(tmp_path) as temporary:
        temporary(0).write_text("x")
        writing.write_texts(tmp_path, {"a.yaml": "a"})
        (tmp_path / "b.yaml").write_text("b")
        writing.save(str(tmp_path / "b.yaml"), "c")
        assert temporary(0).read_text() == "x"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.yaml", "b.yaml"]


def _make_folder_with(name):
    def make(path):
        path.mkdir()
        (path / name).write_text("mine")

    return make


OTHERS = [
    ("another name", ".krm-fn-notes.new", lambda path: path.write_text("mine")),
    ("a folder with a file of another name", ".krm-fn-abcdefgh.new", _make_folder_with("notes.txt")),
    ("a link", ".krm-fn-abcdefgh.new", lambda path: path.symlink_to("other")),
    ("a named pipe", ".krm-fn-abcdefgh.new", os.mkfifo),
]


@cases(("reason", "name", "make"), OTHERS)
def test_what_is_not_surely_a_temporary_file_stays(reason, name, make, tmp_path):
    make(tmp_path / name)
    writing.write_texts(tmp_path, {"a.yaml": "a"})
    assert left(tmp_path) == [name]


def test_a_temporary_file_that_another_process_removed_at_once_is_made_again(tmp_path, monkeypatch):
    """Between its creation and its lock, another process can take it for an abandoned one."""
    (tmp_path / "a.yaml").write_text("a")
    has_lock = temporary_files._has_lock
    removed: list[Path] = []

    def lose_first(descriptor, path):
        if not removed:
            removed.append(path)
            temporary_files._remove(path)
        return has_lock(descriptor, path)

    monkeypatch.setattr(temporary_files, "_has_lock", lose_first)
    writing.save(str(tmp_path / "a.yaml"), "b")
    removed.clear()
    writing.write_texts(tmp_path, {"c.yaml": "c"})
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a.yaml": "b", "c.yaml": "c"}


def test_without_locks_files_are_written_and_nothing_is_removed(tmp_path, monkeypatch):
    (tmp_path / ".krm-fn-abcdefgh.new").write_text("left")
    monkeypatch.setattr(temporary_files, "_has_lock", lambda descriptor, path: None)
    writing.write_texts(tmp_path, {"c.yaml": "c"})
    assert sorted(path.name for path in tmp_path.iterdir()) == [".krm-fn-abcdefgh.new", "c.yaml"]
