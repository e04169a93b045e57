"""`krm-fn check --watch`: the check again after each save, and the exit code of the last one."""

from __future__ import annotations

import functools
import os
import signal
import subprocess
import sys
import time

import pytest

from krm_fn.cli import check_watch
from tests.cli import console
from tests.cli.console import GRAPH, MISSPELT
from tests.support.cases import cases
from tests.testbed import programs

RIGHT = GRAPH.replace("1.5.0", "1.6.1")


def _watched(monkeypatch, *saves):
    """Makes each pause between two looks at the files a save; the pause after the last one is Ctrl-C."""
    pending = [*saves]

    def pause():
        if not pending:
            raise KeyboardInterrupt
        pending.pop(0)()

    monkeypatch.setattr(check_watch, "pause", pause)


SAVES = [
    ("a mistake is saved", GRAPH, MISSPELT, 1),
    ("a mistake is mended", MISSPELT, GRAPH, 0),
]


@cases(("before", "after", "code"), SAVES)
def test_each_save_is_checked(tmp_path, monkeypatch, before, after, code):
    """The exit code is that of the last check, and a line with the file is between two checks."""
    file = tmp_path / "graph.yaml"
    file.write_text(before)
    _watched(monkeypatch, lambda: file.write_text(after))
    done = console.run("check", "--watch", file)
    assert done.code == code, done
    assert done.out.count("DYN023") == 1
    assert done.err.count(f"--- changed: {file}\n") == 1
    assert done.err.count("1 resource") == 2


def test_new_removed_and_renamed_files_of_a_folder_are_changes(tmp_path, monkeypatch):
    """An editor can save by a rename. Files that no check reads, such as notes, are no changes."""
    first, second = tmp_path / "a.yaml", tmp_path / "b.yaml"
    first.write_text(GRAPH)
    saves = (
        lambda: (tmp_path / "notes.txt").write_text("x"),
        lambda: second.write_text(GRAPH.replace("chat", "other")),
        second.unlink,
        lambda: ((tmp_path / "new").write_text(GRAPH.replace("replicas: 2", "replicas: 3")), (tmp_path / "new").rename(first)),
    )
    _watched(monkeypatch, *saves)
    done = console.run("check", "--watch", tmp_path)
    assert [line for line in done.err.splitlines() if line.startswith("---")] == [
        f"--- changed: {second}",
        f"--- changed: {second}",
        f"--- changed: {first}",
    ]


def test_the_findings_after_each_save_are_those_of_a_new_check(tmp_path, monkeypatch):
    """A save judges the saved graph, and the references between all."""
    flag = RIGHT.replace("replicas: 2", "replicas: 2\n      extraPodSpec: {mainContainer: {args: [--modl, a]}}")
    saves = [("a", RIGHT), ("b", MISSPELT), ("b", flag), ("a", RIGHT.replace("chat", "other")), ("b", RIGHT)]

    def save(name: str, text: str) -> None:
        (tmp_path / f"{name}.yaml").write_text(text)

    alone = []
    for name, text in saves:
        save(name, text)
        alone.append(console.run("check", tmp_path).out)
    assert len(set(alone)) >= 4
    (tmp_path / "b.yaml").unlink()
    save(*saves[0])
    _watched(monkeypatch, *(functools.partial(save, *entry) for entry in saves[1:]))
    assert console.run("check", "--watch", tmp_path).out == "".join(alone)


def test_a_base_outside_of_the_path_is_watched(tmp_path, monkeypatch, kustomize_on_path):
    """An overlay is checked again if its base changes."""
    monkeypatch.chdir(tmp_path)
    subprocess.run(["git", "init", "--quiet", "."], check=True)
    for folder, text in (("base", "resources: [graph.yaml]\n"), ("prod", "resources: [../base]\n")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "kustomization.yaml").write_text(text)
    base = tmp_path / "base/graph.yaml"
    base.write_text(GRAPH)
    _watched(monkeypatch, lambda: base.write_text(MISSPELT))
    done = console.run("check", "--watch", "prod")
    assert (done.code, "--- changed: base/graph.yaml" in done.err) == (1, True), done


WRONG_USE = [("stdin", ("--watch", "-"), "not stdin"), ("a fix", ("--watch", "--fix", "."), "do not go together")]


@cases(("arguments", "message"), WRONG_USE)
def test_wrong_usage(arguments, message):
    """Nobody saves stdin, and a fix saves files itself."""
    done = console.run("check", *arguments)
    assert (done.code, message in done.err) == (2, True)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT")
def test_a_process_ends_with_the_code_of_its_last_check(tmp_path):
    """Ctrl-C in a terminal."""
    file = tmp_path / "graph.yaml"
    file.write_text(RIGHT)
    command = [sys.executable, "-m", "krm_fn", "check", "--ignore", "DYN481,DYN482", "--watch", str(file)]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(programs.ROOT)}
    previous = signal.signal(signal.SIGINT, signal.SIG_DFL)  # a test run in the background ignores it, and so would its processes
    try:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
    finally:
        signal.signal(signal.SIGINT, previous)
    try:
        assert process.stderr
        assert b"no findings" in process.stderr.readline()
        file.write_text(RIGHT.replace("replicas", "replcas"))
        assert b"changed" in process.stderr.readline()
        assert b"1 error" in process.stderr.readline()
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        assert process.returncode == 1
    finally:
        process.kill()
        process.communicate()
