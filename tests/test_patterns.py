"""No regular expression needs more than linear time: a tenant or a repository would stop a check, a review or the syncer with it.

The expressions are all of the package. Each is measured on its own worst texts (`tests.support.patterns`), in CPU time.
"""

from __future__ import annotations

import re
import time
from math import log2

import pytest

from tests.support import patterns
from tests.support.patterns import Pattern

SIZES = (16, 20, 64, 512, 4096)
ENOUGH = 0.004
"""Seconds of CPU from which two sizes are compared. A linear expression reads the largest text in less."""
LINEAR = 1.5
"""The exponent of the time by the size that a measurement may show. It is 2 for a quadratic expression."""


def seconds(pattern: Pattern, text) -> float:
    """Returns the least CPU time of three runs."""
    run = pattern.compiled.sub if pattern.anywhere else pattern.compiled.fullmatch
    arguments = (text[:0], text) if pattern.anywhere else (text,)
    times = []
    for _ in range(3):
        began = time.process_time()
        run(*arguments)
        times.append(time.process_time() - began)
        if times[-1] < ENOUGH:
            break
    return min(times)


def problem(pattern: Pattern) -> str:
    """Names a text on which the time of an expression grows faster than its length; empty if there is none."""
    for prefix, part, end in patterns.slow_texts(pattern):
        for size in SIZES:
            count = size // len(part) + 1
            now = seconds(pattern, prefix + part * count + end)
            if now >= ENOUGH:
                exponent = log2(now / max(seconds(pattern, prefix + part * (count // 2) + end), 1e-6))
                if exponent > LINEAR:
                    return f"{prefix!r} + {part!r} * {count} + {end!r}: {now:.3f} s, exponent {exponent:.1f}"
                break
    return ""


@pytest.mark.slow  # measures the time of all expressions
@pytest.mark.parametrize("pattern", patterns.all_patterns(), ids=lambda pattern: pattern.where)
def test_an_expression_is_linear(pattern):
    assert problem(pattern) == ""


def test_the_worst_texts_show_a_quadratic_expression():
    """Otherwise the test above could not fail."""
    quadratic = {r"\s*([0-9]+\.?[0-9]*[kmgt])\s*": False, r"(?:a+)+b": False, r"a+b": True, r"\{\{.*?\}\}": True}
    for text, anywhere in quadratic.items():
        assert problem(Pattern("here", re.compile(text), anywhere)), text


def test_all_expressions_are_read():
    assert len(patterns.all_patterns()) > 150


def test_the_cache_of_expressions_changes_nothing():
    """Otherwise an expression that only `fullmatch` uses would count as one that searches, after other tests have filled the cache."""
    known = patterns.all_patterns()
    re.purge()
    patterns.all_patterns.cache_clear()
    assert patterns.all_patterns() == known
