"""Random edit sessions: the findings at the end are those of `krm-fn check` about the final text, whatever was typed before."""

from __future__ import annotations

import json
import random

import pytest

from krm_fn.base import report
from tests.cli import console
from tests.cli.language_server import editor
from tests.testbed import programs

EXAMPLES = ("agg-vllm", "v1beta1-disagg-sglang", "trtllm", "epp-gateway", "v1beta1-both-versions")
RENDER = """\
apiVersion: dynamo.krm-fn.io/v1alpha1
kind: DynamoRender
metadata: {name: render}
spec: {natsAddress: "nats://nats:4222"}
"""
PIECES = (
    "x",
    ":",
    "- ",
    "\t",
    '"',
    "'",
    "{",
    "[",
    "#",
    "&a ",
    "*a",
    "\n",
    "---\n",
    "  replica: 2\n",
    "args: [--modle=a]\n",
    "\u2028",
    "\U0001f600",
    "\r\n",
)
SEVERAL = 3
"""Each third session has several graphs."""
QUICK = 12
ALL = 100


def session(seed: int) -> list[str]:
    """The texts of a session: a graph, or several in one file, and one edit after the other. Some edits repair the one before."""
    chance = random.Random(seed)  # noqa: S311 - the same sessions each time
    names = [chance.choice(EXAMPLES) for _ in range(chance.randint(2, 5) if seed % SEVERAL == 0 else 1)]
    graphs = [(programs.ROOT / "examples" / name / "graph.yaml").read_text("utf-8") for name in names]
    texts = ["---\n".join(graph.replace("\n  name: ", f"\n  name: g{number}-", 1) for number, graph in enumerate(graphs))]
    for _ in range(chance.randint(2, 12)):
        text, at = texts[-1], chance.randrange(len(texts[-1]) + 1)
        kind = chance.randrange(6)
        if kind == 0:
            text = text[:at] + chance.choice(PIECES) + text[at:]
        elif kind == 1:
            text = text[:at] + text[at + chance.randint(1, 9) :]
        elif kind == 2:
            lines = text.splitlines(keepends=True)
            number = chance.randrange(len(lines) or 1)
            text = "".join(lines[:number] + lines[number : number + 1] * chance.choice((0, 2)) + lines[number + 1 :])
        elif kind == 3:
            text = text.replace(
                *chance.choice((("replicas", "replica"), ("worker", "wroker"), ("1", "one"), ("image:", "imgae:"), ("--", "-"))), 1
            )
        elif kind == 4:
            text = f"{text}---\n{text}" if len(text) < 6000 else text[: len(text) // 2]
        else:
            text = chance.choice(texts)
        texts.append(text)
    return texts


def ends_as_check(folder, seed):
    """Compares the findings after a session with those of the command about the same text in the file."""
    texts, path = session(seed), folder / "graph.yaml"
    path.write_text(texts[0], "utf-8", newline="")
    config = seed % 2 and folder / "render.yaml"
    if config:
        config.write_text(RENDER, "utf-8")
    findings = [report.json_fields(finding) for finding in editor.judged(path, texts)]
    path.write_text(texts[-1], "utf-8", newline="")
    command = console.run("check", "-o", "json", *(["--config", config] if config else []), path, notes=True)
    expected = [finding for finding in json.loads(command.out)["findings"] if finding["file"] in (None, str(path))]
    assert findings == expected, f"session {seed}"


@pytest.mark.parametrize("seed", range(QUICK))
def test_a_session_ends_as_check(tmp_path, seed):
    ends_as_check(tmp_path, seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(QUICK, ALL))
def test_each_session_ends_as_check(tmp_path, seed):
    ends_as_check(tmp_path, seed)
