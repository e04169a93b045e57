"""`platform/migration`, the former program: it says where a command is now, and runs it."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.support.cases import cases
from tests.testbed import programs

NOW = [
    ("compare inference chat chat.yaml", "adopt compare chat.yaml"),
    (
        "take-over inference chat chat.yaml search search.yaml --flux flux-system/chat",
        "adopt take-over --flux flux-system/chat chat.yaml search.yaml",
    ),
    ("take-over --argocd inference chat chat.yaml", "adopt take-over --argocd chat.yaml"),
    ("compare --flux=a/b inference chat chat.yaml", "adopt compare --flux=a/b chat.yaml"),
    ("give-back inference chat chat.yaml", "adopt give-back chat.yaml"),
    ("can-start inference chat chat.yaml", "adopt can-start chat.yaml"),
    ("set-owners inference chat chat.yaml", "adopt set-owners chat.yaml"),
    ("let-go", "adopt let-go --save definitions.json"),
    ("--help", "adopt --help"),
    ("", "adopt --help"),
]
GONE = [
    ("graph inference chat", "`krm-fn adopt --namespace NAMESPACE --output-dir DIR` writes the graphs of a namespace"),
    ("settings inference chat", "writes the settings into DIR/render.yaml"),
    ("definitions", "`krm-fn adopt let-go --save FILE` saves the definitions, too"),
]


def run(words, folder):
    """Run the program with a krm-fn that prints its arguments."""
    command = folder / "krm-fn"
    command.write_text('#!/bin/sh\necho "$@"\nexit 3\n')
    command.chmod(0o755)
    program = [sys.executable, programs.ROOT / "platform" / "migration", *words.split()]
    variables = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
    return subprocess.run(program, capture_output=True, text=True, check=False, env=variables, timeout=60)


@cases(("words", "now"), NOW)
def test_a_command_runs_under_its_new_name(words, now, tmp_path):
    done = run(words, tmp_path)
    assert (done.returncode, done.stdout) == (3, f"{now}\n")
    assert f"the command is now `krm-fn {now}`; the next release removes this program\n" in done.stderr


@cases(("words", "text"), GONE)
def test_a_command_that_another_one_does_too_is_named(words, text, tmp_path):
    """A script with `definitions > FILE` stops there: an empty file would replace the saved definitions."""
    done = run(words, tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert text in done.stderr


def test_a_missing_krm_fn_is_named(tmp_path):
    program = [sys.executable, str(programs.ROOT / "platform" / "migration"), "compare", "inference", "chat", "chat.yaml"]
    done = subprocess.run(program, capture_output=True, text=True, check=False, env={"PATH": str(tmp_path)}, timeout=60)
    assert done.returncode == 1
    assert done.stderr.endswith("krm-fn is not on the PATH; install it, or add its folder to the PATH\n")
    assert "Traceback" not in done.stderr
