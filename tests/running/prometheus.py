"""A real Prometheus in the network of the node. It scrapes the pods that a PodMonitor of the platform selects."""

from __future__ import annotations

import contextlib
import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from tests.testbed import programs, server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.running.bed import Bed
    from tests.testbed.place import Place

PORT = 9090
_META = "__meta_kubernetes_pod"


class Prometheus(NamedTuple):
    """A running Prometheus at `url`, which reads the pods that exist from the file `found`."""

    url: str
    found: Path

    def discover(self, here: Place) -> None:
        """Tell it all ports of the pods in a namespace. Debian's build cannot ask the API server itself."""
        listed = [_target(pod, port) for pod in here.listed("Pod") for each in pod["spec"]["containers"] for port in each.get("ports", ())]
        told = self.found.with_suffix(".new")
        told.write_text(json.dumps(listed))
        told.rename(self.found)


@contextlib.contextmanager
def running(bed: Bed, folder: Path, monitor: str) -> Iterator[Prometheus]:
    """Start Prometheus with its files in `folder`. `monitor` is a file of platform/pod-monitors."""
    configuration, found, listen = folder / "prometheus.json", folder / "pods.json", f"{bed.machine.address}:{PORT}"
    told = yaml.safe_load((programs.ROOT / "platform" / "pod-monitors" / monitor).read_text())
    configuration.write_text(json.dumps({"global": {"scrape_interval": "1s"}, "scrape_configs": list(_jobs(told, found))}))
    flags = (f"--config.file={configuration}", f"--storage.tsdb.path={folder / 'data'}", f"--web.listen-address={listen}")
    command = bed.machine.command(str(programs.path("prometheus")), *flags)
    with server.running(command, folder / "prometheus.log") as process:
        process.wait(lambda: _ready(bed))
        yield Prometheus(f"http://{listen}", found)


def _ready(bed: Bed) -> bool:
    try:
        return bed.machine.request(bed.machine.address, PORT, "/-/ready").status == 200
    except OSError:
        return False


def _jobs(monitor: dict[str, Any], found: Path) -> Iterator[dict[str, Any]]:
    """What the Prometheus operator makes of a PodMonitor with `matchLabels`, but for its interval: this one scrapes more often."""
    selected = [_keep(_label(name), value) for name, value in monitor["spec"]["selector"]["matchLabels"].items()]
    for each in monitor["spec"]["podMetricsEndpoints"]:
        rules = [{_snake(key): value for key, value in rule.items()} for rule in each["relabelings"]]
        yield {
            "job_name": monitor["metadata"]["name"],
            "metrics_path": each["path"],
            "file_sd_configs": [{"files": [str(found)]}],
            "relabel_configs": [*selected, _keep(f"{_META}_container_port_name", each["port"]), *rules],
        }


def _target(pod: dict[str, Any], port: dict[str, Any]) -> dict[str, Any]:
    """A port with the labels that Prometheus gives it (Prometheus documentation, "kubernetes_sd_config")."""
    labels = {_label(name): value for name, value in pod["metadata"]["labels"].items()}
    return {
        "targets": [f"{pod['status']['podIP']}:{port['containerPort']}"],
        "labels": {f"{_META}_container_port_name": port.get("name", ""), **labels},
    }


def _label(name: str) -> str:
    return f"{_META}_label_{re.sub('[^A-Za-z0-9]', '_', name)}"


def _keep(label: str, value: str) -> dict[str, Any]:
    return {"action": "keep", "source_labels": [label], "regex": re.escape(value)}


def _snake(name: str) -> str:
    return re.sub("([A-Z])", lambda letter: f"_{letter[1].lower()}", name)
