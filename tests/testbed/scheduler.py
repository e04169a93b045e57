"""Hands tests to the workers of pytest-xdist: tests of one group to one worker, all others one by one.

It does what pytest-xdist's own scheduler for `--dist loadgroup` does. That one counts all tests of a worker again whenever a test ends, so
the process that hands out 20,000 tests needs a minute of CPU for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xdist.scheduler import LoadGroupScheduling

if TYPE_CHECKING:
    from xdist.workermanage import WorkerController


_AT_ONCE = 20
"""The largest number of tests in a message. It falls to one for the last tests, so that all workers end together."""


def group_of(nodeid: str) -> str:
    """The group of a test, which pytest-xdist has written behind its name; empty without a group, and without `--dist loadgroup`."""
    return nodeid.rpartition("@")[2] if nodeid.rfind("@") > nodeid.rfind("]") else ""


class GroupScheduling(LoadGroupScheduling):  # type: ignore[misc] # pytest-xdist has no types
    """Remembers the tests that still run, and not those that ended."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._positions: dict[WorkerController, dict[str, int]] = {}

    def mark_test_complete(self, node: WorkerController, item_index: int, duration: float = 0) -> None:
        """Forgets a test that ended, with its group if it was the last one. A new test is sent if the worker needs one."""
        nodeid = self.registered_collections[node][item_index]
        group = self._split_scope(nodeid)
        tests = self.assigned_work[node][group]
        del tests[nodeid]
        if not tests:
            del self.assigned_work[node][group]
        self._reschedule(node)

    def _assign_work_unit(self, node: WorkerController) -> None:
        """Sends the next groups to a worker: one, and more while many are left, because each message costs both processes CPU."""
        assigned = self.assigned_work.setdefault(node, {})
        groups = [self.workqueue.popitem(last=False)]
        if not group_of(next(iter(groups[0][1]))):
            number = min(_AT_ONCE, len(self.workqueue) // (_AT_ONCE * len(self.nodes)))
            groups += [self.workqueue.popitem(last=False) for _ in range(number)]
        assigned.update(groups)
        positions = self._positions.get(node)
        if positions is None:
            positions = {nodeid: index for index, nodeid in enumerate(self.registered_collections[node])}
            self._positions[node] = positions
        node.send_runtest_some([positions[nodeid] for _, tests in groups for nodeid, ended in tests.items() if not ended])
