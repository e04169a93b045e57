"""A test run that is ended leaves no process behind: no server, and nothing that a server has started."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.testbed import programs, server

pytestmark = [
    pytest.mark.slow,  # starts runs of tests
    pytest.mark.skipif(not Path("/proc/self").exists(), reason="it looks for processes in /proc"),
]
TESTS = """
import time
from tests.testbed import server

def test_that_waits(tmp_path):
    with server.running({command!r}, tmp_path / "log") as program:
        time.sleep(0.3)
        program.pause() if {paused} else None
        print("started", flush=True)
        time.sleep(600)
"""
PYTEST = "import signal, sys, pytest; signal.signal(signal.SIGINT, signal.default_int_handler); sys.exit(pytest.main(sys.argv[1:]))"
"""Handles SIGINT, which a child ignores if this test runs in the background of a shell script."""
SHELL = ["/bin/sh", "-c", "while :; do sleep 600 & wait; done", "FOLDER"]
"""A server that starts another program, and waits for it."""


def left(folder):
    """The programs that run in a folder, or have its name among their arguments."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_text()
            if str(folder) in words or (process / "cwd").readlink() == folder:
                found.append(words)
        except OSError:
            continue
    return found


def run(folder, command, *, paused=False):
    """A test run in a folder, in which a server runs."""
    words = [word.replace("FOLDER", str(folder)) for word in map(str, command)]
    tests = folder / "test_waits.py"
    tests.write_text(TESTS.format(command=words, paused=paused))
    options = ["-s", "-p", "no:cacheprovider", "--rootdir", str(folder), "--basetemp", str(folder / "temporary"), "-c", "/dev/null"]
    environment = {"PYTHONPATH": str(programs.ROOT), "PATH": "/usr/bin:/bin"}
    started = [sys.executable, "-c", PYTEST, *options, str(tests)]
    process = subprocess.Popen(started, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stdout
    for line in process.stdout:
        if "started" in line:
            return process
    raise AssertionError(process.wait())


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT], ids=lambda number: number.name)
@pytest.mark.parametrize("paused", [False, True], ids=["", "paused"])
def test_an_ended_run_leaves_no_process(tmp_path, number, paused):
    """SIGINT is what Ctrl-C sends: the fixtures stop their servers. After the other signals they cannot."""
    process = run(tmp_path, SHELL, paused=paused)
    try:
        assert len(left(tmp_path)) > 2
    finally:
        process.send_signal(number)
        try:
            process.communicate(timeout=120)
        finally:
            process.kill()
    server.eventually(lambda: left(tmp_path) == [])


def test_etcd_ends_with_a_killed_run(tmp_path):
    """A real server, with real files."""
    ports = server.free_ports(2)
    urls = [f"http://127.0.0.1:{port}" for port in ports]
    etcd = [programs.path("etcd"), "--data-dir", "FOLDER/data", "--listen-client-urls", urls[0], "--advertise-client-urls", urls[0]]
    process = run(tmp_path, [*etcd, "--listen-peer-urls", urls[1]])
    try:
        assert any("--data-dir" in words and "etcd" in words.split("\0")[0] for words in left(tmp_path))
    finally:
        process.kill()
        process.communicate(timeout=120)
    server.eventually(lambda: left(tmp_path) == [])
