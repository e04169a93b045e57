"""Without arguments the command is the function and imports nothing that it does not need; with arguments it is for people."""

import os
import pty
import subprocess
import sys

import pytest

import krm_fn
from krm_fn import __main__, cli

COMMAND = [sys.executable, "-m", "krm_fn"]
NOTHING = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\n"
GRAPH = NOTHING.replace(" []", "") + (
    "- apiVersion: nvidia.com/v1alpha1\n  kind: DynamoGraphDeployment\n  metadata: {name: llm, namespace: prod}\n"
    "  spec: {services: {Frontend: {componentType: frontend, extraPodSpec: {mainContainer: {image: example.com/dynamo:1}}}}}\n"
)

TOO_DEAR = [
    "argparse",
    "asyncio",
    "click",
    "dataclasses",
    "importlib.metadata",
    "inspect",
    "json.tool",
    "logging",
    "pathlib",
    "pydantic",
    "subprocess",
    "tempfile",
    "krm_fn.cli",
    "krm_fn.sync",
]


def run(*arguments, text="", **environment):
    command = [*COMMAND, *arguments]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False, timeout=20, env={**os.environ, **environment})


@pytest.fixture(scope="module")
def imported():
    """The modules that rendering a graph imports."""
    done = subprocess.run([sys.executable, "-X", "importtime", "-m", "krm_fn"], input=GRAPH, capture_output=True, text=True, check=True)
    assert "kind: Deployment" in done.stdout
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}


@pytest.mark.parametrize("module", TOO_DEAR)
def test_the_function_does_not_import(module, imported):
    assert "krm_fn.krm.function" in imported
    assert module not in imported


def test_the_function_runs_without_arguments():
    done = run(text=NOTHING)
    assert (done.returncode, done.stdout, done.stderr) == (0, NOTHING, "")


def test_arguments_are_for_people():
    assert run("--version").stdout == f"krm-fn {krm_fn.__version__}\n"


def test_help_comes_before_anything_is_read():
    """kpt shows the documentation of a function by its --help, and gives it no input that ends."""
    reading, writing = os.pipe()
    try:
        done = subprocess.run([*COMMAND, "--help"], stdin=reading, capture_output=True, text=True, check=True, timeout=20)
    finally:
        os.close(reading)
        os.close(writing)
    assert done.stdout.startswith("Usage: krm-fn")


def test_a_person_without_arguments_gets_help():
    theirs, ours = pty.openpty()
    try:
        done = subprocess.run(COMMAND, stdin=ours, capture_output=True, text=True, check=True, timeout=20)
    finally:
        os.close(ours)
        os.close(theirs)
    assert done.stdout == run("--help").stdout


def test_a_shell_that_completes_is_no_orchestrator():
    assert cli.COMPLETE_VARIABLE == __main__._COMPLETION
    assert "krm-fn" in run(**{cli.COMPLETE_VARIABLE: "bash_source"}).stdout


def test_nobody_reads_the_output():
    """No traceback, neither from us nor from the interpreter on its way out."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(COMMAND, input=GRAPH.encode(), stdout=writing, stderr=subprocess.PIPE, check=False, timeout=20)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (1, b"")


CLOSED = [
    # reason, what the shell closes, words on stderr
    ("no stdin is an empty input", "<&-", "DYN001"),
    ("no stdout is no success", ">&-", ""),
    ("no stderr is no reason to stop", "2>&-", ""),
]


@pytest.mark.parametrize(("closed", "words"), [row[1:] for row in CLOSED], ids=[row[0] for row in CLOSED])
def test_closed(closed, words):
    command = f"{sys.executable} -m krm_fn {closed}"
    done = subprocess.run(command, shell=True, input=NOTHING, capture_output=True, text=True, check=False, timeout=20)  # noqa: S602
    assert done.returncode == int(closed != "2>&-")
    assert words in done.stderr
    assert "Traceback" not in done.stderr
