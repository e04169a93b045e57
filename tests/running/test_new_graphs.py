"""Graphs that `krm-fn new` writes answer: each engine, with and without workers for prefill, on the real runtime.

The mock engine stands in for the engine. All else is as the command wrote it: components, types, names, and the name of the engine.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from krm_fn.render import engines
from tests.cli import console
from tests.running import graphs
from tests.testbed import place

if TYPE_CHECKING:
    from pathlib import Path

RELEASE = "1.6.1"
ENGINES = [name for name in engines.names() if engines.get(name).runtime_image]
CASES = [(engine, parts) for engine in ENGINES for parts in (False, True)]
RAN = pytest.mark.ran(
    workload="Deployment",
    engine="mock engine, in graphs of krm-fn new",
    release="1.6",
    result="answered",
    by="NVIDIA's mock engine on the real runtime",
)
PLAIN, PARTS = {"frontend", "worker"}, {"frontend", "prefill", "decode"}


def _name(engine: str, parts: bool) -> str:
    return f"new-{engine}{'-parts' if parts else ''}"


def written(folder: Path, engine: str, parts: bool) -> dict[str, Any]:
    """The graph of a new folder, with the mock engine in place of the engine."""
    options = ("--disaggregated",) if parts else ()
    done = console.run("new", "chat", "--engine", engine, "--model", graphs.MODEL, "--for", "plain", *options, "--output-dir", folder)
    assert done.code == 0, done
    graph: dict[str, Any] = yaml.safe_load((folder / "graph.yaml").read_text("utf-8"))
    for component in graph["spec"]["components"]:
        _run_the_mock_engine(component)
    graph["spec"].setdefault("env", []).append({"name": "HF_HUB_OFFLINE", "value": "1"})
    return graph


def _run_the_mock_engine(component: dict[str, Any]) -> None:
    """Replaces the program, its image and its GPUs, and mounts the model."""
    kind, pod = component["type"], component["podTemplate"]["spec"]
    (container,) = pod["containers"]
    assert container["image"].endswith(f":{RELEASE}")
    container["image"] = graphs.image(RELEASE)
    if kind != "frontend":
        engine = graphs.worker(kind=kind, release=RELEASE)
        container.update(command=[*engine.command], args=[*engine.arguments])
        assert container.pop("resources")["limits"]["nvidia.com/gpu"] == "1"
    pod.setdefault("volumes", []).append({"name": graphs.CLAIM, "persistentVolumeClaim": {"claimName": graphs.CLAIM}})
    container.setdefault("volumeMounts", []).append({"name": graphs.CLAIM, "mountPath": graphs.FOLDER})


@pytest.fixture(scope="module")
def deployed(bed, sync, tmp_path_factory):
    """All graphs, applied at once, so that their pods start at the same time."""
    with contextlib.ExitStack() as stack:
        places = {case: stack.enter_context(bed.namespace(_name(*case))) for case in CASES}
        for case, here in places.items():
            graph = written(tmp_path_factory.mktemp("new") / "chat", *case)
            assert {component["type"] for component in graph["spec"]["components"]} == (PARTS if case[1] else PLAIN)
            here.deploy(graph, behaviour="v1.6", sourceVersion="v1alpha1")
        yield places


@pytest.mark.parametrize("case", [pytest.param(case, id=_name(*case), marks=RAN) for case in CASES])
def test_a_new_graph_becomes_ready_and_answers(case, deployed, bed):
    """By the probes of the render: the syncer says so, the frontend lists the model, and a chat completion has text."""
    here = deployed[case]
    status = bed.wait_until_successful(here, "chat")
    assert place.conditions(status)["Ready"]["status"] == "True"
    bed.machine.eventually(lambda: bed.answers(here, "chat"), here.namespace)
    assert len(here.listed("Pod")) == (3 if case[1] else 2)
