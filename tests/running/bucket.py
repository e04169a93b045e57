"""A bucket of S3 with the files of a folder, as far as the runtime's downloader asks: the list of a prefix, and objects.

Usage: python3 bucket.py ADDRESS PORT FOLDER. The folder holds one folder for each bucket. It checks no signature.
"""

from __future__ import annotations

import sys
from email.utils import formatdate
from hashlib import md5
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape


class Bucket(BaseHTTPRequestHandler):
    """Answers ListObjectsV2, GetObject and HeadObject (Amazon S3 API reference)."""

    protocol_version = "HTTP/1.1"
    root = Path()

    def do_GET(self) -> None:
        """An object, or a list."""
        address = urlsplit(self.path)
        query = parse_qs(address.query, keep_blank_values=True)
        file = self.root / unquote(address.path).strip("/")
        if "list-type" in query:
            self._answer(200, self._list(file, query.get("prefix", [""])[0]), "application/xml")
        elif file.is_file():
            self._answer(200, file.read_bytes(), "application/octet-stream")
        else:
            self._answer(404, b"<Error><Code>NoSuchKey</Code></Error>", "application/xml")

    def do_HEAD(self) -> None:
        """The headers of an object."""
        self.do_GET()

    def _list(self, bucket: Path, prefix: str) -> bytes:
        keys = {str(file.relative_to(bucket)): file for file in sorted(bucket.rglob("*")) if file.is_file()}
        rows = "".join(
            f"<Contents><Key>{escape(key)}</Key><Size>{file.stat().st_size}</Size><ETag>&quot;{_tag(file.read_bytes())}&quot;</ETag>"
            "<LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>"
            for key, file in keys.items()
            if key.startswith(prefix)
        )
        return f"<ListBucketResult><IsTruncated>false</IsTruncated>{rows}</ListBucketResult>".encode()

    def _answer(self, status: int, body: bytes, type_: str) -> None:
        self.send_response(status)
        headers = {
            "Content-Type": type_,
            "Content-Length": len(body),
            "ETag": f'"{_tag(body)}"',
            "Last-Modified": formatdate(0, usegmt=True),
        }
        for name, value in headers.items():
            self.send_header(name, str(value))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def _tag(body: bytes) -> str:
    return md5(body, usedforsecurity=False).hexdigest()


if __name__ == "__main__":
    Bucket.root = Path(sys.argv[3])
    ThreadingHTTPServer((sys.argv[1], int(sys.argv[2])), Bucket).serve_forever()
