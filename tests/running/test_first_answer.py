"""How long it takes from a graph to its first answer, step by step. The figures are printed at the end of the run."""

from __future__ import annotations

import itertools
import time

from tests.running import graphs
from tests.running.bed import successful
from tests.testbed.place import GRAPH


def test_figures_from_render_to_the_first_answer(bed, sync, measured):
    with bed.namespace("figures") as here:
        graph = graphs.v1beta1("chat", "1.5.1", graphs.frontend(), graphs.worker())
        marks = [("", time.monotonic())]

        def mark(what, holds=lambda: True):
            bed.machine.eventually(holds, "figures")
            marks.append((what, time.monotonic()))

        rendered = here.render(graph, behaviour="v1.5", sourceVersion="v1alpha1")
        mark("render")
        here.apply(rendered)
        mark("apply")
        mark("pods run", lambda: [pod["status"].get("phase") for pod in here.listed("Pod")] == ["Running"] * 2)
        mark("pods ready", lambda: all(deployment["status"].get("readyReplicas") == 1 for deployment in here.listed("Deployment")))
        mark("status", lambda: successful(here.get(GRAPH, "chat")))
        mark("answer", lambda: bed.models(here, "chat") == [graphs.MODEL] and bed.chat(here, "chat") != "")
        took = [f"{what} {end - begin:.1f}" for (_, begin), (what, end) in itertools.pairwise(marks)]
        measured.append(f"from the graph to the first answer: {', '.join(took)}; {marks[-1][1] - marks[0][1]:.1f} s together")
