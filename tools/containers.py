"""Finds a container engine for the tests: docker or podman, with a base image that needs no registry.

Usage:

    python tools/containers.py                # as root on Debian: install podman, runc and debootstrap if they are missing
    python tools/containers.py --emulation    # and QEMU, with which this machine runs programs for arm64
"""

from __future__ import annotations

import argparse
import functools
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
EMULATED = "arm64"
EMULATION_REMEDY = "as root on Debian, `python tools/containers.py --emulation` installs it"

_QEMU = "qemu-user-static"
_FORMATS = Path("/proc/sys/fs/binfmt_misc")
_REGISTERED = _FORMATS / "qemu-aarch64"
_REGISTRATION = Path("/usr/lib/binfmt.d/qemu-aarch64.conf")
"""The line with which Debian's QEMU registers itself in the kernel (binfmt_misc), for programs for arm64."""

# Additional environment variables for podman. `find` takes the first set with which podman can run a container.
_VARIABLES: tuple[dict[str, str], ...] = ({}, {"CONTAINERS_CONF": str(HERE / "containers.conf")})


class UnavailableError(Exception):
    """No engine can run containers here. The message has the reason and the remedy."""


class Engine(NamedTuple):
    """A container engine, its environment variables, and a base image with Python and pip.

    `architecture` is empty for that of this machine.
    """

    name: str
    variables: dict[str, str]
    base: str
    architecture: str = ""

    def run(self, *arguments: object, text: str = "", check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run `docker ARGUMENTS` or `podman ARGUMENTS` with `text` on stdin. Raises CalledProcessError if `check` is true."""
        command, environment = [self.name, *map(str, arguments)], os.environ | self.variables
        return subprocess.run(command, input=text, capture_output=True, text=True, check=check, timeout=600, env=environment)

    @property
    def build_flags(self) -> list[str]:
        """Flags of `podman build`: the network and certificates of this machine, for pip; no intermediate layers."""
        podman = ["--network=host", "--layers=false", f"--volume={CERTIFICATES}:{CERTIFICATES}:ro"] if self.name == "podman" else []
        return [*podman, *([f"--platform=linux/{self.architecture}"] if self.architecture else [])]


def find(architecture: str = "") -> Engine:
    """The engine for the tests. The first call creates the base image, which takes a minute or two. Raises UnavailableError.

    `architecture` is empty for that of this machine, or EMULATED, for which the first call takes five minutes.
    """
    if architecture and not _REGISTERED.exists():
        raise UnavailableError(f"no QEMU runs programs for {architecture}; {EMULATION_REMEDY}")
    name = next((name for name in ("docker", "podman") if _answers(name)), None)
    if name is None:
        raise UnavailableError(f"neither docker nor podman answers; {REMEDY}")
    base = os.environ.get("BASE") or _base(name, architecture)
    said = ""
    for variables in _VARIABLES if name == "podman" else _VARIABLES[:1]:
        engine = Engine(name, variables, base, architecture)
        tried = engine.run("run", "--rm", "--network=none", base, "true", check=False)
        if tried.returncode == 0:
            return engine
        said = tried.stderr.strip().rpartition("\n")[2]
    raise UnavailableError(f"{name} runs no container of {base}: {said}")


def _answers(name: str) -> bool:
    return bool(shutil.which(name)) and subprocess.run([name, "info"], capture_output=True, check=False, timeout=60).returncode == 0


def _base(name: str, architecture: str = "") -> str:
    """The base image: a minimal Debian with Python, from the cache or debootstrap. Without root or debootstrap: the Dockerfile's base."""
    if os.geteuid() or not _which("debootstrap"):
        return str(re.findall(r"^ARG BASE=(\S+)", (HERE.parent / "Dockerfile").read_text(), re.MULTILINE)[0])
    suffix = [architecture] if architecture else []
    digest = hashlib.sha256(repr((SUITE, MIRROR, PACKAGES, *suffix)).encode()).hexdigest()[:12]
    tag = f"localhost/krm-fn-base:{'-'.join([SUITE, *suffix, digest])}"
    if subprocess.run([name, "image", "inspect", tag], capture_output=True, check=False).returncode:
        archive = cache.fill(f"base-{'-'.join([SUITE, *suffix, digest])}", functools.partial(_debootstrap, architecture)) / "root.tar"
        flags = {"docker": [f"--platform=linux/{architecture}"], "podman": [f"--arch={architecture}"]}[name] if architecture else []
        subprocess.run([name, "import", *flags, archive, tag], capture_output=True, check=True)
    return tag


def _debootstrap(architecture: str, folder: Path, lock: int) -> None:
    print(f"Debian {SUITE} {architecture} as a base image: some minutes", file=sys.stderr, flush=True)
    root = folder / "root"
    flags = [f"--arch={architecture}"] if architecture else []
    command = [str(_which("debootstrap")), "--variant=minbase", *flags, f"--include={','.join(PACKAGES)}", SUITE, str(root), MIRROR]
    made = subprocess.run(command, capture_output=True, text=True, check=False, pass_fds=(lock,))
    if made.returncode:
        raise UnavailableError(f"debootstrap: {made.stdout[-400:]}{made.stderr[-400:]}")
    subprocess.run(["umount", root / "proc"], capture_output=True, check=False)  # debootstrap leaves it mounted for another architecture
    without = [f"--exclude=./{pattern}" for pattern in ("var/cache/apt/archives/*.deb", "var/lib/apt/lists/*")]
    subprocess.run(["tar", "-C", root, *without, "-cf", folder / "root.tar", "."], check=True)
    shutil.rmtree(root)


def _which(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")


def main() -> int:
    """Exit codes: those of `install`."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--emulation", action="store_true", help="also install QEMU, for programs for arm64")
    return install(emulation=parser.parse_args().emulation)


def install(*, emulation: bool = False) -> int:
    """Install missing programs. Exit codes: 0 if all programs are installed, 1 if apt or QEMU failed, 2 without root or without apt."""
    missing = [name for name in NEEDED if not _which(name)]
    if emulation and not _REGISTRATION.exists():
        missing.append(_QEMU)
    if missing and not debian.can_install():
        print(f"missing: {', '.join(missing)}; install them as root on Debian", file=sys.stderr)
        return 2
    if missing and not debian.install(missing):
        return 1
    return _register() if emulation and not _REGISTERED.exists() else 0


def _register() -> int:
    """Registers QEMU in the kernel, as systemd does where it runs. Exit codes: 0, or 1 if the kernel refuses it."""
    try:
        if not (_FORMATS / "register").exists():
            subprocess.run(["mount", "-t", "binfmt_misc", "binfmt_misc", _FORMATS], check=True, capture_output=True)
        (_FORMATS / "register").write_text(_REGISTRATION.read_text())
    except (OSError, subprocess.CalledProcessError) as problem:
        print(f"the kernel does not register {_QEMU}: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
