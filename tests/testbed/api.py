"""A small Kubernetes client on one kept-alive connection; it finds the path of each kind by discovery."""

from __future__ import annotations

import http.client
import json
import re
import ssl
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, urlencode

if TYPE_CHECKING:
    from pathlib import Path

APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"


class Answer(NamedTuple):
    """The response of the server."""

    status: int
    body: Any
    warnings: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """True if the request succeeded."""
        return 200 <= self.status < 300

    @property
    def message(self) -> str:
        """The error message of the server; empty if the request succeeded."""
        return "" if self.ok else str(self.body.get("message", self.body) if isinstance(self.body, dict) else self.body)


class Client:
    """Requests to one API server. Not for use by several threads at once."""

    def __init__(self, port: int, authority: Path, token: str) -> None:
        self._connection = http.client.HTTPSConnection("127.0.0.1", port, context=ssl.create_default_context(cafile=authority), timeout=300)
        self._headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        self._kinds: dict[tuple[str, str], dict[str, Any]] = {}

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def request(self, method: str, path: str, body: Any = None, media_type: str = "application/json") -> Answer:
        """Send one request. `body` is any JSON value. Raises OSError or http.client.HTTPException without a response."""
        text = None if body is None else _text(body).encode()
        headers = self._headers if text is None else self._headers | {"Content-Type": media_type}
        try:
            response = self._send(method, path, text, headers)
        except (http.client.HTTPException, OSError):
            self._connection.close()  # the server has closed an idle connection: retry on a new one
            response = self._send(method, path, text, headers)
        said = response.read()
        is_json = response.headers.get_content_type() == "application/json"
        return Answer(response.status, json.loads(said) if is_json else said.decode(), tuple(response.headers.get_all("Warning") or ()))

    def get(self, path: str) -> Any:
        """The body of a GET. Raises LookupError with the server's message."""
        answer = self.request("GET", path)
        if not answer.ok:
            raise LookupError(f"{path}: {answer.message}")
        return answer.body

    def apply(self, resource: dict[str, Any], *, dry_run: bool = True) -> Answer:
        """Server-side apply with strict field validation: the server refuses unknown fields. A dry run stores nothing.

        A resource without a namespace goes into `default`. Kubernetes API reference, "Server-Side Apply".
        """
        asked = {"fieldManager": "tests", "force": "true", "fieldValidation": "Strict"}
        if dry_run:
            asked["dryRun"] = "All"
        return self.request("PATCH", f"{self.path(resource)}?{urlencode(asked)}", resource, APPLY)

    def create(self, resource: dict[str, Any], *, dry_run: bool = True) -> Answer:
        """POST with strict field validation: unlike server-side apply, it refuses every field that the server would drop.

        The server checks the resource first. It reports an existing resource (status 409) only if the resource is valid.
        """
        asked = {"fieldManager": "tests", "fieldValidation": "Strict"}
        if dry_run:
            asked["dryRun"] = "All"
        return self.request("POST", f"{self._collection(resource)}?{urlencode(asked)}", resource)

    def namespace(self, name: str) -> str:
        """Create a namespace unless it exists; returns its name. Raises LookupError with the server's message."""
        answer = self.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}, dry_run=False)
        if not answer.ok:
            raise LookupError(answer.message)
        return name

    def path(self, resource: dict[str, Any]) -> str:
        """The API path of a resource. Raises LookupError for a kind that the server does not serve."""
        return f"{self._collection(resource)}/{quote(resource['metadata']['name'], safe='')}"

    def knows(self, api_version: str, kind: str) -> bool:
        """True if the server serves a kind."""
        try:
            self._kind(api_version, kind)
        except LookupError:
            return False
        return True

    def _collection(self, resource: dict[str, Any]) -> str:
        """The API path of all resources of a kind in the namespace of a resource. The metadata may be invalid."""
        metadata, kind = resource.get("metadata"), self._kind(resource["apiVersion"], resource["kind"])
        namespace = metadata.get("namespace", "default") if isinstance(metadata, dict) else "default"
        return f"{_root(resource['apiVersion'])}{f'/namespaces/{namespace}' if kind['namespaced'] else ''}/{kind['name']}"

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


def _text(body: Any) -> str:
    """JSON that is YAML too, because the server reads the body of a server-side apply as YAML, which has no pairs of escapes."""
    return re.sub("[\x7f-\uffff]", lambda found: f"\\u{ord(found[0]):04x}", json.dumps(body, ensure_ascii=False))


def _root(api_version: str) -> str:
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
