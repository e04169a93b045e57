"""Writes archives whose bytes depend on their content only: sorted members, one time, one owner, two modes."""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
import time
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple


class Member(NamedTuple):
    """A file of an archive. A zip archive stores it as it is if `is_compressed` is false."""

    data: bytes
    is_executable: bool = False
    is_compressed: bool = True

    @property
    def mode(self) -> int:
        """The permissions."""
        return 0o755 if self.is_executable else 0o644


def digest(data: bytes) -> str:
    """Returns the SHA-256 of bytes, in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def members(folder: Path, paths: Iterable[Path]) -> dict[str, Member]:
    """Reads files into members, by their paths relative to a folder."""
    return {path.relative_to(folder).as_posix(): Member(path.read_bytes(), bool(path.stat().st_mode & 0o100)) for path in paths}


def tar(files: Mapping[str, Member], epoch: int) -> bytes:
    """Returns a tar archive. `epoch` is the time of all members, in seconds since 1970."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, member in sorted(files.items()):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode, entry.mtime = len(member.data), member.mode, epoch
            archive.addfile(entry, io.BytesIO(member.data))
    return buffer.getvalue()


def tar_gz(files: Mapping[str, Member], epoch: int) -> bytes:
    """Returns a tar archive, compressed by gzip. The header of gzip has the same time."""
    return gzip.compress(tar(files, epoch), mtime=epoch)


def zipped(files: Mapping[str, Member], epoch: int) -> bytes:
    """Returns a zip archive. Zip knows no time zones and only even seconds; the times are in UTC."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, member in sorted(files.items()):
            entry = zipfile.ZipInfo(name, time.gmtime(epoch)[:6])
            entry.create_system, entry.external_attr = 3, (0o100000 | member.mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED if member.is_compressed else zipfile.ZIP_STORED
            archive.writestr(entry, member.data)
    return buffer.getvalue()


def repacked_tar_gz(data: bytes, epoch: int) -> bytes:
    """Returns a tar.gz archive again, with the same files. Folders are left out, because the paths of files imply them."""
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as archive:
        files = {
            entry.name: Member(stream.read(), bool(entry.mode & 0o100))
            for entry in archive.getmembers()
            if (stream := archive.extractfile(entry)) is not None
        }
    return tar_gz(files, epoch)
