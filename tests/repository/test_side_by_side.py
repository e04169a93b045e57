"""Builds of roots side by side: the order of their results, roots that include each other, and the end of programs that are not needed."""

from __future__ import annotations

import contextlib
import functools
import threading
import time
from concurrent.futures import Future
from typing import TYPE_CHECKING

import pytest

from krm_fn.repository import private_programs, side_by_side, states
from krm_fn.repository.files import commands
from krm_fn.repository.side_by_side import Reader
from krm_fn.repository.states import RootOptions
from krm_fn.repository.tree import Tree
from tests.cli import console
from tests.repository.clones import FLUX, FUNCTION, GRAPH

if TYPE_CHECKING:
    from pathlib import Path

    from tests.repository.clones import Clone


def wait_for(number: int, barrier: threading.Barrier, _reader: Reader) -> int:
    """Return a number after another call has begun."""
    barrier.wait(10)
    return number


def test_calls_wait_at_the_same_time_and_their_results_have_the_order_of_the_calls(monkeypatch):
    monkeypatch.setattr(side_by_side, "count_cores", lambda: 2)
    barrier = threading.Barrier(2)
    calls = [functools.partial(wait_for, number, barrier) for number in range(6)]
    assert [*side_by_side.run_in_order(calls)] == [0, 1, 2, 3, 4, 5]


def test_a_program_ends_when_nobody_reads_its_result(tmp_path):
    """A signal leaves the loop over the results. A build that hangs must not keep the command until its time limit."""
    calls = [lambda _: "", lambda reader: commands.run(["sleep", "60"], tmp_path, 60, stopped=reader.stopped)]
    begin = time.monotonic()
    with contextlib.closing(side_by_side.run_in_order(calls)) as outputs:
        assert next(outputs) == ""
    assert time.monotonic() - begin < 30


def test_functions_of_calls_run_in_the_thread_that_reads():
    """The tables of krm-fn have no locks. An exception of the function is one of the call."""
    threads = [lambda reader: reader.call(threading.get_ident) for _ in range(3)]
    assert {*side_by_side.run_in_order(threads)} == {threading.get_ident()}
    with pytest.raises(ZeroDivisionError):
        next(side_by_side.run_in_order([lambda reader: reader.call(lambda: 1 // 0)]))


class LateFuture(Future[int]):
    """A value that comes just after the time limit of `result`."""

    def result(self, timeout: float | None = None) -> int:
        value = super().result()
        if timeout:
            raise TimeoutError
        return value


def test_a_value_that_comes_just_after_the_time_limit_is_the_value(monkeypatch):
    """A busy machine ended a command with TimeoutError."""
    monkeypatch.setattr(side_by_side, "Future", LateFuture)
    assert [*side_by_side.run_in_order([lambda reader: reader.call(lambda: 1)])] == [1]


def test_what_a_call_raises_comes_in_its_turn():
    def fail(_reader: Reader) -> int:
        raise ValueError("no")

    results = side_by_side.run_in_order([lambda _: 1, fail, lambda _: 3])
    assert next(results) == 1
    with pytest.raises(ValueError, match="no"):
        next(results)


OVERLAY = "namespace: {name}\nresources: [../{base}]\n"
INCLUDED = {
    "base/graph.yaml": GRAPH,
    "base/kustomization.yaml": "resources: [graph.yaml]\n",
    **{f"{name}/kustomization.yaml": OVERLAY.format(name=name, base="base") + "transformers: [render.yaml]\n" for name in "abc"},
    **{f"{name}/render.yaml": FUNCTION for name in "abc"},
    "around/kustomization.yaml": OVERLAY.format(name="around", base="b"),
    "flux/b.yaml": FLUX.format(name="b", path="./b", kind="GitRepository", more=", namePrefix: flux-"),
    "flux/again.yaml": FLUX.format(name="again", path="./b", kind="GitRepository", more=", namePrefix: again-"),
}
"""Four overlays, of which one is the base of another and is applied twice, with other settings."""


def read(folder: Path, programs_folder: Path) -> list[tuple[str, list[str], list[str]]]:
    """The roots of a folder, with the names of their resources and their findings."""
    state = states.read(states.find(Tree(folder), RootOptions()), private_programs.create(programs_folder, 60))
    return [
        (root.name, [str(source.address) for source in root.sources.resources], [repr(finding) for finding in root.sources.results])
        for root in state.roots
    ]


def test_roots_have_the_resources_of_their_own_build(clone: Clone, tmp_path: Path, monkeypatch):
    """kustomize reads the Kustomization of a root with its settings, and the same file without them as the base of another root."""
    clone.put(INCLUDED)
    monkeypatch.setattr(side_by_side, "count_cores", lambda: 1)
    alone = read(clone.folder, tmp_path / "one")
    monkeypatch.setattr(side_by_side, "count_cores", lambda: 4)
    assert read(clone.folder, tmp_path / "four") == alone
    graphs = [(root, address) for root, addresses, _ in alone for address in addresses if "DynamoGraphDeployment" in address]
    assert {(root, name) for root, address in graphs for name in ("flux-chat", "again-chat") if name in address} == {
        ("b", "flux-chat"),
        ("b", "again-chat"),
    }
    assert [address for root, address in graphs if root == "around" and "-chat" in address] == []


def test_the_error_of_one_root_leaves_the_others(clone: Clone):
    clone.put({**INCLUDED, "c/kustomization.yaml": "resources: [../base]\npatches: [{path: missing.yaml}]\n"})
    done = console.run("check")
    lines = done.err.splitlines()
    assert [line.partition(":")[0] for line in lines if "built" in line] == ["a", "around", "b", "b", "c"]
    assert [line for line in lines if line.startswith("c: ")] == ["c: not built"]
