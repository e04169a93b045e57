"""Builds a Kustomization and judges it in a process of its own: a build takes seconds, and a later edit must be able to end it.

The process gets its Inputs on stdin, and writes what the build has to stdout, both in the format of `pickle`. Only the server talks to it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import pickle
import sys
from pathlib import Path
from typing import NamedTuple

import krm_fn
from krm_fn.base.results import Result
from krm_fn.repository.files.sources import Sources
from krm_fn.review.inputs import Inputs, document_checks


class BuiltFindings(NamedTuple):
    """The findings about a build, and its resources. `is_known` is false if it has none, because it failed or a program is missing."""

    findings: list[Result]
    parts: list[Sources]

    @property
    def is_known(self) -> bool:
        """True if the build has resources."""
        return any(part.resources for part in self.parts)


async def run(given: Inputs) -> BuiltFindings | None:
    """Judges inputs in a new process; None if it ended without an answer. A cancelled call ends the process, which removes its copies."""
    path = os.pathsep.join(filter(None, (str(Path(krm_fn.__file__).parent.parent), os.environ.get("PYTHONPATH"))))
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", __name__),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": path},
    )
    try:
        out, _ = await process.communicate(pickle.dumps(given._replace(texts=dict(given.texts))))
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
    try:
        return BuiltFindings(*pickle.loads(out))  # noqa: S301 - our own process wrote it
    except (EOFError, pickle.UnpicklingError):
        return None


def main() -> None:
    """Reads inputs from stdin, and writes the findings and the resources to stdout."""
    given: Inputs = pickle.load(sys.stdin.buffer)  # noqa: S301 - the server wrote it
    checked = document_checks.check(given)
    sys.stdout.buffer.write(pickle.dumps((checked.findings, [part.loaded for part in checked.inputs.parts])))


if __name__ == "__main__":
    main()
