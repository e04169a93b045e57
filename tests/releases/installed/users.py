"""A user with an empty home folder, and the input and the output of their first render."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, NamedTuple

from tests.support import golden
from tests.testbed import programs

if TYPE_CHECKING:
    from pathlib import Path

GRAPH = golden.EXAMPLES / "agg-vllm" / "graph.yaml"
EXPECTED = golden.EXAMPLES / "agg-vllm" / "expected.yaml"

_NETWORK = ("HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "PIP_CERT", "PIP_INDEX_URL", "SSL_CERT_DIR", "SSL_CERT_FILE", "UV_DEFAULT_INDEX")
"""Variables with which this machine reaches the package registries."""


class User(NamedTuple):
    """A user whose programs see no file and no variable of the clone. `path` has further folders of programs."""

    home: Path
    path: tuple[Path, ...] = ()

    def run(self, *command: object, check: bool = True, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a command in the home folder. A failure has the output of the command in a note."""
        folders = os.pathsep.join(map(str, (self.home / ".local" / "bin", *self.path)))
        network = {name: os.environ[name] for name in _NETWORK if name in os.environ}
        environment = {**network, "HOME": str(self.home), "PATH": f"{folders}{os.pathsep}/usr/local/bin:/usr/bin:/bin", **variables}
        typed = list(map(str, command))
        try:
            return subprocess.run(typed, cwd=self.home, env=environment, capture_output=True, text=True, check=check, timeout=600)
        except subprocess.CalledProcessError as failed:
            failed.add_note(f"{failed.stdout[-2000:]}{failed.stderr[-2000:]}")
            raise

    def renders(self, *program: object) -> None:
        """Check that a program renders an example of the clone as recorded, and does not import the clone."""
        assert self.run(*program, "render", GRAPH).stdout == EXPECTED.read_text()
        refused = self.run(*program, "check", self.home / "missing.yaml", check=False)
        assert refused.returncode != 0
        assert "missing.yaml" in refused.stderr + refused.stdout
        assert "Traceback" not in refused.stderr
        assert str(programs.ROOT) not in self.run(*program, "check", GRAPH, PYTHONVERBOSE="1").stderr
