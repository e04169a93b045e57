"""`make pins` writes digests of the base images into the Dockerfile, and the Dockerfile has no base image besides these."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import containers
import pytest
from image import pins

from tests.support.cases import cases
from tests.testbed import programs

DOCKERFILE = (programs.ROOT / "Dockerfile").read_text()
INDEX = json.dumps({"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": []}).encode()
SINGLE = json.dumps({"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json"}).encode()


class _Registry(BaseHTTPRequestHandler):
    """A stand-in for a registry: it serves manifests to clients with a token."""

    manifests: dict[str, bytes] = {}

    def do_GET(self) -> None:
        host, url = self.headers["Host"], urlsplit(self.path)
        if url.path == "/token":
            scope = parse_qs(url.query)["scope"][0]
            self._answer(200, json.dumps({"token": f"for {scope}"}).encode())
            return
        repository = url.path.removeprefix("/v2/").partition("/manifests/")[0]
        scope = f"repository:{repository}:pull"
        if self.headers["Authorization"] != f"Bearer for {scope}":
            self._answer(401, b"", {"WWW-Authenticate": f'Bearer realm="http://{host}/token",service="test",scope="{scope}"'})
        elif url.path in self.manifests:
            self._answer(200, self.manifests[url.path])
        else:
            self._answer(404, b"")

    def _answer(self, code: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(code)
        for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing on stderr."""


@pytest.fixture
def registry(monkeypatch):
    """The address of a registry with two images."""
    monkeypatch.setattr(_Registry, "manifests", {"/v2/library/python/manifests/3": INDEX, "/v2/one/manifests/1.0": SINGLE})
    with ThreadingHTTPServer(("localhost", 0), _Registry) as server:
        thread = threading.Thread(target=server.serve_forever, args=[0.01])
        thread.start()
        yield f"localhost:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("before", ["", f"@sha256:{'0' * 64}"], ids=["a tag", "an older digest"])
def test_the_digest_is_written_beside_the_tag(before, registry, tmp_path):
    file = tmp_path / "Dockerfile"
    text = "# a comment\nARG BASE={}\n\nFROM ${{BASE}} AS build\nARG VERSION=unknown\n"
    file.write_text(text.format(f"{registry}/library/python:3{before}"))
    assert pins.main(file) == 0
    digest = hashlib.sha256(INDEX).hexdigest()
    assert file.read_text() == text.format(f"{registry}/library/python:3@sha256:{digest}")


UNKNOWN = [
    ("an image for one platform", "{}/one:1.0", "for one platform only"),
    ("a tag that does not exist", "{}/library/python:4", "404"),
    ("a registry that cannot be reached", "localhost:1/python:3", "cannot be reached"),
    ("a reference without a tag", "{}/library/python", "is not registry/repository:tag"),
]


@cases(("image", "said"), UNKNOWN)
def test_without_a_digest_nothing_is_written(image, said, registry, tmp_path, capsys):
    file = tmp_path / "Dockerfile"
    file.write_text(text := f"ARG GOOD={registry}/library/python:3\nARG BASE={image.format(registry)}\n")
    assert pins.main(file) == 1
    assert said in capsys.readouterr().err
    assert file.read_text() == text


def test_every_base_image_of_the_dockerfile_can_be_pinned():
    """Every FROM uses an argument, an earlier stage or scratch; `make pins` rewrites every argument that is an image."""
    stages = {"scratch"}
    for base, stage in re.findall(r"^FROM (\S+)(?: AS (\S+))?$", DOCKERFILE, re.MULTILINE):
        argument = re.fullmatch(r"\$\{(\w+)\}", base)
        if argument:
            (image,) = re.findall(rf"^ARG {argument[1]}=(\S+)$", DOCKERFILE, re.MULTILINE)
            assert pins.parse(image)
        else:
            assert base in stages
        stages.add(stage)
    assert len(stages) > 3


def test_a_pinned_image_is_what_builds_and_tests_start_from(tmp_path, monkeypatch):
    """Without an own base image, the tests use the reference in the Dockerfile with its digest."""
    image = f"registry.example/python:3@sha256:{'1' * 64}"
    (tmp_path / "Dockerfile").write_text(re.sub(r"^ARG BASE=\S+", f"ARG BASE={image}", DOCKERFILE, flags=re.MULTILINE))
    monkeypatch.setattr(containers, "HERE", tmp_path / "tools")
    monkeypatch.setattr(containers, "_which", lambda _: None)
    assert containers._base("docker") == image
    assert pins.parse(image) == ("registry.example", "python", "3")


@cases(("variables", "base"), [("without another base", [], []), ("another base", ["BASE=python:3.12"], ["python:3.12"])])
def test_make_image_builds_from_the_pinned_image_without_another_base(variables, base):
    """The command of the README names no base image."""
    environment = {"PATH": os.environ["PATH"]}  # without the variables of a make that runs the tests
    command = ["make", "--dry-run", "image", "ENGINE=docker", "IMAGE=a:1", *variables]
    printed = subprocess.run(command, cwd=programs.ROOT, env=environment, capture_output=True, text=True, check=True).stdout
    assert re.search(r"^docker build --tag a:1 ", printed)
    assert re.findall(r"--build-arg BASE=(\S+)", printed) == base
