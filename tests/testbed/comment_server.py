"""A server that speaks the part of GitHub's and GitLab's API that is about comments, with paging and rights as those have them."""

from __future__ import annotations

import contextlib
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import parse_qs, urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Comment = dict[str, Any]

MOST = 30
"""The largest number of comments on a page. A client must not rely on the number that it asks for."""

_GITHUB = re.compile(r"/repos/acme/infra/issues/(?:7/comments|comments/(?P<id>\d+))")
_GITLAB = re.compile(r"/api/v4/projects/42/merge_requests/7/notes(?:/(?P<id>\d+))?")


class Forge:
    """The state of the server: the comments of one pull request, the token's user, and the requests that were made."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.comments: list[Comment] = []
        self.requests: list[str] = []
        self.is_job = True
        """The token is that of a job of GitHub Actions: it belongs to a bot, and may not ask for its user."""
        self.status = 0
        """The status with which every write is refused; 0 accepts it."""

    def add(self, body: str, *, login: str = "github-actions[bot]", kind: str = "Bot", system: bool = False) -> Comment:
        """Adds a comment of a user."""
        author = {"login": login, "type": kind, "id": len(login)}
        made = {"id": len(self.comments) + 100, "body": body, "user": author, "author": author, "system": system}
        made["html_url"] = f"http://forge.example/{made['id']}"
        self.comments.append(made)
        return made

    @property
    def bodies(self) -> list[str]:
        """The texts of all comments."""
        return [each["body"] for each in self.comments]

    def github(self, folder: Path) -> dict[str, str]:
        """The variables of a job of a pull request in GitHub Actions. `folder` gets the event."""
        event = folder / "event.json"
        event.write_text(json.dumps({"pull_request": {"number": 7, "title": "$(touch pwned)"}}))
        return {
            "GITHUB_API_URL": f"http://127.0.0.1:{self.port}",
            "GITHUB_REPOSITORY": "acme/infra",
            "GITHUB_EVENT_PATH": str(event),
            "GITHUB_TOKEN": "secret",
        }

    def gitlab(self) -> dict[str, str]:
        """The variables of a job of a merge request in GitLab CI."""
        return {
            "CI_API_V4_URL": f"http://127.0.0.1:{self.port}/api/v4",
            "CI_PROJECT_ID": "42",
            "CI_MERGE_REQUEST_IID": "7",
            "GITLAB_TOKEN": "secret",
        }


class _Handler(BaseHTTPRequestHandler):
    forge: ClassVar[Forge]

    def do_GET(self) -> None:
        """A page of comments, or the token's user."""
        asked = urlsplit(self.path)
        if not self._is_known():
            return
        if asked.path in ("/user", "/api/v4/user"):
            if self.forge.is_job:
                self._answer(403, {"message": "Resource not accessible by integration"})
            else:
                self._answer(200, {"login": "robot", "id": len("robot")})
            return
        query = parse_qs(asked.query)
        size, page = min(int(query["per_page"][0]), MOST), int(query["page"][0])
        self._answer(200, self.forge.comments[(page - 1) * size : page * size])

    def do_POST(self) -> None:
        """A new comment."""
        self._write()

    def do_PATCH(self) -> None:
        """Another text, in GitHub."""
        self._write()

    def do_PUT(self) -> None:
        """Another text, in GitLab."""
        self._write()

    def _write(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["body"]
        place = _GITHUB.fullmatch(self.path) or _GITLAB.fullmatch(self.path)
        if not self._is_known():
            return
        if self.forge.status or place is None:
            self._answer(self.forge.status or 404, {"message": "Resource not accessible by integration \x1b[0m"})
        elif place["id"]:
            found = next(each for each in self.forge.comments if each["id"] == int(place["id"]))
            found["body"] = body
            self._answer(200, found)
        else:
            login = ("github-actions[bot]", "Bot") if self.forge.is_job else ("robot", "User")
            self._answer(201, self.forge.add(body, login=login[0], kind=login[1]))

    def _is_known(self) -> bool:
        """Answers 401 without the token."""
        self.forge.requests.append(f"{self.command} {self.path}")
        known = "secret" in (self.headers.get("PRIVATE-TOKEN"), (self.headers.get("Authorization") or "").removeprefix("Bearer "))
        if not known:
            self._answer(401, {"message": "Bad credentials"})
        return known

    def _answer(self, status: int, value: Any) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        if 300 <= status < 400:
            self.send_header("Location", f"http://127.0.0.1:{self.forge.port}/elsewhere")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Prints nothing."""


@contextlib.contextmanager
def running() -> Iterator[Forge]:
    """A server on a free port."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {}))
    forge = Forge(server.server_address[1])
    server.RequestHandlerClass.forge = forge  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield forge
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
