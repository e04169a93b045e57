"""What stands for a container image: folders of the host, a search path, and the settings that an image has."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

_PATH = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")


class Image(NamedTuple):
    """An image. Its files are those of the host, with a private writable layer for each container.

    `path`: folders in front of PATH, such as the `bin` of a virtual environment. `folders`: host folders that a container sees read-only at
    the same path; only folders below /tmp, /run or /mnt, or on a file system of their own, must be named. `files`: files and folders of the
    host that a container sees read-only at other paths, such as a user database of its own. The other fields are those of an image's
    configuration; a container's own `command`, `args`, `env`, `workingDir` and `runAsUser` win over them.
    """

    path: tuple[Path, ...] = ()
    folders: tuple[Path, ...] = ()
    files: tuple[tuple[Path, str], ...] = ()
    env: dict[str, str] = {}
    entrypoint: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    workdir: str = "/"
    user: int = 0

    def variables(self) -> dict[str, str]:
        """The environment variables of the image."""
        return {"PATH": ":".join([*map(str, self.path), *_PATH]), **self.env}

    def words(self, command: list[str], arguments: list[str]) -> list[str]:
        """The words of the process. A `command` of the container replaces the image's entrypoint and its command.

        Kubernetes documentation, "Define a Command and Arguments for a Container".
        """
        if command:
            return [*command, *arguments]
        return [*self.entrypoint, *(arguments or self.command)]


def of_environment(folder: Path, *more: Path, **env: str) -> Image:
    """The image of a virtual environment, wherever it and its interpreter are on the host. `more` are further folders of the image."""
    interpreter = (folder / "bin" / "python").resolve()
    return Image(path=(folder / "bin",), folders=(folder, interpreter.parent.parent, *more), env=env)
