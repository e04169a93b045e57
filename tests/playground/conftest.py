"""The built playground, the real Pyodide under Node, and a headless Chromium."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import build_playground
import pytest
from website import serve_site

from tests.testbed import programs

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def playground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the playground, as `make playground` builds it."""
    programs.path("npm")  # Debian's npm needs node
    folder = tmp_path_factory.mktemp("site") / "playground"
    build_playground.build(folder)
    return folder


class Pyodide:
    """A process of Node that answers requests with Pyodide."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.versions = json.loads(self._line())

    def answer(self, request: dict[str, Any]) -> str:
        """Returns the answer as the page gets it. Fails the test if Pyodide breaks."""
        assert self._process.stdin
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return self._line()

    @property
    def seconds(self) -> float:
        """The seconds of the processor that the process has used."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _line(self) -> str:
        assert self._process.stdout
        line = self._process.stdout.readline()
        assert line, f"Pyodide ended: {self._process.stderr.read() if self._process.stderr else ''}"
        return line.removesuffix("\n")


@pytest.fixture(scope="session")
def pyodide(playground: Path) -> Iterator[Pyodide]:
    """The real Pyodide of the playground, with its archives."""
    command = ["node", str(HERE / "requests.mjs"), str(playground)]
    pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(command, text=True, encoding="utf-8", cwd=playground, **pipes) as process:
        yield Pyodide(process)
        process.kill()


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serves a folder, as `make site-serve` does, and yields its address."""
    with serve_site.server(folder) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="session")
def address(playground: Path) -> Iterator[str]:
    """The address of the playground."""
    with served(playground.parent) as address:
        yield f"{address}/playground/"


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Debian's Chromium without a window."""
    program = programs.path("chromium")
    api = pytest.importorskip("playwright.sync_api")
    with api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=str(program), args=["--no-sandbox"])
        yield started
        started.close()
