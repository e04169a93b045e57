"""`make upstream` fails when a site lists a newer minor release than krm-fn knows, and when it cannot know that there is none."""

from __future__ import annotations

import datetime as dt
import http.server
import threading

from upstream import sensors

from krm_fn.render.resolve import release_choice
from tests.support.cases import cases

TODAY = dt.date(2026, 11, 29)
RECENT, OLD = dt.date(2026, 10, 27), dt.date(2026, 9, 1)
PYPI, NIGHTLY, CHARTS, PAGES = sensors.SENSORS


def reading(sensor, version=None, day=None):
    return sensors.Reading(sensor, sensors.Sighting(version, day) if version else None, "" if version else "no route to host")


JUDGED = [
    ("the newest known release", [reading(PYPI, "1.6.1", RECENT), reading(CHARTS, "1.6.2", RECENT)], False, "v1.6 is the newest release"),
    ("a newer patch version", [reading(PYPI, "1.6.9", RECENT)], False, "v1.6 is the newest release"),
    ("a newer minor release on PyPI", [reading(PYPI, "1.7.0", RECENT)], True, "ai-dynamo 1.7.0 is newer than v1.6"),
    ("a newer release among the charts only", [reading(PYPI, "1.6.1", RECENT), reading(CHARTS, "1.7.0", RECENT)], True, "1.7.0 is newer"),
    ("a newer release in the documentation only", [reading(PYPI, "1.6.1", RECENT), reading(PAGES, "1.7.0")], True, "1.7.0 is newer"),
    ("a minor release with two digits", [reading(PYPI, "1.10.0", RECENT)], True, "1.10.0 is newer"),
    ("a newer major release", [reading(PYPI, "2.0.0", RECENT)], True, "2.0.0 is newer"),
    ("a pre-release of a newer release", [reading(NIGHTLY, "1.7.0.dev20261026", RECENT)], False, "1.7.0.dev20261026 announces a release"),
    ("no sensor answers", [reading(PYPI), reading(CHARTS)], True, "no sensor answered"),
    ("one site, silent for 12 weeks", [reading(PYPI, "1.6.1", OLD), reading(NIGHTLY, "1.6.0.dev1", OLD), reading(CHARTS)], True, "by hand"),
    ("two sites, silent for 12 weeks", [reading(PYPI, "1.6.1", OLD), reading(CHARTS, "1.6.1", OLD)], False, "v1.6 is the newest release"),
]


@cases(("readings", "failed", "text"), JUDGED)
def test_a_newer_release_fails_and_so_does_a_long_silence(readings, failed, text):
    judgement = sensors.judged(readings, ["v0.9", "v1.5", "v1.6"], TODAY)
    assert judgement.failed is failed
    assert text in "\n".join(judgement.lines)


def test_the_line_names_the_newest_known_release_and_what_to_read():
    (line,) = sensors.judged([reading(PYPI, "9.0.0", RECENT)], list(release_choice.RELEASES), TODAY).lines
    assert [*release_choice.RELEASES][-1] in line
    assert "UPSTREAM.md" in line


_UPLOADED = '[{"upload_time_iso_8601": "2026-10-27T08:00:00.000000Z"}]'
_INDEX = (
    f'{{"releases": {{"1.6.1": {_UPLOADED}, "1.6.0": {_UPLOADED}, "1.7.0.dev1": {_UPLOADED}, "1.7.0.dev2": {_UPLOADED}, "1.8.0": []}}}}'
)
_CHARTS = """
apiVersion: v1
entries:
  dynamo-platform:
  - {version: 1.6.2, created: "2026-11-05T10:00:00Z"}
  - {version: 1.7.0, created: 2026-11-23T10:00:00Z}
  - {version: 1.8.0-rc1, created: 2026-11-24T10:00:00Z}
  another-chart:
  - {version: 9.0.0, created: 2026-11-24T10:00:00Z}
"""
_PAGES = """
- [Quickstart](https://docs.nvidia.com/dynamo/v1.6.1/getting-started/quickstart.md)
- [Dynamo 1.10.0](https://docs.nvidia.com/dynamo/latest/reference/releases/v1-10-0.md)
- [Introduction](https://docs.nvidia.com/dynamo/latest/getting-started/introduction.md)
"""
ANSWERS = [
    ("a release whose files were all deleted does not count", PYPI, _INDEX, "releases on PyPI: 1.6.1 of 2026-10-27"),
    ("the newest pre-release", NIGHTLY, _INDEX, "pre-releases on PyPI: 1.7.0.dev2 of 2026-10-27"),
    ("charts of Dynamo only, and no candidates", CHARTS, _CHARTS, "charts: 1.7.0 of 2026-11-23"),
    ("folders and release notes", PAGES, _PAGES, "documentation: 1.10.0"),
    ("a page that asks to log in", PYPI, "<html>Please log in</html>", "could not be reached, http"),
    ("another kind of document", CHARTS, "hello", "not an index of charts"),
    ("pages without versions", PAGES, "# NVIDIA", "lists no version"),
]


@cases(("sensor", "text", "expected"), ANSWERS)
def test_a_sensor_reads_the_answer_of_a_server(sensor, text, expected):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *arguments):
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.handle_request, daemon=True).start()
        answer = sensors.reading(sensor._replace(url=f"http://127.0.0.1:{server.server_port}/"))
    assert expected in sensors.line(answer)


def test_a_sensor_that_cannot_be_reached_says_so():
    with http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler) as server:
        closed = f"http://127.0.0.1:{server.server_port}/"
    assert sensors.line(sensors.reading(PAGES._replace(url=closed))).startswith(f"documentation: could not be reached, {closed}: ")
