"""Connects to an API server: its address, the authority of its certificate, and the credentials of the client (client-go: rest.Config).

`kubeconfig` reads clusters from kubeconfig files, or from the service account of the pod.
"""

from __future__ import annotations

import asyncio
import base64
import ssl
import tempfile
from collections.abc import Hashable
from pathlib import Path
from typing import NamedTuple, Protocol


class ClusterError(Exception):
    """The configuration of a cluster or of its credentials cannot be used. The message names the problem and the fix."""


class Certificate(NamedTuple):
    """A client certificate and its private key, both in PEM."""

    chain: bytes
    key: bytes


class ClientIdentity(NamedTuple):
    """The client's proof of identity: the value of the header `Authorization`, a certificate, both, or neither."""

    authorization: str = ""
    certificate: Certificate | None = None


class Credentials(Protocol):
    """A source of identities."""

    async def identity(self, *, refresh: bool) -> ClientIdentity:
        """Returns the current identity. `refresh` is true if the server rejected the last one. Raises ClusterError."""


class Access(NamedTuple):
    """The headers and the TLS context of a request. `tls` is None for a server without TLS."""

    headers: dict[str, str]
    tls: ssl.SSLContext | None


class Content:
    """Text from the configuration, or from a file that is read again when it changes on disk."""

    def __init__(self, data: bytes = b"", path: Path | None = None) -> None:
        self._data = data
        self._path = path
        self._version: Hashable = None

    def __bool__(self) -> bool:
        return bool(self._data or self._path)

    def read(self) -> bytes:
        """Returns the current text; empty if nothing is configured. After a file disappears, returns its last text.

        Raises ClusterError if the file could never be read.
        """
        if self._path is None:
            return self._data
        try:
            file = self._path.stat()  # follows the symbolic links that kubelet swaps
            version = (file.st_dev, file.st_ino, file.st_mtime_ns, file.st_size)
            if version != self._version:
                self._data, self._version = self._path.read_bytes(), version
        except OSError as error:
            if self._version is None:
                raise ClusterError(f"{self._path} cannot be read: {error.strerror}; correct the path or the file's permissions") from error
        return self._data


class StaticCredentials:
    """A token, or a user's name and password, and a client certificate; each may be absent. Files are read again when they change."""

    def __init__(self, token: Content | None = None, login: str = "", chain: Content | None = None, key: Content | None = None) -> None:
        self._token = token
        self._login = login
        self._chain = chain
        self._key = key

    async def identity(self, *, refresh: bool) -> ClientIdentity:
        """Returns the current identity. Raises ClusterError for a file that cannot be read."""
        certificate = Certificate(self._chain.read(), self._key.read()) if self._chain and self._key else None
        if self._token:
            return ClientIdentity(bearer(self._token.read()), certificate)
        if self._login:
            return ClientIdentity(f"Basic {base64.b64encode(self._login.encode()).decode()}", certificate)
        return ClientIdentity("", certificate)


def bearer(token: bytes) -> str:
    """Returns the header of a token, without the line end that editors add to files. Raises ClusterError."""
    text = token.strip()
    if not text.isascii() or any(byte <= 32 for byte in text):
        raise ClusterError("the token has characters that no token has; write the token again")
    return f"Bearer {text.decode()}"


class Trust(NamedTuple):
    """The checks of the server certificate. An empty `authority` means the authorities of the system.

    `server_name` is the name that the certificate must carry, where it is not the host of the address.
    """

    authority: Content
    verify: bool = True
    server_name: str = ""


class Cluster:
    """An API server and the source of its credentials. `namespace` is the default namespace; `in_cluster` is true inside a pod."""

    def __init__(
        self, server: str, trust: Trust, credentials: Credentials, *, namespace: str = "default", in_cluster: bool = False
    ) -> None:
        self.server = server.rstrip("/")
        self.server_name = trust.server_name
        self.namespace = namespace
        self.in_cluster = in_cluster
        self._trust = trust
        self._credentials = credentials
        self._tls_inputs: tuple[Certificate | None, bytes] | None = None
        self._access = Access({}, None)
        self._lock = asyncio.Lock()

    async def access(self, refused: Access | None = None) -> Access:
        """Returns credentials and TLS for the next request. Raises ClusterError.

        `refused` is an access that the server answered with 401. The result is the same object as `refused` if no other credentials
        exist. The TLS context is a new one as soon as a certificate changed on disk, so the next connection presents it.
        """
        async with self._lock:
            identity = await self._credentials.identity(refresh=refused is not None and refused is self._access)
            headers = {"Authorization": identity.authorization} if identity.authorization else {}
            tls = self._tls(identity.certificate)
            if (headers, tls) != tuple(self._access):
                self._access = Access(headers, tls)
            return self._access

    def _tls(self, certificate: Certificate | None) -> ssl.SSLContext | None:
        if not self.server.startswith("https:"):
            return None
        inputs = (certificate, self._trust.authority.read())
        if inputs == self._tls_inputs:
            return self._access.tls
        context = _context(self._trust, inputs[1], certificate)
        self._tls_inputs = inputs
        return context


def _context(trust: Trust, authority: bytes, certificate: Certificate | None) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cadata=authority.decode("ascii", "replace") or None)
    except ssl.SSLError as error:
        raise ClusterError(
            f"the certificate authority of the cluster is not valid PEM ({error.reason}); correct certificate-authority"
        ) from error
    # Go's client accepts authorities without key identifiers, and an intermediate certificate as authority. Many clusters have such.
    context.verify_flags &= ~getattr(ssl, "VERIFY_X509_STRICT", 0)
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    if not trust.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if certificate is not None:
        _load_certificate(context, certificate)
    return context


def _load_certificate(context: ssl.SSLContext, certificate: Certificate) -> None:
    """Adds a client certificate. Python loads it from files only; the folder is readable by this user alone."""
    with tempfile.TemporaryDirectory() as folder:
        chain, key = Path(folder, "chain"), Path(folder, "key")
        chain.write_bytes(certificate.chain)
        key.write_bytes(certificate.key)
        try:
            context.load_cert_chain(chain, key)
        except ssl.SSLError as error:
            raise ClusterError(f"the client certificate and its key do not fit together ({error.reason}); write both again") from error
