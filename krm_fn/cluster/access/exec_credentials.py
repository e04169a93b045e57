"""Credentials from a program that the kubeconfig names ("client-go credential plugins" in the Kubernetes documentation)."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

from krm_fn.cluster.access import Certificate, ClientIdentity, ClusterError, bearer

API_VERSIONS = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")
TIMEOUT = 120.0
"""Seconds that a plugin may take: some of them open a browser."""
MIN_INTERVAL = 5.0
"""Seconds between two runs, so that a server that rejects everything does not start a program for each request."""
MODES = ("Never", "IfAvailable", "Always")


class PluginCommand(NamedTuple):
    """The field `exec` of a user, and the folder of the kubeconfig. `cluster` describes the cluster, if the plugin asks for it."""

    api_version: str
    command: str
    arguments: tuple[str, ...]
    environment: dict[str, str]
    mode: str
    hint: str
    folder: Path
    cluster: dict[str, Any] | None

    @property
    def interactive(self) -> bool:
        """True if the plugin may ask the person at the terminal."""
        return self.mode != "Never" and sys.stdin is not None and sys.stdin.isatty()


class ExecCredentials:
    """The credentials that a program prints. They are used until they expire or the server rejects them."""

    def __init__(self, command: PluginCommand) -> None:
        self._command = command
        self._identity: ClientIdentity | None = None
        self._expires = float("inf")
        self._ran = -MIN_INTERVAL

    async def identity(self, *, refresh: bool) -> ClientIdentity:
        """Returns the current identity. Runs the plugin if there is none, if it has expired, or on `refresh`. Raises ClusterError."""
        is_outdated = refresh or monotonic() >= self._expires
        if self._identity is None or (is_outdated and monotonic() - self._ran >= MIN_INTERVAL):
            self._ran = monotonic()
            self._identity, self._expires = self._read(await _run(self._command))
        return self._identity

    def _read(self, text: bytes) -> tuple[ClientIdentity, float]:
        """Reads the identity in an ExecCredential, and the monotonic time of its expiry."""
        name = self._command.command
        try:
            credential = json.loads(text)
            version, status = credential["apiVersion"], credential["status"]
            token, chain, key = (str(status.get(field) or "") for field in ("token", "clientCertificateData", "clientKeyData"))
            expires = _remaining(status.get("expirationTimestamp"))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ClusterError(
                f"the credential plugin {name} did not print an ExecCredential; run it by hand and look at its output"
            ) from error
        if version != self._command.api_version:
            expected = self._command.api_version
            raise ClusterError(
                f"the credential plugin {name} printed {version} instead of {expected}; correct exec.apiVersion in the kubeconfig"
            )
        if not token and not (chain and key):
            raise ClusterError(f"the credential plugin {name} printed neither a token nor a certificate with its key; log in with it again")
        certificate = Certificate(chain.encode(), key.encode()) if chain and key else None
        return ClientIdentity(bearer(token.encode()) if token else "", certificate), monotonic() + expires


async def _run(command: PluginCommand) -> bytes:
    """Runs the plugin and returns its output. Its messages go to our stderr."""
    program = _program(command)
    if command.mode == "Always" and not command.interactive:
        raise ClusterError(f"the credential plugin {command.command} needs a terminal (interactiveMode: Always); start krm-fn in one")
    spec = {"interactive": command.interactive} | ({"cluster": command.cluster} if command.cluster is not None else {})
    info = {"apiVersion": command.api_version, "kind": "ExecCredential", "spec": spec}
    process = await asyncio.create_subprocess_exec(
        program,
        *command.arguments,
        env=os.environ | command.environment | {"KUBERNETES_EXEC_INFO": json.dumps(info)},
        stdin=None if command.interactive else asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(TIMEOUT):
            output, _ = await process.communicate()
    except TimeoutError:
        raise ClusterError(f"the credential plugin {command.command} did not end within {TIMEOUT:.0f} s; run it by hand") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        raise ClusterError(f"the credential plugin {command.command} failed with exit code {process.returncode}; run it by hand")
    return output


def _program(command: PluginCommand) -> str:
    """Finds the plugin: a name is searched in PATH, a relative path starts at the folder of the kubeconfig."""
    name = command.command
    path = shutil.which(str(command.folder / name) if os.sep in name else name)
    if path is None:
        raise ClusterError(
            f"the credential plugin {name} does not exist; {command.hint or 'install it, or correct exec.command in the kubeconfig'}"
        )
    return path


def _remaining(timestamp: object) -> float:
    """Returns the seconds until an RFC 3339 time; infinite without one. Raises ValueError."""
    if not timestamp:
        return float("inf")
    end = datetime.fromisoformat(str(timestamp))
    return (end - datetime.now(UTC)).total_seconds()
