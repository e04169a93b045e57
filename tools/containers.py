"""Finds a container engine for the tests: docker or podman, with a base image that needs no registry.

Usage:

    python tools/containers.py    # as root on Debian: install podman, runc and debootstrap if they are missing
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import cache
import debian

HERE = Path(__file__).resolve().parent
SUITE, MIRROR = "bookworm", "http://deb.debian.org/debian"
PACKAGES = ("python3", "python3-pip", "ca-certificates")
CERTIFICATES = Path("/etc/ssl/certs")
NEEDED = ("podman", "runc", "debootstrap")
REMEDY = "as root on Debian, `python tools/containers.py` installs it"

# Additional environment variables for podman. `find` takes the first set with which podman can run a container.
_VARIABLES: tuple[dict[str, str], ...] = ({}, {"CONTAINERS_CONF": str(HERE / "containers.conf")})


class UnavailableError(Exception):
    """No engine can run containers here. The message has the reason and the remedy."""


class Engine(NamedTuple):
    """A container engine, its environment variables, and a base image with Python and pip."""

    name: str
    variables: dict[str, str]
    base: str

    def run(self, *arguments: object, text: str = "", check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run `docker ARGUMENTS` or `podman ARGUMENTS` with `text` on stdin. Raises CalledProcessError if `check` is true."""
        command, environment = [self.name, *map(str, arguments)], os.environ | self.variables
        return subprocess.run(command, input=text, capture_output=True, text=True, check=check, timeout=600, env=environment)

    @property
    def build_flags(self) -> list[str]:
        """Flags of `podman build`: the network and certificates of this machine, for pip; no intermediate layers."""
        return ["--network=host", "--layers=false", f"--volume={CERTIFICATES}:{CERTIFICATES}:ro"] if self.name == "podman" else []


def find() -> Engine:
    """The engine for the tests. The first call creates the base image, which takes a minute or two. Raises UnavailableError."""
    name = next((name for name in ("docker", "podman") if _answers(name)), None)
    if name is None:
        raise UnavailableError(f"neither docker nor podman answers; {REMEDY}")
    base = os.environ.get("BASE") or _base(name)
    said = ""
    for variables in _VARIABLES if name == "podman" else _VARIABLES[:1]:
        engine = Engine(name, variables, base)
        tried = engine.run("run", "--rm", "--network=none", base, "true", check=False)
        if tried.returncode == 0:
            return engine
        said = tried.stderr.strip().rpartition("\n")[2]
    raise UnavailableError(f"{name} runs no container of {base}: {said}")


def _answers(name: str) -> bool:
    return bool(shutil.which(name)) and subprocess.run([name, "info"], capture_output=True, check=False, timeout=60).returncode == 0


def _base(name: str) -> str:
    """The base image: a minimal Debian with Python, from the cache or debootstrap. Without root or debootstrap: the Dockerfile's base."""
    if os.geteuid() or not _which("debootstrap"):
        return str(re.findall(r"^ARG BASE=(\S+)", (HERE.parent / "Dockerfile").read_text(), re.MULTILINE)[0])
    digest = hashlib.sha256(repr((SUITE, MIRROR, PACKAGES)).encode()).hexdigest()[:12]
    tag = f"localhost/krm-fn-base:{SUITE}-{digest}"
    if subprocess.run([name, "image", "inspect", tag], capture_output=True, check=False).returncode:
        archive = cache.fill(f"base-{SUITE}-{digest}", _debootstrap) / "root.tar"
        subprocess.run([name, "import", archive, tag], capture_output=True, check=True)
    return tag


def _debootstrap(folder: Path, lock: int) -> None:
    print(f"Debian {SUITE} as a base image: a minute or two", file=sys.stderr, flush=True)
    root = folder / "root"
    command = [str(_which("debootstrap")), "--variant=minbase", f"--include={','.join(PACKAGES)}", SUITE, str(root), MIRROR]
    made = subprocess.run(command, capture_output=True, text=True, check=False, pass_fds=(lock,))
    if made.returncode:
        raise UnavailableError(f"debootstrap: {made.stdout[-400:]}{made.stderr[-400:]}")
    without = [f"--exclude=./{pattern}" for pattern in ("var/cache/apt/archives/*.deb", "var/lib/apt/lists/*")]
    subprocess.run(["tar", "-C", root, *without, "-cf", folder / "root.tar", "."], check=True)
    shutil.rmtree(root)


def _which(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")


def main() -> int:
    """Install missing programs. Exit codes: 0 if all programs are installed, 1 if apt failed, 2 without root or without apt."""
    missing = [name for name in NEEDED if not _which(name)]
    if not missing:
        return 0
    if not debian.can_install():
        print(f"missing: {', '.join(missing)}; install them as root on Debian", file=sys.stderr)
        return 2
    return 0 if debian.install(missing) else 1


if __name__ == "__main__":
    sys.exit(main())
