"""Demonstrates the function: runs `krm-fn render` on a file, then prints a summary of input and output, and what to do next, in four lines.

Usage:

    python tools/demo.py FILE
"""

from __future__ import annotations

import collections
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterable

KRM_FN = Path(sys.executable).with_name("krm-fn")
GPU = "nvidia.com/gpu"
NEXT = "Next: make test tests krm-fn on this machine in 3 minutes; docs/getting-started.md runs a graph of your own."

Resources = list[dict[str, Any]]


def main(path: str) -> int:
    """Returns the exit code of the command."""
    started = time.monotonic()
    rendered = subprocess.run([KRM_FN, "render", path], stdout=subprocess.PIPE, text=True, check=False)
    seconds = time.monotonic() - started
    print(rendered.stdout)
    if rendered.returncode == 0:
        source = Path(path).read_text()
        print("\n".join(summary(path, source, rendered.stdout, seconds)))
        print(NEXT)
    return rendered.returncode


def summary(path: str, source: str, output: str, seconds: float) -> tuple[str, str, str]:
    """The summary: counts of the input, of the output, and of its pods and GPUs."""
    resources = [resource for resource in yaml.safe_load_all(output) if resource["apiVersion"].split("/")[0] != "nvidia.com"]
    return (
        f"In:   {kinds(yaml.safe_load_all(source))}: {lines(source)} of {path}",
        f"Out:  {kinds(resources)}: {lines(output)}, in {seconds:.1f} s",
        f"Runs: {pods(resources)} pods with {gpus(resources)} GPUs",
    )


def kinds(resources: Iterable[dict[str, Any]]) -> str:
    """The number of resources of each kind, in order of first appearance.

    >>> kinds([{"kind": "Service"}, {"kind": "Role"}, {"kind": "Service"}])
    '2 x Service, 1 x Role'
    """
    counted = collections.Counter(resource["kind"] for resource in resources)
    return ", ".join(f"{count} x {kind}" for kind, count in counted.items())


def lines(text: str) -> str:
    """The number of lines of a text."""
    return f"{len(text.splitlines())} lines"


def pods(resources: Resources) -> int:
    """The number of pods of all Deployments."""
    return sum(replicas(each) for each in resources if each["kind"] == "Deployment")


def gpus(resources: Resources) -> int:
    """The number of GPUs of all pods of Deployments."""
    return sum(replicas(each) * gpus_per_pod(each) for each in resources if each["kind"] == "Deployment")


def replicas(deployment: dict[str, Any]) -> int:
    """The number of pods of a Deployment; the API's default is 1."""
    count: int = deployment["spec"].get("replicas", 1)
    return count


def gpus_per_pod(deployment: dict[str, Any]) -> int:
    """The number of GPUs of one pod: the sum over its containers."""
    containers = deployment["spec"]["template"]["spec"]["containers"]
    return sum(int(container.get("resources", {}).get("limits", {}).get(GPU, 0)) for container in containers)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
