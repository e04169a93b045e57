"""The conversion webhook of an operator that serves two API versions. It uses our conversions, which follow the operator's."""

from __future__ import annotations

import base64
import contextlib
import json
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, NamedTuple

from krm_fn.render.convert import versions
from tests.testbed import programs
from tests.testbed.certificate_authority import Authority

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Object = dict[str, Any]


class Webhook(NamedTuple):
    """A running webhook."""

    server: ThreadingHTTPServer
    authority: bytes

    @property
    def conversion(self) -> Object:
        """The `spec.conversion` of a definition that uses it."""
        client = {"url": f"https://127.0.0.1:{self.server.server_port}/convert", "caBundle": base64.b64encode(self.authority).decode()}
        return {"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": client}}

    def stop(self) -> None:
        """Refuse connections, as after the end of the operator."""
        self.server.shutdown()
        self.server.server_close()


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        asked = review.pop("request")
        found = [converted(each, asked["desiredAPIVersion"]) for each in asked["objects"]]
        response = {"uid": asked["uid"], "result": {"status": "Success"}, "convertedObjects": found}
        body = json.dumps(review | {"response": response}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Write no log."""


def converted(resource: Object, api_version: str) -> Object:
    """A resource in another version. A webhook may change no other metadata than labels and annotations."""
    made = versions.to(api_version.rpartition("/")[2], resource)
    changed = {key: made["metadata"][key] for key in ("labels", "annotations") if key in made["metadata"]}
    return {**made, "apiVersion": api_version, "metadata": {**resource["metadata"], **changed}}


@contextlib.contextmanager
def running(folder: Path) -> Iterator[Webhook]:
    """Start a webhook with its files in an empty `folder`."""
    authority = Authority(folder, programs.path("openssl"))
    pair, file = authority.serve(), folder / "webhook.pem"
    file.write_text(pair.certificate + pair.key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    webhook = Webhook(server, authority.certificate.read_bytes())
    try:
        yield webhook
    finally:
        webhook.stop()
