# ruff: noqa: INP001 - a script of its own, in no package
"""Make an RSA key and keep it as a Secret, unless there is one of that name: keys that pods hold already stay as they are.

    make_key.py NAME ACCOUNT    # ACCOUNT is the folder with the token, the namespace and the certificate of the API server

Not its business: who uses the key. Needs Python and openssl, nothing else.
"""

from __future__ import annotations

import base64
import http.client
import json
import os
import ssl
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

EXPONENT = 65537  # what openssl takes unless told otherwise


def main() -> None:
    """Exit code 0 if there is a Secret of that name in the end."""
    name, account = sys.argv[1], Path(sys.argv[2])
    private = openssl("genrsa", "-traditional", "2048")
    data = {"private.key": private, "private.key.pub": public(private)}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": data}
    status, said = create(secret, account)
    if status not in {http.HTTPStatus.CREATED, http.HTTPStatus.CONFLICT}:
        sys.exit(f"{status}: {said}")
    sys.stdout.write(f"Secret {name}: {'made' if status == http.HTTPStatus.CREATED else 'there already, and left as it is'}\n")


def openssl(*arguments: str, given: str = "") -> str:
    """What openssl prints. Raises CalledProcessError."""
    return subprocess.run(["openssl", *arguments], input=given, stdout=subprocess.PIPE, text=True, check=True).stdout


def public(private: str) -> str:
    """The line that belongs into authorized_keys (RFC 4253 section 6.6): three values, each after its length."""
    modulus = int(openssl("rsa", "-noout", "-modulus", given=private).partition("=")[2], 16)
    blob = b"".join(len(part).to_bytes(4, "big") + part for part in (b"ssh-rsa", integer(EXPONENT), integer(modulus)))
    return f"ssh-rsa {base64.b64encode(blob).decode()} mpirun\n"


def integer(value: int) -> bytes:
    """A positive integer in two's complement, so with a zero before a leading one (RFC 4251 section 5, mpint)."""
    return value.to_bytes(value.bit_length() // 8 + 1, "big")


def create(secret: Mapping[str, object], account: Path) -> tuple[int, str]:
    """The API server's status and answer. Raises OSError if it cannot be reached."""
    trusted = ssl.create_default_context(cafile=account / "ca.crt")
    server = http.client.HTTPSConnection(
        os.environ["KUBERNETES_SERVICE_HOST"], int(os.environ["KUBERNETES_SERVICE_PORT"]), context=trusted, timeout=60
    )
    headers = {"Authorization": f"Bearer {(account / 'token').read_text()}", "Content-Type": "application/json"}
    server.request("POST", f"/api/v1/namespaces/{(account / 'namespace').read_text()}/secrets", json.dumps(secret), headers)
    answer = server.getresponse()
    return answer.status, answer.read().decode()


if __name__ == "__main__":
    main()
