"""A folder with the output of builds, for the next run of a command: what has the same key is not built again.

The key of an entry is a digest of all that the output depends on: the bytes of all files that the build can read
(`krm_fn.repository.root_inputs`), the program that builds, krm-fn itself, Python and PyYAML. So an entry never has to be removed because
something changed. An entry has a digest of its key and its content: one that was cut off, edited or copied is built again.

Output with a Secret is not stored. The folder and its files belong to their user alone, and git ignores the folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import sys
import tempfile
import zlib
from collections.abc import Collection, Iterator
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

import krm_fn
from krm_fn.kubernetes.types import Resource
from krm_fn.repository.files import reading, repository

_FORMAT = "krm-fn-1"
"""The form of an entry, and the folder of entries. Another form needs another name."""
_ENDING = ".build"
_MOST = 4096
"""The largest number of entries. The oldest ones are removed first."""
_CHUNK = 1024 * 1024
_SECRET = re.compile(rb"^kind: Secret$", re.MULTILINE)  # as kustomize prints it


class UnusableCacheError(Exception):
    """The folder cannot be a cache. The message says why, without the name of the folder."""


class StoredBuild(NamedTuple):
    """The output of a build: what the program printed, and the rest of short objects."""

    data: bytes
    rest: dict[str, Resource]


def _payload(build: StoredBuild) -> bytes:
    return json.dumps({"data": build.data.decode("utf-8", "surrogateescape"), "rest": build.rest}).encode()


def _build(payload: bytes) -> StoredBuild:
    entry: dict[str, Any] = json.loads(payload)
    return StoredBuild(entry["data"].encode("utf-8", "surrogateescape"), entry["rest"])


class SharedBuilds:
    """Builds of the new state that the old state has, too, in the memory of one command. `digests` are those of the inputs of both."""

    def __init__(self, digests: Collection[str]) -> None:
        self._digests = frozenset(digests)
        self._payloads: dict[str, bytes] = {}

    def key(self, inputs: str, _program: str) -> str:
        """Returns the key of a build: all builds of a command have the same program."""
        return inputs if inputs in self._digests else ""

    def read(self, key: str) -> StoredBuild | None:
        """Returns a build, and forgets it; None for one that was not built."""
        payload = self._payloads.pop(key, b"")
        return _build(zlib.decompress(payload)) if payload else None

    def write(self, key: str, build: StoredBuild) -> None:
        """Keeps a build."""
        self._payloads[key] = zlib.compress(_payload(build), 1)


class BuildCache:
    """The entries in a folder. A folder that cannot be written, or is gone, makes no error: roots are then built."""

    def __init__(self, folder: Path) -> None:
        """Makes the folder. Raises UnusableCacheError if this is not possible, and for a folder with files that git tracks.

        A commit could otherwise bring the output of its own build.
        """
        self._entries = (folder / _FORMAT).resolve()
        if _is_tracked(self._entries):
            raise UnusableCacheError("has files in Git; name a folder that has none")
        try:
            self._entries.mkdir(parents=True, exist_ok=True)
            self._entries.chmod(0o700)
            (self._entries / ".gitignore").write_text("*\n", encoding="utf-8")
        except OSError as problem:
            raise UnusableCacheError(f"cannot be written: {problem.strerror}") from problem

    def key(self, inputs: str, program: str) -> str:
        """Returns the key of a build. `inputs` is the digest of its inputs, and `program` the path of the program."""
        return hashlib.sha256(repr((_FORMAT, inputs, _file_digest(program), self._own_digest)).encode()).hexdigest()

    def read(self, key: str) -> StoredBuild | None:
        """Returns an entry; None without one, and for one that is not as it was written."""
        path = self._path(key)
        try:
            content = reading.data(str(path), 2 * reading.LIMIT)
        except reading.UnreadableError:
            return None
        digest, _, payload = content.partition(b"\n")
        if digest != _digest(key, payload):
            path.unlink(missing_ok=True)
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # it stays longer than entries that are not used
        return _build(payload)

    def write(self, key: str, build: StoredBuild) -> None:
        """Stores an entry, unless it has a Secret."""
        if _SECRET.search(build.data):
            return
        payload = _payload(build)
        with contextlib.suppress(OSError):
            descriptor, name = tempfile.mkstemp(dir=self._entries)  # mode 0600
            with os.fdopen(descriptor, "wb") as file:
                file.write(_digest(key, payload) + b"\n" + payload)
            Path(name).replace(self._path(key))

    def prune(self) -> None:
        """Removes the entries that were not used for the longest time, if there are too many."""
        with contextlib.suppress(OSError):
            by_age = sorted(self._entries.glob(f"*{_ENDING}"), key=lambda path: path.stat().st_mtime, reverse=True)
            for path in by_age[_MOST:]:
                path.unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self._entries / f"{key}{_ENDING}"

    @cached_property
    def _own_digest(self) -> str:
        """The digest of krm-fn: another version, also a clone with the same number, can render other objects."""
        import importlib.metadata  # noqa: PLC0415 - only a cache needs it

        versions = (sys.version, importlib.metadata.version("PyYAML"))
        return hashlib.sha256(repr((versions, [*_own_files()])).encode()).hexdigest()


def _own_files() -> Iterator[tuple[str, str]]:
    """Yields the names and digests of the files of the package, or of the archive in which it is."""
    package = Path(krm_fn.__file__).parent
    archive = getattr(getattr(krm_fn, "__loader__", None), "archive", "")
    if archive:
        yield "", _file_digest(archive)
        return
    for folder, names, files in os.walk(package):
        names[:] = sorted(name for name in names if name != "__pycache__")
        for name in sorted(files):
            path = os.path.join(folder, name)  # noqa: PTH118 - pathlib costs more than the reading
            yield os.path.relpath(path, package), _file_digest(path)


@cache
def _file_digest(path: str) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:  # noqa: PTH123 - a name of os.walk
        while data := file.read(_CHUNK):
            digest.update(data)
    return digest.hexdigest()


def _digest(key: str, payload: bytes) -> bytes:
    return hashlib.sha256(key.encode() + b"\n" + payload).hexdigest().encode()


def _is_tracked(folder: Path) -> bool:
    """Returns true if git tracks a file in a folder. Without git or a repository, it tracks none."""
    try:
        with repository.open_repository(folder) as source:
            inside = folder.relative_to(source.top.resolve()).as_posix()
            return any(True for _ in source.entries(source.commit("HEAD"), inside))
    except repository.RepositoryError:
        return False
