"""Measures `krm-fn lsp`: the time from an edit to its findings, and the memory of the server.

python benchmarks/bench_lsp.py [--edits NUMBER] [--lines NUMBER]

A client sends edits one after the other, each a whole text, and waits for the findings about it. The CPU time is that of the server for one
edit: unlike the time on the clock, it hardly depends on the load of the machine.
"""

from __future__ import annotations

import argparse
import asyncio
import copy
import math
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = str(Path(__file__).resolve().parent.parent)
sys.path.insert(0, ROOT)

from lsprotocol import types  # noqa: E402 - the folder above
from pygls.lsp.client import LanguageClient  # noqa: E402

from benchmarks import inputs  # noqa: E402
from krm_fn.base.yaml import emitter  # noqa: E402
from krm_fn.render import dynamo_api  # noqa: E402

LINES = 2000
LATENCY, MEMORY = 150, 150
"""The targets: the 95th percentile in milliseconds, and the peak memory in MiB."""
MOST_COMPONENTS = 25
_SECONDS = 60


class Measured(NamedTuple):
    """Milliseconds from an edit to its findings, milliseconds of CPU time for an edit, and the peak memory in MiB."""

    latencies: list[float]
    cpu: float
    memory: float

    @property
    def p95(self) -> float:
        """The 95th percentile of the latencies."""
        return sorted(self.latencies)[math.ceil(len(self.latencies) * 0.95) - 1]


def one_graph(lines: int) -> str:
    """Returns a graph with the largest number of components, and as many variables in each that it has a number of lines."""
    graph = inputs.graph(dynamo_api.BETA1)
    frontend, *_, worker = graph["spec"]["components"]
    variables = 0
    while True:
        graph["spec"]["components"] = [frontend, *(_worker(worker, number, variables) for number in range(MOST_COMPONENTS - 1))]
        text = emitter.text(graph)
        if text.count("\n") >= lines:
            return text
        variables += 1


def _worker(worker: dict[str, Any], number: int, variables: int) -> dict[str, Any]:
    named = {**copy.deepcopy(worker), "name": f"worker-{number}", "type": "worker"}
    container = named["podTemplate"]["spec"]["containers"][0]
    container["args"] = [word for word in container.get("args", []) if word != "--is-prefill-worker"]
    container["env"] = [{"name": f"SETTING_{index}", "value": f"value {index}"} for index in range(variables)]
    return named


def several_graphs(lines: int) -> str:
    """Returns a file of graphs with three components each."""
    text = ""
    for number in range(lines):
        graph = inputs.graph(dynamo_api.BETA1)
        text += "---\n" * bool(text) + emitter.text({**graph, "metadata": {**graph["metadata"], "name": f"graph-{number}"}})
        if text.count("\n") >= lines:
            break
    return text


def edits(text: str, count: int) -> Iterator[str]:
    """Yields the texts after edits: numbers that change, keys with a slip, and half lines."""
    for number in range(count):
        yield (
            text.replace("replicas: 2", f"replicas: {number + 3}", 1),
            text.replace("replicas:", "replica:", 1 + number % 3),
            text.replace("image: ", "image", 1),
            text + f"# {number}\n",
        )[number % 4]


async def measure(folder: Path, text: str, count: int) -> Measured:
    """Measures a new server with one open document."""
    client = LanguageClient("benchmark", "1")
    published: asyncio.Queue[int | None] = asyncio.Queue()

    @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)  # type: ignore[untyped-decorator]  # of a client; a server has types
    def publish(params: types.PublishDiagnosticsParams) -> None:
        published.put_nowait(params.version)

    path = folder / "graph.yaml"
    path.write_text(text, "utf-8")
    environment = {**os.environ, "PYTHONPATH": ROOT}
    await client.start_io(sys.executable, "-m", "krm_fn", "lsp", cwd=folder, env=environment)
    await client.initialize_async(types.InitializeParams(types.ClientCapabilities()))
    client.initialized(types.InitializedParams())
    client.text_document_did_open(types.DidOpenTextDocumentParams(types.TextDocumentItem(path.as_uri(), "yaml", 0, text)))
    await _until(published, 0)
    server: Any = client._server  # noqa: SLF001 - the client does not offer its process
    started, latencies = _cpu(server.pid), []
    for version, changed in enumerate(edits(text, count), 1):
        identifier = types.VersionedTextDocumentIdentifier(version=version, uri=path.as_uri())
        start = time.perf_counter()
        change = types.TextDocumentContentChangeWholeDocument(changed)
        client.text_document_did_change(types.DidChangeTextDocumentParams(identifier, [change]))
        await _until(published, version)
        latencies.append((time.perf_counter() - start) * 1000)
    measured = Measured(latencies, (_cpu(server.pid) - started) * 1000 / count, _memory(server.pid))
    await client.shutdown_async(None)
    client.exit(None)
    await server.wait()
    await client.stop()  # type: ignore[no-untyped-call]
    return measured


async def _until(published: asyncio.Queue[int | None], version: int) -> None:
    async with asyncio.timeout(_SECONDS):
        while await published.get() != version:
            pass


def _cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")  # utime and stime, proc(5)


def _memory(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text("utf-8").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:"))


def main() -> None:
    """Prints a line for each document."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edits", type=int, default=60)
    parser.add_argument("--lines", type=int, default=LINES)
    given = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; targets: p95 {LATENCY} ms, {MEMORY} MiB")
    for name, text in (("one graph", one_graph(given.lines)), ("several graphs", several_graphs(given.lines))):
        with tempfile.TemporaryDirectory() as folder:
            row = asyncio.run(measure(Path(folder), text, given.edits))
        times = f"median {statistics.median(row.latencies):5.0f} ms, p95 {row.p95:5.0f} ms, {row.cpu:5.0f} ms of CPU an edit"
        print(f"{f'{name}, {text.count(chr(10))} lines':30} {times}, {row.memory:4.0f} MiB", flush=True)


if __name__ == "__main__":
    main()
