"""A process that comes near the memory limit of its cgroup says so, also before it has read all objects."""

from __future__ import annotations

import logging

import pytest

from krm_fn.syncer import memory_limit
from krm_fn.syncer.memory_limit import MemoryUse, MemoryWatch

MIB = 2**20
LIMITED = {"memory.max": f"{256 * MIB}\n", "memory.current": f"{200 * MIB}\n", "memory.stat": f"anon 5\ninactive_file {20 * MIB}\n"}


def write(root, folder, files):
    for name, text in files.items():
        file = root / folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


@pytest.mark.parametrize("own", ["/", "/kubepods/pod1/one", "/../.."], ids=["own namespace", "of the host", "above its namespace"])
def test_the_limit_of_version_2_without_the_file_cache(own, tmp_path):
    """The cgroup of a container is the topmost folder that the process sees, whatever path the kernel names."""
    write(tmp_path, "proc/self", {"cgroup": f"0::{own}\n"})
    write(tmp_path, "sys/fs/cgroup", LIMITED)
    assert memory_limit.read(tmp_path) == (None if ".." in own else MemoryUse(180 * MIB, 256 * MIB))


def test_the_smallest_limit_of_all_cgroups_above_counts(tmp_path):
    write(tmp_path, "proc/self", {"cgroup": "0::/kubepods/pod1/one\n"})
    write(tmp_path, "sys/fs/cgroup/kubepods/pod1/one", LIMITED | {"memory.max": "max\n"})
    write(tmp_path, "sys/fs/cgroup/kubepods/pod1", LIMITED)
    write(tmp_path, "sys/fs/cgroup/kubepods", LIMITED | {"memory.max": f"{512 * MIB}\n"})
    assert memory_limit.read(tmp_path) == MemoryUse(180 * MIB, 256 * MIB)


def test_the_limit_of_version_1(tmp_path):
    write(tmp_path, "proc/self", {"cgroup": "3:cpu,cpuacct:/a\n4:memory:/docker/one\n0::/\n"})
    files = {"memory.limit_in_bytes": f"{64 * MIB}", "memory.usage_in_bytes": f"{60 * MIB}", "memory.stat": f"total_inactive_file {MIB}\n"}
    write(tmp_path, "sys/fs/cgroup/memory", files)
    assert memory_limit.read(tmp_path) == MemoryUse(59 * MIB, 64 * MIB)


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"memory.max": "max\n", "memory.current": "5\n"},
        {"memory.max": "0\n", "memory.current": "5\n"},
        {"memory.max": f"{MIB}\n"},
        {"memory.max": "odd\n", "memory.current": "\0"},
    ],
)
def test_a_process_without_a_limit_has_none(files, tmp_path):
    write(tmp_path, "proc/self", {"cgroup": "0::/\nodd\n"})
    write(tmp_path, "sys/fs/cgroup", files)
    assert memory_limit.read(tmp_path) is None


def test_version_1_writes_a_large_number_for_no_limit(tmp_path):
    write(tmp_path, "proc/self", {"cgroup": "4:memory:/\n"})
    write(tmp_path, "sys/fs/cgroup/memory", {"memory.limit_in_bytes": "9223372036854771712", "memory.usage_in_bytes": "5"})
    assert memory_limit.read(tmp_path) is None


def test_each_crossing_is_one_warning_that_names_the_fix(caplog):
    uses = iter(MemoryUse(part * MIB, 100 * MIB) for part in (10, 81, 85, 75, 82, 69, 80))
    watch = MemoryWatch(lambda: {"Pod": 40_000, "Deployment": 10_000}, lambda: True, lambda: 3, lambda: next(uses))
    with caplog.at_level(logging.WARNING):
        for _ in range(7):
            watch.check()
    first, second = caplog.messages
    assert first.startswith(
        "81 of 100 MiB of memory are used by 50000 objects; the kernel ends this process at its limit. Set the limit to "
    )
    assert first.endswith(" MiB, or run 6 replicas with --shards"), "this process holds a third of the objects, and needs half of them"
    assert second.startswith("80 of 100 MiB")


def test_the_warning_comes_while_the_cluster_is_read_for_the_first_time(caplog):
    """The number of all objects is unknown then, so the limit is a lower bound."""
    MemoryWatch(lambda: {"Pod": 7}, lambda: False, use=lambda: MemoryUse(90 * MIB, 100 * MIB)).check()
    (message,) = caplog.messages
    assert "by 7 objects, and not all are read yet;" in message
    assert message.endswith("Set the limit to at least 224 MiB, or run at least 2 replicas with --shards")


def test_a_process_without_a_limit_warns_of_nothing(caplog):
    MemoryWatch(dict, lambda: True, use=lambda: None).check()
    assert caplog.messages == []
