"""The picture on the front page shows what `krm-fn diff` says today."""

from __future__ import annotations

import html
import re

import forecast_picture


def shown(picture):
    """The words of a picture, without colours and positions."""
    return html.unescape(" ".join(re.findall(r"<text[^>]*>([^<]*)</text>", picture))).replace("\xa0", " ").split()


def test_the_picture_shows_the_present_forecast():
    words = shown(forecast_picture.FILE.read_text("utf-8"))
    assert words == shown(forecast_picture.picture())
    assert {"restart:", "stuck:"} <= {*words}


def test_a_reader_loads_nothing_from_another_host():
    assert "url(http" not in forecast_picture.FILE.read_text("utf-8").replace('"', "")
