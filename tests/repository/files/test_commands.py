"""Commands of users: their output, their failures, and their limits."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from krm_fn.repository.files import commands, reading
from tests.support.cases import cases
from tests.testbed import server


def python(script):
    return [sys.executable, "-c", script]


def test_the_output_and_the_messages(tmp_path):
    ended = commands.run(python("import os, sys; print(os.getcwd()); print('hint', file=sys.stderr)"), tmp_path, 60)
    assert ended == commands.CommandResult(f"{tmp_path}\n".encode(), "hint\n")


FAILED = [
    # reason, command, words of the problem
    ("an exit code", python("import sys; sys.exit('broken')"), "ended with exit code 1"),
    ("a signal", python("import os; os.kill(os.getpid(), 9)"), "was ended by SIGKILL"),
    ("no such program", ["krm-fn-has-no-such-program"], "krm-fn-has-no-such-program cannot be run: No such file or directory"),
    ("a zero byte", ["a\0b"], "cannot be run: embedded null byte"),
    ("too much output", python("while True: print('a' * 4096)"), "printed more than 1 MiB"),
]


@cases(("reason", "command", "problem"), FAILED)
def test_a_command_that_fails(reason, command, problem, tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "LIMIT", 1024**2)
    ended = commands.run(command, tmp_path, 60)
    assert problem in ended.problem
    assert not ended.slow
    if reason == "an exit code":
        assert ended.messages == "broken\n"


def test_only_the_end_of_long_messages_is_kept(tmp_path):
    ended = commands.run(python("import sys; sys.stderr.write('a' * 10**6 + 'the end')"), tmp_path, 60)
    assert len(ended.messages) == 64 * 1024
    assert ended.messages.endswith("the end")


def test_a_command_without_an_end_is_killed_with_its_children(tmp_path):
    (tmp_path / "child").touch()
    script = "import os, time\npid = os.fork()\nif pid: open('child', 'w').write(str(pid))\ntime.sleep(600)"
    ended = commands.run(python(script), tmp_path, 2)
    assert (ended.slow, ended.problem) == (True, "did not end within 2 seconds")
    child = (tmp_path / "child").read_text()
    server.eventually(lambda: not child or not is_running(child))


def is_running(pid):
    """False for a process that is gone, or that has ended and waits for its parent."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_command_does_not_see_the_repository_of_a_git_hook(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_DIR", "/elsewhere")
    monkeypatch.setenv("GIT_SSH_COMMAND", "ssh -i key")
    ended = commands.run(python("import os; print(os.environ.get('GIT_DIR'), os.environ['GIT_SSH_COMMAND'])"), tmp_path, 60)
    assert ended.data == b"None ssh -i key\n"
    assert os.environ["GIT_DIR"] == "/elsewhere"


def test_the_words_of_a_command():
    assert commands.split_words("kustomize build 'over lays/prod' $HOME") == ["kustomize", "build", "over lays/prod", "$HOME"]
    for wrong in ("", "  ", "a 'b"):
        with pytest.raises(ValueError, match=r"empty|closing"):
            commands.split_words(wrong)
