"""The playground's Python in the real Pyodide answers as CPython does, byte by byte, also for hostile inputs."""

from __future__ import annotations

import json
import zipfile

import build_playground
import pytest
from playground.python import playground_requests

from tests.playground import inputs
from tests.support import golden
from tests.support.cases import cases

EXAMPLES = inputs.examples()
HOSTILE = inputs.hostile()
BY_NAME = {name: (graph, settings) for name, graph, settings in EXAMPLES}


def test_pyodide_has_no_libyaml(pyodide):
    """The parser is the one in Python; CPython reads the same inputs with libyaml."""
    assert pyodide.versions["parser"] == "PythonParser"
    from krm_fn.base.yaml import stream  # noqa: PLC0415

    assert vars(stream)["Parser"].__name__ == "CParser"


def test_the_page_compiles_no_module_of_the_standard_library(playground):
    """Pyodide brings sources; the page has each of them compiled, and no other module."""
    sources, compiled = (
        {name for name in zipfile.ZipFile(folder / "pyodide" / "python_stdlib.zip").namelist() if name.endswith((".py", ".pyc"))}
        for folder in (build_playground.HERE / "node_modules", playground)
    )
    assert sources
    assert compiled == {f"{name}c" for name in sources}


def test_the_first_render_needs_less_than_five_seconds(pyodide, measured):
    """With the start of Python and all imports, in seconds of the processor, whatever else the machine does."""
    pyodide.answer(inputs.request("render", *BY_NAME["older-planner"]))
    measured.append(f"start of Pyodide {pyodide.versions['python']} and first render: {pyodide.seconds:.1f} s of the processor")
    assert pyodide.seconds < 5


@cases(("graph", "settings"), EXAMPLES)
def test_examples_are_those_of_cpython(graph, settings, pyodide):
    """Objects, findings, diagrams, changes and origins are equal."""
    old = graph.replace("replicas: 2", "replicas: 1")
    requests = [inputs.request(kind, graph, settings, old) for kind in inputs.KINDS]
    objects = json.loads(playground_requests.answer(json.dumps(requests[0])))["objects"]
    requests += [inputs.request("explain", graph, settings, object=number) for number in range(min(len(objects), 3))]
    for request in requests:
        assert pyodide.answer(request) == playground_requests.answer(json.dumps(request)), request["kind"]


@pytest.mark.parametrize("recording", [row for row in golden.recordings() if row.name in BY_NAME], ids=lambda row: row.name)
def test_the_objects_are_those_of_the_command(recording, pyodide):
    """The page shows what `krm-fn render` prints, as the README of each example records it."""
    graph, settings = BY_NAME[recording.name]
    answer = json.loads(pyodide.answer(inputs.request("render", graph, settings)))
    assert "---\n".join(entry["yaml"] for entry in answer["objects"]) == recording.expected.read_text()


def test_an_example_renders_in_half_a_second(pyodide, measured):
    """The first render has loaded everything; the text differs each time."""
    graph, settings = BY_NAME["older-planner"]
    pyodide.answer(inputs.request("render", graph, settings))
    started = pyodide.seconds
    for number in range(10):
        pyodide.answer(inputs.request("render", f"{graph}# {number}\n", settings))
    seconds = (pyodide.seconds - started) / 10
    measured.append(f"render in Pyodide: {seconds * 1000:.0f} ms of the processor")
    assert seconds < 0.5


def test_there_are_300_hostile_inputs():
    assert len(HOSTILE) == 300


@pytest.mark.parametrize("part", range(10))
def test_hostile_inputs_get_the_answer_of_cpython(part, pyodide):
    """Each is rendered or has an error; none breaks Pyodide, and none is an internal error."""
    for name, text in HOSTILE[part::10]:
        for kind in inputs.KINDS:
            request = inputs.request(kind, text, "", "")
            answer = pyodide.answer(request)
            assert answer == playground_requests.answer(json.dumps(request)), (name, kind)
            assert "DYN019" not in answer, (name, kind)
        rendered = json.loads(pyodide.answer(inputs.request("render", text)))
        assert rendered["objects"] or rendered["findings"] or not text or name.startswith("spoiled"), name
