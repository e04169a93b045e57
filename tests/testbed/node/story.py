"""Tells people what a pod does and what it waits for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.testbed.node import state

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.testbed.node.pod import Pod
    from tests.testbed.node.state import State

Object = dict[str, Any]

_MESSAGES, _LINES = 10, 20  # the last ones of a container


def of_pod(pod: Pod) -> str:
    """The states of a pod's containers, the last messages about each, and the end of its log."""
    lines = [f"pod {pod.name} {pod.address}: {state.phase(pod.object, pod.states)}"]
    lines += [f"  {text}" for text in (pod.problem, pod.waits) if text]
    for each in pod.states:
        lines += _container(pod, each)
    return "\n".join(lines)


def _container(pod: Pod, own: State) -> Iterator[str]:
    yield f"  container {own.name}: {_said(own.current)}, {own.restarts} restarts{'' if own.ready else ', not ready'}"
    if own.last:
        yield f"    before: {_said(own.last)}"
    if running := pod.containers.get(own.name):
        yield from (f"    {text}" for text in running.told[-_MESSAGES:])
        log = running.log(own.restarts)
        if log.exists():
            yield from (f"    | {text}" for text in log.read_text(errors="replace").splitlines()[-_LINES:])


def _said(found: Object) -> str:
    """A state in words, such as `terminated with 1: Error no such model`."""
    (kind, detail), *_ = found.items()
    code = f"with {detail['exitCode']}:" if "exitCode" in detail else ""
    return " ".join(text for text in (kind, code, detail.get("reason"), detail.get("message")) if text).strip()
