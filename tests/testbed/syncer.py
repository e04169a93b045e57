"""The real `krm-fn sync` as a process that works on the test bed's control plane."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

import yaml
from prometheus_client import parser

from tests.testbed import programs, server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.testbed.control_plane import ControlPlane

PREFIX = "krm_fn_sync_"
NAMESPACE, ACCOUNT = "dynamo-system", "krm-fn-sync"


class Syncer(NamedTuple):
    """A running syncer that serves its health and metrics on `port`."""

    server: server.Server
    port: int

    def ready(self) -> bool:
        """True if /readyz says so. False also if nothing answers."""
        return self.ask("/readyz")[0] == 200

    def ask(self, path: str) -> tuple[int, str]:
        """The status and the text of a GET. The status is 0 if nothing answers within 30 seconds."""
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)) as connection:
            try:
                connection.request("GET", path)
                response = connection.getresponse()
                return response.status, response.read().decode()
            except (OSError, http.client.HTTPException):
                return 0, ""

    def metric(self, name: str, **labels: str) -> float:
        """The sum of a metric's samples that have these labels; 0 without any. `name` has no prefix. Raises OSError if nothing answers."""
        code, text = self.ask("/metrics")
        if code != 200:
            raise OSError(f"/metrics: {code} {text}")
        samples = (sample for family in parser.text_string_to_metric_families(text) for sample in family.samples)
        return sum(each.value for each in samples if each.name == PREFIX + name and labels.items() <= each.labels.items())

    def resident(self) -> int:
        """The memory that the process holds now, in KiB. Raises OSError if it has ended."""
        status = Path(f"/proc/{self.server.pid}/status").read_text()
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:"))

    def log(self) -> str:
        """All that it has logged."""
        return self.server.log.read_text(errors="replace")


# Two timers are shorter than in production, so that tests of silent connections and missing kinds are short.
_HASTY = """
from krm_fn.cluster import client, reflector
client.Client.__init__.__kwdefaults__.update(stall=5, timeout=5)
reflector.LAST_RETRY = 2
"""
_START = "\nfrom krm_fn import __main__\n__main__.start()"


@contextlib.contextmanager
def running(
    kubeconfig: Path,
    folder: Path,
    *options: str,
    hasty: bool = False,
    wait: bool = True,
    name: str = "syncer",
    prelude: str = "",
    pod: str = "",
) -> Iterator[Syncer]:
    """Start a syncer with its log in `folder`, and wait until it is ready. The last of several equal options wins.

    If `hasty`, it gives up a silent connection after 5 seconds instead of 90, and asks for a missing kind every 2 seconds instead of 30.
    `prelude` is code that runs before. `pod` is the name of its pod, if it has one.
    """
    (port,) = server.free_ports(1)
    own = ["--kubeconfig", str(kubeconfig), "--listen", f"127.0.0.1:{port}", "--log-format", "json", "--log-level", "debug"]
    code = (_HASTY if hasty else "") + prelude
    program = ["-c", code + _START] if code else ["-m", "krm_fn"]
    variables = [f"PYTHONPATH={programs.ROOT}", *([f"POD_NAME={pod}"] if pod else [])]
    command = ["env", *variables, sys.executable, *program, "sync", *own, *options]
    with server.running(command, folder / f"{name}.log") as process:
        syncer = Syncer(process, port)
        if wait:
            process.wait(syncer.ready)
        yield syncer


def installed(plane: ControlPlane, kustomize: Path, folder: Path, *components: str) -> Path:
    """Apply the account and the rights of platform/syncer with these components; returns a kubeconfig of the account in `folder`."""
    here = os.path.relpath(programs.ROOT / "platform" / "syncer", folder)
    asked = {"resources": [here], "components": [f"{here}/{each}" for each in components]}
    (folder / "kustomization.yaml").write_text(json.dumps(asked))
    built = subprocess.run([kustomize, "build", folder], capture_output=True, text=True, check=True, timeout=300).stdout
    plane.namespace(NAMESPACE)
    for each in yaml.safe_load_all(built):
        if each["kind"] == "ServiceAccount" or each["apiVersion"].startswith("rbac."):
            answer = plane.apply(each, dry_run=False)
            assert answer.ok, answer.message
    return kubeconfig(plane, folder / "kubeconfig", token(plane, NAMESPACE, ACCOUNT))


def kubeconfig(plane: ControlPlane, file: Path, token: str) -> Path:
    """Write a kubeconfig for that token; returns the file."""
    config: dict[str, Any] = json.loads(plane.kubeconfig.read_text())
    config["users"][0]["user"] = {"token": token}
    file.write_text(json.dumps(config))
    return file


def through(account: Path, file: Path, port: int, authority: Path | None = None) -> Path:
    """Write a kubeconfig with another port of 127.0.0.1, and with another certificate authority; returns the file."""
    config: dict[str, Any] = json.loads(account.read_text())
    cluster = config["clusters"][0]["cluster"]
    cluster |= {"server": f"https://127.0.0.1:{port}"} | ({"certificate-authority": str(authority)} if authority else {})
    file.write_text(json.dumps(config))
    return file


def port(kubeconfig: Path) -> int:
    """The port of the server of a kubeconfig."""
    return urlsplit(json.loads(kubeconfig.read_text())["clusters"][0]["cluster"]["server"]).port or 0


def token(plane: ControlPlane, namespace: str, account: str) -> str:
    """A token of a ServiceAccount, valid for a day, longer than any test. Kubernetes API reference, "TokenRequest"."""
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token"
    asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 86400}}
    answer = plane.client.request("POST", path, asked)
    assert answer.ok, answer.message
    return str(answer.body["status"]["token"])
