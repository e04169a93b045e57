"""Characters that a shell reads as operators or comments in the command line of an engine are found, and right lines are left alone."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

from krm_fn.review.arguments import engine_commands
from tests.support.cases import cases

RUN = "exec python3 -m dynamo.vllm --model m "


def problems(line: str) -> list[Any]:
    return [problem for problem in engine_commands.read({"command": ["sh", "-c"], "args": [line]}).problems if problem.is_mistake]


NAMED = "--served-model-name"
FOUND = [
    ("& in a value", f"{NAMED} qwen & sons --max-model-len 4096", "DYN646", "& sons", f"write {NAMED} 'qwen & sons'"),
    ("; in a value", f"{NAMED} qwen ; sons --max-model-len 4096", "DYN646", "; sons", f"write {NAMED} 'qwen ; sons'"),
    ("| in a value behind =", f"{NAMED}=qwen | sons --max-num-seqs 4", "DYN646", "| sons", f"write {NAMED}='qwen | sons'"),
    ("& without blanks", f"{NAMED} q&a", "DYN646", "&a", f"write {NAMED} 'q&a'"),
    ("the query of an address", "--chat-template http://h/?a=1&b=2 --max-num-seqs 4", "DYN646", "&b=2", "'http://h/?a=1&b=2'"),
    ("a secret value", "--api-token a&b", "DYN646", "&b", "write the whole value in single quotes"),
    ("the background at the end", "--enforce-eager &", "DYN647", "&", "remove the `&`"),
    ("the background with a log", "> log 2>&1 & # start\n", "DYN647", "& # start", "remove the `&`"),
    ("a comment before flags", "# two GPUs --tensor-parallel-size 2", "DYN648", "# two", "remove the comment"),
    ("a comment with a flag before flags", "# --enforce-eager --max-num-seqs 2", "DYN648", "# --enf", "remove the comment"),
    ("a parenthesis around a value", f"{NAMED} (qwen)", "DYN649", "(qwen)", "single quotes"),
    ("a parenthesis in a value", f"{NAMED} qwen(1)", "DYN649", "(1)", "single quotes"),
]


@cases(("flags", "code", "rest", "fix"), FOUND)
def test_a_character_without_quotes_is_found_at_its_position(flags, code, rest, fix):
    (problem,) = problems(RUN + flags)
    assert problem.code == code
    assert (RUN + flags)[problem.word.offset :].startswith(rest)
    assert fix in problem.reason.partition("; ")[2] if code != "DYN646" else fix in problem.reason
    assert problem.severity == ("error" if code in ("DYN647", "DYN649") else "warning")


RIGHT = [
    ("an operator in quotes", f"{NAMED} 'qwen & sons' --max-model-len 4096"),
    ("an escaped operator", f"{NAMED} q\\&a --max-model-len 4096"),
    ("a program behind the background", "& sleep 3"),
    ("a program behind an address", "& python3 -m dynamo.frontend --http-port 8000"),
    ("a second engine", "& vllm serve b --max-model-len 4096"),
    ("a script", "& ./run.sh --max-model-len 4096"),
    ("a program of the image", "& proxy --port 80 --host h"),
    ("waiting", "& wait"),
    ("waiting in the next line", "&\nwait"),
    ("the next program", "&\nnginx"),
    ("a log", "2>&1 | tee log"),
    ("the end of a list", "&& echo done"),
    ("the next command", "; echo done"),
    ("a comment at the end", "# --enforce-eager"),
    ("a comment without flags", "# two GPUs"),
    ("a comment above a flag", "# two GPUs --tensor-parallel-size 2\necho done"),
    ("a substitution", f"{NAMED} $(cat name)"),
    ("a pattern of bash", "/models/@(a|b)"),
]


@cases("flags", RIGHT)
def test_right_lines_have_no_finding(flags):
    assert problems(RUN + flags) == []


WITHOUT_ENGINE = [
    ("a function", "run() { python3 -m dynamo.vllm & wait; }; run"),
    ("a group in the background", "(python3 -m dynamo.vllm --model m &) ; sleep 5"),
    ("another program in the background", "nginx &"),
    ("a shell in a shell", "exec bash -c 'python3 -m dynamo.vllm --model m &'; wait"),
]


@cases("line", WITHOUT_ENGINE)
def test_other_lines_have_no_finding(line):
    assert problems(line) == []


@pytest.mark.parametrize("value", ["(a)", "a(1)", "a (1)"])
def test_a_shell_refuses_a_parenthesis_in_a_command(value):
    """The rule is that of a real shell."""
    run = subprocess.run(["sh", "-n", "-c", f"python3 -m dynamo.vllm --model {value}"], capture_output=True, check=False)
    assert run.returncode == 2
