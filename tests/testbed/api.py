"""A small Kubernetes client on one kept-alive connection: server-side apply and whatever else is asked.

Not its business: any knowledge of kinds; the server is asked for the path of each.
"""

from __future__ import annotations

import http.client
import json
import ssl
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode

if TYPE_CHECKING:
    from pathlib import Path

APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"


class Answer(NamedTuple):
    """What the server said."""

    status: int
    body: Any
    warnings: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether the server did what it was asked."""
        return 200 <= self.status < 300

    @property
    def message(self) -> str:
        """Why it did not; empty if it did."""
        return "" if self.ok else str(self.body.get("message", self.body) if isinstance(self.body, dict) else self.body)


class Client:
    """Requests to one API server. Not for use by several threads at once."""

    def __init__(self, port: int, authority: Path, token: str) -> None:
        self._connection = http.client.HTTPSConnection("127.0.0.1", port, context=ssl.create_default_context(cafile=authority), timeout=60)
        self._headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        self._kinds: dict[tuple[str, str], dict[str, Any]] = {}

    def close(self) -> None:
        """Let go of the connection."""
        self._connection.close()

    def request(self, method: str, path: str, body: Any = None, media_type: str = "application/json") -> Answer:
        """One request; `body` is any JSON value. Raises OSError or http.client.HTTPException if there is no answer."""
        text = None if body is None else json.dumps(body).encode()
        headers = self._headers if text is None else self._headers | {"Content-Type": media_type}
        try:
            response = self._send(method, path, text, headers)
        except (http.client.HTTPException, OSError):
            self._connection.close()  # an idle connection was closed at the other end: once more, on a new one
            response = self._send(method, path, text, headers)
        said = response.read()
        is_json = response.headers.get_content_type() == "application/json"
        return Answer(response.status, json.loads(said) if is_json else said.decode(), tuple(response.headers.get_all("Warning") or ()))

    def get(self, path: str) -> Any:
        """What is at a path. Raises LookupError with the server's reason."""
        answer = self.request("GET", path)
        if not answer.ok:
            raise LookupError(f"{path}: {answer.message}")
        return answer.body

    def apply(self, resource: dict[str, Any], *, dry_run: bool = True) -> Answer:
        """Server-side apply, strict: unknown fields are refused. Nothing is kept on a dry run.

        The namespace of a resource that names none is `default`. Kubernetes API reference, "Server-Side Apply".
        """
        asked = {"fieldManager": "tests", "force": "true", "fieldValidation": "Strict"}
        if dry_run:
            asked["dryRun"] = "All"
        return self.request("PATCH", f"{self.path(resource)}?{urlencode(asked)}", resource, APPLY)

    def create(self, resource: dict[str, Any], *, dry_run: bool = True) -> Answer:
        """A plain create, strict: unlike server-side apply, the server names each field that it would lose without a word.

        Of a resource that exists already the server says so only after it has found nothing wrong (status 409).
        """
        asked = {"fieldManager": "tests", "fieldValidation": "Strict"}
        if dry_run:
            asked["dryRun"] = "All"
        return self.request("POST", f"{self.path(resource).rpartition('/')[0]}?{urlencode(asked)}", resource)

    def namespace(self, name: str) -> str:
        """The same name, once a namespace is called so."""
        answer = self.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}, dry_run=False)
        if not answer.ok:
            raise LookupError(answer.message)
        return name

    def path(self, resource: dict[str, Any]) -> str:
        """Where a resource lives. Raises LookupError for a kind that the server does not know."""
        api_version, metadata = resource["apiVersion"], resource["metadata"]
        kind = self._kind(api_version, resource["kind"])
        namespace = f"/namespaces/{metadata.get('namespace', 'default')}" if kind["namespaced"] else ""
        return f"{_root(api_version)}{namespace}/{kind['name']}/{metadata['name']}"

    def knows(self, api_version: str, kind: str) -> bool:
        """Whether the server serves a kind."""
        try:
            self._kind(api_version, kind)
        except LookupError:
            return False
        return True

    def _kind(self, api_version: str, kind: str) -> dict[str, Any]:
        if (api_version, kind) not in self._kinds:
            for entry in self.get(_root(api_version))["resources"]:
                if "/" not in entry["name"]:  # not a subresource
                    self._kinds[api_version, entry["kind"]] = entry
        if (api_version, kind) not in self._kinds:
            raise LookupError(f"{api_version} has no {kind}")
        return self._kinds[api_version, kind]

    def _send(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> http.client.HTTPResponse:
        self._connection.request(method, path, body, headers)
        return self._connection.getresponse()


def _root(api_version: str) -> str:
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
