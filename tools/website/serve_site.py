"""Serves the site on this machine, and builds it again after each change: `make site-serve`. Ctrl-C ends it."""

from __future__ import annotations

import argparse
import functools
import http.server
import sys
import threading
import time
from pathlib import Path

from website import build_site, npm_files, site_navigation, site_pages, theme_repairs

_PAUSE = 0.5  # seconds between two looks at the files
_OWN = Path(__file__).parent


class _Handler(http.server.SimpleHTTPRequestHandler):
    """Serves files. A browser asks each time if its copy is new. No request is logged."""

    protocol_version = "HTTP/1.1"
    extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, ".mjs": "text/javascript", ".wasm": "application/wasm"}
    """Browsers need these types for modules and WebAssembly, and not each system knows them."""

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 # the name in the base class
        pass


class _SiteServer(http.server.ThreadingHTTPServer):
    """Ignores a browser that leaves a page before it has all files."""

    def handle_error(self, request: object, client_address: object) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


def server(folder: Path, port: int = 0) -> http.server.ThreadingHTTPServer:
    """Returns a server of a folder on 127.0.0.1. With port 0 the system chooses one."""
    return _SiteServer(("127.0.0.1", port), functools.partial(_Handler, directory=str(folder)))


def main() -> int:
    """Exit code 0 after Ctrl-C, or 1 if the first build fails. A later mistake is printed, and the last good site stays."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=8000)
    build_site.add_extra(parser)
    options = parser.parse_args()
    output = build_site.ROOT / "build" / "site"
    files = _changed_at()
    if not _built(output, options.extra):
        return 1
    serving = server(output, options.port)
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    print(f"http://127.0.0.1:{serving.server_port}/main/index.html", flush=True)
    try:
        while True:
            time.sleep(_PAUSE)
            if (now := _changed_at()) != files:
                files = now
                _built(output, options.extra)
    except KeyboardInterrupt:
        serving.shutdown()
    return 0


def _built(output: Path, extras: list[str]) -> bool:
    try:
        build_site.build(build_site.ROOT, output, build_site.extras(extras), releases=False)
    except (build_site.SiteError, site_navigation.NavigationError, npm_files.NpmError, theme_repairs.RepairError) as error:
        print(str(error).rstrip(), file=sys.stderr)
        return False
    return True


def _changed_at() -> dict[Path, int]:
    """Returns the time of the last change of each file that the site is built from."""
    patterns = (*site_pages.PATTERNS, "docs/**/*.svg", "docs/**/*.png")
    files = {file for pattern in patterns for file in build_site.ROOT.glob(pattern)}
    files |= {file for file in _OWN.rglob("*") if file.is_file() and "__pycache__" not in file.parts}
    return {file: file.stat().st_mtime_ns for file in files if file.exists()}


if __name__ == "__main__":
    sys.exit(main())
