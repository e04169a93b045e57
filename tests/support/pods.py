"""Runs the containers of a rendered profiling Job one after the other, as a kubelet does: init containers first, and none after a failure.

The profiler's image is not needed: a shell script stands in for it. The other containers run their own scripts.
"""

from __future__ import annotations

import os
import signal
import subprocess
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.support import container_commands
from tests.testbed import server

if TYPE_CHECKING:
    from pathlib import Path

    from krm_fn.kubernetes.native_types import Container
    from krm_fn.kubernetes.types import Resource

PROFILER = "profiler"


class Ended(NamedTuple):
    """A container that has ended: its name, its exit code, and all that it printed."""

    name: str
    code: int
    said: str


class Node(NamedTuple):
    """A machine. `data` is the folder that the pod mounts at /data, and `home` its /tmp. `programs` are the folders of PATH.

    `shell` runs the scripts in place of /bin/sh. `kubeconfig` is that of the pod's service account.
    """

    data: Path
    home: Path
    kubeconfig: Path
    programs: tuple[Path, ...]
    shell: tuple[str, ...] = ("/bin/sh",)

    def of(self, programs: tuple[Path, ...], shell: tuple[str, ...]) -> Node:
        """The machine with other programs and another shell."""
        return self._replace(programs=programs, shell=shell)

    def run(self, job: Resource, profiler: str = ":") -> list[Ended]:
        """The containers of a pod of that Job that have run. `profiler` is a script that runs in the folder of the output."""
        ended: list[Ended] = []
        for container in containers(job):
            ended.append(self.end(container, profiler))
            if ended[-1].code:
                break
        return ended

    def end(self, container: Container, profiler: str = ":") -> Ended:
        """A container, run to its end."""
        process = self.start(container, profiler)
        said, _ = process.communicate(timeout=300)
        server.end_group(process)
        return Ended(container["name"], process.returncode, said)

    def start(self, container: Container, profiler: str = ":") -> subprocess.Popen[str]:
        """A running container."""
        variables = container_commands.environment(container)
        ours = {"PATH": os.pathsep.join(map(str, self.programs)), "KUBECONFIG": str(self.kubeconfig)}
        moved = {"OUTPUT_FOLDER": str(self.data), "HOME": str(self.home), "RETRY_PAUSES": "0 0"}
        words = [*self.shell, "-c", container_commands.expanded(container["args"][0], variables)]
        if container["name"] == PROFILER:
            words = [*self.shell, "-c", profiler]
        else:
            assert container["command"] == ["/bin/sh", "-c"]
            assert moved.keys() <= variables.keys()
        environment = {**variables, **ours, **moved}
        return server.start(words, cwd=self.data, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def containers(job: Resource) -> list[Any]:
    """The containers of the Job's pod in the order in which they run. A profiling pod has one container after the init containers."""
    pod = job["spec"]["template"]["spec"]
    (last,) = pod["containers"]
    return [*pod["initContainers"], last]


def terminate(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Send SIGTERM to the main process of a container, as a kubelet does when the pod is deleted; returns its exit code and its output.

    All other processes of the container end with its main process.
    """
    process.send_signal(signal.SIGTERM)
    process.wait(60)
    server.end_group(process)
    said, _ = process.communicate(timeout=60)
    return process.returncode, said
