"""Credentials that stand in the configuration or in files: tokens, passwords and client certificates."""

from __future__ import annotations

import base64

from krm_fn.sync.access.cluster import Certificate, ClusterError, Content, Identity


class Written:
    """A token, or a user's name and password, and a client certificate; each may be absent. Files are read again when they change."""

    def __init__(self, token: Content | None = None, login: str = "", chain: Content | None = None, key: Content | None = None) -> None:
        self._token = token
        self._login = login
        self._chain = chain
        self._key = key

    async def identity(self, *, refresh: bool) -> Identity:
        """The identity of now. Raises ClusterError for a file that cannot be read."""
        certificate = Certificate(self._chain.read(), self._key.read()) if self._chain and self._key else None
        if self._token:
            return Identity(bearer(self._token.read()), certificate)
        if self._login:
            return Identity(f"Basic {base64.b64encode(self._login.encode()).decode()}", certificate)
        return Identity("", certificate)


def bearer(token: bytes) -> str:
    """The header of a token, without the line end that editors add to files. Raises ClusterError."""
    text = token.strip()
    if not text.isascii() or any(byte <= 32 for byte in text):
        raise ClusterError("the token has characters that no token has; write the token again")
    return f"Bearer {text.decode()}"
