"""The image under test, and the Makefile targets that build it and write its bill of materials."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import krm_fn
from tests.testbed import programs

if TYPE_CHECKING:
    from collections.abc import Sequence

    import containers

NAME = f"{krm_fn.IMAGE}:{krm_fn.__version__}"


class Image(NamedTuple):
    """The image, its engine, and a folder in which the engine is called `docker`."""

    name: str
    engine: containers.Engine
    path: Path

    def run(self, *flags: object, arguments: Sequence[str] = (), text: str = "", check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run `docker run --rm -i --network none FLAGS IMAGE ARGUMENTS`."""
        return self.engine.run("run", "--rm", "-i", "--network=none", *flags, self.name, *arguments, text=text, check=check)

    def environment(self, *tools: str) -> dict[str, str]:
        """Environment variables for programs that start the engine. PATH has the engine and `tools`, but not `krm-fn`."""
        path = [self.path, *(programs.path(tool).parent for tool in tools), "/usr/bin", "/bin", "/usr/sbin", "/sbin"]
        return {
            "HOME": str(self.path),
            "PATH": os.pathsep.join(map(str, path)),
            "KPT_FN_RUNTIME": self.engine.name,
            **self.engine.variables,
        }


def make(engine: containers.Engine, target: str, **variables: str) -> None:
    """Run a target of the Makefile with this engine."""
    given = {"ENGINE": engine.name, "BASE": engine.base, "BUILD_FLAGS": " ".join(engine.build_flags), **variables}
    command = ["make", "--no-print-directory", target, *(f"{name}={value}" for name, value in given.items())]
    environment = os.environ | engine.variables
    made = subprocess.run(command, cwd=programs.ROOT, env=environment, capture_output=True, text=True, check=False, timeout=1200)
    assert made.returncode == 0, made.stdout[-3000:] + made.stderr[-3000:]
