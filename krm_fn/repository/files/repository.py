"""Reads files of a git revision without running a program that the repository names.

The configuration of a repository can name programs (core.fsmonitor, core.sshCommand, uploadpack of a promisor remote), and its author may
be unknown. So git never reads it: git runs on a temporary folder with its own configuration, which links to the references of the
repository and reads its objects. Missing objects are not fetched.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from krm_fn.repository.files import enclosing_folders, reading

_SECONDS = 60
"""The time limit of one git command, in seconds. A named pipe among the references would block git forever."""

_SMALL = 1024 * 1024
_HEADS = ("HEAD", "ORIG_HEAD", "FETCH_HEAD", "MERGE_HEAD")
_SHARED = ("packed-refs", "reftable", "refs", "shallow")
_FORMATS = {"extensions.objectformat": ("sha1", "sha256"), "extensions.refstorage": ("files", "reftable")}
_TRACKING = (("branch.", ".remote"), ("branch.", ".merge"), ("remote.", ".fetch"))
"""The settings by which git resolves `@{upstream}`."""

_OPTIONS = ("--literal-pathspecs", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "protocol.allow=never")
_VARIABLES = {
    "GIT_ALLOW_PROTOCOL": "",  # wins over protocol.<name>.allow
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
}


class RepositoryError(Exception):
    """git or the repository cannot provide the requested data. The message is for users."""


class GitFile(NamedTuple):
    """A file of a commit: its path from the top of the repository."""

    name: str
    is_link: bool
    oid: str


class GitRepository(NamedTuple):
    """A read-only view of a repository. `top` is the folder of its working tree."""

    top: Path
    variables: dict[str, str]

    def commit(self, revision: str) -> str:
        """Returns the hash of the commit that a revision names. Raises RepositoryError.

        Before the first commit of a branch, HEAD is the hash of a tree without files, so that a hook can compare with it.
        """
        try:
            return self.git("rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}").decode().strip()
        except RepositoryError as problem:
            if revision == "HEAD" and self._is_unborn():
                return self.git("hash-object", "-t", "tree", "--stdin").decode().strip()
            raise RepositoryError(f"{problem}; name a commit, and in a shallow clone fetch it first") from problem

    def _is_unborn(self) -> bool:
        """True if HEAD is a branch without a commit. False for a branch whose file is damaged."""
        try:
            branch = self.git("symbolic-ref", "--quiet", "HEAD").decode().strip()
        except RepositoryError:
            return False
        exists = self.git("for-each-ref", "--format=%(refname)", branch)
        return not exists and not os.path.lexists(Path(self.variables["GIT_DIR"]) / branch)

    def entries(self, commit: str, at: str) -> Iterator[GitFile]:
        """Yields the files and links of a commit at a path, without those of submodules. Raises RepositoryError."""
        every = os.fsdecode(self.git("ls-tree", "-r", "-z", "--full-tree", commit, *([] if at == "." else ["--", at])))
        for line in filter(None, every.split("\0")):
            head, _, name = line.partition("\t")
            mode, kind, hashed = head.split(" ")
            if kind == "blob":
                yield GitFile(name, mode == "120000", hashed)

    def contents(self, commit: str, entries: Sequence[GitFile]) -> Iterator[tuple[str, bytes | None]]:
        """Yields the names and bytes of files; None for a file above the limit. Raises RepositoryError if an object is missing.

        Links are followed within the commit. Links that lead out of the commit, or have no target, are left out.
        """
        names = [f"{commit}:{entry.name}" if entry.is_link else entry.oid for entry in entries]
        if any("\n" in name for name in names):
            raise RepositoryError("a link with a line break in its name cannot be read; rename it")
        sized = _answers(self._cat("--batch-check", names), with_data=False)
        answers = list(zip(entries, sized, strict=True))
        for entry, (_, kind, _) in answers:
            if kind == "missing":
                raise RepositoryError(
                    f"the content of {entry.name} is missing in the repository; fetch it (in a partial clone), or repair the repository"
                )
        files = [(entry, hashed, int(size)) for entry, (hashed, kind, size) in answers if kind == "blob"]
        read = self._cat("--batch", [hashed for _, hashed, size in files if size <= reading.LIMIT])
        texts = _answers(read, with_data=True)
        for entry, _, size in files:
            yield entry.name, next(texts)[2] if size <= reading.LIMIT else None

    def _cat(self, option: str, names: Sequence[str]) -> bytes:
        return self.git("cat-file", option, "--follow-symlinks", given="".join(f"{name}\n" for name in names)) if names else b""

    def git(self, *arguments: str, given: str = "", seconds: int = 0, **variables: str) -> bytes:
        """Returns the output of git, with further environment variables, and another time limit.

        Raises RepositoryError with git's own message.
        """
        return _run({**self.variables, **variables}, *arguments, given=given, seconds=seconds)


@contextlib.contextmanager
def open_repository(path: Path) -> Iterator[GitRepository]:
    """The repository around a file or folder. Raises RepositoryError without one."""
    top, folder = _find(path)
    common = Path(os.path.realpath(folder / (_text(folder / "commondir") or ".")))
    if not all(map(enclosing_folders.is_below_ceiling, (folder, common, common / "objects"))):
        raise RepositoryError("its git folder is outside of the folder that may be read; name a folder in place of a revision")
    try:
        with tempfile.TemporaryDirectory(prefix="krm-fn-git-") as copy:
            variables = {**_VARIABLES, "GIT_DIR": copy, "GIT_OBJECT_DIRECTORY": str(common / "objects")}
            _link(Path(copy), folder, common)
            settings = _settings(common / "config", variables)
            formats = {key: value for key, value in settings if key in _FORMATS}
            if formats.get("extensions.refstorage") == "reftable" and folder != common:
                raise RepositoryError(
                    "the references of a linked working tree are in the reftable format; name a folder in place of a revision"
                )
            _configure(Path(copy), formats)
            yield GitRepository(top, {**variables, **_tracking(settings)})
    except OSError as problem:
        raise RepositoryError(f"the repository cannot be read: {problem.strerror}") from problem


def _find(path: Path) -> tuple[Path, Path]:
    """Returns the top of the working tree around a path, and its git folder."""
    for top in enclosing_folders.upwards(path):
        marker = top / ".git"
        folder = marker if marker.is_dir() else top / _text(marker).removeprefix("gitdir:").strip()
        if folder != top and (folder / "HEAD").is_file():
            return top, folder
    raise RepositoryError("not a git repository, nor is any folder above it")


def _text(path: Path) -> str:
    """Returns the text of a small file; empty if it cannot be read."""
    with contextlib.suppress(reading.UnreadableError):
        return os.fsdecode(reading.data(str(path), _SMALL)).removesuffix("\n")
    return ""


def _link(copy: Path, folder: Path, common: Path) -> None:
    for name in _HEADS:
        if text := _text(folder / name):
            (copy / name).write_bytes(os.fsencode(f"{text}\n"))
    for name in _SHARED:
        if (common / name).exists():
            (copy / name).symlink_to(common / name)
    (copy / "logs").mkdir()
    (copy / "logs" / "HEAD").symlink_to(folder / "logs" / "HEAD")
    (copy / "logs" / "refs").symlink_to(common / "logs" / "refs")


def _settings(config: Path, variables: dict[str, str]) -> list[tuple[str, str]]:
    """Returns the settings of a repository as data. git does not apply the settings of a file that it lists."""
    if not config.is_file():
        return []
    listed = _run(variables, "config", "--file", str(config), "--no-includes", "--null", "--list")
    pairs = (os.fsdecode(entry).partition("\n") for entry in listed.split(b"\0") if entry)
    return [(key, value) for key, _, value in pairs]


def _configure(copy: Path, formats: dict[str, str]) -> None:
    """Writes the configuration that git applies. It takes only the formats of objects and references from the repository."""
    lines = [f"\t{key.partition('.')[2]} = {value}\n" for key, value in formats.items() if value in _FORMATS[key]]
    text = "".join(["[core]\n\trepositoryFormatVersion = 1\n\tbare = true\n[extensions]\n", *lines])
    (copy / "config").write_text(text, encoding="utf-8")


def _tracking(settings: list[tuple[str, str]]) -> dict[str, str]:
    pairs = [(key, value) for key, value in settings if any(key.startswith(first) and key.endswith(last) for first, last in _TRACKING)]
    variables = {"GIT_CONFIG_COUNT": str(len(pairs))}
    for number, (key, value) in enumerate(pairs):
        variables |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return variables


def _answers(answer: bytes, *, with_data: bool) -> Iterator[tuple[str, str, bytes]]:
    """Object, kind, and size or data of each answer of `git cat-file`; the kind is `missing` if there is no object."""
    start = 0
    while start < len(answer):
        end = answer.index(b"\n", start)
        head = os.fsdecode(answer[start:end])
        start = end + 1
        if head.endswith(" missing"):
            yield head.removesuffix(" missing"), "missing", b""
            continue
        *hashed, kind, size = head.split(" ")
        length = int(size)
        if not with_data and kind in ("blob", "tree", "commit", "tag"):
            yield " ".join(hashed), kind, size.encode()
            continue
        # for links: `dangling 9` or `symlink 9`, and then 9 bytes on a separate line
        yield " ".join(hashed), kind, answer[start : start + length]
        start += length + 1


def _run(variables: dict[str, str], *arguments: str, given: str = "", seconds: int = 0) -> bytes:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | variables
    command = ["git", *_OPTIONS, *arguments]
    seconds = seconds or _SECONDS
    try:
        done = subprocess.run(
            command, input=os.fsencode(given), capture_output=True, env=environment, check=False, timeout=seconds, cwd="/"
        )
    except OSError as problem:
        raise RepositoryError(f"git cannot be run: {problem.strerror}; install git, or name a file or folder") from problem
    except subprocess.TimeoutExpired as problem:
        raise RepositoryError(f"git did not answer within {seconds} seconds") from problem
    if done.returncode:
        raise RepositoryError(" ".join(done.stderr.decode(errors="replace").split()) or f"git {arguments[0]} failed")
    return done.stdout
