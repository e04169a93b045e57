"""CPU time and memory of running processes, from /proc (proc(5))."""

from __future__ import annotations

import os
from pathlib import Path

_TICK = os.sysconf("SC_CLK_TCK")
_KIB = 1024  # in a MiB


def cpu(pid: int) -> float:
    """CPU seconds of a process with all its threads. Raises OSError if the process has ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICK


def memory(pid: int) -> tuple[float, float]:
    """Resident memory of a process in MiB: now, and its peak. Raises OSError if the process has ended."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    sizes = {key: value for key, _, value in (line.partition(":") for line in lines)}
    return int(sizes["VmRSS"].split()[0]) / _KIB, int(sizes["VmHWM"].split()[0]) / _KIB


def busy() -> float:
    """CPU seconds that all processes together have used; time that a hypervisor took away counts, too."""
    user, nice, system, _, _, *interrupts = map(int, Path("/proc/stat").read_text().partition("\n")[0].split()[1:9])
    return (user + nice + system + sum(interrupts)) / _TICK


def load() -> str:
    """The load averages of 1, 5 and 15 minutes."""
    return " ".join(f"{average:.1f}" for average in os.getloadavg())
