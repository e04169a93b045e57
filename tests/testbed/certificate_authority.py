"""A certificate authority for clients and servers, made by openssl."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

_NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")


class Pair(NamedTuple):
    """A certificate and its private key, both in PEM."""

    certificate: str
    key: str


class Authority:
    """An authority with its files in `folder`; `certificate` is the file for `--client-ca-file`."""

    def __init__(self, folder: Path, openssl: Path) -> None:
        self._folder = folder
        self._openssl = openssl
        self.certificate = folder / "authority.crt"
        self._key = folder / "authority.key"
        self._run("req", "-x509", *_NEW_KEY, "-keyout", self._key, "-out", self.certificate, "-days", "10", "-subj", "/CN=authority")

    def issue(self, name: str, days: int = 1) -> Pair:
        """A client certificate of a user in system:masters. It has expired if `days` is negative."""
        return self._signed(f"/O=system:masters/CN={name}", "extendedKeyUsage=clientAuth", days)

    def serve(self, days: int = 1) -> Pair:
        """A certificate of a server at 127.0.0.1. It has expired if `days` is negative."""
        return self._signed("/CN=127.0.0.1", "extendedKeyUsage=serverAuth\nsubjectAltName=IP:127.0.0.1", days)

    def _signed(self, subject: str, extensions: str, days: int) -> Pair:
        request, key, certificate, uses = (self._folder / f"issued.{ending}" for ending in ("csr", "key", "crt", "ext"))
        uses.write_text(f"{extensions}\n")
        self._run("req", *_NEW_KEY, "-keyout", key, "-out", request, "-subj", subject)
        signed = ("-in", request, "-CA", self.certificate, "-CAkey", self._key, "-CAcreateserial", "-extfile", uses, "-days", str(days))
        self._run("x509", "-req", *signed, "-out", certificate)
        return Pair(certificate.read_text(), key.read_text())

    def _run(self, *arguments: str | Path) -> None:
        subprocess.run([self._openssl, *arguments], check=True, capture_output=True)
