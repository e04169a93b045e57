"""The cache of programs holds only complete folders, also if processes fill it at the same time or are killed."""

from __future__ import annotations

import signal
import subprocess
import sys

import cache
import pytest

from tests.testbed import programs, server

FILLER = """
import subprocess, sys
sys.path.insert(0, {tools!r})
import cache
def fill(folder, lock):
    subprocess.run(["/bin/sh", "-c", {script!r}], cwd=folder, check=True, pass_fds=(lock,))
print(cache.fill("thing-1", fill), flush=True)
"""


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def start(script):
    program = FILLER.format(tools=str(programs.ROOT / "tools"), script=script)
    return subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)


def test_two_at_once_fill_it_once(tmp_path):
    times = tmp_path / "times"
    fillers = [start(f"echo once >> {times}; sleep 0.3; echo whole > program") for _ in range(3)]
    assert {filler.communicate()[0].strip() for filler in fillers} == {str(cache.entry("thing-1"))}
    assert times.read_text() == "once\n"
    assert (cache.entry("thing-1") / "program").read_text() == "whole\n"


def test_failure_leaves_no_entry_and_the_next_one_starts_afresh():
    def fail(folder, lock):
        (folder / "half").touch()
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        cache.fill("thing-1", fail)
    assert not cache.entry("thing-1").exists()
    cache.fill("thing-1", lambda folder, lock: (folder / "program").touch())
    assert [file.name for file in cache.entry("thing-1").iterdir()] == ["program"]


def test_what_a_killed_process_started_keeps_the_lock(tmp_path):
    """Without the lock, the next process would delete the folder that a compiler still writes to."""
    started, ended = tmp_path / "started", tmp_path / "ended"
    killed = start(f"touch {started}; sleep 1; touch {ended}")
    server.eventually(started.exists)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()

    def fill(folder, lock):
        assert ended.exists()

    cache.fill("thing-1", fill)
    assert cache.entry("thing-1").exists()
