"""Installs packages of Debian, for programs that no Go module builds."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def can_install() -> bool:
    """True for root on a system with apt."""
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


def install(packages: Sequence[str]) -> bool:
    """Installs packages. Returns False if apt fails; its output is then on stderr."""
    print(f"apt-get install {' '.join(packages)}", file=sys.stderr, flush=True)
    for command in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", *packages]):
        done = subprocess.run(["apt-get", *command], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        if done.returncode:
            print(done.stdout[-2000:], done.stderr[-2000:], sep="\n", file=sys.stderr)
            return False
    return True
