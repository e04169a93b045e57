"""Sensors that see a new release of Dynamo: the releases and pre-releases on PyPI, the index of charts, and that of the documentation.

PyPI alone is not enough: 1.6.2 and 1.7.0 were released as images and charts weeks before any wheel. A pre-release stands there about four
weeks before its release.
"""

from __future__ import annotations

import datetime as dt
import http.client
import json
import re
import urllib.request
from typing import TYPE_CHECKING, NamedTuple

import yaml

from krm_fn.kubernetes import version

if TYPE_CHECKING:
    from collections.abc import Callable

PACKAGE = "ai-dynamo"
SILENCE = dt.timedelta(weeks=8)
"""NVIDIA has released a minor version every four to seven weeks since 1.2. A longer silence means more often that the sensors are blind."""

_TIMEOUT = 30  # seconds


class Sighting(NamedTuple):
    """A version that a sensor lists, such as `1.7.0` or `1.7.0.dev20261026`, and the day of its publication if the sensor knows it."""

    version: str
    day: dt.date | None


class Sensor(NamedTuple):
    """An index that lists versions: its name, its URL, and a function that reads the versions in its text, or raises ValueError."""

    name: str
    url: str
    parse: Callable[[str], list[Sighting]]


class Reading(NamedTuple):
    """What a sensor answered: the newest version, or the reason why it did not answer."""

    sensor: Sensor
    newest: Sighting | None
    problem: str = ""


class Judgement(NamedTuple):
    """The lines to print after the readings, and if somebody must act."""

    lines: list[str]
    failed: bool


def reading(sensor: Sensor) -> Reading:
    """Asks a sensor. Needs the network; an answer that cannot be had or read is a reading with a problem."""
    try:
        with urllib.request.urlopen(sensor.url, timeout=_TIMEOUT) as response:  # noqa: S310 — a constant of this module
            text = response.read().decode()
        sightings = sensor.parse(text)
    except (OSError, http.client.HTTPException, ValueError, yaml.YAMLError) as error:
        return Reading(sensor, None, f"{sensor.url}: {str(error).splitlines()[0]}")
    newest = max(sightings, key=_order, default=None)
    return Reading(sensor, newest, "" if newest else f"{sensor.url} lists no version")


def line(of: Reading) -> str:
    """Returns one line about a reading."""
    if not of.newest:
        return f"{of.sensor.name}: could not be reached, {of.problem}"
    return f"{of.sensor.name}: {of.newest.version}" + (f" of {of.newest.day}" if of.newest.day else "")


def judged(readings: list[Reading], releases: list[str], today: dt.date) -> Judgement:
    """Compares the readings with the names of the known releases, such as `v1.6`.

    It fails if a sensor lists a release with a newer minor version, if no sensor answered, or if all answers are of one site and older than
    `SILENCE`: then nobody can say that there is no newer release.
    """
    answers = [of.newest for of in readings if of.newest]
    if not answers:
        return Judgement(["no sensor answered, so nothing is known about new releases"], failed=True)
    known = max(number[:2] for name in releases if (number := version.of_operator(name)))
    lines, failed = [], False
    newest = max(answers, key=_order)
    final = [sighting for sighting in answers if _is_final(sighting.version)]
    missing = [sighting.version for sighting in final if _order(sighting)[0][:2] > known]
    if missing:
        lines, failed = [f"{PACKAGE} {missing[-1]} is newer than {releases[-1]}; UPSTREAM.md says how to add its release"], True
    elif _order(newest)[0][:2] > known:
        lines = [f"{PACKAGE} {newest.version} announces a release that is newer than {releases[-1]}; compare it: make upstream-diff"]
    else:
        lines = [f"{releases[-1]} is the newest release"]
    sites = {of.sensor.url for of in readings if of.newest}
    days = [sighting.day for sighting in answers if sighting.day]
    if len(sites) == 1 and days and today - max(days) > SILENCE:
        lines.append(f"only {sites.pop()} answered, and its newest version is of {max(days)}: look for a newer one by hand")
        failed = True
    return Judgement(lines, failed)


def _order(sighting: Sighting) -> tuple[tuple[int, ...], bool, str]:
    """Sorts versions: a release follows its own pre-releases."""
    numbers = re.match(r"\d+(\.\d+)*", sighting.version)
    core = tuple(map(int, numbers.group().split("."))) if numbers else ()
    return (*core, 0, 0, 0)[:3], _is_final(sighting.version), sighting.version


def _is_final(text: str) -> bool:
    return re.fullmatch(r"v?\d+\.\d+\.\d+(\.post\d+)?", text) is not None


def _of_pypi(final: bool) -> Callable[[str], list[Sighting]]:
    def parse(text: str) -> list[Sighting]:
        releases = json.loads(text)["releases"]
        return [Sighting(name, _uploaded(files)) for name, files in releases.items() if files and _is_final(name) == final]

    return parse


def _uploaded(files: list[dict[str, str]]) -> dt.date:
    return min(dt.datetime.fromisoformat(file["upload_time_iso_8601"]).date() for file in files)


def _of_charts(text: str) -> list[Sighting]:
    """Reads the index of a Helm repository (helm.sh/docs/topics/chart_repository)."""
    index = yaml.safe_load(text)
    if not isinstance(index, dict) or not isinstance(index.get("entries"), dict):
        raise ValueError("not an index of charts")  # noqa: TRY004 — the text has the wrong value
    charts = [chart for name, rows in index["entries"].items() if name.startswith("dynamo") for chart in rows]
    return [Sighting(str(chart["version"]), _created(chart.get("created"))) for chart in charts if _is_final(str(chart["version"]))]


def _created(value: object) -> dt.date | None:
    if isinstance(value, dt.datetime):
        return value.date()
    return dt.date.fromisoformat(value[:10]) if isinstance(value, str) else None


def _of_pages(text: str) -> list[Sighting]:
    """Reads the addresses of pages: those of a release have its version as a folder, such as `/dynamo/v1.7.0/`, or a page for its notes."""
    folders = re.findall(r"/dynamo/v(\d+\.\d+\.\d+)/", text)
    notes = [name.replace("-", ".") for name in re.findall(r"/releases/(?:dynamo-)?v(\d+-\d+-\d+)\b", text)]
    return [Sighting(name, None) for name in {*folders, *notes}]


_PYPI = f"https://pypi.org/pypi/{PACKAGE}/json"
SENSORS = (
    Sensor("releases on PyPI", _PYPI, _of_pypi(final=True)),
    Sensor("pre-releases on PyPI", _PYPI, _of_pypi(final=False)),
    Sensor("charts", "https://helm.ngc.nvidia.com/nvidia/ai-dynamo/index.yaml", _of_charts),
    Sensor("documentation", "https://docs.nvidia.com/dynamo/llms.txt", _of_pages),
)
