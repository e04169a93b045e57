"""The tiers of the tests: `make test` runs no program of `make tools`; `make check` and `make test-servers` run all tests together."""

from __future__ import annotations

import subprocess

import demo
import pytest

from tests.support.cases import cases
from tests.testbed import programs, tier


def commands(*words):
    """The commands of a target, which are not run."""
    asked = ["make", "--dry-run", "--no-print-directory", *words]
    return subprocess.run(asked, cwd=programs.ROOT, check=True, capture_output=True, text=True).stdout


TARGETS = [
    ("make test installs no program", ("test",), False, "KRM_FN_TIER=quick"),
    (
        "one file runs with the programs that there are",
        ("test", "FILE=tests/render/test_expand.py"),
        False,
        "-m pytest tests/render/test_expand.py",
    ),
    ("changed files run without a server", ("test", "CHANGED=1"), False, "KRM_FN_TIER=changed "),
    ("changed files run with their slow tests if asked", ("test", "CHANGED=1", "SLOW=1"), False, "KRM_FN_TIER=changed-slow "),
    ("make check has all programs", ("check",), True, "KRM_FN_TOOLS=required"),
    ("make check has the tests without a server", ("check",), True, '-m "not server"'),
    ("make test-servers has the others", ("test-servers",), True, "-m server"),
    ("make test-all has both", ("test-all",), True, "-m server"),
    ("make test-all has both", ("test-all",), True, '-m "not server"'),
]


@cases(("words", "installs", "part"), TARGETS)
def test_targets_and_their_programs(words, installs, part):
    printed = commands(*words)
    assert ("tools/install.py" in printed) is installs
    assert part in printed
    assert not installs or "KRM_FN_TIER" not in printed


@pytest.mark.parametrize("target", ["demo", "test"])
def test_the_targets_that_set_up_say_what_they_do_and_what_is_next(target):
    """pip and uv show their progress: a silent minute looks like a hang."""
    printed = commands("--always-make", "PYTHON=true", target)
    assert "Installing " in printed
    assert "--quiet" not in printed
    last = demo.NEXT if target == "demo" else printed.splitlines()[-1]
    assert "Next: " in last


LEFT_OUT = [
    ("quick", "kustomize", True),
    ("quick", "kube-apiserver", True),
    ("changed", "kustomize", False),
    ("changed", "kube-apiserver", True),
    ("changed-slow", "kustomize", False),
    ("changed-slow", "kube-apiserver", True),
    ("", "kustomize", False),
    ("", "kube-apiserver", False),
]


@pytest.mark.parametrize(("name", "program", "left_out"), LEFT_OUT, ids=[f"{name or 'all'}: {program}" for name, program, _ in LEFT_OUT])
def test_a_tier_skips_the_tests_of_programs(name, program, left_out, monkeypatch):
    monkeypatch.setattr(tier, "NAME", name)
    monkeypatch.setattr(programs, "with_servers", True)
    monkeypatch.setattr(programs, "where", lambda: {program: {"path": f"/usr/bin/{program}"}})
    if left_out:
        with pytest.raises(pytest.skip.Exception):
            programs.path(program)
    else:
        assert programs.path(program).name == program


def test_a_tier_takes_fewer_inputs_unless_the_user_says_how_many(monkeypatch):
    monkeypatch.setattr(tier, "NAME", "")
    assert tier.number(300, 10, "KRM_FN_EXAMPLES_OF_NOBODY") == 300
    monkeypatch.setattr(tier, "NAME", "quick")
    assert tier.number(300, 10, "KRM_FN_EXAMPLES_OF_NOBODY") == 10
    monkeypatch.setenv("KRM_FN_EXAMPLES_OF_NOBODY", "7")
    assert tier.number(300, 10, "KRM_FN_EXAMPLES_OF_NOBODY") == 7
