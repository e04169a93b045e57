"""TensorRT-LLM on several nodes: rank 0 of an MPI job, which `mpi` has started, serves."""

from __future__ import annotations

import itertools
import json
import os
import threading
from typing import NoReturn

from . import mpi, rendezvous


def main() -> NoReturn:
    """Report the nodes of the job with their ranks, and serve."""
    processes = json.loads(os.environ[mpi.MEMBERS])
    nodes = itertools.groupby(processes, lambda process: process["host"])
    ready = threading.Event()
    rendezvous.end_on_sigterm()
    rendezvous.serve(ready)
    rendezvous.say(met=[_node(list(listed)) for _, listed in nodes])
    ready.set()
    threading.Event().wait()
    raise AssertionError


def _node(processes: list[rendezvous.Object]) -> rendezvous.Object:
    return {**processes[0], "ranks": [process["rank"] for process in processes]}


if __name__ == "__main__":
    main()
