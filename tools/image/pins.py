"""Writes the digests of the base images into the Dockerfile: `make pins`. It needs access to the registries.

A tag can move to another image, a digest cannot. Engines ignore the tag beside a digest; it stays for readers and for the next run.
Follows the OCI Distribution Specification, "Pulling manifests", and the token authentication of Docker's registry.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import NamedTuple

DOCKERFILE = Path(__file__).resolve().parents[2] / "Dockerfile"

_ARGUMENT = re.compile(r"^(ARG [A-Z]+=)(\S+/\S+)$", re.MULTILINE)
_IMAGE = re.compile(r"([^/]+)/(.+?):([^:@/]+)(?:@sha256:[0-9a-f]{64})?")
_ACCEPTED = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
)
"""Media types of image indexes; the digest of an image for one platform would break the build on the others."""
_SECONDS = 60


class UnknownError(Exception):
    """A digest is not available. The message has the reason."""


class Image(NamedTuple):
    """A registry, a repository in it, and a tag."""

    registry: str
    repository: str
    tag: str

    def __str__(self) -> str:
        return f"{self.registry}/{self.repository}:{self.tag}"


def parse(text: str) -> Image:
    """The image of a reference that names its registry and a tag. Raises UnknownError."""
    found = _IMAGE.fullmatch(text)
    if not found:
        raise UnknownError(f"{text} is not registry/repository:tag")
    return Image(*found.groups())


def digest(image: Image) -> str:
    """The digest of the image index that a tag names today. Raises UnknownError."""
    host = {"docker.io": "registry-1.docker.io"}.get(image.registry, image.registry)
    scheme = "http" if host.startswith("localhost:") else "https"
    manifest = _get(f"{scheme}://{host}/v2/{image.repository}/manifests/{image.tag}", str(image))
    if json.loads(manifest).get("mediaType") not in _ACCEPTED:
        raise UnknownError(f"{image} is an image for one platform only; use a tag that is there for all platforms")
    return f"sha256:{hashlib.sha256(manifest).hexdigest()}"


def pinned(dockerfile: str) -> str:
    """The Dockerfile with the digest of each base image. Raises UnknownError."""

    def pin(found: re.Match[str]) -> str:
        image = parse(found[2])
        return f"{found[1]}{image}@{digest(image)}"

    return _ARGUMENT.sub(pin, dockerfile)


def _get(url: str, name: str, token: str = "") -> bytes:
    headers = {"Accept": ", ".join(_ACCEPTED), **({"Authorization": f"Bearer {token}"} if token else {})}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=_SECONDS) as answer:  # noqa: S310 - our own URL
            return bytes(answer.read())
    except urllib.error.HTTPError as refused:
        challenge = refused.headers.get("WWW-Authenticate", "")
        if refused.code == 401 and not token and challenge.startswith("Bearer "):
            return _get(url, name, _token(challenge, name))
        raise UnknownError(f"the registry refuses {name}: {refused.code} {refused.reason}") from refused
    except OSError as problem:
        raise UnknownError(f"the registry of {name} cannot be reached: {problem}") from problem


def _token(challenge: str, name: str) -> str:
    """A token for anonymous users, from the server in the challenge."""
    asked = dict(re.findall(r'(\w+)="([^"]*)"', challenge))
    query = urllib.parse.urlencode({key: value for key, value in asked.items() if key in {"service", "scope"}})
    try:
        with urllib.request.urlopen(f"{asked['realm']}?{query}", timeout=_SECONDS) as answer:  # noqa: S310 - the registry's own URL
            found = json.loads(answer.read())
    except (OSError, KeyError) as problem:
        raise UnknownError(f"the registry of {name} gives no token: {problem}") from problem
    return str(found.get("token") or found.get("access_token") or "")


def main(dockerfile: Path = DOCKERFILE) -> int:
    """Rewrite the Dockerfile. Returns 0, or 1 if a digest is not available; the file is then unchanged."""
    try:
        text = pinned(dockerfile.read_text())
    except UnknownError as problem:
        print(problem, file=sys.stderr)
        return 1
    dockerfile.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
