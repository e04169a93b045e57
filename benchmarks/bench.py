"""Measures time and memory of a render and of baselines in the same run: only the ratios can be compared between machines.

python benchmarks/bench.py [--against REV] [RUNS]

`--against` also measures the expansion and the render of graphs with a revision of this repository, alternating with those of the working
tree. `--only-graphs` measures nothing else.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

sys.path[:0] = [str(Path(__file__).resolve().parent.parent), str(Path(__file__).resolve().parent.parent / "tools")]

import programs  # noqa: E402 - the two folders above

from benchmarks import inputs  # noqa: E402
from krm_fn.render import dynamo_api  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parent.parent
FUNCTION = [sys.executable, "-m", "krm_fn"]
TIMED = """
import sys, time
try:
    from krm_fn.render import expand
except ImportError:  # an older revision
    from krm_fn import expand
from krm_fn.__main__ import main
original = expand.expand
def timed(*given):
    started = time.process_time()
    expansion = original(*given)
    print(time.process_time() - started, file=sys.stderr)
    return expansion
expand.expand = timed
sys.argv = ["krm-fn"]
sys.exit(main())
"""
COLD_START = 225
"""The target for the instructions of a cold start with one graph, in millions."""
GRAPHS = 1000
RELEASE = "v1.5"
VERSIONS = (dynamo_api.ALPHA1, dynamo_api.BETA1)
MIB = 1024  # ru_maxrss counts KiB


class Measured(NamedTuple):
    """Medians over the runs: wall-clock seconds, and peak memory in MiB."""

    seconds: float
    memory: float


def measure(command: list[str], data: bytes, runs: int) -> Measured:
    """Measure a command. Raises CalledProcessError if it fails, because the time of a failed command is not a measurement."""
    taken = [_once(command, data) for _ in range(runs)]
    return Measured(statistics.median(one.seconds for one in taken), statistics.median(one.memory for one in taken))


def _once(command: list[str], data: bytes) -> Measured:
    with tempfile.TemporaryFile() as stdin:
        stdin.write(data)
        stdin.seek(0)
        started = time.perf_counter()
        child = subprocess.Popen(command, stdin=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - started
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise subprocess.CalledProcessError(child.returncode, command)
    return Measured(seconds, usage.ru_maxrss / MIB)


def start_up(runs: int) -> None:
    """Measure the start of the function, and the start of Python as the baseline.

    The target is one figure, the instructions of a cold start with one graph: unlike times, it hardly depends on the machine.
    """
    rows = {
        "python -c pass": ([sys.executable, "-c", "pass"], b""),
        "import yaml": ([sys.executable, "-c", "import yaml"], b""),
        "import pydantic": ([sys.executable, "-c", "from pydantic import BaseModel"], b""),
        "krm-fn, one graph": (FUNCTION, inputs.graphs(1)),
        "krm-fn, 20 KB": (FUNCTION, inputs.typical(20_000)),
    }
    seconds = _alternating({name: partial(_cpu, data, command) for name, (command, data) in rows.items()}, runs)
    for name in rows:
        print(f"{name:32} {seconds[name] * 1000:8.0f} ms of CPU")
    if shutil.which("valgrind"):
        for name, (command, data) in rows.items():
            target = f" (target {COLD_START})" if name == "krm-fn, one graph" else ""
            print(f"{name:32} {_instructions(command, data) / 1_000_000:8.0f} million instructions{target}")
    large = measure(FUNCTION, inputs.untouched(5_000_000), runs)
    print(f"{'krm-fn, 5 MB untouched':32} {large.seconds:8.2f} s  (target 0.8), {large.memory:.0f} MiB (target 110)\n")


def through_kustomize(runs: int) -> None:
    """Measure a kustomize build with the function, and with one that prints the finished output: no function can be faster.

    A build with `cat` as its function prints the graph only, so it leaves out what kustomize does with the objects.
    """
    found = programs.find(next(program for program in programs.ALL if program.name == "kustomize"))
    if isinstance(found, programs.Missing):
        print(f"kustomize is missing: {found.reason}\n")
        return
    function, build = Path(sys.executable).with_name("krm-fn"), [str(found.path), "build", "--enable-alpha-plugins", "--enable-exec"]
    with tempfile.TemporaryDirectory() as scratch:
        finished = Path(scratch, "finished")
        recorded = _kustomization(Path(scratch, "record"), _script(Path(scratch, "recorder"), f"'{function}' | tee '{finished}'"))
        expected = subprocess.run([*build, str(recorded)], capture_output=True, check=True).stdout
        plugins = {"finished output": _script(Path(scratch, "printer"), f"exec cat '{finished}'"), "krm-fn": function}
        commands = {name: [*build, str(_kustomization(Path(scratch, name), plugin))] for name, plugin in plugins.items()}
        for command in commands.values():
            if subprocess.run(command, capture_output=True, check=True).stdout != expected:
                raise ValueError(command)
        seconds = _alternating({name: partial(_cpu, b"", command) for name, command in commands.items()}, runs)
    for name in commands:
        print(f"{f'kustomize build, {name}':32} {seconds[name] * 1000:8.0f} ms of CPU")
    _ratio("krm-fn", "finished output", seconds, target=1.6)
    print()


def _script(path: Path, command: str) -> Path:
    path.write_text(f"#!/bin/sh\n{command}\n", "utf-8")
    path.chmod(0o755)
    return path


def _ratio(name: str, baseline: str, measured: dict[str, float], target: float) -> None:
    """Print how many times the baseline a command takes."""
    print(f"{f'{name} : {baseline}':32} {measured[name] / measured[baseline]:8.2f}      (target {target})")


def _alternating(measurements: dict[str, Callable[[], float]], runs: int) -> dict[str, float]:
    """The minimum of each measurement over the runs, which alternate, so that the load of the machine meets all in the same way."""
    taken: dict[str, list[float]] = {name: [] for name in measurements}
    for _ in range(runs):
        for name, once in measurements.items():
            taken[name].append(once())
    return {name: min(seconds) for name, seconds in taken.items()}


def _instructions(command: list[str], data: bytes) -> float:
    """The instructions of a command, which hardly depend on the load of the machine. Raises CalledProcessError if it fails."""
    ran = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *command], input=data, capture_output=True, check=True
    )
    return float(ran.stderr.rpartition(b"Collected :")[2].split()[0])


def _kustomization(folder: Path, executable: Path) -> Path:
    folder.mkdir()
    shutil.copy(inputs.EXAMPLE, folder / "graph.yaml")
    function = f"metadata:\n  name: render\n  annotations:\n    config.kubernetes.io/function: |\n      exec: {{path: {executable}}}\n"
    (folder / "function.yaml").write_text(f"apiVersion: dynamo.krm-fn.io/v1alpha1\nkind: DynamoRender\n{function}spec: {{}}\n", "utf-8")
    (folder / "kustomization.yaml").write_text("resources: [graph.yaml]\ntransformers: [function.yaml]\n", "utf-8")
    return folder


def both_versions(runs: int) -> None:
    """Measure CPU time of a cold render of one graph in both versions of the API: the minimum, because other programs only add time."""
    taken = _alternating({version: partial(_cpu, inputs.graphs(1, version)) for version in VERSIONS}, runs)
    for version, seconds in taken.items():
        print(f"{f'one graph, {version}':32} {seconds * 1000:8.0f} ms of CPU")
    older, newer = (taken[version] for version in VERSIONS)
    print(f"{'v1beta1 : v1alpha1':32} {newer / older:8.2f}      (target 1.05)\n")


def explanation(runs: int) -> None:
    """Measure CPU time of `krm-fn explain` of an example: the minimum, because other programs only add time."""
    verbs = {"render": ["render"], "explain": ["explain"], "explain --unused": ["explain", "--unused"]}
    for name, words in verbs.items():
        seconds = min(_cpu(b"", [*FUNCTION, *words, str(inputs.EXAMPLE)]) for _ in range(runs))
        print(f"{f'krm-fn {name}':32} {seconds * 1000:8.0f} ms of CPU{'  (target 1000)' if name == 'explain' else ''}")
    print()


def reviews(count: int = 300) -> None:
    """Measure CPU time and memory of the commands that review `count` graphs, and of their render as the baseline."""
    with tempfile.TemporaryDirectory() as scratch:
        old, new = Path(scratch, "old.yaml"), Path(scratch, "new.yaml")
        old.write_bytes(inputs.graphs(count))
        new.write_bytes(inputs.graphs(count).replace(b":1.5.1", b":1.5.2"))
        render = _cpu(b"", [*FUNCTION, "render", str(new)])
        for words in (["check", "--old"], ["diff", "--old"], ["graph", "--old"], ["explain"]):
            command = [*FUNCTION, *words, *([str(old)] if len(words) > 1 else []), str(new)]
            seconds, memory = _cpu(b"", command), measure(command, b"", 1).memory
            print(f"{f'{count} graphs, {words[0]}':32} {seconds / render:8.2f} times a render  {seconds:8.2f} s of CPU {memory:6.0f} MiB")
    print()


def _cpu(data: bytes, command: list[str] = FUNCTION, folder: Path | None = None) -> float:
    """CPU seconds of one run of a command. Raises CalledProcessError if it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, input=data, capture_output=True, check=True, cwd=folder)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)


def many_graphs(version: str) -> None:
    """Measure 1, 100 and 1,000 graphs of three components in a version. The time should be proportional to the number."""
    taken: dict[int, Measured] = {}
    print(version)
    for count, runs in ((1, 10), (100, 5), (1000, 3)):
        data = inputs.graphs(count, version)
        taken[count] = row = measure(FUNCTION, data, runs)
        objects = subprocess.run(FUNCTION, input=data, capture_output=True, check=True).stdout.count(b"\n- apiVersion:")
        print(
            f"{f'{count} graphs, {objects} objects':32} {row.seconds:8.2f} s  {objects / row.seconds:8.0f} objects/s {row.memory:6.0f} MiB"
        )
    print(f"{'1000 : 100':32} {taken[1000].seconds / taken[100].seconds:8.2f}      (target below 11)")


@contextlib.contextmanager
def trees(against: str) -> Iterator[dict[str, Path]]:
    """Yields the folders of the working tree and of a revision, if one is given, by their names."""
    if not against:
        yield {"working tree": ROOT}
        return
    with tempfile.TemporaryDirectory() as scratch:
        archive = subprocess.run(["git", "archive", against, "krm_fn"], cwd=ROOT, capture_output=True, check=True).stdout
        with tarfile.open(fileobj=io.BytesIO(archive)) as tree:
            tree.extractall(scratch, filter="data")
        yield {"working tree": ROOT, against: Path(scratch)}


def alternating(name: str, folders: dict[str, Path], runs: int, graphs: int, measured: Callable[[Path], float]) -> None:
    """Print the CPU time of the folders for each graph, and their ratio: the minimum, because other programs only add time."""
    taken: dict[str, list[float]] = {tree: [] for tree in folders}
    for _ in range(runs):
        for tree, folder in folders.items():
            taken[tree].append(measured(folder))
    for tree, seconds in taken.items():
        print(f"{f'{name}, {tree}':42} {min(seconds) / graphs * 1_000_000:8.0f} microseconds of CPU per graph")
    if len(taken) > 1:
        ours, theirs = map(min, taken.values())
        print(f"{f'{name}, ratio':42} {ours / theirs:8.2f}")


def per_graph(runs: int, against: str) -> None:
    """Measure CPU time for each graph of three components: of the expansion, and of the whole function.

    The settings name the release, because another revision can choose another release for the same images.
    """
    with trees(against) as folders:
        data = inputs.graphs(GRAPHS, behaviour=RELEASE)
        alternating("expansion", folders, runs, GRAPHS, lambda folder: _expansion(folder, data))
        for version in VERSIONS:
            for count in (300, GRAPHS):
                many = inputs.graphs(count, version, behaviour=RELEASE)
                alternating(f"{count} graphs, {version}", folders, runs, count, lambda folder: _cpu(many, folder=folder))  # noqa: B023 - called at once
    print()


def _expansion(folder: Path, data: bytes) -> float:
    """CPU seconds of the expansion with the package in a folder. Raises CalledProcessError if the function refuses the list."""
    ran = subprocess.run([sys.executable, "-c", TIMED], input=data, cwd=folder, capture_output=True, check=True)
    return float(ran.stderr.split()[0])


def main() -> None:
    """Run all measurements."""
    parser = argparse.ArgumentParser(description="Time and memory of a render.")
    parser.add_argument("runs", nargs="?", type=int, default=10)
    parser.add_argument("--against", metavar="REV", default="", help="a revision that is also measured")
    parser.add_argument("--only-graphs", action="store_true", help="measure only the CPU time of graphs")
    options = parser.parse_args()
    runs = options.runs
    print(f"Python {sys.version.split()[0]}, medians of {runs} runs\n")
    per_graph(runs, options.against)
    if options.only_graphs:
        return
    start_up(runs)
    through_kustomize(runs)
    both_versions(runs)
    explanation(runs)
    reviews()
    for version in VERSIONS:
        many_graphs(version)


if __name__ == "__main__":
    main()
