"""Runs one container: makes its namespaces, its root and its mounts, and replaces itself by the container's command. A program of its own.

`launch.py FILE`: FILE is the JSON of a `tests.testbed.node.process.Plan`. It needs the standard library only, and root, or a user
namespace in which it is root. stderr is the container's log. stdout tells the caller in lines of JSON: `{"pid": 12}` when the command runs,
`{"error": "..."}` if it cannot, and `{"status": 256}`, a wait status, when it has ended.

The root: a tmpfs with one overlay for each folder of the host's root, so that a container sees the programs of the host and writes into a
layer of its own. `/tmp`, `/run`, `/dev` and the like are new. (One overlay of `/` itself is refused in a user namespace.)
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import socket
import stat
import sys
from pathlib import Path
from typing import Any

Plan = dict[str, Any]

_NEW_MOUNTS, _NEW_UTS, _NEW_IPC, _NEW_PIDS, _NEW_NET = 0x00020000, 0x04000000, 0x08000000, 0x20000000, 0x40000000
_READ_ONLY, _REMOUNT, _BIND, _RECURSIVE, _PRIVATE, _RELATIVE_TIME = 1, 32, 4096, 16384, 1 << 18, 1 << 21
_NO_TIME, _NO_FOLDER_TIME, _DETACH, _SIGNAL_OF_PARENT = 1024, 2048, 2, 1
_ST_RELATIVE_TIME = 4096  # as statvfs says it
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_EMPTY = {"tmp": 0o1777, "run": 0o755, "mnt": 0o755, "media": 0o755, "proc": 0o555, "sys": 0o555, "dev": 0o755}

_libc = ctypes.CDLL(None, use_errno=True)


def main() -> int:
    """Start the container, wait for its end, and tell the caller."""
    plan = json.loads(Path(sys.argv[1]).read_text())
    _bind_to_parent()
    os.chdir("/")
    own = os.open(f"/proc/{plan['sandbox']}/ns", os.O_RDONLY)
    for name, kind in (("ipc", _NEW_IPC), ("uts", _NEW_UTS), ("net", _NEW_NET), ("mnt", _NEW_MOUNTS)):
        handle = os.open(name, os.O_RDONLY, dir_fd=own)
        _check(_libc.setns(handle, kind), f"enter {name} of the sandbox")
        os.close(handle)
    _check(_libc.unshare(_NEW_MOUNTS | _NEW_PIDS), "unshare")
    reader, writer = os.pipe()  # closed by exec: nothing in it means that the command runs
    child = os.fork()
    if child == 0:
        os.close(reader)
        _run(plan, writer)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        said = pipe.read()
    _tell({"error": said} if said else {"pid": child})
    _, status = os.waitpid(child, 0)
    _tell({"status": status})
    return 0


def _run(plan: Plan, writer: int) -> None:
    try:
        _bind_to_parent()
        os.setsid()
        os.dup2(2, 1)
        socket.sethostname(plan["hostname"])
        _root(plan)
        _become(plan)
        _execute(plan["words"], plan["environment"])
    except Exception as problem:  # noqa: BLE001 - all of them are told
        os.write(writer, str(problem).encode())
    os._exit(128)


def _root(plan: Plan) -> None:
    """Make the root and the mounts of the container, and move into it. The host's root is at /.host until all mounts are made."""
    _mount(None, "/", None, _RECURSIVE | _PRIVATE)
    layers, root = Path(plan["folder"]) / "layers", Path(plan["folder"]) / "root"
    for each in (layers, root):
        each.mkdir(exist_ok=True)
        _mount("tmpfs", each, "tmpfs", 0, "mode=0755")
    over = [root]
    for entry in Path("/").iterdir():
        target = root / entry.name
        if entry.is_symlink():
            target.symlink_to(entry.readlink())
        elif entry.is_dir() and entry.name not in _EMPTY:
            target.mkdir(mode=0o755)
            _overlay(entry, target, layers / entry.name)
            over.append(target)
    for name, mode in _EMPTY.items():
        (root / name).mkdir()
        (root / name).chmod(mode)
    _mount("proc", root / "proc", "proc", 0)
    _mount("sysfs", root / "sys", "sysfs", _READ_ONLY)
    _devices(root / "dev")
    (root / ".host").mkdir()
    _check(_libc.pivot_root(bytes(root), bytes(root / ".host")), "pivot_root")
    os.chdir("/")
    for folder in plan["folders"]:
        _bind(folder, folder, read_only=True)
        _open_way(Path(folder))
    for mount in sorted(plan["mounts"], key=lambda mount: mount["target"].count("/")):
        _bind(mount["source"], mount["target"], read_only=mount["readOnly"])
    _check(_libc.umount2(b"/.host", _DETACH), "leave the host's root")
    Path("/.host").rmdir()
    Path(plan["workdir"]).mkdir(parents=True, exist_ok=True)
    if plan["readOnlyRoot"]:
        for each in over:
            _read_only("/" / each.relative_to(root))


def _overlay(lower: Path, target: Path, layer: Path) -> None:
    """The folder with a writable layer; or read-only where an overlay is refused: a folder with mounts below, in a user namespace."""
    for name in ("upper", "work"):
        (layer / name).mkdir(parents=True)
    mode = lower.stat().st_mode
    (layer / "upper").chmod(stat.S_IMODE(mode))
    options = f"lowerdir={lower},upperdir={layer / 'upper'},workdir={layer / 'work'}"
    for each in (options, f"{options},userxattr"):
        if not _libc.mount(b"overlay", bytes(target), b"overlay", 0, each.encode()):
            return
    _mount(lower, target, None, _BIND | _RECURSIVE)
    mounted = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    for place in mounted:
        if Path(place).is_relative_to(target):
            _read_only(Path(place))


def _devices(target: Path) -> None:
    _mount("tmpfs", target, "tmpfs", 0, "mode=0755")
    for name in _DEVICES:
        (target / name).touch()
        _mount(Path("/dev") / name, target / name, None, _BIND)
    for name, link in (("fd", "self/fd"), ("stdin", "self/fd/0"), ("stdout", "self/fd/1"), ("stderr", "self/fd/2")):
        (target / name).symlink_to(f"/proc/{link}")
    for name, kind, options in (("pts", "devpts", "newinstance,ptmxmode=0666,mode=0620"), ("shm", "tmpfs", "mode=1777,size=65536k")):
        (target / name).mkdir()
        _mount(kind, target / name, kind, 0, options)
    (target / "ptmx").symlink_to("pts/ptmx")


def _bind(source: str, target: str, *, read_only: bool) -> None:
    """Mount a file or folder of the host. A missing target is made, as container runtimes do."""
    origin, place = Path("/.host" + source), Path(target)
    if origin.is_dir():
        place.mkdir(parents=True, exist_ok=True)
    elif not place.exists():  # one that exists may belong to a user that the user namespace does not have
        place.parent.mkdir(parents=True, exist_ok=True)
        place.touch()
    _mount(origin, place, None, _BIND | _RECURSIVE)
    if read_only:
        _read_only(place)


def _open_way(folder: Path) -> None:
    """Let every user reach a folder of the image, as in an image, also below a home that only its owner may enter."""
    for parent in folder.parents:
        mode = stat.S_IMODE(parent.stat().st_mode)
        if not mode & stat.S_IXOTH:
            with contextlib.suppress(OSError):  # it is the host's own where an overlay is refused
                parent.chmod(mode | stat.S_IXGRP | stat.S_IXOTH)


def _read_only(place: Path) -> None:
    """Make a mount read-only. Its other flags stay: a user namespace must not change them."""
    had = os.statvfs(place).f_flag
    flags = had & (15 | _NO_TIME | _NO_FOLDER_TIME) | (_RELATIVE_TIME if had & _ST_RELATIVE_TIME else 0)
    _mount(None, place, None, _REMOUNT | _BIND | _READ_ONLY | flags)


def _become(plan: Plan) -> None:
    """Go to the working directory and become the user of the container, with those of its groups that exist."""
    os.chdir(plan["workdir"])
    groups = [group for group in plan["groups"] if _exists("gid", group)]
    if plan["user"] or groups != [0]:
        if Path("/proc/self/setgroups").read_text() == "allow\n":
            os.setgroups(groups)
        os.setgid(plan["groups"][0])
        os.setuid(plan["user"])
        _bind_to_parent()  # a change of the user forgets it
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)


def _exists(kind: str, number: int) -> bool:
    """True if the user namespace has a user or a group. On a plain machine it has all; made by a user, it may have only root."""
    lines = Path(f"/proc/self/{kind}_map").read_text().splitlines()
    return any(int(first) <= number < int(first) + int(count) for first, _, count in map(str.split, lines))


def _execute(words: list[str], environment: dict[str, str]) -> None:
    """Run the command. Raises OSError in the words of a container runtime."""
    try:
        os.execvpe(words[0], words, environment)  # noqa: S606 - the command of the container
    except FileNotFoundError:
        where = "no such file or directory" if "/" in words[0] else "executable file not found in $PATH"
        raise OSError(f'exec: "{words[0]}": {where}') from None
    except OSError as problem:
        raise OSError(f'exec: "{words[0]}": {(problem.strerror or str(problem)).lower()}') from None


def _bind_to_parent() -> None:
    """End with the process that started this one, so that nothing is left if the tests are killed."""
    _check(_libc.prctl(_SIGNAL_OF_PARENT, signal.SIGKILL), "prctl")


def _mount(source: object, target: object, kind: str | None, flags: int, options: str = "") -> None:
    words = [None if each is None else str(each).encode() for each in (source, target, kind)]
    _check(_libc.mount(*words, flags, options.encode()), f"mount {source or ''} on {target}")


def _check(result: int, what: str) -> None:
    if result:
        raise OSError(f"{what}: {os.strerror(ctypes.get_errno())}")


def _tell(news: Plan) -> None:
    os.write(1, (json.dumps(news) + "\n").encode())


if __name__ == "__main__":
    sys.exit(main())
